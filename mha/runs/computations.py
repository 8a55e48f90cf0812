"""A calculation as a sheet: named tables, each given or made of others by one operation.

A `Trace` is one fixed calculation, attention, whose stages the whole book knows. What newer layers
do to it differs from layer to layer; a sheet writes such a layer down step by step. Every number
of it has an origin, as that of a trace has, and so a line of arithmetic.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_finite_array, as_number, frozen, refuse_overflow
from mha.core.option_checks import as_string
from mha.core.score_variants import top_keys_mask
from mha.runs.operations import Operand, Operation, Origin
from mha.runs.places import Place

Terms = Iterator[tuple[Operand, ...]]


@dataclass(frozen=True, order=True)
class Cell(Place):
    """The address of one number of a sheet, which has a table of its own in a stage's place.

    Examples
    --------
    >>> str(Cell("latent", row=0, column=1))
    'latent.0.1'
    """

    def __post_init__(self) -> None:
        for name in ("row", "column"):
            self._check(name)


@dataclass(frozen=True, eq=False)
class Step:
    """One table of a sheet.

    Parameters
    ----------
    name : str
    title : str
        What it is called on a page.
    operation : str
        "given", or one of `OPERATIONS`.
    of : tuple of str
        The tables that it is made of.
    number : float
        What the operation takes beside tables, where it takes a number.
    array : ndarray, shape (rows, columns)
    """

    name: str
    title: str
    operation: str
    of: tuple[str, ...]
    number: float
    array: Array


@dataclass(frozen=True, eq=False)
class Sheet:
    """Tables in the order of the calculation; `given` and `then` return a longer sheet.

    Examples
    --------
    >>> sheet = Sheet().given("x", [[1, 2], [3, 4]]).given("w", [[1], [10]])
    >>> sheet = sheet.then("y", "product", "x", "w")
    >>> sheet["y"]
    array([[21.],
           [43.]])
    >>> sheet.origin("y", 1, 0).operation
    'products'
    """

    steps: dict[str, Step] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        """Return a table, read-only."""
        return self.step(name).array

    def step(self, name: str) -> Step:
        """Return what is known of a table.

        Raises
        ------
        ValueError
            If there is none of that name.
        """
        if name not in self.steps:
            wanted = ", ".join(self.steps) or "none yet"
            raise ValueError(f"table is {name!r}; one of the sheet's is wanted: {wanted}")
        return self.steps[name]

    def given(self, name: str, array: ArrayLike, *, title: str = "") -> Self:
        """Return the sheet with a table that is given.

        Parameters
        ----------
        name : str
        array : array_like, shape (rows, columns)
        title : str, default the name

        Raises
        ------
        TypeError, ValueError
            If it does not hold finite numbers in rows and columns, or the name is taken.
        """
        found = as_finite_array(name, array, min_ndim=2)
        if found.ndim != 2:
            raise ValueError(f"{name} has shape {found.shape}; rows and columns are wanted")
        return self._with(
            Step(as_string("name", name), title or name, "given", (), 0.0, frozen(found))
        )

    def then(
        self, name: str, operation: str, *of: str, number: float = 0.0, title: str = ""
    ) -> Self:
        """Return the sheet with a table that is made of others.

        Parameters
        ----------
        name : str
        operation : str
            One of `OPERATIONS`.
        *of : str
            The tables that it is made of, in the operation's order.
        number : float, default 0
            What the operation takes beside tables.
        title : str, default the name

        Raises
        ------
        TypeError, ValueError
            If the operation or a table is none, the tables do not fit, or a number is too large.
        """
        if operation not in OPERATIONS:
            raise ValueError(
                f"operation is {operation!r}; one of {', '.join(OPERATIONS)} is wanted"
            )
        made = OPERATIONS[operation]
        if len(of) != made.takes:
            raise ValueError(f"{operation} has {len(of)} tables; {made.takes} are wanted")
        arrays, number = [self[one] for one in of], as_number("number", number)
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                found = np.asarray(made.gives(*arrays, number), float)
        except ValueError as error:
            shapes = " and ".join(str(array.shape) for array in arrays)
            raise ValueError(
                f"{name}: {operation} of {shapes} cannot be; shapes that fit are wanted"
            ) from error
        if operation not in ("masked", "top"):
            refuse_overflow(" and ".join(of), np.where(np.isneginf(found), 0, found), "combined")
        return self._with(
            Step(as_string("name", name), title or name, operation, of, number, frozen(found))
        )

    def _with(self, step: Step) -> Self:
        if step.name in self.steps:
            raise ValueError(f"name is {step.name!r}, which the sheet has; another one is wanted")
        return type(self)({**self.steps, step.name: step})

    def origin(self, table: str, row: int, column: int) -> Origin:
        """Return how one number comes about.

        Raises
        ------
        ValueError
            If the sheet has no such number.
        """
        step = self.step(table)
        rows, columns = step.array.shape
        if not (0 <= row < rows and 0 <= column < columns):
            raise ValueError(f"{table} has no number {row}, {column}; its shape is {rows, columns}")
        place, kept = Cell(table, row=row, column=column), float(step.array[row, column])
        if step.operation == "given":
            return Origin(place, "given", ((Operand(kept),),), kept)
        operation, terms = OPERATIONS[step.operation].origin(self, step, row, column)
        return Origin(place, operation, tuple(terms), kept)

    def at(self, table: str, row: int, column: int) -> Operand:
        """Return one number with its address."""
        return Operand(float(self[table][row, column]), Cell(table, row=row, column=column))


# ---- The operations ----


@dataclass(frozen=True)
class Made:
    """One operation: of how many tables, what it gives, and where a number of it comes from."""

    takes: int
    gives: Callable[..., Any]
    origin: Callable[[Sheet, Step, int, int], tuple[Operation, Terms]]


def _one(*operands: Operand) -> Terms:
    return ((operand,) for operand in operands)


def _of_row(sheet: Sheet, table: str, row: int) -> list[Operand]:
    return [sheet.at(table, row, i) for i in range(sheet[table].shape[1])]


def _product(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    left, right = step.of
    terms = ((o, sheet.at(right, i, column)) for i, o in enumerate(_of_row(sheet, left, row)))
    return "products", terms


def _dots(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    left, right = step.of
    terms = ((o, sheet.at(right, column, i)) for i, o in enumerate(_of_row(sheet, left, row)))
    return "products", terms


def _sum(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    return "products", _one(*(sheet.at(name, row, column) for name in step.of))


def _less(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    first, second = (sheet.at(name, row, column) for name in step.of)
    return "products", iter(((first,), (Operand(-step.number, name="share"), second)))


def _over_root(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    return "scaled", _one(sheet.at(step.of[0], row, column), Operand(step.number, name="d_k"))


def _times_number(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    return "products", iter(
        ((sheet.at(step.of[0], row, column), Operand(step.number, name="factor")),)
    )


def _times(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    left, right = step.of
    of_row = sheet[right].shape[1] == 1
    by = sheet.at(right, row, 0 if of_row else column)
    return "products", iter(((sheet.at(left, row, column), by),))


def _masked(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    scores, allowed = (sheet.at(name, row, column) for name in step.of)
    if allowed.value:
        return "copy", _one(scores)
    return "masked", _one(scores, allowed)


def _top(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    is_kept = np.isfinite(step.array[row, column])
    return "copy" if is_kept else "masked", _one(sheet.at(step.of[0], row, column))


def _keep_top(scores: Array, count: float) -> Array:
    return np.where(top_keys_mask(scores, int(count)), scores, -np.inf)


def _exponential(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    return "exponential", _one(sheet.at(step.of[0], row, column))


def _row_sum(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    return "sum", _one(*_of_row(sheet, step.of[0], row))


def _sum_with_sink(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    sink = Operand(math.exp(step.number), name="sink")
    return "sum", _one(*_of_row(sheet, step.of[0], row), sink)


def _share(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    top, bottom = step.of
    return "share", _one(sheet.at(top, row, column), sheet.at(bottom, row, 0))


def _spread(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    nothing = Operand(0.0, name="mean")
    return "spread", _one(
        *_of_row(sheet, step.of[0], row), nothing, Operand(step.number, name="eps")
    )


def _quotient(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    top, bottom = step.of
    return "quotient", _one(sheet.at(top, row, column), sheet.at(bottom, row, 0))


def _function(name: Operation) -> Callable[[Sheet, Step, int, int], tuple[Operation, Terms]]:
    def origin(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
        extra = (Operand(step.number, name="cap"),) if name == "capped" else ()
        return name, _one(sheet.at(step.of[0], row, column), *extra)

    return origin


def _turned(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    table, angles = step.of
    pair, is_second = divmod(column, 2)
    angle = float(sheet[angles][row, pair])
    cos, sin = Operand(math.cos(angle), name="cos"), Operand(math.sin(angle), name="sin")
    by = (sin, cos) if is_second else (cos, Operand(-sin.value, name="sin"))
    return "products", ((sheet.at(table, row, 2 * pair + i), by[i]) for i in range(2))


def _turn(table: Array, angles: Array, _: float) -> Array:
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = table[:, 0::2], table[:, 1::2]
    turned = np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1)
    return turned.reshape(table.shape)


def _beside(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    left, right = step.of
    width = sheet[left].shape[1]
    at = (left, row, column) if column < width else (right, row, column - width)
    return "copy", _one(sheet.at(*at))


def _carried(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    """Return the decay times the state before, and key times value of the token `number`."""
    before, key, value, decay = step.of
    token = int(step.number)
    kept = (sheet.at(decay, token, 0), sheet.at(before, row, column))
    return "products", iter((kept, (sheet.at(key, token, row), sheet.at(value, token, column))))


def _carry(before: Array, key: Array, value: Array, decay: Array, token: float) -> Array:
    t = int(token)
    return decay[t, 0] * before + key[t, :, None] * value[t]


def _row_of(sheet: Sheet, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    return "copy", _one(sheet.at(step.of[0], int(step.number), column))


def _over(a: Array, b: Array, _: float) -> Array:
    """Return a quotient, 0 where the divisor is 0: so are the weights of a row without keys."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=b != 0)


def _sigmoid(x: Array) -> Array:
    return np.where(x < 0, np.exp(-np.abs(x)), 1.0) / (1 + np.exp(-np.abs(x)))


OPERATIONS: dict[str, Made] = {
    "product": Made(2, lambda a, b, _: a @ b, _product),
    "dots": Made(2, lambda a, b, _: a @ b.T, _dots),
    "sum": Made(2, lambda a, b, _: a + b, _sum),
    "less": Made(2, lambda a, b, share: a - share * b, _less),
    "over root": Made(1, lambda a, d: a / math.sqrt(d), _over_root),
    "times number": Made(1, lambda a, factor: a * factor, _times_number),
    "times": Made(2, lambda a, b, _: a * b, _times),
    "masked": Made(2, lambda a, allowed, _: np.where(allowed != 0, a, -np.inf), _masked),
    "top": Made(1, _keep_top, _top),
    "capped": Made(1, lambda a, cap: cap * np.tanh(a / cap), _function("capped")),
    "exponential": Made(1, lambda a, _: np.exp(a), _exponential),
    "row sums": Made(1, lambda a, _: a.sum(axis=1, keepdims=True), _row_sum),
    "row sums with sink": Made(
        1, lambda a, sink: a.sum(axis=1, keepdims=True) + math.exp(sink), _sum_with_sink
    ),
    "share": Made(2, _over, _share),
    "spread": Made(1, lambda a, eps: np.sqrt((a * a).mean(axis=1, keepdims=True) + eps), _spread),
    "quotient": Made(2, _over, _quotient),
    "sigmoid": Made(1, lambda a, _: _sigmoid(a), _function("sigmoid")),
    "turned": Made(2, _turn, _turned),
    "beside": Made(2, lambda a, b, _: np.concatenate([a, b], axis=1), _beside),
    "row": Made(1, lambda a, row: a[[int(row)]], _row_of),
    "carried": Made(4, _carry, _carried),
    "largest size": Made(
        1,
        lambda a, _: np.abs(a).max(axis=1, keepdims=True),
        lambda sheet, step, row, _: ("largest size", _one(*_of_row(sheet, step.of[0], row))),
    ),
    "rounded": Made(1, lambda a, _: np.rint(a), _function("rounded")),
}
"""What a table can be made of others by."""
