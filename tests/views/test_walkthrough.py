"""A walkthrough shows every stage of every head once, in the order of the computation."""

import numpy as np
import pytest
from helpers import HEADS, MASK, QUERIES, projected

from mha import example_names, load_example, shown, trace
from mha.views.figures import Figure
from mha.views.tables import Table
from mha.views.walkthrough import walkthrough

# The starts of the captions and, for figures, of the alternative texts.
STAGES = {
    "query": "Queries",
    "key": "Keys",
    "value": "Values",
    "scores": "Scores: each query times each key",
    "scaled_scores": "Scaled scores",
    "exponentials": "Exponentials of the scaled scores, and their row sums",
    "weights": "Attention weights",
}


def words(step):
    """Return what a step says of itself."""
    return step.caption if isinstance(step, Table) else f"figure: {step.alt.split(':')[0]}"


def wanted(run):
    """Return the captions of a run's walkthrough, figures by the first words of their text."""
    heads = [
        f", {name}".replace(" ", "\N{NBSP}").replace(",\N{NBSP}", ", ") if run.num_heads > 1 else ""
        for name in run.head_names
    ]
    if run.embeddings is not None:
        yield "Embeddings"
        yield "figure: Bars, a panel a token. "
        for head in heads:
            yield from (f"{word} projection{head}" for word in ("Query", "Key", "Value"))
        yield "figure: One input of shape"
    for caption in STAGES.values():
        yield from (caption + head for head in heads)
    yield "figure: Weights as a heatmap"
    yield from ("Weighted values, and each query's sum" + head for head in heads)
    yield from ("Output: values mixed by the weights" + head for head in heads)
    if run.num_heads > 1:
        yield "figure: A strip of"
        yield "Concatenation of the heads' outputs"
    if run.output is not None:
        yield "Output projection"
        yield "Output after the output projection"
        yield "figure: Bars, a panel a token"
        yield from (f"Each head's share of the output for *{token}*" for token in run.tokens)
    yield "Entropy of each query's weights"
    if run.num_heads > 1:
        yield "How far apart the heads are: the share of the weight that would have to move"


def check(run):
    steps, expected = list(walkthrough(run)), list(wanted(run))
    assert len(steps) == len(expected)
    for step, text in zip(steps, expected, strict=True):
        if isinstance(step, Figure):
            assert f"figure: {step.alt}".startswith(text)
        else:
            assert step.caption == text
    tables = [step for step in steps if isinstance(step, Table)]
    assert len({table.caption for table in tables}) == len(tables)
    return steps


def figures_in(steps):
    """Return how many of a walkthrough's steps are figures."""
    return sum(isinstance(step, Figure) for step in steps)


@pytest.mark.parametrize("name", example_names())
def test_every_example(name):
    steps = check(trace(load_example(name)))
    assert figures_in(steps) == sum(isinstance(step, Figure) for step in steps)


@pytest.mark.parametrize("name", ["cat-sat", "cat-sat-on-it-wide", "the-cat-sat-end"])
def test_every_head_s_own_numbers(name):
    run = trace(load_example(name))
    tables = {step.caption: step for step in walkthrough(run) if isinstance(step, Table)}
    for stage, caption in STAGES.items():
        for head, head_name in enumerate(run.head_names):
            end = ", " + head_name.replace(" ", "\N{NBSP}") if run.num_heads > 1 else ""
            array = getattr(run, stage)[head]
            rows = tables[caption + end].rows
            for row, numbers in zip(rows, array, strict=True):
                printed = [float(text.replace("−", "-")) for text in row[1 : len(numbers) + 1]]
                np.testing.assert_allclose(printed, numbers, rtol=0, atol=0.5001e-4)


@pytest.mark.parametrize("masks", [{"is_causal": True}, {"mask": MASK}])
def test_masks(rng, masks):
    run = trace(projected(rng, **masks))
    steps = {words(step): step for step in check(run)}
    for head in range(HEADS):
        end = f", Head\N{NBSP}{head + 1}"
        scaled, weights = steps["Scaled scores" + end], steps["Attention weights" + end]
        for i, j in np.ndindex(QUERIES, QUERIES):
            masked = np.isneginf(run.scaled_scores[head, i, j])
            assert (scaled.rows[i][j + 1] == "−∞") == masked
            assert weights.rows[i][j + 1] == shown(run.weights[head, i, j])
