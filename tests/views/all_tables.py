"""The tables that a run has, for tests of what they say and of how they are shown."""

from mha.core.seeds import SeedRuns
from mha.runs.stages import STAGES
from mha.views import tables


def cells(table):
    """Return the texts of a table's rows without their labels."""
    return [row[1:] for row in table.rows]


def labels(table):
    """Return what stands before each row."""
    return tuple(row[0] for row in table.rows)


def stages(run):
    """Return each stage and head that a run has a table of, with the array."""
    for name, kind in STAGES.items():
        array = kind.array(run)
        if array is None or "column" not in kind.axes:
            continue
        if kind.per_head:
            yield from ((name, head, array[head]) for head in range(run.num_heads))
        else:
            yield name, 0, array


def all_tables(run):
    """Return a table of every kind that fits the run."""
    yield from (tables.stage_table(run, stage, head=head) for stage, head, _ in stages(run))
    yield from (tables.mixing_table(run, token) for token in range(len(run.tokens)))
    yield tables.weighted_values_table(run)
    yield tables.entropy_table(run)
    yield tables.strongest_table(run)
    yield tables.disagreement_table(run)
    yield tables.shape_table(run)
    yield tables.seeds_table({"a": SeedRuns(run.weights[0, :, 0])}, caption="Runs", corner="Of")
    if run.output is not None:
        yield from (tables.contribution_table(run, token) for token in range(len(run.tokens)))
