"""The registry of stages: the arrays of a run, each with its name, title, symbol and axes.

Two stages have no array: `root`, the root of d_k, and `percentages`, the weights in another unit.
Two arrays of a run are no stages: `mask` and `shifts`, which have no table of their own. Lines of
arithmetic show them as terms of scaled scores and of exponents.

Tables read the labels of their columns here, addresses the order of their indices, and figures
whether each head has an array of its own. The browser reads the same registry as JSON.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from types import MappingProxyType
from typing import Any, Literal, get_args

from mha.core.checks import Array
from mha.core.multihead import BIASES as _BIASES
from mha.core.transformer import Block
from mha.runs.record import Trace
from mha.runs.running_softmax import RUNNING_STAGES as _RUNNING_STAGES
from mha.runs.worked_example import WorkedExample

__all__ = ["AXES", "OF_WORDS", "STAGES", "Stage", "as_data", "stage", "stage_array"]

Axis = Literal["head", "row", "column"]
Columns = Literal["keys", "dimensions", "words", ""]

AXES: tuple[Axis, ...] = get_args(Axis)

NORM_STAGES = ("query_spreads", "normed_query", "key_spreads", "normed_key")
"""Stages that a run has only if the layer normalises queries and keys."""

OF_WORDS = ("unembedding", "logits", "word_exponentials", "word_sums", "probabilities")
"""Stages that a run has only if its example has a vocabulary."""

_CONCATENATED = "num_heads · d_v"
"""The length of an axis along which the heads are concatenated."""


@dataclass(frozen=True)
class Stage:
    """One array of a run, or the root of d_k, or an array in another unit.

    Parameters
    ----------
    name : str
        Name of the array in the trace, or of a parameter of its example.
    title : str
        Title of a table of the array.
    symbol : str
        The letter of a component, or of one number: "q", "s", "α".
    axes : tuple of str
        "head", "row" and "column", as the array has them.
    sizes : tuple of str
        Length of each axis: "n" for the number of tokens, "num_heads", "d_model", "d_k", "d_v",
        "d_out", "d_ff" for hidden units, "d_k / 2" for angles, "blocks" for the number of blocks
        in which a running softmax reads the keys, "num_words" for the vocabulary, or a product:
        "num_heads · d_v" of concatenated heads, "blocks · d_v" of a running softmax.
    columns : str, default "dimensions"
        "keys" where a column is a key's token, "dimensions" where it is a component, "words" where
        it is a word of the vocabulary, else empty.
    rows : str, default "tokens"
        Meaning of a row: "tokens", one per token; "places", one per position of the sequence,
        whatever its token; "once", one for all tokens; for a matrix "x", "z" or "h", the letter of
        the components of the vector that it multiplies; or empty for a number without rows.
    converted_from : str, default ""
        The stage whose numbers this one shows in another unit; it has no array of its own.
    caption_suffix : str, default ""
        The words that follow the title in a caption.
    marked : bool, default False
        Whether a table marks the largest number of each row.
    in_block : bool, default False
        Whether the stage belongs to the transformer block around the attention layer.

    Examples
    --------
    >>> STAGES["scores"].axes, STAGES["scores"].columns
    (('head', 'row', 'column'), 'keys')
    """

    name: str
    title: str
    symbol: str
    axes: tuple[Axis, ...]
    sizes: tuple[str, ...]
    columns: Columns = "dimensions"
    rows: str = "tokens"
    converted_from: str = ""
    caption_suffix: str = ""
    marked: bool = False
    in_block: bool = False

    @property
    def caption(self) -> str:
        """The caption of a table of this stage alone."""
        return self.title + self.caption_suffix

    @property
    def per_head(self) -> bool:
        """Whether each head has its own array."""
        return "head" in self.axes

    @property
    def by_key(self) -> bool:
        """Whether the columns are the tokens of the keys."""
        return self.columns == "keys"

    @property
    def is_parameter(self) -> bool:
        """Whether it is a matrix of the layer or the block, or a row of gains or biases."""
        return self.rows not in ("tokens", "places", "")

    @property
    def concatenated_axis(self) -> Axis | None:
        """The axis along which the heads are concatenated, or None."""
        sizes = zip(self.axes, self.sizes, strict=True)
        return next((axis for axis, size in sizes if size == _CONCATENATED), None)

    @property
    def is_extension(self) -> bool:
        """Whether it is a bias, or of a block, a running softmax, a vocabulary or a query-key norm.

        Explorers omit these stages, except those of a block, which a script of their own shows.
        Stages of positions, rotation and the output projection are no extensions, although not
        every run has them.
        """
        return self.in_block or self.name in (*_RUNNING_STAGES, *OF_WORDS, *_BIASES, *NORM_STAGES)

    @property
    def has_map(self) -> bool:
        """Whether heatmaps show it: its columns are keys, and every run has its array."""
        return self.by_key and not (self.converted_from or self.is_extension)

    @property
    def is_per_position(self) -> bool:
        """Whether a row depends on its position in the sequence alone, not on the token there."""
        return self.rows == "places"

    def array(self, run: Trace) -> Array | None:
        """Return the array of this stage of a run, or None if the run has none.

        Parameters
        ----------
        run : Trace

        Returns
        -------
        ndarray or None

        Examples
        --------
        >>> from mha import load_example, trace
        >>> STAGES["w_o"].array(trace(load_example("cat-sat"))) is None
        True
        """
        if self.is_parameter:
            return _learned(run.example, self)
        if self.converted_from or not self.axes:
            return None
        array: Array | None = getattr(run, self.name)
        return array


def _learned(example: WorkedExample, stage: Stage) -> Array | None:
    """Return a parameter of an example's layer or block, or None if it has or uses none."""
    if stage.in_block:
        return None if example.block is None else _learned_in_block(example.block, stage.name)
    holder = example if stage.name == "unembedding" else example.layer
    found: Array | None = getattr(holder, stage.name, None)
    return found


def _learned_in_block(block: Block, name: str) -> Array | None:
    """Return a parameter of a block's norms or feed-forward layer, or None if it uses none."""
    found: Array | None
    which, _, attribute = name.partition("_")
    if which in ("first", "second"):  # such as first_gain, the gain of the first norm
        is_used = block.norm != "nowhere" and (which == "first" or block.feed_forward is not None)
        found = getattr(getattr(block, which), attribute, None) if is_used else None
    else:
        found = getattr(block.feed_forward, name, None)
    return found


_HEAD_ROW_COLUMN: tuple[Axis, ...] = ("head", "row", "column")
_ROW_COLUMN: tuple[Axis, ...] = ("row", "column")
_HEAD_COLUMN: tuple[Axis, ...] = ("head", "column")
_SCORES_SUFFIX = ": each query times each key"
_EXPONENTIALS_SUFFIX = " of the scaled scores, and their row sums"
_CONCAT_SUFFIX = " of the heads' outputs"
_N_N = ("num_heads", "n", "n")
_N_K, _N_V = ("num_heads", "n", "d_k"), ("num_heads", "n", "d_v")
_INTO_K, _INTO_V = ("num_heads", "d_model", "d_k"), ("num_heads", "d_model", "d_v")

_N_MODEL = ("n", "d_model")

_N_FF = ("n", "d_ff")
_N_WORDS = ("n", "num_words")
_N_BLOCKS = ("num_heads", "n", "blocks")
_N_MIXED = ("num_heads", "n", "blocks · d_v")


def _block_stage(
    name: str, title: str, symbol: str, sizes: tuple[str, ...], rows: str = "tokens"
) -> Stage:
    """Return a stage of the block around the layer; one size means one number per token."""
    columns: Columns = "dimensions" if len(sizes) > 1 else ""
    return Stage(
        name, title, symbol, _ROW_COLUMN[: len(sizes)], sizes, columns, rows, in_block=True
    )


def _norm_stages(prefix: str, noun: str) -> tuple[Stage, ...]:
    """Return the stages of one normalisation."""
    return (
        _block_stage(f"{prefix}_means", f"Means of the {noun}", "μ", ("n",)),
        _block_stage(f"{prefix}_spreads", f"Standard deviations of the {noun}", "σ", ("n",)),
        _block_stage(f"{prefix}_normed", f"Normalised {noun}", "x", _N_MODEL),
    )


def _learned_row(name: str, title: str, symbol: str, size: str) -> Stage:
    """Return the stage of a learned row: a gain or a bias per column."""
    return Stage(name, title, symbol, ("column",), (size,), rows="once", in_block=True)


def _gain_and_bias_stages(which: str) -> tuple[Stage, ...]:
    """Return the stages of the gain and the bias of one normalisation."""
    return (
        _learned_row(f"{which}_gain", f"Gain of the {which} normalisation", "g", "d_model"),
        _learned_row(f"{which}_bias", f"Bias of the {which} normalisation", "b", "d_model"),
    )


def _rms_norm_stages(name: str, title: str, symbol: str) -> tuple[Stage, ...]:
    """Return the stages of the RMS norm of queries or keys."""
    noun = title.lower()
    return (
        Stage(f"{name}_spreads", f"Root mean squares of the {noun}", "σ", ("head", "row"),
              ("num_heads", "n"), ""),
        Stage(f"normed_{name}", f"Normalised {noun}", symbol, _HEAD_ROW_COLUMN, _N_K),
    )  # fmt: skip


_IN_ORDER = (
    Stage("embeddings", "Embeddings", "x", _ROW_COLUMN, _N_MODEL),
    Stage("positions", "Positions", "p", _ROW_COLUMN, _N_MODEL, rows="places"),
    Stage("placed", "Embeddings with their positions", "x", _ROW_COLUMN, _N_MODEL),
    *_gain_and_bias_stages("first"),
    *_norm_stages("start", "stream before attention"),
    Stage("w_q", "Query projection", "q", _HEAD_ROW_COLUMN, _INTO_K, rows="x"),
    Stage("w_k", "Key projection", "k", _HEAD_ROW_COLUMN, _INTO_K, rows="x"),
    Stage("w_v", "Value projection", "v", _HEAD_ROW_COLUMN, _INTO_V, rows="x"),
    Stage("b_q", "Query bias", "b", _HEAD_COLUMN, ("num_heads", "d_k"), rows="once"),
    Stage("b_k", "Key bias", "b", _HEAD_COLUMN, ("num_heads", "d_k"), rows="once"),
    Stage("b_v", "Value bias", "b", _HEAD_COLUMN, ("num_heads", "d_v"), rows="once"),
    Stage("query", "Queries", "q", _HEAD_ROW_COLUMN, _N_K),
    Stage("key", "Keys", "k", _HEAD_ROW_COLUMN, _N_K),
    *_rms_norm_stages("query", "Queries", "q"),
    *_rms_norm_stages("key", "Keys", "k"),
    Stage("angles", "Angles", "θ", _ROW_COLUMN, ("n", "d_k / 2"), rows="places"),
    Stage("turned_query", "Rotated queries", "q′", _HEAD_ROW_COLUMN, _N_K),
    Stage("turned_key", "Rotated keys", "k′", _HEAD_ROW_COLUMN, _N_K),
    Stage("value", "Values", "v", _HEAD_ROW_COLUMN, _N_V),
    Stage(
        "scores",
        "Scores",
        "s",
        _HEAD_ROW_COLUMN,
        _N_N,
        "keys",
        caption_suffix=_SCORES_SUFFIX,
        marked=True,
    ),
    Stage("root", "Root of d_k", "√d_k", (), (), "", rows=""),
    Stage("scaled_scores", "Scaled scores", "s′", _HEAD_ROW_COLUMN, _N_N, "keys", marked=True),
    Stage(
        "exponentials",
        "Exponentials",
        "e",
        _HEAD_ROW_COLUMN,
        _N_N,
        "keys",
        caption_suffix=_EXPONENTIALS_SUFFIX,
    ),
    Stage("row_sums", "Row sums", "Σ", ("head", "row"), ("num_heads", "n"), ""),
    Stage("weights", "Attention weights", "α", _HEAD_ROW_COLUMN, _N_N, "keys", marked=True),
    Stage(
        "percentages",
        "Weights in percent",
        "α",
        _HEAD_ROW_COLUMN,
        _N_N,
        "keys",
        converted_from="weights",
    ),
    Stage(
        "head_outputs",
        "Output",
        "z",
        _HEAD_ROW_COLUMN,
        _N_V,
        caption_suffix=": values mixed by the weights",
    ),
    Stage("running_largest", "Largest score so far", "m", _HEAD_ROW_COLUMN, _N_BLOCKS),
    Stage("running_factors", "Factor for the earlier sums", "c", _HEAD_ROW_COLUMN, _N_BLOCKS),
    Stage(
        "running_exponentials",
        "Exponentials below the largest",
        "e",
        _HEAD_ROW_COLUMN,
        _N_N,
        "keys",
    ),
    Stage("running_sums", "Sum so far", "ℓ", _HEAD_ROW_COLUMN, _N_BLOCKS),
    Stage("running_mixtures", "Mixture so far", "o", _HEAD_ROW_COLUMN, _N_MIXED),
    Stage("running_outputs", "Output so far", "z", _HEAD_ROW_COLUMN, _N_MIXED),
    Stage(
        "concat",
        "Concatenation",
        "z",
        _ROW_COLUMN,
        ("n", _CONCATENATED),
        caption_suffix=_CONCAT_SUFFIX,
    ),
    Stage("w_o", "Output projection", "y", _ROW_COLUMN, (_CONCATENATED, "d_out"), rows="z"),
    Stage("b_o", "Output bias", "b", ("column",), ("d_out",), rows="once"),
    Stage(
        "head_contributions",
        "Share of the output",
        "y",
        _HEAD_ROW_COLUMN,
        ("num_heads", "n", "d_out"),
    ),
    Stage(
        "output",
        "Output",
        "y",
        _ROW_COLUMN,
        ("n", "d_out"),
        caption_suffix=" after the output projection",
    ),
    _block_stage("stream", "Stream after attention", "x", _N_MODEL),
    *_gain_and_bias_stages("second"),
    *_norm_stages("stream", "stream after attention"),
    _block_stage("w_in", "First matrix of the feed-forward layer", "h", ("d_model", "d_ff"), "x"),
    _learned_row("b_in", "First bias of the feed-forward layer", "b", "d_ff"),
    _block_stage("hidden", "Pre-activations", "h", _N_FF),
    _block_stage("active", "Activations", "h", _N_FF),
    _block_stage("w_out", "Second matrix of the feed-forward layer", "f", ("d_ff", "d_model"), "h"),
    _learned_row("b_out", "Second bias of the feed-forward layer", "b", "d_model"),
    _block_stage("fed", "Output of the feed-forward layer", "f", _N_MODEL),
    _block_stage("total", "Stream after the block", "x", _N_MODEL),
    *_norm_stages("total", "stream after the block"),
    Stage(
        "unembedding", "Unembedding", "ℓ", _ROW_COLUMN, ("d_model", "num_words"), "words", rows="x"
    ),
    Stage("logits", "Logits", "ℓ", _ROW_COLUMN, _N_WORDS, "words"),
    Stage("word_exponentials", "Exponentials of the logits", "e", _ROW_COLUMN, _N_WORDS, "words"),
    Stage("word_sums", "Sums of the logits' exponentials", "Σ", ("row",), ("n",), ""),
    Stage("probabilities", "Probabilities of the next word", "p", _ROW_COLUMN, _N_WORDS, "words"),
)

STAGES = MappingProxyType({stage.name: stage for stage in _IN_ORDER})
"""Every stage by its name, in the order of the computation."""


def stage(name: str) -> Stage:
    """Return a stage by its name.

    Parameters
    ----------
    name : str

    Returns
    -------
    Stage

    Raises
    ------
    ValueError
        If there is no such stage.

    Examples
    --------
    >>> stage("row_sums").axes
    ('head', 'row')
    """
    if not isinstance(name, str) or name not in STAGES:
        raise ValueError(f"stage is {name!r}; one of {', '.join(STAGES)} is wanted")
    return STAGES[name]


def stage_array(run: Trace, name: str) -> Array:
    """Return one stage of a run.

    Parameters
    ----------
    run : Trace
    name : str

    Returns
    -------
    ndarray
        With the axes that the registry gives.

    Raises
    ------
    ValueError
        If there is no such stage, or the run does not have it.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> stage_array(trace(load_example("cat-sat")), "scores").shape
    (1, 2, 2)
    """
    array = stage(name).array(run)
    if array is None:
        raise ValueError(f"{run.example.name} has no {name}; another stage is wanted")
    return array


_DEFAULTS = {field.name: field.default for field in fields(Stage)}

_PYTHON_ONLY = ("name", "title", "sizes", "caption_suffix", "marked", "in_block")
"""The fields that the browser does not need. The name is left to the key of the entry."""


def as_data(*, in_block: bool = False, of_words: bool = False) -> dict[str, dict[str, Any]]:
    """Return the registry as plain data for the browser.

    Fields that only Python reads, and fields with their default value, are omitted.

    Parameters
    ----------
    in_block : bool, default False
        Return the stages that a transformer block adds, instead of those of every run.
    of_words : bool, default False
        Return the stages that a vocabulary adds, instead of those of every run.

    Examples
    --------
    >>> as_data()["row_sums"]["axes"], "hidden" in as_data(), "hidden" in as_data(in_block=True)
    (('head', 'row'), False, True)
    """
    return {
        name: {
            key: value
            for key, value in asdict(stage).items()
            if key not in _PYTHON_ONLY and value != _DEFAULTS[key]
        }
        | ({"joined": stage.concatenated_axis} if stage.concatenated_axis else {})
        for name, stage in STAGES.items()
        if (
            name in OF_WORDS if of_words else stage.in_block if in_block else not stage.is_extension
        )
    }
