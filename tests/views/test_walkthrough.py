"""A walkthrough shows every stage of every head once, in the order of the computation."""

import pytest

from mha import example_names, load_example, trace
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


@pytest.mark.parametrize("name", example_names())
def test_every_example(name):
    check(trace(load_example(name)))
