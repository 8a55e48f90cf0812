"""The top level of `mha` loads a name on first use, and knows the new place of moved names."""

import subprocess
import sys
import warnings

import pytest
from book_site import ROOT

import mha
from mha import public_names
from mha.moved_names import MOVED

NAMES_OF_0_1 = [
    "Arithmetic", "AttentionGradients", "AttentionLayer", "Block", "EightBits", "FeedForward",
    "KeyValueCache", "LanguageModel", "LatentLayer", "LatentRun", "LatentWeights", "LayerSizes",
    "LogitShares", "ModelSizes", "MultiHeadGradients", "MultiHeadWeights", "Norm", "Operand",
    "Origin", "PatternFit", "Place", "Reading", "RecordedMaps", "RunningSoftmax", "SeedRuns",
    "Trace", "TrainedModel", "Training", "TransformerGradients", "WorkedExample", "Written",
    "answer_scores", "arithmetic", "ask_cache", "at_least", "at_least_percent", "at_most",
    "at_most_percent", "attention_scores", "attention_weights", "blockwise_attention",
    "capped_scores", "causal_mask", "centred_log", "chain", "cross_entropy", "decode_step",
    "differential_weights", "dimensions", "draw_example", "draw_layer", "encoder_decoder",
    "entropy", "examine", "examine_decoding", "examine_layer", "examine_positions", "example_names",
    "explorer", "feed_forward", "figures", "fit_patterns", "gated", "halves_to_pairs",
    "interpolated_speeds", "latent_attention", "layer_from_arrays", "layer_gradients", "layer_norm",
    "layer_sizes", "layer_to_arrays", "linear_attention", "linear_biases", "linear_recurrence",
    "linear_slopes", "llama3_speeds", "load_example", "load_model", "logit_shares", "merge_heads",
    "multi_head_attention", "multi_head_attention_backward", "online_softmax", "origin",
    "over_seeds", "padded_places", "padding_mask", "pairs_to_halves", "pattern_projections",
    "percent", "read_layer", "recorded_head", "recorded_heads", "recorded_maps",
    "recorded_sentences", "rotary_angles", "rotary_speeds", "rotate", "rotate_by",
    "scaled_dot_product_attention", "scaled_dot_product_attention_backward", "short", "shown",
    "sinusoidal_positions", "sliding_window_mask", "softmax", "softmax_backward",
    "softmax_jacobian", "softmax_with_sink", "split_heads", "stages", "tables", "to_bfloat16",
    "top_blocks_mask", "top_keys_mask", "total_variation", "trace", "trace_blocks", "trace_layer",
    "trace_text", "train_layer", "transformer", "transformer_backward", "wider_base",
    "with_swapped_tokens", "without_head", "without_scale", "yarn_sharpness", "yarn_speeds",
]  # fmt: skip

MATHEMATICS = {
    "mha", "mha.version", "mha.core", "mha.core.attention", "mha.core.checks",
    "mha.core.option_checks", "mha.core.masks", "mha.core.softmax",
}  # fmt: skip


def run_in_new_process(code):
    """Return the output of a program in a new process, in which warnings are errors."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def modules_loaded_by(statement):
    """Return the modules that a statement loads in a new process."""
    return set(run_in_new_process(f"{statement}\nimport sys\nprint(*sys.modules)").split())


def package_modules(modules):
    return {name for name in modules if name.split(".")[0] == "mha"}


def folders(modules):
    return {name.split(".")[1] for name in modules if name.startswith("mha.")}


def test_the_top_level_alone_loads_nothing():
    modules = modules_loaded_by("import mha")
    assert package_modules(modules) == {"mha", "mha.version"}
    assert "numpy" not in modules


def test_a_name_loads_its_module_and_those_below():
    assert package_modules(modules_loaded_by("import mha; mha.attention_weights")) == MATHEMATICS
    modules = modules_loaded_by("from mha import load_example, trace")
    assert folders(modules) == {"core", "examples", "runs", "version"}
    modules = modules_loaded_by("from mha import examine")
    assert folders(modules) == {
        "core",
        "examine",
        "layouts",
        "practice",
        "runs",
        "version",
        "views",
    }


@pytest.mark.parametrize(
    "statement",
    [
        "import mha",
        "from mha import examine",
        "import mha.examine",
        "from mha.examine import Report",
        "import mha.examine.report",
    ],
)
def test_examine_is_the_function_whatever_was_imported_before(statement):
    asked = "import sys, mha, mha.examine as again\nfrom mha import examine as named"
    same = "mha.examine is again is named is sys.modules['mha.examine'].examine"
    assert (
        run_in_new_process(f"{statement}\n{asked}\nprint({same}, callable(mha.examine))")
        == "True True\n"
    )


def test_every_public_name_of_the_first_version_is_there():
    assert len(NAMES_OF_0_1) == len(set(NAMES_OF_0_1)) == 129
    assert set(NAMES_OF_0_1) <= {*mha.__all__, *MOVED} <= set(public_names.__all__)
    assert not set(mha.__all__) & set(MOVED)
    assert len(set(public_names.__all__)) == len(public_names.__all__)
    assert 30 < len(mha.__all__) < 45


@pytest.mark.parametrize("name", NAMES_OF_0_1)
def test_a_name_of_the_first_version_works_and_says_where_it_is(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        thing = getattr(mha, name)
    assert thing is getattr(public_names, name)
    if name in mha.__all__:
        assert caught == []
        return
    (warning,) = caught
    assert warning.category is DeprecationWarning
    assert warning.filename == __file__
    line = f"from {MOVED[name]} import {name}"
    assert f"mha.{name} has moved: write '{line}'" in str(warning.message)
    found = {}
    exec(line, found)
    assert found[name] is thing


def test_the_warning_of_an_import_is_at_its_line():
    code = compile("\n\nfrom mha import entropy", "a_program.py", "exec")
    with pytest.warns(DeprecationWarning, match=r"from mha\.core\.distributions import") as caught:
        exec(code, {})
    assert {(warning.filename, warning.lineno) for warning in caught} == {("a_program.py", 3)}


def test_a_star_and_a_listing_give_the_public_names_and_nothing_that_moved():
    assert dir(mha) == sorted([*mha.__all__, "__version__"])
    found = {}
    exec("from mha import *", found)
    assert found.keys() - {"__builtins__"} == set(mha.__all__)


def test_what_type_checkers_read_is_what_there_is():
    found = {}
    exec((ROOT / "mha" / "__init__.pyi").read_text(encoding="utf-8"), found)
    there = {name: thing for name, thing in found.items() if not name.startswith("__")}
    assert there == {name: getattr(mha, name) for name in mha.__all__}
    assert found["__version__"] == mha.__version__
