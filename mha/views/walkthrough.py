"""All tables and figures of one run, in the order of the computation."""

from collections.abc import Iterator

from mha.runs.record import Trace
from mha.views import figures, tables
from mha.views.figures import Figure
from mha.views.tables import Table

_OF_A_HEAD = ("query", "key", "value", "scores", "scaled_scores", "exponentials", "weights")


def walkthrough(run: Trace) -> Iterator[Table | Figure]:
    """Yield all tables and figures of a run, from tokens to output.

    Parameters
    ----------
    run : Trace

    Yields
    ------
    Table or Figure
        Inputs and matrices; query, key, value, scores, scaled scores, exponentials, weights,
        weighted values and output of each head; the weights as heatmaps; the concatenation; with an
        output projection the output and each head's share of it; the entropies, and for several
        heads their total variation.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> steps = list(walkthrough(trace(load_example("the-cat-sat"))))
    >>> steps[0].caption, steps[-1].caption[:11]
    ('Embeddings', 'How far apa')
    """
    if run.embeddings is not None:
        yield from _inputs(run)
    for stage in _OF_A_HEAD:
        yield from _each_head(run, stage)
    yield figures.weight_maps(run)
    for head in range(run.num_heads):
        yield tables.weighted_values_table(run, head=head)
    yield from _each_head(run, "head_outputs")
    yield from _combined_heads(run)
    yield tables.entropy_table(run)
    if run.num_heads > 1:
        yield tables.disagreement_table(run)


def _inputs(run: Trace) -> Iterator[Table | Figure]:
    """Yield the embeddings, the matrices of each head, and the lanes of the heads."""
    assert run.embeddings is not None
    yield tables.stage_table(run, "embeddings")
    yield figures.vector_bars(run.embeddings, rows=run.tokens, symbol="x")
    for head in range(run.num_heads):
        for matrix in ("w_q", "w_k", "w_v"):
            yield tables.stage_table(run, matrix, head=head)
    yield figures.lanes(run)


def _each_head(run: Trace, stage: str) -> Iterator[Table]:
    """Yield the tables of one stage for every head."""
    return (tables.stage_table(run, stage, head=head) for head in range(run.num_heads))


def _combined_heads(run: Trace) -> Iterator[Table | Figure]:
    """Yield the concatenation, the output and the heads' shares of it."""
    if run.num_heads > 1:
        yield figures.concat_strips(run)
        yield tables.stage_table(run, "concat")
    if run.output is not None:
        yield tables.stage_table(run, "w_o")
        yield tables.stage_table(run, "output")
        yield figures.output_shares(run)
        for token in range(len(run.tokens)):
            yield tables.contribution_table(run, token)
