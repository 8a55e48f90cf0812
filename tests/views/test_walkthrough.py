"""A walkthrough shows every stage of every head once, in the order of the computation."""

import pytest

from mha import example_names, load_example, trace
from mha.runs.stages import STAGES
from mha.views import figures, tables
from mha.views.walkthrough import walkthrough


def stages_of(run):
    """Return how the tables of a run's stages and matrices are called, in order."""
    for name, kind in STAGES.items():
        # Shares have a table a token; of one head the concatenation is its own output.
        elsewhere = name == "head_contributions" or (name == "concat" and run.num_heads == 1)
        if kind.array(run) is None or "column" not in kind.axes or elsewhere:
            continue
        heads = range(run.num_heads) if kind.per_head else ()
        yield from [f"{name}.{head}" for head in heads] or [name]


@pytest.mark.parametrize("name", example_names())
def test_every_example(name):
    run = trace(load_example(name))
    steps = list(walkthrough(run))
    tabled = [step for step in steps if isinstance(step, tables.Table)]
    shown = [table.at.removeprefix(f"{name} ") for table in tabled if table.at]
    assert sorted(shown) == sorted(stages_of(run))
    in_order = [stage for stage in stages_of(run) if not stage.startswith("w_")]
    assert [stage for stage in shown if not stage.startswith("w_")] == in_order
    for head in range(run.num_heads):
        assert tables.weighted_values_table(run, head=head) in tabled
    assert tables.entropy_table(run) in tabled
    assert figures.weight_maps(run) in steps
    if run.embeddings is not None:
        assert figures.lanes(run) in steps
    if run.num_heads > 1:
        assert tables.disagreement_table(run) in tabled
        assert figures.concat_strips(run) in steps
    if run.output is not None:
        assert figures.output_shares(run) in steps
        for token in range(len(run.tokens)):
            assert tables.contribution_table(run, token) in tabled
