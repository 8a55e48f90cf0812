"""The bench of attention prints a whole table, with PyTorch and without."""

import re

import pytest

SMALL = ["--lengths", "16", "40", "--heads", "2", "--width", "8", "--repeat", "1", "--seconds", "1"]


@pytest.fixture
def bench_attention():
    import bench_attention

    return bench_attention


@pytest.mark.parametrize("load", [[], ["--busy"]])
def test_the_table_is_complete(bench_attention, capsys, monkeypatch, load):
    monkeypatch.setattr(bench_attention, "torch", None)
    monkeypatch.setattr(bench_attention, "fastest", lambda function: function() is None or 1e-3)
    bench_attention.main([*SMALL, *load, "--textbook-up-to", "20"])
    lines = capsys.readouterr().out.splitlines()
    assert ("kept busy" in "".join(lines)) == bool(load)
    (heading,) = (i for i, line in enumerate(lines) if "full/causal" in line)
    first, second = (line.split() for line in lines[heading + 1 : heading + 3])
    assert len(first) == len(second) == len(bench_attention.COLUMNS)
    assert first[0] == "16"
    assert first[2] == "-"  # no PyTorch
    assert first[8] != "-"
    assert second[8] == "-"  # longer than the textbook's way is tried
    assert re.search(r"together .* ns: \d+% of the peak", lines[-1])
