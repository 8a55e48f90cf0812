"""Tests of attention functions: whether one is right, and which known bug it has.

``mha.examine(function)`` calls `examine`; ``python -m mha.examine package.module:function`` does
the same from a shell. ``from mha.examine import Report`` imports other names of this package.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from mha.core.option_checks import as_bool
from mha.core.positions import Layout
from mha.examine import attention, convention_search, decoding, layer, modules, positions
from mha.examine.arrays import NUMPY, find_converter, loaded_converters
from mha.examine.cases import Subject
from mha.examine.convention_search import find_conventions, returns_output
from mha.examine.report import Finding, Report, Shown
from mha.examine.report_building import Examination, build_report
from mha.examine.tested_function import (
    FunctionUnderTest,
    normalise_name,
    read_parameters,
    wrap_function,
)
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
    """Examine a function that computes attention from queries, keys and values.

    It is tested on about a hundred small cases with known outputs, selected by the names of its
    arguments. A test has two lines::

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
        Converts NumPy arrays to those of the function's library, such as ``torch.tensor``. Default:
        that of the library that the function uses. Outputs are detached from gradients.
    leave_out : collection of str, default ()
        Kinds of cases to skip, by their names in a report.
    strict : bool, default False
        Whether the output of a fully masked row must be zeros. By default NaN or a mean is a note.

    Returns
    -------
    Report
        `ok` is True if the function is right, possibly by another convention. ``print`` shows the
        whole report.

    Raises
    ------
    TypeError
        If `function` is not callable, or has an unknown argument without a default.
    ValueError
        If `leave_out` has a name that is not a kind of case.

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
    this = find_conventions(_wrap(function, asarray, attention.SUBJECT))
    first = _build_report(this, leave_out, strict)
    if first.is_explained:
        return first
    searches: list[tuple[str, Callable[[FunctionUnderTest], Any]]] = [
        ("own_scale", attention.find_scale),
        ("sink", convention_search.find_sink),
        ("first_masked_distance", convention_search.find_first_masked_distance),
    ]
    for name, search in searches:
        found: Any = search(this)
        if found is None:
            continue
        other = _build_report(
            this.with_conventions(replace(this.conventions, **{name: found})), leave_out, strict
        )
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
    """Examine a function or module that computes a whole layer of attention.

    Parameters
    ----------
    function : callable or module
        A layer of PyTorch, Keras or Flax; or a function that takes tokens `x` of shape (n, d_model)
        or (batch, n, d_model), and any of the following, by name: `w_q`, `w_k`, `w_v`, `w_o` of
        shape (d_model, num_heads * d_k), with concatenated heads, multiplied from the right;
        `w_qkv`, the first three in one; `b_q`, `b_k`, `b_v`, `b_o` and `b_qkv`; `num_heads` and
        `num_groups`; `weights`, all of these as `MultiHeadWeights`; `context`, or `key` and
        `value`; `mask`, `key_padding_mask`, `is_causal`; `angles` of rotary positions.
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
        return _build_report(
            find_conventions(_wrap(function, asarray, layer.SUBJECT)), leave_out, strict
        )
    module = modules.read_module(function)
    takes = frozenset(
        wrap_function(module.call, NUMPY, module.subject(frozenset())).arguments.values()
    )
    readings = [module, module.by_heads()] if module.is_fused and module.num_heads > 1 else [module]
    reports = []
    for one in readings:
        this = wrap_function(module.call, find_converter(function, asarray), one.subject(takes))
        this = replace(this, setup_code=module.code, code_name="module")
        plain_cases = [case for case in this.subject.cases(this.takes, frozenset())
                       if case.kind == "plain"]  # fmt: skip
        outcomes = [this.run(this.add_context(case)) for case in plain_cases]
        if all(outcome.value is None for outcome in outcomes):
            raise TypeError(
                modules.refusal_message(function, (), outcomes[0].fault.partition("raises ")[2])
            )
        reports.append(_build_report(find_conventions(this), leave_out, strict))
        if reports[-1].ok:
            break
    report = reports[-1] if reports[-1].ok else reports[0]
    if not report.is_explained and (module.unused or module.settings):
        raise TypeError(modules.refusal_message(function, (*module.unused, *module.settings)))
    if report.ok and module.unused:
        report = replace(
            report, findings=(*report.findings, modules.unused_arrays_finding(module.unused))
        )
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
        Takes query, key and value of the new tokens, and `cache`: the cache that the previous step
        returned, None in the first. Or it takes tokens `x` and `weights`, as `decode_step` does. It
        returns the output and the cache. It may take `angles`, by which it rotates queries and
        keys; or `positions`, or the first one as `position`, for a rotation or as an index in its
        cache. For a step that takes only one token, `leave_out` has "several first, then one by
        one" and "several new tokens after a cache".
    rotary : bool, optional
        Whether the step rotates queries and keys itself, by pairs with the base 10000. Default:
        this is tested. With equal keys, a step without rotation returns the average of the values.
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
    converter = find_converter(step, asarray)
    takes = {normalise_name(name) for name, _ in read_parameters(step)[0]}
    rotates = decoding.find_rotation(wrap_function(step, converter, decoding.ROTATING))
    if rotary is not None:
        still = decoding.SUBJECT if "angles" in takes else decoding.UNROTATED
        subjects = [decoding.ROTATING if as_bool("rotary", rotary) else still]
    elif rotates is None:
        subjects = [decoding.SUBJECT]
        # A step may want positions for the place in its cache alone, and rotate nothing.
        subjects += [] if takes.isdisjoint(decoding.POSITION_NAMES) else [decoding.UNROTATED]
    else:
        # A step that rotates by position 0 each time seems to rotate nothing.
        subjects = [decoding.ROTATING] if rotates else [decoding.UNROTATED, decoding.ROTATING]
    reports = list[Report]()
    for subject in subjects:
        report = _build_report(wrap_function(step, converter, subject), leave_out, strict)
        if any(finding.bug and "halves" in finding.bug for finding in report.findings):
            other = _build_report(
                wrap_function(step, converter, decoding.IN_HALVES), leave_out, strict
            )
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
        Its arguments determine the kind of positions. Rotary positions: `x` and `positions`, which
        returns the rotated `x`; or query, key, value and `positions`, which returns the output of
        attention. Linear biases: `num_heads`, `num_queries` and `num_keys`, which returns the
        biases; or `num_heads` alone, which returns the slopes. Position numbers of padded tokens:
        `mask`, True where a token is not padding.
    layout : {"pairs", "halves"}, default "pairs"
        The pairs of components that rotary positions rotate, as in `rotate_by`.
    asarray, leave_out, strict
        As in `examine`.

    Returns
    -------
    Report

    Raises
    ------
    TypeError, ValueError
        As `examine`; also if `layout` is unknown.

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
    own = [normalise_name(name) for name, _ in read_parameters(function)[0]]
    this = wrap_function(
        function, find_converter(function, asarray), positions.subject_of(own, layout)
    )
    return _build_report(this, leave_out, strict, positions.position_findings)


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


def _wrap(
    function: Callable[..., Any], asarray: Callable[..., Any] | None, subject: Subject
) -> FunctionUnderTest:
    """Match a function to a subject, and find the library whose arrays it takes."""
    if hasattr(function, "eval") and hasattr(function, "state_dict"):
        function.eval()
    this = wrap_function(function, find_converter(function, asarray), subject)
    if asarray is not None or subject.plain_inputs is None:
        return this
    for converter in [this.converter, *loaded_converters()]:
        trial = replace(this, converter=converter)
        if returns_output(trial):
            return trial
    return this


def _build_report(
    this: FunctionUnderTest,
    leave_out: Collection[str],
    strict: bool,
    more: Callable[[Examination], list[Finding]] = lambda _: [],
) -> Report:
    """Run a function on its cases, and return the report."""
    kinds = _kinds(this)
    for kind in leave_out:
        if kind not in kinds:
            raise ValueError(f"leave_out has {kind!r}; this function has {', '.join(kinds)}")
    examination = Examination.run(this, leave_out)
    return build_report(examination, more(examination), strict=strict)


def _kinds(this: FunctionUnderTest) -> list[str]:
    """Return the names of the kinds of cases for a function."""
    cases = this.subject.cases(this.takes, this.conventions.extra_inputs)
    return list(dict.fromkeys(this.kind_name(case.kind) for case in cases))
