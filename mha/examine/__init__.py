"""Examine attention that someone else wrote: is it right, which bug has it, what shows it.

``mha.examine(function)`` is a function, ``python -m mha.examine package.module:function`` does the
same from a shell, and ``from mha.examine import Report`` imports what else is here.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np

from mha.core.kinds import as_switch
from mha.core.positions import Layout
from mha.examine import attention, decoding, layer, positions
from mha.examine.asking import Asked, asked, parameters, plain
from mha.examine.cases import Case, Subject
from mha.examine.judging import Asking, convention, judged
from mha.examine.report import Finding, Report, Shown

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
    asarray: Callable[..., Any] = np.asarray,
    leave_out: Collection[str] = (),
) -> Report:
    """Examine a function that computes attention of queries, keys and values.

    It is asked about a hundred small cases of what its arguments say that it can do, each with
    the right answer beside it, and two lines make that a test::

        def test_my_attention():
            mha.examine(my_attention).raise_if_wrong()

    Parameters
    ----------
    function : callable
        Takes query, key and value, with axes (..., num_heads, n, d_k). What else it can be asked
        is read from its arguments' names: `mask` or `attn_mask`, `key_padding_mask`, `bias`,
        `is_causal`, `scale`, `enable_gqa`, `softcap`. It returns the output, alone or in a tuple.
    asarray : callable, default numpy.asarray
        Makes the function's kind of array of NumPy's, such as ``torch.tensor``. What comes back
        is read by ``numpy.asarray``; a function that keeps track of gradients has to detach it.
    leave_out : collection of str, default ()
        Kinds of cases, as a report names them, that are not asked.

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
    this = asked(function, asarray, attention.SUBJECT)
    cases = _kept(this, leave_out)
    asking, limits = Asking.of(this, cases).limited()
    axes = 2 + min(len(case.leading) for case in asking.cases)
    limits += attention.place_of_first(asking)
    first = judged(asking, _name(function), limits, lambda it: attention.own_scale(it, axes))
    agreed, total = first.cases.get("plain", (0, 1))
    if agreed == total or any(finding.bug for finding in first.findings):
        return first
    other, limits = Asking.of(replace(this, moved=attention.SUBJECT.first), cases).limited()
    condition = "if axes are (..., n, num_heads, d_k)"
    moved = judged(other, first.name, [convention(condition), *limits])
    return moved if moved.ok or any(finding.bug for finding in moved.findings) else first


def examine_layer(
    function: Callable[..., Any],
    *,
    asarray: Callable[..., Any] = np.asarray,
    leave_out: Collection[str] = (),
) -> Report:
    """Examine a function that computes a whole layer of attention with given matrices.

    Parameters
    ----------
    function : callable
        Takes tokens `x` of shape (n, d_model) or (batch, n, d_model), and of the following what
        its arguments name: `w_q`, `w_k`, `w_v`, `w_o` of shape (d_model, num_heads * d_k), heads
        beside each other and multiplied from the right; `w_qkv` for the first three in one;
        `b_q`, `b_k`, `b_v`, `b_o` and `b_qkv`; `num_heads` and `num_groups`; `weights`, all of it
        as `MultiHeadWeights`; `context`, or `key` and `value`; `mask`, `key_padding_mask`,
        `is_causal`; `angles` of rotary positions.
    asarray, leave_out
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
    return _examined(function, asarray, layer.SUBJECT, leave_out)


def examine_decoding(
    step: Callable[..., Any],
    *,
    rotary: bool = False,
    asarray: Callable[..., Any] = np.asarray,
    leave_out: Collection[str] = (),
) -> Report:
    """Examine a step with a cache: its outputs are to be the rows of the full causal pass.

    Parameters
    ----------
    step : callable
        Takes query, key and value of the new tokens and `cache`, what it returned at the step
        before and None at first; or tokens `x` and `weights`, as `decode_step` does. It returns
        the output and the cache. `angles`, `positions` or `position`, the first, are handed to a
        step that has such an argument; with angles it turns queries and keys, with positions it
        turns them, or finds its place in the cache by them alone. A step that is for one token
        alone leaves out "several first, then one by one" and "several new tokens after a cache".
    rotary : bool, default False
        Whether the step turns queries and keys by itself, by pairs with the base 10000.
    asarray, leave_out
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
    >>> mha.examine_decoding(mha.decode_step).ok
    True
    """
    first = _examined(step, asarray, decoding.subject(as_switch("rotary", rotary)), leave_out)
    own = {plain(name) for name, _ in parameters(step)}
    if first.ok or rotary or own.isdisjoint(decoding.PLACES):
        return first
    # A step may want positions for the place in its cache alone, and turn nothing.
    other = _examined(step, asarray, decoding.UNTURNED, leave_out)
    return other if other.ok or _unexplained(other) < _unexplained(first) else first


def examine_positions(
    function: Callable[..., Any],
    *,
    layout: Layout = "pairs",
    asarray: Callable[..., Any] = np.asarray,
    leave_out: Collection[str] = (),
) -> Report:
    """Examine a function that tells attention in which order tokens stand.

    Parameters
    ----------
    function : callable
        Which positions it makes is read from its arguments. Rotary ones: `x` and `positions`, for
        `x` turned; or query, key, value and `positions`, for attention's output. Linear biases:
        `num_heads`, `num_queries` and `num_keys`, for what is added to scores; or `num_heads`
        alone, for the slopes. Numbers of tokens: `mask`, True where a token is no padding.
    layout : {"pairs", "halves"}, default "pairs"
        Which components rotary positions turn together, as in `rotate_by`.
    asarray, leave_out
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
    >>> mha.examine_positions(mha.rotate).ok, mha.examine_positions(mha.linear_slopes).ok
    (True, True)
    >>> mha.examine_positions(mha.rotate, layout="halves").findings[0].bug
    'halves for pairs'
    """
    if layout not in ("pairs", "halves"):
        raise ValueError(f'layout is {layout!r}; "pairs" or "halves" is wanted')
    own = [plain(name) for name, _ in parameters(function)]
    subject, said = positions.subject_of(own, layout), positions.place_of_first
    return _examined(function, asarray, subject, leave_out, said)


def _unexplained(report: Report) -> int:
    """Return how many findings have no known bug and are no convention."""
    return sum(not (finding.bug or finding.convention) for finding in report.findings)


def _examined(
    function: Callable[..., Any],
    asarray: Callable[..., Any],
    subject: Subject,
    leave_out: Collection[str],
    more: Callable[[Asking], list[Finding]] = lambda _: [],
) -> Report:
    """Return the report on a function."""
    this = asked(function, asarray, subject)
    asking, limits = Asking.of(this, _kept(this, leave_out)).limited()
    return judged(asking, _name(function), limits + more(asking))


def _kept(this: Asked, leave_out: Collection[str]) -> list[Case]:
    """Return cases without those of some kinds."""
    cases = this.subject.cases(this.takes)
    kinds = list(dict.fromkeys(this.named(case.about) for case in cases))
    for kind in leave_out:
        if kind not in kinds:
            raise ValueError(f"leave_out has {kind!r}; kinds among {', '.join(kinds)} are wanted")
    return [case for case in cases if this.named(case.about) not in leave_out]


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
