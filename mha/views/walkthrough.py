"""Everything about one run, in the order of the computation: a chapter's tables and figures."""

from collections.abc import Iterator

from mha.runs.record import Trace
from mha.views import figures, tables
from mha.views.figures import Figure
from mha.views.tables import Table


def walkthrough(run: Trace) -> Iterator[Table | Figure]:
    """Yield the tables and figures that work an example from its tokens to its output.

    Parameters
    ----------
    run : Trace

    Yields
    ------
    Table or Figure
        Inputs and matrices; query, key, value, scores, scaled scores, exponentials, weights,
        weighted values and output of each head; the weights as heatmaps; the concatenation, the
        output and each head's share of it, where there is an output projection; entropy and, for
        several heads, how far apart they are.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> steps = list(walkthrough(trace(load_example("the-cat-sat"))))
    >>> steps[0].caption, steps[-1].caption[:11]
    ('Embeddings', 'How far apa')
    """
    heads = range(run.num_heads)
    if run.embeddings is not None:
        yield tables.stage_table(run, "embeddings")
        yield figures.vector_bars(run.embeddings, rows=run.tokens, symbol="x")
        yield from (
            tables.stage_table(run, matrix, head=head)
            for head in heads
            for matrix in ("w_q", "w_k", "w_v")
        )
        yield figures.lanes(run)
    for stage in ("query", "key", "value", "scores", "scaled_scores", "exponentials", "weights"):
        yield from (tables.stage_table(run, stage, head=head) for head in heads)
    yield figures.weight_maps(run)
    yield from (tables.weighted_values_table(run, head=head) for head in heads)
    yield from (tables.stage_table(run, "head_outputs", head=head) for head in heads)
    if run.num_heads > 1:
        yield figures.concat_strips(run)
        yield tables.stage_table(run, "concat")
    if run.output is not None:
        yield tables.stage_table(run, "w_o")
        yield tables.stage_table(run, "output")
        yield figures.output_shares(run)
        yield from (tables.contribution_table(run, token) for token in range(len(run.tokens)))
    yield tables.entropy_table(run)
    if run.num_heads > 1:
        yield tables.disagreement_table(run)
