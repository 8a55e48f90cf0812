"""The folds "In PyTorch": their code prints the shown output, and their claims are true."""

import inspect
import re
from pathlib import Path

import pytest
import torch
from drawn_for_torch import causal_mask
from torch import nn
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention

BOOK = Path(__file__).parents[2] / "book"
FOLD = re.compile(
    r"^```\{pytorch\}\n(?::[^\n]*\n)+(?P<code>.*?)\n---\n(?P<output>.*?)\n```$",
    re.DOTALL | re.MULTILINE,
)
FOLDS = {
    f"{path.parent.name}/{path.stem}": fold
    for path in sorted(BOOK.rglob("*.md"))
    for fold in FOLD.finditer(path.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("page", FOLDS)
def test_a_fold_prints_what_stands_below_its_code(page, capsys):
    exec(compile(FOLDS[page]["code"], page, "exec"), {})
    assert capsys.readouterr().out.rstrip("\n") == FOLDS[page]["output"]


def test_the_version_that_the_pages_name_is_the_one_that_runs():
    lock = (BOOK.parent / "requirements-frameworks.lock").read_text(encoding="utf-8")
    assert f"\ntorch=={torch.__version__.partition('+')[0]} " in lock


@pytest.fixture
def layer():
    """Return a module of two heads and its input: two sequences of three tokens."""
    torch.manual_seed(7)
    return nn.MultiheadAttention(4, 2, batch_first=True), torch.randn(2, 3, 4)


def test_true_means_attend_in_the_function_and_masked_in_the_module(layer):
    module, x = layer
    allowed = ~causal_mask(3)
    by_function = scaled_dot_product_attention(x, x, torch.eye(3), attn_mask=allowed)
    by_module = module(x, x, x, attn_mask=~allowed)[1]
    assert (by_function != 0).equal(allowed.expand(2, 3, 3))
    assert (by_module != 0).equal(allowed.expand(2, 3, 3))
    padding = torch.tensor([[False, False, True], [False, False, False]])
    hidden = module(x, x, x, key_padding_mask=padding)[1] == 0
    assert hidden.equal(padding[:, None].expand(2, 3, 3))


def test_masks_of_numbers_are_added_in_both(layer):
    module, x = layer
    bias = torch.tensor([0.0, -torch.inf, 0.5])
    own = scaled_dot_product_attention(x, x, torch.eye(3), attn_mask=bias)
    assert torch.allclose(own, (x @ x.mT / 2 + bias).softmax(-1))
    by_head = {"average_attn_weights": False}
    raised = module(x, x, x, attn_mask=bias.expand(3, 3), **by_head)[1]
    wanted = module(x, x, x, **by_head)[1] * bias.exp()
    assert torch.allclose(raised, wanted / wanted.sum(dim=-1, keepdim=True))


def test_a_row_without_a_key(layer):
    module, x = layer
    nothing = torch.zeros(3, 3, dtype=torch.bool)
    assert torch.full((3,), -torch.inf).softmax(-1).isnan().all()
    assert (scaled_dot_product_attention(x, x, x, attn_mask=nothing) == 0).all()
    assert all(found.isnan().all() for found in module(x, x, x, attn_mask=~nothing))
    torch.backends.mha.set_fastpath_enabled(True)
    try:
        ways = []
        for training in (True, False):
            with torch.set_grad_enabled(training):
                module.train(training)
                output, _ = module(x, x, x, attn_mask=~nothing, need_weights=False)
                ways.append(output.isnan().all().item())
        assert ways == [False, True]
    finally:
        torch.backends.mha.set_fastpath_enabled(False)


def test_a_softmax_of_bfloat16_keeps_its_sum_in_float32():
    scores = torch.tensor([0.0, 2.1213, 1.4142] + [0.0] * 997).bfloat16()
    assert scores.softmax(-1).equal(scores.float().softmax(-1).bfloat16())
    total = torch.tensor(0.0).bfloat16()
    for one in torch.ones(300).bfloat16():
        total = total + one
    assert total == 256
    assert torch.tensor(257).bfloat16() == 256  # and so would be a position


def test_is_causal_aligns_top_left_and_is_only_a_hint_to_the_module(layer):
    module, x = layer
    query, values = x[:, 2:], torch.eye(3).expand(2, 3, 3)
    with_cache = scaled_dot_product_attention(query, x, values, is_causal=True)
    assert with_cache.equal(values[:, :1])
    several = scaled_dot_product_attention(x[:, 1:], x, values, attn_mask=causal_lower_right(2, 3))
    assert (several[:, 0, 2] == 0).all()
    assert (several[:, 1] > 0).all()
    with pytest.raises(RuntimeError, match="Need attn_mask"):
        module(x, x, x, is_causal=True)


def test_what_a_module_gives_and_takes_by_default(layer):
    module, x = layer
    average, each = (module(x, x, x, average_attn_weights=a)[1] for a in (True, False))
    assert torch.allclose(average, each.mean(dim=1))
    assert each.shape == (2, 2, 3, 3)
    assert module(x, x, x, need_weights=False)[1] is None
    assert module.in_proj_weight.shape == (12, 4)
    defaults = inspect.signature(nn.MultiheadAttention).parameters
    assert not defaults["batch_first"].default
    assert "scale" not in defaults
    tokens_first = nn.MultiheadAttention(4, 2)
    assert tokens_first(x, x, x)[1].shape == (3, 2, 2)  # each of "3 sentences" has 2 tokens
    block = inspect.signature(nn.TransformerEncoderLayer).parameters
    assert (block["norm_first"].default, block["dropout"].default) == (False, 0.1)


def test_dropout_asks_the_module_for_its_mode_and_the_function_for_its_argument(layer):
    _, x = layer
    module = nn.MultiheadAttention(4, 2, dropout=0.5, batch_first=True)
    calls = [module.train(mode)(x, x, x)[0].equal(module(x, x, x)[0]) for mode in (True, False)]
    assert calls == [False, True]
    dropped = [scaled_dot_product_attention(x, x, x, dropout_p=p) for p in (0.5, 0.0, 0.0)]
    assert dropped[1].equal(dropped[2])
    assert not dropped[0].equal(dropped[1])


def test_shared_keys_are_repeated_head_by_head():
    torch.manual_seed(3)
    query, key = torch.randn(4, 3, 2), torch.randn(2, 3, 2)
    repeated = key.repeat_interleave(2, dim=0)
    own = scaled_dot_product_attention(query, key, key, enable_gqa=True)
    assert torch.allclose(own, scaled_dot_product_attention(query, repeated, repeated))
