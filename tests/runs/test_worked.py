"""A worked example checks that its parts fit together, and cannot be changed."""

import dataclasses

import numpy as np
import pytest
from helpers import D_K, MASK, QUERIES, example, projected, raises, with_places


def test_an_example_copies_what_it_is_given():
    query, mask = np.ones((QUERIES, D_K)), MASK.copy()
    start = example(query=query, mask=mask)
    query[:], mask[:] = 7, False
    assert (start.query == 1).all()
    np.testing.assert_array_equal(start.mask, MASK)
    for array in (start.query, start.key, start.value, start.mask):
        with pytest.raises(ValueError, match="read-only"):
            array[(0,) * array.ndim] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        start.name = "other"
    assert start.tokens == tuple(f"token{i}" for i in range(QUERIES))


# Refusals


WANTED = "embeddings with layer, or query, key and value are wanted"


@pytest.mark.parametrize(
    ("parts", "has"),
    [
        (("query", "key"), "query, key"),
        (("embeddings",), "embeddings"),
        (("embeddings", "layer", "value"), "embeddings, layer, value"),
        ((), "no arrays"),
    ],
)
def test_an_example_starts_in_one_of_two_ways(rng, parts, has):
    both = {name: getattr(projected(rng), name) for name in ("embeddings", "layer")}
    both |= {name: getattr(example(), name) for name in ("query", "key", "value")}
    start = {name: both[name] if name in parts else None for name in both}
    with raises(ValueError, f"the example has {has}; {WANTED}"):
        example(**start)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"tokens": ["cat", " "]}, "tokens has ' '; visible characters are wanted"),
        ({"tokens": ["cat", "s\0at"]}, "tokens has 's\\x00at'; visible characters are wanted"),
        (
            {"tokens": ["cat", "sat"]},
            "query has shape (1, 5, 11); a row for each of the 2 tokens is wanted",
        ),
        (
            {"query": np.ones((2, 3, 5, 11))},
            "query has shape (2, 3, 5, 11); a row for each of the 5 tokens is wanted",
        ),
        ({"head_names": ["a", "b"]}, "head_names has 2 names for 1 heads; one a head is wanted"),
        (
            {"key": np.ones((5, 13))},
            "query has shape (1, 5, 11) but key has (1, 5, 13); they must match",
        ),
        (
            {"query": np.ones((3, 5, 11)), "head_names": ["a", "b", "c"]},
            "query has shape (3, 5, 11) but key has (1, 5, 11); they must match",
        ),
        ({"value": np.ones((3, 5, 13))}, "query has 1 heads but value has 3; they must match"),
        (
            {"query": np.full((5, 11), np.nan)},
            "query holds nan at index (0, 0); finite numbers are wanted",
        ),
        ({"focus": 5}, "focus is 5; an index from 0 to 4 is wanted"),
    ],
)
def test_parts_that_do_not_fit_are_refused(parts, sentence):
    with raises(ValueError, sentence):
        example(**parts)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"positions": np.ones((5, 2))}, "positions has shape (5, 2); (5, 17) is wanted"),
        ({"angles": np.ones((5, 22))}, "angles has shape (5, 22); (5, 11) is wanted"),
        (
            {"positions": np.full((5, 17), np.inf)},
            "positions holds inf at index (0, 0); finite numbers are wanted",
        ),
    ],
)
def test_what_belongs_to_places_has_a_row_for_each(rng, parts, sentence):
    with raises(ValueError, sentence):
        with_places(rng, **parts)


# Weights that a source draws

EVEN = np.full((1, QUERIES, QUERIES), 1 / QUERIES)


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (EVEN[0], f"target_weights has shape {EVEN[0].shape}; {EVEN.shape} is wanted"),
        (EVEN * 1.001, "target_weights has a row that does not sum to 1"),
        (np.eye(QUERIES)[None][:, [0] * QUERIES].swapaxes(1, 2), "target_weights has a row that"
         " does not sum to 1"),
        (EVEN * np.nan, "target_weights holds nan at index (0, 0, 0); finite numbers are wanted"),
    ],
)  # fmt: skip
def test_drawn_weights_are_a_row_a_token(target, sentence):
    with raises(ValueError, sentence):
        example(target_weights=target)
