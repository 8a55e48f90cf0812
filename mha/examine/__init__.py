"""Tests of attention that someone else wrote: whether it is right, and which bug it has.

``mha.examine(function)`` is a function, ``python -m mha.examine package.module:function`` does the
same from a shell, and ``from mha.examine import Report`` imports what else is here.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from mha.core.option_checks import as_bool
from mha.core.positions import Layout
from mha.examine import attention, decoding, layer, modules, positions, probing
from mha.examine.arrays import NUMPY, maker_of, makers
from mha.examine.cases import Subject
from mha.examine.function_calls import Asked, asked, parameters, plain
from mha.examine.judging import Asking, judged
from mha.examine.probing import has_answer, probe
from mha.examine.report import Finding, Report, Shown
from mha.practice.bugs import ROTARY

__all__ = [
    "Finding",
    "Report",
    "Shown",
    "examine",
    "examine_decoding",
    "examine_layer",
    "examine_positions",
]


def examine(
    function: Callable[..., Any],
    *,
    asarray: Callable[..., Any] | None = None,
    leave_out: Collection[str] = (),
    strict: bool = False,
) -> Report:
    """Examine a function that computes attention of queries, keys and values.

    It is tested on about a hundred small cases, chosen by the names of its arguments, whose right
    outputs are known. Two lines make that a test::

        def test_my_attention():
            mha.examine(my_attention).raise_if_wrong()

    Parameters
    ----------
    function : callable
        Takes query, key and value, with axes (..., num_heads, n, d_k) or (..., n, num_heads, d_k).
        Its other arguments are recognised by name: `mask` or `attn_mask`, `key_padding_mask`,
        `valid_lens`, `bias`, `is_causal`, `scale`, `enable_gqa`, `n_rep`, `softcap`. It returns
        the output, alone or in a tuple. A layer of PyTorch, Keras or Flax that holds matrices is
        examined as `examine_layer` does.
    asarray : callable, optional
        Makes the function's kind of array of NumPy's, such as ``torch.tensor``. By default that of
        the library that the function uses. Outputs are detached from gradients.
    leave_out : collection of str, default ()
        Kinds of cases, as a report names them, to skip.
    strict : bool, default False
        Whether a fully masked row has to be zeros; otherwise NaN or a mean is a note.

    Returns
    -------
    Report
        `ok` says whether the function is right, be it by another convention; it prints itself.

    Raises
    ------
    TypeError
        If `function` cannot be called, or has an argument without a default that is not known.
    ValueError
        If `leave_out` names no kind of case.

    References
    ----------
    Vaswani et al. (2017), equation 1.

    Examples
    --------
    >>> import mha
    >>> mha.examine(mha.scaled_dot_product_attention).ok
    True
    >>> def attention(query, key, value):
    ...     scores = query @ key.swapaxes(-1, -2)
    ...     return mha.softmax(scores) @ value
    >>> report = mha.examine(attention)
    >>> report.ok, report.findings[0].bug
    (False, 'no scale')
    """
    if modules.is_module(function):
        return examine_layer(function, asarray=asarray, leave_out=leave_out, strict=strict)
    this = probe(_asked(function, asarray, attention.SUBJECT))
    first = _judged(this, leave_out, strict)
    if first.is_explained:
        return first
    searches: list[tuple[str, Callable[[Asked], Any]]] = [
        ("own_scale", attention.own_scale),
        ("sink", probing.own_sink),
        ("window", probing.own_window),
    ]
    for name, search in searches:
        found: Any = search(this)
        if found is None:
            continue
        other = _judged(this.by(replace(this.conventions, **{name: found})), leave_out, strict)
        if other.is_explained:
            return other
    return first


def examine_layer(
    function: Callable[..., Any],
    *,
    asarray: Callable[..., Any] | None = None,
    leave_out: Collection[str] = (),
    strict: bool = False,
) -> Report:
    """Examine a function that computes a whole layer of attention with given matrices.

    Parameters
    ----------
    function : callable or module
        A layer of PyTorch, Keras or Flax as it is; or a function that takes tokens `x` of shape
        (n, d_model) or (batch, n, d_model), and of the following what
        its arguments name: `w_q`, `w_k`, `w_v`, `w_o` of shape (d_model, num_heads * d_k), heads
        beside each other and multiplied from the right; `w_qkv` for the first three in one;
        `b_q`, `b_k`, `b_v`, `b_o` and `b_qkv`; `num_heads` and `num_groups`; `weights`, all of it
        as `MultiHeadWeights`; `context`, or `key` and `value`; `mask`, `key_padding_mask`,
        `is_causal`; `angles` of rotary positions.
    asarray, leave_out, strict
        As in `examine`.

    Returns
    -------
    Report

    Raises
    ------
    TypeError, ValueError
        As `examine`.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2.

    Examples
    --------
    >>> import mha
    >>> mha.examine_layer(mha.multi_head_attention).ok
    True
    """
    if not modules.is_module(function):
        return _judged(probe(_asked(function, asarray, layer.SUBJECT)), leave_out, strict)
    module = modules.read(function)
    takes = frozenset(asked(module.call, NUMPY, module.subject(frozenset())).arguments.values())
    readings = [module, module.by_heads()] if module.is_fused and module.num_heads > 1 else [module]
    reports = []
    for one in readings:
        this = asked(module.call, maker_of(function, asarray), one.subject(takes))
        this = replace(this, before=module.code, called="module")
        plain_cases = [case for case in this.subject.cases(this.takes, frozenset())
                       if case.about == "plain"]  # fmt: skip
        answers = [this.ask(this.completed(case)) for case in plain_cases]
        if all(answer.value is None for answer in answers):
            raise TypeError(modules.refused(function, (), answers[0].fault.partition("raises ")[2]))
        reports.append(_judged(probe(this), leave_out, strict))
        if reports[-1].ok:
            break
    report = reports[-1] if reports[-1].ok else reports[0]
    if not report.is_explained and (module.unused or module.settings):
        raise TypeError(modules.refused(function, (*module.unused, *module.settings)))
    if report.ok and module.unused:
        report = replace(report, findings=(*report.findings, modules.without(module.unused)))
    if report.ok and module.settings:
        report = replace(report, not_tested=(*report.not_tested, *module.settings))
    if report.ok and len(reports) > 1:
        report = replace(report, findings=(*report.findings, FUSED_BY_HEADS))
    return report


def examine_decoding(
    step: Callable[..., Any],
    *,
    rotary: bool | None = None,
    asarray: Callable[..., Any] | None = None,
    leave_out: Collection[str] = (),
    strict: bool = False,
) -> Report:
    """Examine a decoding step with a cache: its outputs must equal the rows of the causal pass.

    Parameters
    ----------
    step : callable
        Takes query, key and value of the new tokens and `cache`, what it returned at the step
        before and None at first; or tokens `x` and `weights`, as `decode_step` does. It returns
        the output and the cache. `angles`, `positions` or `position`, the first, are handed to a
        step that has such an argument; with angles it turns queries and keys, with positions it
        turns them, or finds its place in the cache by them alone. A step that is for one token
        alone leaves out "several first, then one by one" and "several new tokens after a cache".
    rotary : bool, optional
        Whether the step turns queries and keys by itself, by pairs with the base 10000. By default
        it is asked: with equal keys, a step that turns nothing gives the average of the values.
    asarray, leave_out, strict
        As in `examine`.

    Returns
    -------
    Report

    Raises
    ------
    TypeError, ValueError
        As `examine`.

    References
    ----------
    Shazeer (2019), section 2.4.

    Examples
    --------
    >>> import mha
    >>> from mha.core.decoding import decode_step
    >>> mha.examine_decoding(decode_step).ok
    True
    """
    maker = maker_of(step, asarray)
    takes = {plain(name) for name, _ in parameters(step)[0]}
    turns = decoding.turns(asked(step, maker, decoding.TURNING))
    if rotary is not None:
        still = decoding.SUBJECT if "angles" in takes else decoding.UNTURNED
        subjects = [decoding.TURNING if as_bool("rotary", rotary) else still]
    elif turns is None:
        subjects = [decoding.SUBJECT]
        # A step may want positions for the place in its cache alone, and rotate nothing.
        subjects += [] if takes.isdisjoint(decoding.PLACES) else [decoding.UNTURNED]
    else:
        # A step that rotates by position 0 each time seems to rotate nothing.
        subjects = [decoding.TURNING] if turns else [decoding.UNTURNED, decoding.TURNING]
    reports = list[Report]()
    for subject in subjects:
        report = _judged(asked(step, maker, subject), leave_out, strict)
        if any(finding.bug and "halves" in finding.bug for finding in report.findings):
            other = _judged(asked(step, maker, decoding.IN_HALVES), leave_out, strict)
            if other.is_explained:
                report = replace(other, findings=(*other.findings, HALVES))
        if report.is_explained:
            return report
        reports.append(report)
    return reports[0]


def examine_positions(
    function: Callable[..., Any],
    *,
    layout: Layout = "pairs",
    asarray: Callable[..., Any] | None = None,
    leave_out: Collection[str] = (),
    strict: bool = False,
) -> Report:
    """Examine a function that encodes the positions of tokens.

    Parameters
    ----------
    function : callable
        Which positions it makes is read from its arguments. Rotary ones: `x` and `positions`, for
        `x` turned; or query, key, value and `positions`, for attention's output. Linear biases:
        `num_heads`, `num_queries` and `num_keys`, for what is added to scores; or `num_heads`
        alone, for the slopes. Numbers of tokens: `mask`, True where a token is no padding.
    layout : {"pairs", "halves"}, default "pairs"
        Which components rotary positions turn together, as in `rotate_by`.
    asarray, leave_out, strict
        As in `examine`.

    Returns
    -------
    Report

    Raises
    ------
    TypeError, ValueError
        As `examine`; also if `layout` is neither of the two.

    References
    ----------
    Su et al. (2024), section 3.2.2; Press, Smith and Lewis (2022), section 3.

    Examples
    --------
    >>> import mha
    >>> from mha.core.positions import linear_slopes
    >>> mha.examine_positions(mha.rotate).ok, mha.examine_positions(linear_slopes).ok
    (True, True)
    >>> mha.examine_positions(mha.rotate, layout="halves").findings[0].bug
    'halves for pairs'
    """
    if layout not in ("pairs", "halves"):
        raise ValueError(f'layout is {layout!r}; "pairs" or "halves" is wanted')
    own = [plain(name) for name, _ in parameters(function)[0]]
    this = asked(function, maker_of(function, asarray), positions.subject_of(own, layout))
    return _judged(this, leave_out, strict, positions.first_place)


HALVES = Finding(
    "another convention: the function is right if rotary positions rotate component i together with"
    " the one half a width on, as in Llama of transformers; mha.core.decoding.decode_step rotates"
    " neighbours.",
    convention="if rotary positions are by halves",
    section=ROTARY,
)
FUSED_BY_HEADS = Finding(
    "another convention: the function is right if the fused matrix has query, key and value of the"
    " first head, then those of the second, as in GPT-NeoX and BLOOM.",
    convention="if the fused matrix has query, key and value head by head",
)


def _asked(
    function: Callable[..., Any], asarray: Callable[..., Any] | None, subject: Subject
) -> Asked:
    """Wrap a function for testing, with the kind of arrays that it computes with."""
    if hasattr(function, "eval") and hasattr(function, "state_dict"):
        function.eval()
    this = asked(function, maker_of(function, asarray), subject)
    if asarray is not None or subject.tokens is None:
        return this
    for maker in [this.maker, *makers()]:
        trial = replace(this, maker=maker)
        if has_answer(trial):
            return trial
    return this


def _judged(
    this: Asked,
    leave_out: Collection[str],
    strict: bool,
    more: Callable[[Asking], list[Finding]] = lambda _: [],
) -> Report:
    """Return the report on a function."""
    kinds = _kinds(this)
    for kind in leave_out:
        if kind not in kinds:
            raise ValueError(f"leave_out has {kind!r}; this function has {', '.join(kinds)}")
    asking = Asking.of(this, leave_out)
    return judged(asking, more(asking), strict=strict)


def _kinds(this: Asked) -> list[str]:
    """Return the kinds of cases of a function."""
    cases = this.subject.cases(this.takes, this.conventions.facts)
    return list(dict.fromkeys(this.named(case.about) for case in cases))
