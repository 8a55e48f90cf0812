"""The one registry of stages: every array of a run, its name, title, symbol and axes.

What a table calls its columns, which numbers belong to a head, where an address has which index:
all of it is read from here, in Python and, as JSON, in the browser.
"""

from dataclasses import asdict, dataclass, fields
from types import MappingProxyType
from typing import Any, Literal, get_args

from mha.core.checks import Array
from mha.core.multihead import BIASES as _BIASES
from mha.runs.record import Trace
from mha.runs.running_softmax import RUNNING as _RUNNING
from mha.runs.worked_example import WorkedExample

__all__ = ["AXES", "OF_WORDS", "STAGES", "Stage", "as_data", "stage", "stage_array"]

Axis = Literal["head", "row", "column"]
Columns = Literal["keys", "dimensions", "words", ""]

AXES: tuple[Axis, ...] = get_args(Axis)

NORMED = ("query_spreads", "normed_query", "key_spreads", "normed_key")
"""What norms of queries and keys add to a run."""

OF_WORDS = ("unembedding", "logits", "word_exponentials", "word_sums", "probabilities")
"""What a vocabulary adds to a run."""

_JOINED = "num_heads · d_v"
"""How long an axis is along which the heads stand side by side."""


@dataclass(frozen=True)
class Stage:
    """One array of a run.

    Parameters
    ----------
    name : str
        As the trace, or its example's layer, names the array.
    title : str
        What a table of it is called.
    symbol : str
        The letter of a component, or of one number: "q", "s", "α".
    axes : tuple of str
        "head", "row" and "column", as the array has them.
    sizes : tuple of str
        How long each axis is: "n" for the tokens, "num_heads", "d_model", "d_k", "d_v", "d_out",
        "d_ff" for hidden numbers, "blocks" for those in which a running softmax reads the keys,
        "num_words" for the vocabulary.
    columns : str, default "dimensions"
        "keys" where a column is a key's token, "dimensions" where it is a component, "words" where
        it is a word of the vocabulary, else empty.
    rows : str, default "tokens"
        "tokens", "places" where a row stays whichever token stands there, "once" where one row
        serves all tokens, or the letter of the components that the rows of a matrix stand for.
    quotes : str, default ""
        The stage that this one only says in another unit; it has no array of its own.
    says : str, default ""
        What a caption adds to the title.
    marked : bool, default False
        Whether a table marks the largest entry of each row.
    in_block : bool, default False
        Whether it belongs to the block around the attention layer.

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
    quotes: str = ""
    says: str = ""
    marked: bool = False
    in_block: bool = False

    @property
    def caption(self) -> str:
        """The title of a table of its own, with what the numbers are."""
        return self.title + self.says

    @property
    def per_head(self) -> bool:
        """Whether each head has its own."""
        return "head" in self.axes

    @property
    def by_key(self) -> bool:
        """Whether a column is a key's token."""
        return self.columns == "keys"

    @property
    def is_matrix(self) -> bool:
        """Whether it is a matrix of the layer, or one of the rows that a block learns."""
        return self.rows not in ("tokens", "places", "")

    @property
    def joined(self) -> Axis | None:
        """The axis along which the heads stand side by side, None where they do not."""
        joined = (axis for axis, size in zip(self.axes, self.sizes, strict=True) if size == _JOINED)
        return next(joined, None)

    @property
    def seldom(self) -> bool:
        """Whether few runs have it: those of a block, and those with a running softmax.

        Explorers of a block show and compute what it adds, by a script that other pages do not
        load. What a running softmax keeps, what is made of a vocabulary, what a layer's biases
        are, and norms of queries and keys, no explorer shows.
        """
        return self.in_block or self.name in (*_RUNNING, *OF_WORDS, *_BIASES, *NORMED)

    @property
    def has_map(self) -> bool:
        """Whether a map is drawn of it: a column is a key, all runs have it, it quotes no other."""
        return self.by_key and not (self.quotes or self.seldom)

    @property
    def stays(self) -> bool:
        """Whether a row belongs to its place, whichever token stands there."""
        return self.rows == "places"

    def array(self, run: Trace) -> Array | None:
        """Return this stage of a run, None where the run does not have it.

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
        if self.is_matrix:
            return _learned(run.example, self)
        if self.quotes or not self.axes:
            return None
        array: Array | None = getattr(run, self.name)
        return array


def _learned(example: WorkedExample, stage: Stage) -> Array | None:
    """Return a matrix or a row that an example's layer or its block has, and makes use of."""
    block, name = example.block, stage.name
    holder: object = example if name == "unembedding" else example.layer
    if stage.in_block:
        holder = block and block.feed_forward
        which, _, own = name.partition("_")
        if block is not None and which in ("first", "second"):
            is_used = block.norm != "nowhere" and (which == "first" or holder is not None)
            holder, name = getattr(block, which) if is_used else None, own
    found: Array | None = getattr(holder, name, None)
    return found


_EACH: tuple[Axis, ...] = ("head", "row", "column")  # each head has its own
_ONCE: tuple[Axis, ...] = ("row", "column")
_OF_HEAD: tuple[Axis, ...] = ("head", "column")
_EACH_TIMES_EACH = ": each query times each key"
_AND_SUMS = " of the scaled scores, and their row sums"
_OF_HEADS = " of the heads' outputs"
_N_N = ("num_heads", "n", "n")
_N_K, _N_V = ("num_heads", "n", "d_k"), ("num_heads", "n", "d_v")
_INTO_K, _INTO_V = ("num_heads", "d_model", "d_k"), ("num_heads", "d_model", "d_v")

_N_MODEL = ("n", "d_model")

_N_FF = ("n", "d_ff")
_N_WORDS = ("n", "num_words")
_N_BLOCKS = ("num_heads", "n", "blocks")
_N_MIXED = ("num_heads", "n", "blocks · d_v")


def _in_block(
    name: str, title: str, symbol: str, sizes: tuple[str, ...], rows: str = "tokens"
) -> Stage:
    """Return a stage of the block around the layer; with one size, a number a token."""
    columns: Columns = "dimensions" if len(sizes) > 1 else ""
    return Stage(name, title, symbol, _ONCE[: len(sizes)], sizes, columns, rows, in_block=True)


def _norm(start: str, what: str) -> tuple[Stage, ...]:
    """Return the stages of one normalisation."""
    return (
        _in_block(f"{start}_means", f"Means of the {what}", "μ", ("n",)),
        _in_block(f"{start}_spreads", f"Spreads of the {what}", "σ", ("n",)),
        _in_block(f"{start}_normed", f"Normalised {what}", "x", _N_MODEL),
    )


def _once(name: str, title: str, symbol: str, size: str) -> Stage:
    """Return a row of numbers that a block learns, one for each column."""
    return Stage(name, title, symbol, ("column",), (size,), rows="once", in_block=True)


def _gain_and_bias(which: str) -> tuple[Stage, ...]:
    """Return what one normalisation of a block learns."""
    return (
        _once(f"{which}_gain", f"Gain of the {which} normalisation", "g", "d_model"),
        _once(f"{which}_bias", f"Bias of the {which} normalisation", "b", "d_model"),
    )


def _rms_norm(start: str, title: str, symbol: str) -> tuple[Stage, ...]:
    """Return the stages of the RMS norm of queries or keys."""
    what = title.lower()
    return (
        Stage(f"{start}_spreads", f"Root mean squares of the {what}", "σ", ("head", "row"),
              ("num_heads", "n"), ""),
        Stage(f"normed_{start}", f"Normalised {what}", symbol, _EACH, _N_K),
    )  # fmt: skip


_IN_ORDER = (
    Stage("embeddings", "Embeddings", "x", _ONCE, _N_MODEL),
    Stage("positions", "Positions", "p", _ONCE, _N_MODEL, rows="places"),
    Stage("placed", "Embeddings with their positions", "x", _ONCE, _N_MODEL),
    *_gain_and_bias("first"),
    *_norm("start", "stream before attention"),
    Stage("w_q", "Query projection", "q", _EACH, _INTO_K, rows="x"),
    Stage("w_k", "Key projection", "k", _EACH, _INTO_K, rows="x"),
    Stage("w_v", "Value projection", "v", _EACH, _INTO_V, rows="x"),
    Stage("b_q", "Query bias", "b", _OF_HEAD, ("num_heads", "d_k"), rows="once"),
    Stage("b_k", "Key bias", "b", _OF_HEAD, ("num_heads", "d_k"), rows="once"),
    Stage("b_v", "Value bias", "b", _OF_HEAD, ("num_heads", "d_v"), rows="once"),
    Stage("query", "Queries", "q", _EACH, _N_K),
    Stage("key", "Keys", "k", _EACH, _N_K),
    *_rms_norm("query", "Queries", "q"),
    *_rms_norm("key", "Keys", "k"),
    Stage("angles", "Angles", "θ", _ONCE, ("n", "d_k / 2"), rows="places"),
    Stage("turned_query", "Turned queries", "q′", _EACH, _N_K),
    Stage("turned_key", "Turned keys", "k′", _EACH, _N_K),
    Stage("value", "Values", "v", _EACH, _N_V),
    Stage("scores", "Scores", "s", _EACH, _N_N, "keys", says=_EACH_TIMES_EACH, marked=True),
    Stage("root", "Root of d_k", "√d_k", (), (), "", rows=""),
    Stage("scaled_scores", "Scaled scores", "s′", _EACH, _N_N, "keys", marked=True),
    Stage("exponentials", "Exponentials", "e", _EACH, _N_N, "keys", says=_AND_SUMS),
    Stage("row_sums", "Row sums", "Σ", ("head", "row"), ("num_heads", "n"), ""),
    Stage("weights", "Attention weights", "α", _EACH, _N_N, "keys", marked=True),
    Stage("percentages", "Weights in percent", "α", _EACH, _N_N, "keys", quotes="weights"),
    Stage("head_outputs", "Output", "z", _EACH, _N_V, says=": values mixed by the weights"),
    Stage("running_largest", "Largest score so far", "m", _EACH, _N_BLOCKS),
    Stage("running_factors", "Factor for what was kept", "c", _EACH, _N_BLOCKS),
    Stage("running_exponentials", "Exponentials below the largest", "e", _EACH, _N_N, "keys"),
    Stage("running_sums", "Sum so far", "ℓ", _EACH, _N_BLOCKS),
    Stage("running_mixtures", "Mixture so far", "o", _EACH, _N_MIXED),
    Stage("running_outputs", "Output so far", "z", _EACH, _N_MIXED),
    Stage("concat", "Concatenation", "z", _ONCE, ("n", _JOINED), says=_OF_HEADS),
    Stage("w_o", "Output projection", "y", _ONCE, (_JOINED, "d_out"), rows="z"),
    Stage("b_o", "Output bias", "b", ("column",), ("d_out",), rows="once"),
    Stage("head_contributions", "Share of the output", "y", _EACH, ("num_heads", "n", "d_out")),
    Stage("output", "Output", "y", _ONCE, ("n", "d_out"), says=" after the output projection"),
    _in_block("stream", "Stream after attention", "x", _N_MODEL),
    *_gain_and_bias("second"),
    *_norm("stream", "stream after attention"),
    _in_block("w_in", "First matrix of the feed-forward layer", "h", ("d_model", "d_ff"), "x"),
    _once("b_in", "First bias of the feed-forward layer", "b", "d_ff"),
    _in_block("hidden", "Hidden numbers", "h", _N_FF),
    _in_block("active", "Active numbers", "h", _N_FF),
    _in_block("w_out", "Second matrix of the feed-forward layer", "f", ("d_ff", "d_model"), "h"),
    _once("b_out", "Second bias of the feed-forward layer", "b", "d_model"),
    _in_block("fed", "Output of the feed-forward layer", "f", _N_MODEL),
    _in_block("total", "Stream after the block", "x", _N_MODEL),
    *_norm("total", "stream after the block"),
    Stage("unembedding", "Unembedding", "ℓ", _ONCE, ("d_model", "num_words"), "words", rows="x"),
    Stage("logits", "Logits", "ℓ", _ONCE, _N_WORDS, "words"),
    Stage("word_exponentials", "Exponentials of the logits", "e", _ONCE, _N_WORDS, "words"),
    Stage("word_sums", "Sums of the logits' exponentials", "Σ", ("row",), ("n",), ""),
    Stage("probabilities", "Probabilities of the next word", "p", _ONCE, _N_WORDS, "words"),
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

_TABLES_ALONE = ("name", "title", "sizes", "says", "marked", "in_block")
"""What only tables that Python writes are told; a name is the key too."""


def as_data(*, in_block: bool = False, of_words: bool = False) -> dict[str, dict[str, Any]]:
    """Return the registry as plain data, for the browser, without what only tables are told.

    What is as `Stage` has it by default is left out too.

    Parameters
    ----------
    in_block : bool, default False
        Whether those stages are wanted that a block adds, or those that any run may have.
    of_words : bool, default False
        Whether those are wanted that a vocabulary adds.

    Examples
    --------
    >>> as_data()["row_sums"]["axes"], "hidden" in as_data(), "hidden" in as_data(in_block=True)
    (('head', 'row'), False, True)
    """
    return {
        name: {
            key: value
            for key, value in asdict(stage).items()
            if key not in _TABLES_ALONE and value != _DEFAULTS[key]
        }
        | ({"joined": stage.joined} if stage.joined else {})
        for name, stage in STAGES.items()
        if (name in OF_WORDS if of_words else stage.in_block if in_block else not stage.seldom)
    }
