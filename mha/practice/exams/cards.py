"""Questions on cards of published models: fields of a configuration, and numbers that follow.

The facts are those of `mha.examples.published_models`, each with its source.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from mha.examples.published_models import PublishedModels, published_models
from mha.practice.exams.steps import Step
from mha.views.table import Table

LENGTHS = (100, 200, 300, 400, 500, 600)
"""The numbers of tokens that a question asks about."""

SCORES = (12, 20, 24, 30, 36, 40)
"""The scores that a question asks to scale."""

FIELDS_OF_CACHE = ("num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim")
FIELDS_OF_WIDTH = ("num_attention_heads", "num_key_value_heads", "head_dim")
FIELDS_OF_LATENT = (
    *("num_hidden_layers", "num_attention_heads", "kv_lora_rank"),
    *("qk_nope_head_dim", "qk_rope_head_dim"),
)
"""The fields that each kind of card needs."""

EXCLUDED_FIELDS = {
    "width": ("query_pre_attn_scalar", "factor of scores"),
    "cache": ("full_attention_interval",),
    "latent": (),
}
"""Fields that make the questions of a kind wrong: another divisor, or layers without a cache."""


@dataclass(frozen=True)
class Card:
    """A question on the card of a published model.

    Parameters
    ----------
    model : str
    text : str
    parts : tuple of str
    tables : tuple of Table
    steps : tuple of Step
    reason : str
        What the last part asks to explain.
    marks : tuple of (int, str)
        The marks of that explanation.
    sources : str
        The sources of the facts, for the key.
    """

    model: str
    text: str
    parts: tuple[str, ...]
    tables: tuple[Table, ...]
    steps: tuple[Step, ...]
    reason: str
    marks: tuple[tuple[int, str], ...]
    sources: str


def models_with(fields: Sequence[str], models: PublishedModels | None = None) -> tuple[str, ...]:
    """Return the models with facts about all of some fields.

    Parameters
    ----------
    fields : sequence of str
    models : PublishedModels, optional
        By default, those of the book.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> models_with(FIELDS_OF_LATENT)
    ('DeepSeek-V2', 'DeepSeek-V3.2')
    """
    known = published_models() if models is None else models
    return tuple(model for model in known if set(fields) <= set(known[model]))


def models_of(kind: str) -> tuple[str, ...]:
    """Return the models whose cards a kind of question can be about.

    Parameters
    ----------
    kind : str
        A key of `CARDS`.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> models_of("cache")
    ('gpt-oss-120b', 'MiniMax-Text-01', 'MiniMax-M2')
    """
    known = published_models()
    return tuple(
        model
        for model in models_with(CARDS[kind])
        if not set(EXCLUDED_FIELDS[kind]) & set(known[model])
    )


def draw_card(kind: str, model: str, rng: np.random.Generator) -> Card:
    """Return a question on a model's card.

    Parameters
    ----------
    kind : str
        A key of `CARDS`.
    model : str
        One of `models_of` the kind.
    rng : numpy.random.Generator

    Returns
    -------
    Card
    """
    fields = CARDS[kind]
    facts = [
        fact for fact in published_models().facts if fact.model == model and fact.field in fields
    ]
    values = {fact.field: str(fact.value) for fact in facts}
    table = Table(
        f"Card of {model}",
        ("field", "meaning", "value"),
        tuple((field, _meaning(field), values[field]) for field in fields),
        words=True,
    )
    sources = "; ".join(
        dict.fromkeys(
            f"{fact.source.title}, {fact.where} ({fact.source.published})" for fact in facts
        )
    )
    count = str(rng.choice(LENGTHS))
    text, parts, steps, reason, marks = _CONTENTS[kind](values, count, str(rng.choice(SCORES)))
    return Card(model, text, parts, (table,), steps, reason, marks, f"Facts from {sources}.")


_MEANINGS = {
    "head_dim": "head width",
    "num_key_value_heads": "groups: heads with keys and values of their own",
    "kv_lora_rank": "width of the latent vector that is stored",
    "qk_nope_head_dim": "width of a head's key without its rotated part",
    "qk_rope_head_dim": "width of the rotated part of the key, one for all heads",
}
"""The meaning of fields in a question, if that of the file names more than it needs."""


def _meaning(field: str) -> str:
    known = {fact.field: fact.meaning for fact in published_models().facts}
    return _MEANINGS.get(field, known[field])


_Content = tuple[
    str, tuple[str, ...], tuple[Step, ...], str, tuple[tuple[int, str], ...]
]  # text, parts, steps, reason, marks


def _width(card: Mapping[str, str], count: str, score: str) -> _Content:
    heads, width, groups = (
        card["num_attention_heads"],
        card["head_dim"],
        card["num_key_value_heads"],
    )
    steps = (
        Step("queries", "width of the queries of all heads", "times", ((heads,), (width,)), 0),
        Step("keys", "width of all keys of a token", "times", ((groups,), (width,)), 0),
        Step("pairs", "weights of one head", "times", ((count,), (count,)), 1),
        Step("weights", "weights of all heads", "times", (("pairs",), (heads,)), 1),
        Step("scaled", "scaled score", "root", ((score,), (width,)), 2),
    )
    return (
        "Read the card. The questions are about a layer with a softmax, no window and no mask.",
        (
            "How wide are the queries of all heads of one token together, and how wide are all its"
            " keys?",
            f"The layer reads {count} tokens. How many weights does one head compute, and how many"
            " do all query heads?",
            f"A query and a key have the score {score}. Compute the scaled score.",
        ),
        steps,
        "Which of these results change if the text has twice as many tokens? Name the factor of"
        " each.",
        (
            (1, "Only the numbers of weights change."),
            (1, "Both become four times as large, because queries and keys are both doubled."),
        ),
    )  # fmt: skip


def _cache(card: Mapping[str, str], count: str, score: str) -> _Content:
    layers, heads = card["num_hidden_layers"], card["num_attention_heads"]
    groups, width = card["num_key_value_heads"], card["head_dim"]
    steps = (
        Step(
            "keys",
            "numbers of the keys of one token in one layer",
            "times",
            ((groups,), (width,)),
            0,
        ),
        Step("both", "numbers of its keys and values", "times", (("keys",), ("2",)), 0),
        Step("token", "numbers of all layers", "times", (("both",), (layers,)), 0),
        Step("bytes", "bytes per token", "times", (("token",), ("2",)), 1),
        Step("text", f"bytes for {count} tokens", "times", (("bytes",), (count,)), 1),
        Step("saved", "query heads per group", "quotient", ((heads,), (groups,)), 2),
    )
    return (
        "Read the card. Suppose that every layer keeps the keys and values of all tokens.",
        (
            "How many numbers does one token add to the cache, in one layer and in all layers?",
            f"Each number takes 2 bytes. How many bytes does one token take, and how many do"
            f" {count} tokens?",
            "How many times as large would the cache be if every query head had keys and values of"
            " its own?",
        ),
        steps,
        "Which step of attention do the groups change, and which cost do they not save?",
        (
            (1, "The projections: fewer keys and values are computed, and query heads share them."),
            (1, "The scores and weights are still computed for each query head."),
        ),
    )  # fmt: skip


def _latent(card: Mapping[str, str], count: str, score: str) -> _Content:
    layers, heads, latent = (
        card["num_hidden_layers"],
        card["num_attention_heads"],
        card["kv_lora_rank"],
    )
    plain, rotated = card["qk_nope_head_dim"], card["qk_rope_head_dim"]
    steps = (
        Step("stored", "numbers that one token adds in one layer", "sum", ((latent, rotated),), 0),
        Step("token", "numbers in all layers", "times", (("stored",), (layers,)), 0),
        Step("bytes", "bytes per token", "times", (("token",), ("2",)), 1),
        Step("text", f"bytes for {count} tokens", "times", (("bytes",), (count,)), 1),
        Step("heads", "numbers of the keys of all heads without their rotated part", "times",
             ((heads,), (plain,)), 2),
        Step("both", "numbers of keys and values", "times", (("heads",), ("2",)), 2),
    )  # fmt: skip
    return (
        "Read the card. A layer stores one latent vector per token and one rotated part of the key,"
        " which all heads share.",
        (
            "How many numbers does one token add to the cache, in one layer and in all layers?",
            f"Each number takes 2 bytes. How many bytes does one token take, and how many do"
            f" {count} tokens?",
            "Suppose instead that each head stores keys and values of the width qk_nope_head_dim."
            " How many numbers would one token's keys in one layer take, and how many its keys and"
            " values?",
        ),
        steps,
        "Why is the rotated part stored beside the latent vector?",
        (
            (1, "The rotation depends on the position of the key."),
            (1, "So it cannot be part of a matrix that is the same for all positions, and the"
                " absorbed form would be impossible."),
        ),
    )  # fmt: skip


_CONTENTS = {"width": _width, "cache": _cache, "latent": _latent}

CARDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"width": FIELDS_OF_WIDTH, "cache": FIELDS_OF_CACHE, "latent": FIELDS_OF_LATENT}
)
"""The kinds of questions, and the fields that each needs."""

KIND_BY_CHAPTER: Mapping[str, str] = MappingProxyType(
    {
        "transformer/since-2023": "latent",
        "transformer/decoding": "cache",
        "transformer/cost": "cache",
    }
)
"""The kind of a chapter, the most special first; other chapters have "width"."""


def card_kind(chapters: Sequence[str]) -> str:
    """Return the kind of the question on a card for some chapters.

    Examples
    --------
    >>> card_kind(["mechanism/softmax", "transformer/cost"]), card_kind(["mechanism/softmax"])
    ('cache', 'width')
    """
    return next((kind for name, kind in KIND_BY_CHAPTER.items() if name in chapters), "width")
