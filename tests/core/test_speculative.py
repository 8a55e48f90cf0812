"""Speculative decoding keeps the target's probabilities; pages hold a common beginning once."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from helpers import raises
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mha import softmax
from mha.core.distributions import total_variation
from mha.core.pages import page_tables, pages_needed
from mha.core.speculative import (
    accept_drafts,
    acceptance_probabilities,
    residual_distribution,
    words_per_pass,
)

SHARES = st.lists(st.integers(0, 20), min_size=7, max_size=7).filter(any)


def written_by_hand(target, draft):
    """Return the probabilities of the written word, as exact fractions.

    Each way to write a word is followed by itself: it is proposed and kept, or another one is
    proposed and thrown away, and the word is drawn from what the draft gave too little of.
    """
    lacking = [max(p - q, Fraction(0)) for p, q in zip(target, draft, strict=True)]
    written = [Fraction(0)] * len(target)
    for word, (p, q) in enumerate(zip(target, draft, strict=True)):
        kept = min(Fraction(1), p / q) if q else Fraction(1)
        written[word] += q * kept
        for other, much in enumerate(lacking):
            written[other] += q * (1 - kept) * (much / sum(lacking) if any(lacking) else 0)
    return written


def as_fractions(shares):
    return [Fraction(share, sum(shares)) for share in shares]


@given(SHARES, SHARES)
def test_the_rule_is_the_one_by_hand_and_writes_words_with_the_target_s_probabilities(one, other):
    target, draft = as_fractions(one), as_fractions(other)
    assert written_by_hand(target, draft) == target  # exactly
    pairs = [*zip(target, draft, strict=True)]
    p, q = (np.array([*map(float, shares)]) for shares in (target, draft))
    accepted, residual = acceptance_probabilities(p, q), residual_distribution(p, q)
    wanted = [float(min(Fraction(1), p / q)) if q else 1.0 for p, q in pairs]
    np.testing.assert_allclose(accepted, wanted, rtol=1e-12)
    rejected = 1 - q @ accepted
    np.testing.assert_allclose(q * accepted + rejected * residual, p, atol=1e-14)
    assert residual.min() >= 0
    assert residual.sum() == pytest.approx(1, abs=1e-12)
    assert q @ accepted == pytest.approx(1 - total_variation(p, q), abs=1e-12)


@given(hnp.arrays(float, (2, 3, 5), elements=st.floats(-700, 700)))
def test_any_two_rows_of_a_softmax_give_the_target_s_row(scores):
    target, draft = softmax(scores)
    accepted, residual = (
        acceptance_probabilities(target, draft),
        residual_distribution(target, draft),
    )
    rejected = 1 - (draft * accepted).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(draft * accepted + rejected * residual, target, atol=1e-12)
    np.testing.assert_allclose(residual.sum(axis=-1), 1, atol=1e-12)


def test_equal_models_accept_every_word_and_disjoint_ones_none():
    p, q = np.array([0.5, 0.5, 0, 0]), np.array([0, 0, 0.25, 0.75])
    assert acceptance_probabilities(p, p).tolist() == [1, 1, 1, 1]
    assert residual_distribution(p, p).tolist() == p.tolist()
    assert acceptance_probabilities(p, q).tolist() == [1, 1, 0, 0]
    assert residual_distribution(p, q).tolist() == p.tolist()


TARGET = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]])
DRAFT = np.array([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]])


def chance_of(written):
    """Return the probability of the words of a pass, summed over the proposals that lead there."""
    total = 0.0
    for drafted in product(range(3), repeat=2):
        chance = DRAFT[0, drafted[0]] * DRAFT[1, drafted[1]]
        for i, word in enumerate(drafted):
            p, q = TARGET[i], DRAFT[i]
            keep, lacking = min(1, p[word] / q[word]), np.clip(p - q, 0, None)
            if len(written) == i + 1 and written[:i] == drafted[:i]:
                total += chance * (1 - keep) * lacking[written[i]] / lacking.sum()
            chance *= keep
        if len(written) == 3 and written[:2] == drafted:
            total += chance * TARGET[2, written[2]]
    return total


def test_the_words_of_many_passes_have_the_probabilities_of_all_proposals():
    rng = np.random.default_rng(11)
    runs, counted = 10_000, {}
    for _ in range(runs):
        drafted = [rng.choice(3, p=row) for row in DRAFT]
        written = tuple(accept_drafts(drafted, TARGET, DRAFT, rng).tolist())
        counted[written] = counted.get(written, 0) + 1
    outcomes = [w for n in (1, 2, 3) for w in product(range(3), repeat=n)]
    assert sum(map(chance_of, outcomes)) == pytest.approx(1)
    for written in outcomes:
        wanted = chance_of(written)
        allowed = 4.5 * np.sqrt(wanted * (1 - wanted) / runs)
        assert abs(counted.get(written, 0) / runs - wanted) <= allowed, written
    firsts = [sum(n for w, n in counted.items() if w[0] == word) / runs for word in range(3)]
    np.testing.assert_allclose(firsts, TARGET[0], atol=0.02)
    mean = sum(len(written) * n for written, n in counted.items()) / runs
    rates = 1 - total_variation(TARGET[:2], DRAFT)
    assert mean == pytest.approx(1 + rates[0] + rates[0] * rates[1], abs=0.03)


@given(st.fractions(0, 1, max_denominator=20), st.integers(1, 6))
def test_words_per_pass_are_the_mean_of_a_run_of_accepted_words(rate, drafted):
    # A pass writes k words if the first k - 1 are accepted and the next is not.
    mean = sum(k * rate ** (k - 1) * (1 - rate) for k in range(1, drafted + 1))
    mean += (drafted + 1) * rate**drafted
    assert words_per_pass(float(rate), drafted) == pytest.approx(float(mean))


def test_words_that_the_draft_cannot_propose_are_refused():
    rng = np.random.default_rng(1)
    rows = [[1.0, 0.0], [0.5, 0.5]]
    said = "to which draft gives the probability 0; a word that was drawn from draft is wanted"
    with raises(ValueError, f"drafted has the word 1 at position 0, {said}"):
        accept_drafts([1], rows, [[1.0, 0.0]], rng)
    with raises(ValueError, "drafted has numbers outside of 0 to 1"):
        accept_drafts([2], rows, [[1.0, 0.0]], rng)
    with raises(ValueError, "target has shape (2, 2); (3, 2) is wanted"):
        accept_drafts([0, 0], rows, rows, rng)
    with raises(ValueError, "draft has a row of zeros; rows that sum to 1 are wanted"):
        residual_distribution([0.5, 0.5], [0.0, 0.0])
    with raises(ValueError, "target has shape (2,) but draft has (1,); they must match"):
        acceptance_probabilities([0.5, 0.5], [1.0])
    with raises(ValueError, "acceptance_rate is 1.5; a number from 0 to 1 is wanted"):
        words_per_pass(1.5, 2)


@given(
    st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=12), min_size=1, max_size=5),
    st.integers(1, 5),
)
def test_pages_hold_each_prefix_once_and_each_open_page_alone(sequences, size):
    tables = page_tables(sequences, size)
    assert [len(table) for table in tables] == [pages_needed(len(s), size) for s in sequences]
    places = [
        (tuple(tokens[: (i + 1) * size]), (i + 1) * size <= len(tokens), page)
        for tokens, table in zip(sequences, tables, strict=True)
        for i, page in enumerate(table)
    ]
    for i, (prefix, is_full, page) in enumerate(places):
        for other, other_full, other_page in places[:i]:
            assert (page == other_page) == (is_full and other_full and prefix == other)
    assert {page for *_, page in places} == {*range(len({page for *_, page in places}))}


def test_sequences_without_tokens_and_strings_are_refused():
    for sequences in ([[]], ["the cat"], [[1.5]], [], "ab", [np.zeros((2, 2), int)]):
        with pytest.raises(TypeError, match=r"^sequences (has|is) .*is wanted$"):
            page_tables(sequences, 2)
    assert page_tables([np.array([4, 5, 6]), [4, 5]], 2) == ((0, 1), (0,))
