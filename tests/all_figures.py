"""One figure of every kind, for the tests of saved figures and of figures on pages."""

from dataclasses import replace

import numpy as np

from mha import load_example, trace
from mha.core.seeds import SeedRuns
from mha.views.figures import (
    concat_strips,
    curves,
    heatmaps,
    lanes,
    layout_blocks,
    mixing_maps,
    of_seeds,
    output_shares,
    query_strip,
    small_maps,
    softmax_bars,
    stacked_counts,
    three_attentions,
    transformer_map,
    turned,
    vector_bars,
    weight_maps,
)

RUN = trace(load_example("the-cat-sat"))
SQUARES = {"square": [1.0, 4.0, 9.0], "cube": [1.0, 8.0, 27.0]}
RUNS = [SeedRuns(np.array([1.0, 2.0, 3.0])), SeedRuns(np.array([7.0, 5.0, 5.0]))]
FIGURES = {
    "weight_maps": lambda: weight_maps(RUN),
    "heatmaps": lambda: heatmaps([[[0.5, -np.inf]]], rows="a", columns="xy", alt="Two: 0.5, −∞"),
    "vector_bars": lambda: vector_bars(RUN.embeddings, rows=RUN.tokens, symbol="x"),
    "lanes": lambda: lanes(RUN),
    "layout_blocks": lambda: layout_blocks("Llama", num_heads=4, num_groups=2),
    "concat_strips": lambda: concat_strips(RUN),
    "output_shares": lambda: output_shares(RUN),
    "mixing_maps": lambda: mixing_maps(RUN),
    "stacked_counts": lambda: stacked_counts(["a", "b"], {"x": [5, 30], "y": [7, 0]}),
    "query_strip": lambda: query_strip(RUN, 0),
    "query_strip_of_four": lambda: query_strip(trace(load_example("cat-sat")), 0, component=1),
    "transformer_map": lambda: transformer_map(),
    "transformer_map_of_three": lambda: transformer_map("position", "query and key", "scores"),
    "turned": lambda: turned({"here": trace(replace(load_example("cat-sat"), angles=np.eye(2)))}),
    "small_maps": lambda: small_maps([RUN.weights] * 2, marked=[(1, 2)]),
    "three_attentions": lambda: three_attentions(
        np.eye(2),
        np.eye(3),
        np.ones((3, 2)) / 2,
        source="ab",
        target="xyz",
        written="yzx",
        alt="Three: 1.00, 0.50",
    ),
    "softmax_bars": lambda: softmax_bars(RUN.weights[0], RUN.tokens, ["width 4", "64", "512"]),
    "curves": lambda: curves([1, 2, 3], SQUARES, xlabel="x", ylabel="y", alt="To 9, and to 27"),
    "of_seeds": lambda: of_seeds([1, 2], RUNS, xlabel="x", ylabel="y", alt="Two medians, 2 and 5"),
}
