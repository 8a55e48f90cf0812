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
from mha.examine.arrays import NUMPY, Converter, find_converter, loaded_converters
from mha.examine.cases import Subject
from mha.examine.convention_search import find_conventions, returns_output
from mha.examine.report import Finding, Report, Shown
from mha.examine.report_building import Examination, build_report, fits_plain_cases
from mha.examine.tested_function import (
    RETURNED_WEIGHTS,
    FunctionUnderTest,
    normalise_name,
    read_defaults,
    read_parameters,
    wrap_function,
)
from mha.practice.bugs import DECODING, TABLE, Bug

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
        Takes query, key and value, with axes (..., num_heads, n, d_k), (..., n, num_heads, d_k) or
        (n, batch, num_heads, d_k).
        Its other arguments are recognised by name: `mask` or `attn_mask`, `key_padding_mask`,
        `valid_lens`, `bias`, `is_causal`, `window`, `segment_ids`, `scale`, `enable_gqa`, `n_rep`,
        `softcap`. It returns
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
        If `function` is not callable, has an unknown argument without a default, or raises an error
        in every case.
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
    tested = find_conventions(_wrap_with_library(function, asarray, attention.SUBJECT))
    report = _build_report(tested, leave_out, strict)
    if report.ok:
        return _examine_with_weights(tested, report, leave_out, strict)
    if report.is_explained:
        return report
    searches: list[tuple[str, Callable[[FunctionUnderTest], Any]]] = [
        ("own_scale", attention.find_scale),
        ("sink", convention_search.find_sink),
        ("first_masked_distance", convention_search.find_first_masked_distance),
    ]
    for convention, search in searches:
        value: Any = search(tested)
        if value is None:
            continue
        report_with_value = _build_report(
            tested.with_conventions(replace(tested.conventions, **{convention: value})),
            leave_out,
            strict,
        )
        if report_with_value.is_explained:
            return report_with_value
    return _examine_own_positions(tested, report, leave_out, strict)


def _examine_with_weights(
    tested: FunctionUnderTest, report: Report, leave_out: Collection[str], strict: bool
) -> Report:
    """Return the report on a right function if it is to return its weights too.

    A function may compute them in other lines. With its output alone it has the given report, which
    is returned unless these lines are wrong.
    """
    defaults = read_defaults(tested.function)
    for argument, _ in read_parameters(tested.function)[0]:
        name = normalise_name(argument)
        if name not in RETURNED_WEIGHTS or defaults.get(name, False) is not False:
            continue
        with_weights = replace(tested, settings={**tested.settings, argument: True})
        if not _answers_plain_cases(with_weights):
            continue
        other = _build_report(find_conventions(with_weights), leave_out, strict)
        if not other.ok:
            sentence = f"It is right without {argument}=True."
            findings = (
                finding if finding.convention else _add_narrowing(finding, sentence)
                for finding in other.findings
            )
            return replace(other, findings=tuple(findings))
    return report


def _answers_plain_cases(tested: FunctionUnderTest) -> bool:
    """Return whether a function returns an array for a plain case."""
    cases = tested.subject.cases(tested.takes, frozenset())
    plain_cases = (case for case in cases if case.kind == "plain")
    return any(tested.run(tested.add_context(case)).value is not None for case in plain_cases)


def _examine_own_positions(
    tested: FunctionUnderTest, report: Report, leave_out: Collection[str], strict: bool
) -> Report:
    """Return the report on a function that may itself apply positions.

    It is the given report if no known positions explain the outputs.
    """
    ways = convention_search.find_own_positions(tested)
    right_ways = [way for way in ways if fits_plain_cases(way)]
    # Beside positions, only a bug of the positions themselves is searched for: others would fit by
    # chance. It is likelier than slopes that are measured, which always fit.
    wrong_ways = (
        [way for way in ways if way not in right_ways and fits_plain_cases(way, POSITION_BUGS)]
        if all(_has_measured_slopes(way) for way in right_ways)
        else []
    )
    for way in (*wrong_ways, *right_ways):
        report_with_positions = _build_report(way, leave_out, strict)
        if _is_surely_explained(report_with_positions):
            return report_with_positions
    if not ways:
        return report
    findings = (
        finding if finding.bug or finding.convention else _add_narrowing(finding, OWN_POSITIONS)
        for finding in report.findings
    )
    return replace(report, findings=tuple(findings))


def _has_measured_slopes(tested: FunctionUnderTest) -> bool:
    """Return whether a function adds linear biases whose slopes were measured."""
    biases = tested.conventions.linear_biases
    return biases is not None and bool(biases.slopes)


POSITION_BUGS = [bug for bug in TABLE if bug.part in attention.POSITION_PARTS]
OWN_POSITIONS = "The scores depend on the positions of the tokens, in no known way."


def _add_narrowing(finding: Finding, sentence: str) -> Finding:
    """Return a finding with a further sentence that narrows its cause."""
    return replace(
        finding, said=f"{finding.said} {sentence}", narrowed=(*finding.narrowed, sentence)
    )


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
        tested = find_conventions(_wrap_with_library(function, asarray, layer.SUBJECT))
        report = _build_report(tested, leave_out, strict)
        if report.is_explained or "angles" in tested.takes:
            return report
        return _examine_own_positions(tested, report, leave_out, strict)
    module = modules.read_module(function)
    takes = frozenset(
        wrap_function(module.call, NUMPY, module.subject(frozenset())).arguments.values()
    )
    converter, extra_names = find_converter(function, asarray), (*module.unused, *module.settings)

    def wrap(module_layer: modules.ModuleLayer) -> FunctionUnderTest:
        tested = wrap_function(module.call, converter, module_layer.subject(takes))
        return replace(tested, setup_code=module.code, code_name="module")

    is_self_attention = takes.isdisjoint({"context", "key"})
    if is_self_attention and not fits_plain_cases(find_conventions(wrap(module))):
        rotary = list(modules.rotary_variants(function, module))
        fitting = [x for x in rotary if fits_plain_cases(find_conventions(wrap(x[0])))]
        has_rotation = any(modules.ROTATION.search(name) for name in extra_names)
        for module_layer, note in fitting or rotary[: int(has_rotation)]:
            report = _build_report(find_conventions(wrap(module_layer)), leave_out, strict)
            if _is_surely_explained(report):
                return replace(report, findings=(*report.findings, note))
    tested = find_conventions(wrap(module))
    plain_cases = [case for case in tested.subject.cases(tested.takes, frozenset())
                   if case.kind == "plain"]  # fmt: skip
    outcomes = [tested.run(tested.add_context(case)) for case in plain_cases]
    if all(outcome.value is None for outcome in outcomes):
        raise TypeError(
            modules.refusal_message(function, (), outcomes[0].fault.partition("raises ")[2])
        )
    is_by_heads = False
    if module.is_fused and module.num_heads > 1 and not fits_plain_cases(tested):
        by_heads = find_conventions(wrap(module.with_fused_by_heads()))
        is_by_heads = fits_plain_cases(by_heads) or (
            not fits_plain_cases(tested, _layer_bugs(tested))
            and fits_plain_cases(by_heads, _layer_bugs(by_heads))
        )
        tested = by_heads if is_by_heads else tested
    report = _build_report(tested, leave_out, strict)
    if extra_names and not _is_surely_explained(report):
        raise TypeError(modules.refusal_message(function, extra_names))
    if report.ok and extra_names:
        unused = [name for name in extra_names if modules.affects_cases(name)]
        notes = [modules.unused_finding(unused)] if unused else []
        report = replace(
            report,
            findings=(*report.findings, *notes),
            not_tested=(*report.not_tested, *(name for name in extra_names if name not in unused)),
        )
    if report.ok and (idle := modules.idle_frequencies(function)):
        note = modules.unused_finding(idle)
        report = replace(report, findings=(*report.findings, note))
    mask_inputs = {"mask", "padding", "lengths", "is_causal"}
    if (
        report.ok
        and is_self_attention
        and takes.isdisjoint(mask_inputs)
        and not _is_always_causal(report)
    ):
        report = replace(report, findings=(*report.findings, NOT_CAUSAL))
    if is_by_heads:
        report = replace(report, findings=(*report.findings, FUSED_BY_HEADS))
    return report


def _layer_bugs(tested: FunctionUnderTest) -> list[Bug]:
    """Return the known bugs of a layer that are not minor."""
    return [bug for bug in TABLE if bug.part in tested.subject.parts and not bug.is_minor]


def _is_always_causal(report: Report) -> bool:
    """Return whether a report has the note that the function is always causal."""
    return any(finding.convention == "if it is always causal" for finding in report.findings)


def _is_surely_explained(report: Report) -> bool:
    """Return whether a report is explained, and not by half precision.

    Errors of an unknown cause may be as small as those of half precision.
    """
    return report.is_explained and "half precision" not in {x.bug for x in report.findings}


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
    uses = decoding.find_position_uses(wrap_function(step, converter, decoding.SUBJECT), takes)
    if rotary is not None:
        still = None if "angles" in takes else False
        rotates = True if as_bool("rotary", rotary) else still
        uses = [use for use in uses if use.rotates == rotates] or [decoding.PositionUse(rotates)]
    reports = list[Report]()
    for use in uses:
        report = _examine_use(step, converter, use, leave_out, strict)
        if report.is_explained:
            return report
        reports += [] if use.window_extra else [report]
    return min(reports, key=_count_wrong_cases)


def _examine_use(
    step: Callable[..., Any],
    converter: Converter,
    use: decoding.PositionUse,
    leave_out: Collection[str],
    strict: bool,
) -> Report:
    """Return the report on a decoding step that applies positions in one way."""
    subject = decoding.subject_of(use)
    report = _build_report(wrap_function(step, converter, subject), leave_out, strict)
    report = replace(report, findings=(*report.findings, *use.notes))
    has_halves = any(finding.bug and "halves" in finding.bug for finding in report.findings)
    if has_halves and use.layout == "pairs":
        other = _examine_use(step, converter, replace(use, layout="halves"), leave_out, strict)
        if _count_wrong_cases(other) < _count_wrong_cases(report):
            return other
    return report


def _count_wrong_cases(report: Report) -> int:
    """Return the number of cases whose outputs differ from the correct ones."""
    return sum(count - agreed for agreed, count in report.cases.values())


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
    arguments = [normalise_name(name) for name, _ in read_parameters(function)[0]]
    subject = positions.subject_of(arguments, layout)
    tested = wrap_function(function, find_converter(function, asarray), subject)
    if "positions" not in tested.takes:
        return _build_report(tested, leave_out, strict, positions.position_findings)
    if positions.has_tokens_first(tested):
        tested = positions.with_tokens_first(tested)
    if "x" in tested.takes and (rotated_parts := positions.find_rotated_parts(tested)):
        note = positions.rotated_part_note(rotated_parts)
        part = replace(tested, subject=positions.rotary_subject(layout, ("x",), rotated_parts))
        report = _build_report(part, leave_out, strict, lambda _: [note])
        if report.is_explained:
            return report
    return _build_report(tested, leave_out, strict)


NOT_CAUSAL = Finding(
    "the layer is not causal and takes no mask: it is right if a token may attend to later ones, as"
    " in an encoder. A model that predicts the next token needs a causal mask.",
    convention="if a token may attend to later ones",
    section=DECODING,
)
FUSED_BY_HEADS = Finding(
    "another convention: the function is right if the fused matrix has query, key and value of the"
    " first head, then those of the second, as in GPT-NeoX and BLOOM.",
    convention="if the fused matrix has query, key and value head by head",
)


def _wrap_with_library(
    function: Callable[..., Any], asarray: Callable[..., Any] | None, subject: Subject
) -> FunctionUnderTest:
    """Return a function with its arguments matched to a subject, and the library of its arrays."""
    if hasattr(function, "eval") and hasattr(function, "state_dict"):
        function.eval()
    tested = wrap_function(function, find_converter(function, asarray), subject)
    if asarray is not None or subject.draw_plain_inputs is None:
        return tested
    for converter in [tested.converter, *loaded_converters()]:
        trial = replace(tested, converter=converter)
        if returns_output(trial):
            return trial
    return tested


def _build_report(
    tested: FunctionUnderTest,
    leave_out: Collection[str],
    strict: bool,
    find_earlier: Callable[[Examination], list[Finding]] = lambda _: [],
) -> Report:
    """Return the report on a function, after it has computed its cases.

    `find_earlier` takes the examination, and returns further findings.
    """
    kinds = _kind_names(tested)
    for kind in leave_out:
        if kind not in kinds:
            raise ValueError(f"leave_out has {kind!r}; this function has {', '.join(kinds)}")
    examination = Examination.run(tested, leave_out)
    faults = [x.fault for x in examination.outcomes if x.value is None and "raises" in x.fault]
    # Arrays whose sizes do not match raise a ValueError, which may be a bug. Other errors are of
    # arguments in another form, such as arrays with other axes, which the function unpacks.
    may_be_bug = any("raises ValueError" in x and "unpack" not in x for x in faults)
    if len(faults) == len(examination.cases) and not may_be_bug:
        raise TypeError(_raising_message(tested, min(faults, key=len)))
    return build_report(examination, find_earlier(examination), strict=strict)


def _raising_message(tested: FunctionUnderTest, fault: str) -> str:
    """Return the message for a function that raises an error in every case."""
    inputs = ", ".join(tested.arguments)
    return (
        f"examine cannot judge {tested.name}: {fault}, and an error in every other case too. Repair"
        f" it, or, if it takes arrays in another form, examine a function around it:\n"
        f"    lambda {inputs}: {tested.name}(...)"
    )


def _kind_names(tested: FunctionUnderTest) -> list[str]:
    """Return the names of the kinds of cases for a function."""
    cases = tested.subject.cases(tested.takes, tested.conventions.extra_inputs)
    return list(dict.fromkeys(tested.kind_name(case.kind) for case in cases))
