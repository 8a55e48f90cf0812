"""The costs of a model as an instrument: each line is a formula with the reader's numbers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from mha.core.costs import ModelSizes
from mha.runs.rounding import shown
from mha.widgets.instrument import Drawing, Explorer, instrument

_TITLE = "Cost of a model"

_BYTES = {"GiB": 2**30, "MiB": 2**20, "KiB": 2**10}


@dataclass(frozen=True)
class Line:
    """A line of the calculator.

    Parameters
    ----------
    what : str
        The label.
    formula : str
        The formula in symbols.
    numbers : str
        The formula with numbers; a name in braces is a key of `cost_values`.
    value : str
        The key of the result in `cost_values`.
    unit : str
        The unit of the value; "bytes" are also shown in GiB, MiB or KiB.
    by : str
        The key of the divisor of the parameters in `cost_values`; the quotient is rounded down.
    """

    what: str
    formula: str
    numbers: str
    value: str
    unit: str = ""
    by: str = ""


LINES = (
    Line("parameters: attention", "2 N d d_k (h + g)",
         "2 × {layers} × {width} × {head} × ({heads} + {groups})", "attention"),
    Line("feed-forward", "N m d f", "{layers} × {matrices} × {width} × {inner}", "feed"),
    Line("together", "", "{attention} + {feed}", "parameters"),
    Line("operations per token: matrices", "2 · parameters", "2 × {parameters}", "products"),
    Line("scores and mixing", "4 N n h d_k",
         "4 × {layers} × {tokens} × {heads} × {head}", "mixing"),
    Line("equal at n", "parameters ÷ 2 N h d_k",
         "{parameters} ÷ (2 × {layers} × {heads} × {head})", "equal_flops", "tokens", "flops_each"),
    Line("cache of a text", "2 n N g d_k b",
         "2 × {tokens} × {layers} × {groups} × {head} × {bytes}", "cache", "bytes"),
    Line("all matrices", "parameters · b", "{parameters} × {bytes}", "model", "bytes"),
    Line("read per step", "matrices + t · cache", "{model} + {texts} × {cache}", "step", "bytes"),
    Line("equal at n", "parameters ÷ 2 N g d_k t",
         "{parameters} ÷ (2 × {layers} × {groups} × {head} × {texts})", "equal_bytes", "tokens",
         "bytes_each"),
    Line("weights of a layer, if kept", "h n² b", "{heads} × {tokens}² × {bytes}", "weights",
         "bytes"),
)  # fmt: skip
"""The lines of the calculator, in their order."""


def cost_values(model: ModelSizes, tokens: int, texts: int, itemsize: int) -> dict[str, int]:
    """Return all numbers of the calculator by name; the two lengths of equal cost are rounded down.

    Examples
    --------
    >>> from mha.core.costs import layer_sizes
    >>> cost_values(ModelSizes(96, layer_sizes(12288, 96), 49152), 2048, 1, 2)["equal_flops"]
    73728
    """
    sizes = model.attention
    return {
        "layers": model.num_layers, "width": sizes.d_model, "heads": sizes.num_heads,
        "head": sizes.d_k, "groups": sizes.num_groups, "inner": model.d_inner,
        "matrices": model.num_inner, "bytes": itemsize, "tokens": tokens, "texts": texts,
        "attention": model.num_layers * sizes.parameters,
        "feed": model.parameters - model.num_layers * sizes.parameters,
        "parameters": model.parameters, "products": 2 * model.parameters,
        "mixing": model.mixing_flops(tokens),
        "flops_each": model.mixing_flops(1) // 2,
        "equal_flops": 2 * model.parameters // model.mixing_flops(1),
        "cache": model.cache_bytes(tokens, itemsize=itemsize),
        "model": model.parameters * itemsize,
        "step": model.step_bytes(tokens, num_texts=texts, itemsize=itemsize),
        "bytes_each": texts * model.cache_bytes(1, itemsize=1),
        "equal_bytes": model.parameters // (texts * model.cache_bytes(1, itemsize=1)),
        "weights": sizes.weight_bytes(tokens, itemsize=itemsize),
    }  # fmt: skip


def cost_calculator(
    models: Mapping[str, ModelSizes], *, tokens: int, texts: int = 1, itemsize: int = 2,
    figure: Drawing | None = None,
) -> Explorer:  # fmt: skip
    """Return the calculator as an instrument.

    Parameters
    ----------
    models : mapping of str to ModelSizes
        The models that a reader can choose; the first is shown first.
    tokens, texts, itemsize : int
        The first length of a text, number of texts in a batch, and bytes per number.
    figure : Drawing, optional
        Replaces the instrument in print.

    Returns
    -------
    Explorer

    Examples
    --------
    >>> from mha.core.costs import layer_sizes
    >>> gpt3 = ModelSizes(96, layer_sizes(12288, 96), 49152)
    >>> cost_calculator({"GPT-3": gpt3}, tokens=2048).html[:37]
    '<mha-instrument id="cost-model" class'
    """
    named = {name: cost_values(model, tokens, texts, itemsize) for name, model in models.items()}
    first, values = next(iter(named.items()))
    data = {
        "models": {name: {key: own[key] for key in _SIZES} for name, own in named.items()},
        "start": {"tokens": tokens, "texts": texts, "bytes": itemsize},
        "lines": [vars(line) for line in LINES],
    }
    return instrument(
        "cost",
        "model",
        data,
        title=_TITLE,
        placeholder=_table(first, values),
        bundles=("cost-view",),
        style_sheets=("model.css", "cost.css"),
        heights=(53.3, 54.3, 63.8, 69.3, 93.5, 117.2, 116.7),
        figure=figure,
    )


_SIZES = ("layers", "width", "heads", "head", "groups", "inner", "matrices")
"""The numbers that belong to a model; the others depend on the text."""


def format_line(line: Line, values: Mapping[str, int]) -> tuple[str, str]:
    """Return the formula of a line with numbers, and its value, as they are shown.

    Examples
    --------
    >>> format_line(LINES[3], {"parameters": 1500, "products": 3000})
    ('2 × 1,500', '= 3,000')
    """
    numbers = line.numbers.format_map({name: f"{value:,}" for name, value in values.items()})
    value = values[line.value]
    fitting = [name for name, size in _BYTES.items() if line.unit == "bytes" and value >= size]
    beside = f", {shown(value / _BYTES[fitting[0]], 1)} {fitting[0]}" if fitting else ""
    unit = f" {line.unit}" if line.unit == "tokens" else ""
    is_exact = not line.by or values["parameters"] == value * values[line.by]
    return numbers, f"{'=' if is_exact else '≈'} {value:,}{unit}{beside}"


def _table(name: str, values: Mapping[str, int]) -> str:
    """Return the lines of a model as an HTML table."""
    rows = "".join(
        f"<tr><th>{_in_symbols(line.what)}</th><td>{_in_symbols(line.formula)}</td>"
        + "".join(f"<td>{text}</td>" for text in format_line(line, values))
        + "</tr>"
        for line in LINES
    )
    return f"<p>{escape(name)}</p><table><tbody>{rows}</tbody></table>"


def _in_symbols(text: str) -> str:
    """Return HTML with single letters in italics, as in formulas, and d_k with a subscript.

    Examples
    --------
    >>> _in_symbols("a text of 2 d d_k")
    'a text of 2 <i>d</i> <i>d</i><sub>k</sub>'
    """
    found = re.sub(r"(?<![\w'])([A-Zb-z])(?![a-z])(_k)?", r"<i>\1</i>\2", escape(text))
    return found.replace("_k", "<sub>k</sub>")
