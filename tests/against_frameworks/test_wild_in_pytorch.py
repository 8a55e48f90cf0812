"""Bugs of public reports, in typical modules of PyTorch, and their correct twins."""

import math

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import mha


class Causal(nn.Module):
    """An attention layer as in nanoGPT: one fused projection, and a buffer for the causal mask."""

    def __init__(self, n_embd=12, n_head=3):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(n_embd, 3 * n_embd), nn.Linear(n_embd, n_embd)
        self.n_head, self.dropout = n_head, nn.Dropout(0.1)
        self.register_buffer("bias", torch.tril(torch.ones(16, 16)).view(1, 1, 16, 16))

    def split(self, x):
        b, n, width = x.shape
        return x.view(b, n, self.n_head, width // self.n_head).transpose(1, 2)

    def scale(self, k):
        return 1.0 / math.sqrt(k.size(-1))

    def allowed(self, n):
        return self.bias[:, :, :n, :n] == 1

    def weights(self, att):
        return self.dropout(F.softmax(att, dim=-1))

    def merge(self, y):
        return y.transpose(1, 2).contiguous().view(y.size(0), y.size(2), -1)

    def forward(self, x):
        q, k, v = (self.split(part) for part in self.c_attn(x).split(x.size(-1), dim=2))
        att = (q @ k.transpose(-2, -1)) * self.scale(k)
        att = att.masked_fill(~self.allowed(x.size(1)), float("-inf"))
        return self.c_proj(self.merge(self.weights(att) @ v))


class Encoder(nn.Module):
    """An attention layer as in the annotated Transformer: four projections, and a 0/1 mask."""

    def __init__(self, d_model=12, h=3):
        super().__init__()
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.h = h

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.h, -1).transpose(1, 2)

    def roles(self, q, k, v):
        return q, k, v

    def hide(self, scores, mask):
        return scores.masked_fill(mask == 0, -1e9)

    def forward(self, x, mask=None):
        q, k, v = (self.split(w(x)) for w in (self.W_q, self.W_k, self.W_v))
        q, k, v = self.roles(q, k, v)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = self.hide(scores, mask)
        out = F.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(x.shape))


def bug(twin, **methods):
    """Return a module with some methods replaced."""
    return type(twin.__name__, (twin,), methods)


def without_transpose(self, x):
    return x.view(x.size(0), self.n_head, x.size(1), -1)


WILD = {
    "Graylab/DL4Proteins-notebooks#12": ({"wrong root"}, bug(
        Causal, scale=lambda self, k: 1.0 / math.sqrt(k.size(-1) * self.n_head))),
    "mlc-ai/mlc-llm#3426": ({"no scale"}, bug(Causal, scale=lambda self, k: 1.0)),
    "esceptico/perceiver-io#9": ({"multiplied by the root"}, bug(
        Causal, scale=lambda self, k: math.sqrt(k.size(-1)))),
    "rasbt/LLMs-from-scratch#1061": ({"causal mask reversed"}, bug(
        Causal, allowed=lambda self, n: self.bias[:, :, :n, :n] == 0)),
    "pytorch/tutorials#2250": ({"diagonal hidden"}, bug(
        Causal, allowed=lambda self, n: torch.tril(self.bias[:, :, :n, :n], -1) == 1)),
    "karpathy/nanoGPT#170": ({"causal mask transposed"}, bug(
        Causal, allowed=lambda self, n: self.bias[:, :, :n, :n].mT == 1)),
    "kzl/decision-transformer#30": ({"one key ahead"}, bug(
        Causal, allowed=lambda self, n: torch.ones(n, n).tril(1) == 1)),
    "huggingface/pytorch-image-models#1978": (set(), bug(
        Causal, weights=lambda self, att: F.dropout(F.softmax(att, dim=-1), 0.3, training=True))),
    "labmlai/annotated_deep_learning_paper_implementations#146": ({"wrong axis"}, bug(
        Causal, weights=lambda self, att: F.softmax(att, dim=-2).nan_to_num())),
    "jsbaan/transformer-from-scratch#6": ({"merged by reshape"}, bug(
        Causal, merge=lambda self, y: y.reshape(y.size(0), y.size(2), -1))),
    "hyunwoongko/transformer#15": (set(), bug(Causal, split=without_transpose)),
    "reczoo/FuxiCTR#30": (set(), bug(
        Causal, split=without_transpose,
        merge=lambda self, y: y.reshape(y.size(0), y.size(2), -1))),
    "Shujun-He/RibonanzaNet#5": ({"-1e-9 for -1e9"}, bug(
        Encoder, hide=lambda self, scores, mask: scores.masked_fill(mask == 0, -1e-9))),
    "lucidrains/memory-compressed-attention#2": ({"zero times infinity"}, bug(
        Encoder, hide=lambda self, scores, mask: scores - (mask == 0) * math.inf)),
    "NTMC-Community/MatchZoo-py#163": ({"mask multiplied"}, bug(
        Encoder, hide=lambda self, scores, mask: scores * mask)),
    "sooftware/attentions#4": ({"mask transposed"}, bug(
        Encoder, hide=lambda self, scores, mask: scores.masked_fill(mask.mT == 0, -1e9))),
    "MarcoMeter/episodic-transformer-memory-ppo#22": ({"queries mixed"}, bug(
        Encoder, roles=lambda self, q, k, v: (q, k, q))),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _drawn():
    torch.manual_seed(3)


@pytest.mark.parametrize("origin", WILD)
def test_a_bug_of_a_public_report_is_named_or_narrowed(origin):
    names, module = WILD[origin]
    report = mha.examine(module())
    assert not report.ok, report
    wrong = [finding for finding in report.findings if not finding.convention]
    told = {name for finding in wrong for name in (finding.bug or "").split(" or ")}
    assert names <= told, report
    is_random = "dropout" in str(report) or "random" in str(report)
    assert names or is_random or any(finding.narrowed for finding in wrong), report


@pytest.mark.parametrize("twin", [Causal, Encoder])
def test_its_right_twin_is_right(twin):
    report = mha.examine(twin())
    assert report.ok, report
