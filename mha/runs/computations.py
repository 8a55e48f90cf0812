"""Computations as named tables, each given or computed from earlier tables by one operation.

A `Trace` has the fixed stages of standard attention. Newer layers differ from it and from each
other, so their stages are written as a `Computation`. Each of its numbers has an origin, as that of
a trace has, and so a line of arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_finite_array, as_number, frozen_copy, refuse_overflow
from mha.core.option_checks import as_string
from mha.core.score_variants import top_keys_mask
from mha.runs.operations import Operand, Operation, Origin
from mha.runs.places import Place

Terms = Iterator[tuple[Operand, ...]]


@dataclass(frozen=True, order=True)
class Cell(Place):
    """The address of one number of a computation: its table, row and column.

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
    """One step of a computation: an operation, and the table that it gives.

    Parameters
    ----------
    name : str
        Name of the table.
    title : str
        Title of the table on a page.
    operation : str
        "given", or one of `OPERATIONS`.
    inputs : tuple of str
        Names of the tables that the operation takes.
    number : float
        The number that the operation takes, 0 if it takes none.
    array : ndarray, shape (rows, columns)
    """

    name: str
    title: str
    operation: str
    inputs: tuple[str, ...]
    number: float
    array: Array


@dataclass(frozen=True, eq=False)
class Computation:
    """Named tables in the order in which they are computed.

    It is immutable: `given` and `then` return a computation with one more table.

    Examples
    --------
    >>> inputs = Computation().given("x", [[1, 2], [3, 4]]).given("w", [[1], [10]])
    >>> computation = inputs.then("y", "product", "x", "w")
    >>> computation["y"]
    array([[21.],
           [43.]])
    >>> computation.origin("y", 1, 0).operation
    'products'
    """

    steps: dict[str, Step] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        """Return a table, read-only."""
        return self.step(name).array

    def step(self, name: str) -> Step:
        """Return the step that gives a table.

        Raises
        ------
        ValueError
            If there is no table of that name.
        """
        if name not in self.steps:
            wanted = ", ".join(self.steps) or "none yet"
            raise ValueError(f"table is {name!r}; one of the computation's is wanted: {wanted}")
        return self.steps[name]

    def given(self, name: str, array: ArrayLike, *, title: str = "") -> Self:
        """Return the computation with one more input table.

        Parameters
        ----------
        name : str
        array : array_like, shape (rows, columns)
        title : str, default the name

        Raises
        ------
        TypeError, ValueError
            If the array has not two axes, is not finite, or if there is a table of that name.
        """
        found = as_finite_array(name, array, min_ndim=2)
        if found.ndim != 2:
            raise ValueError(f"{name} has shape {found.shape}; rows and columns are wanted")
        return self._with(
            Step(as_string("name", name), title or name, "given", (), 0.0, frozen_copy(found))
        )

    def then(
        self, name: str, operation: str, *inputs: str, number: float = 0.0, title: str = ""
    ) -> Self:
        """Return the computation with one more table, computed from earlier ones.

        Parameters
        ----------
        name : str
        operation : str
            One of `OPERATIONS`.
        *inputs : str
            Names of the tables that the operation takes, in its order.
        number : float, default 0
            The number that the operation takes, if it takes one.
        title : str, default the name

        Raises
        ------
        TypeError, ValueError
            If there is no such operation or table, if shapes do not fit together, or if a result
            overflows.
        """
        if operation not in OPERATIONS:
            raise ValueError(
                f"operation is {operation!r}; one of {', '.join(OPERATIONS)} is wanted"
            )
        operator = OPERATIONS[operation]
        if len(inputs) != operator.num_tables:
            raise ValueError(
                f"{operation} has {len(inputs)} tables; {operator.num_tables} are wanted"
            )
        arrays, number = [self[one] for one in inputs], as_number("number", number)
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                found = np.asarray(operator.compute(*arrays, number), float)
        except ValueError as error:
            shapes = " and ".join(str(array.shape) for array in arrays)
            raise ValueError(
                f"{name}: {operation} of {shapes} cannot be; shapes that fit are wanted"
            ) from error
        if operation not in ("masked", "top"):  # whose minus infinity is no overflow
            refuse_overflow(
                " and ".join(inputs), np.where(np.isneginf(found), 0, found), "combined"
            )
        return self._with(
            Step(
                as_string("name", name),
                title or name,
                operation,
                inputs,
                number,
                frozen_copy(found),
            )
        )

    def _with(self, step: Step) -> Self:
        if step.name in self.steps:
            raise ValueError(
                f"name is {step.name!r}, which the computation has; another one is wanted"
            )
        return type(self)({**self.steps, step.name: step})

    def origin(self, table: str, row: int, column: int) -> Origin:
        """Return the origin of one number: its operation and its operands.

        Raises
        ------
        ValueError
            If there is no such number.
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
        """Return one number as an operand, with its address."""
        return Operand(float(self[table][row, column]), Cell(table, row=row, column=column))


# ---- The operations ----


@dataclass(frozen=True)
class TableOperation:
    """An operation on tables: their number, the function, and the origin of one of its numbers.

    `compute` takes the arrays and then the step's number. `origin` takes the computation, the step,
    a row and a column, and returns the operation and the terms of that number.
    """

    num_tables: int
    compute: Callable[..., Any]
    origin: Callable[[Computation, Step, int, int], tuple[Operation, Terms]]


def _as_terms(*operands: Operand) -> Terms:
    return ((operand,) for operand in operands)


def _row_operands(tables: Computation, table: str, row: int) -> list[Operand]:
    return [tables.at(table, row, i) for i in range(tables[table].shape[1])]


def _product(tables: Computation, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    left, right = step.inputs
    terms = (
        (o, tables.at(right, i, column)) for i, o in enumerate(_row_operands(tables, left, row))
    )
    return "products", terms


def _dots(tables: Computation, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    left, right = step.inputs
    terms = (
        (o, tables.at(right, column, i)) for i, o in enumerate(_row_operands(tables, left, row))
    )
    return "products", terms


def _sum(tables: Computation, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    return "products", _as_terms(*(tables.at(name, row, column) for name in step.inputs))


def _difference(tables: Computation, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    first, second = (tables.at(name, row, column) for name in step.inputs)
    return "products", iter(((first,), (Operand(-step.number, name="share"), second)))


def _divided_by_root(
    tables: Computation, step: Step, row: int, column: int
) -> tuple[Operation, Terms]:
    return "scaled", _as_terms(
        tables.at(step.inputs[0], row, column), Operand(step.number, name="d_k")
    )


def _multiplied_by_number(
    tables: Computation, step: Step, row: int, column: int
) -> tuple[Operation, Terms]:
    return "products", iter(
        ((tables.at(step.inputs[0], row, column), Operand(step.number, name="factor")),)
    )


def _multiplied(tables: Computation, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    left, right = step.inputs
    is_per_row = tables[right].shape[1] == 1
    factor = tables.at(right, row, 0 if is_per_row else column)
    return "products", iter(((tables.at(left, row, column), factor),))


def _masked(tables: Computation, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    scores, allowed = (tables.at(name, row, column) for name in step.inputs)
    if allowed.value:
        return "copy", _as_terms(scores)
    return "masked", _as_terms(scores, allowed)


def _largest_kept(
    tables: Computation, step: Step, row: int, column: int
) -> tuple[Operation, Terms]:
    is_kept = np.isfinite(step.array[row, column])
    return "copy" if is_kept else "masked", _as_terms(tables.at(step.inputs[0], row, column))


def _keep_top(scores: Array, count: float) -> Array:
    return np.where(top_keys_mask(scores, int(count)), scores, -np.inf)


def _exponential(tables: Computation, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    return "exponential", _as_terms(tables.at(step.inputs[0], row, column))


def _row_sum(tables: Computation, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    return "sum", _as_terms(*_row_operands(tables, step.inputs[0], row))


def _sum_with_sink(
    tables: Computation, step: Step, row: int, column: int
) -> tuple[Operation, Terms]:
    sink = Operand(math.exp(step.number), name="sink")
    return "sum", _as_terms(*_row_operands(tables, step.inputs[0], row), sink)


def _share(tables: Computation, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    top, bottom = step.inputs
    return "share", _as_terms(tables.at(top, row, column), tables.at(bottom, row, 0))


def _spread(tables: Computation, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    nothing = Operand(0.0, name="mean")
    return "spread", _as_terms(
        *_row_operands(tables, step.inputs[0], row), nothing, Operand(step.number, name="eps")
    )


def _quotient(tables: Computation, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    top, bottom = step.inputs
    return "quotient", _as_terms(tables.at(top, row, column), tables.at(bottom, row, 0))


def _function(name: Operation) -> Callable[[Computation, Step, int, int], tuple[Operation, Terms]]:
    def origin(tables: Computation, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
        extra = (Operand(step.number, name="cap"),) if name == "capped" else ()
        return name, _as_terms(tables.at(step.inputs[0], row, column), *extra)

    return origin


def _rotated(tables: Computation, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    table, angles = step.inputs
    pair, is_second = divmod(column, 2)
    angle = float(tables[angles][row, pair])
    cos, sin = Operand(math.cos(angle), name="cos"), Operand(math.sin(angle), name="sin")
    factors = (sin, cos) if is_second else (cos, Operand(-sin.value, name="sin"))
    return "products", ((tables.at(table, row, 2 * pair + i), factors[i]) for i in range(2))


def _rotate(table: Array, angles: Array, _: float) -> Array:
    # Adjacent components are a pair, as in the definition of RoPE, not the halves of a row.
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = table[:, 0::2], table[:, 1::2]
    turned = np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1)
    return turned.reshape(table.shape)


def _concatenated(
    tables: Computation, step: Step, row: int, column: int
) -> tuple[Operation, Terms]:
    left, right = step.inputs
    width = tables[left].shape[1]
    at = (left, row, column) if column < width else (right, row, column - width)
    return "copy", _as_terms(tables.at(*at))


def _recurrent_state(
    tables: Computation, step: Step, row: int, column: int
) -> tuple[Operation, Terms]:
    """Return the decay times the previous state, and key times value of token `step.number`."""
    before, key, value, decay = step.inputs
    token = int(step.number)
    kept = (tables.at(decay, token, 0), tables.at(before, row, column))
    return "products", iter((kept, (tables.at(key, token, row), tables.at(value, token, column))))


def _update_state(before: Array, key: Array, value: Array, decay: Array, token: float) -> Array:
    t = int(token)
    return decay[t, 0] * before + key[t, :, None] * value[t]


def _decay_product(
    tables: Computation, step: Step, row: int, column: int
) -> tuple[Operation, Terms]:
    """Return one product: the decays of the tokens after `column`, up to `row`."""
    if column > row:
        return "products", _as_terms(Operand(0.0, name="zero"))
    factors = tuple(tables.at(step.inputs[0], token, 0) for token in range(column + 1, row + 1))
    return "products", iter((factors or (Operand(1.0, name="one"),),))


def _multiply_decays(decay: Array, _: float) -> Array:
    products = np.eye(len(decay))
    for row in range(1, len(decay)):
        products[row, :row] = products[row - 1, :row] * decay[row, 0]
    return products


def _copied_row(tables: Computation, step: Step, row: int, column: int) -> tuple[Operation, Terms]:
    return "copy", _as_terms(tables.at(step.inputs[0], int(step.number), column))


def _divide_or_zero(a: Array, b: Array, _: float) -> Array:
    """Return a / b, and 0 where b is 0, so that a fully masked row has weights of 0."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=b != 0)


def _sigmoid(x: Array) -> Array:
    # Exponentials of negative numbers alone, because those of large positive ones overflow.
    return np.where(x < 0, np.exp(-np.abs(x)), 1.0) / (1 + np.exp(-np.abs(x)))


# Pages export these names. "less" subtracts the second table times a number, "beside" concatenates
# columns, "carried" is a recurrent state after one more token, and "largest size" is the largest
# absolute value of each row.
OPERATIONS: dict[str, TableOperation] = {
    "product": TableOperation(2, lambda a, b, _: a @ b, _product),
    "dots": TableOperation(2, lambda a, b, _: a @ b.T, _dots),
    "sum": TableOperation(2, lambda a, b, _: a + b, _sum),
    "less": TableOperation(2, lambda a, b, factor: a - factor * b, _difference),
    "over root": TableOperation(1, lambda a, d: a / math.sqrt(d), _divided_by_root),
    "times number": TableOperation(1, lambda a, factor: a * factor, _multiplied_by_number),
    "times": TableOperation(2, lambda a, b, _: a * b, _multiplied),
    "masked": TableOperation(2, lambda a, allowed, _: np.where(allowed != 0, a, -np.inf), _masked),
    "top": TableOperation(1, _keep_top, _largest_kept),
    "capped": TableOperation(1, lambda a, cap: cap * np.tanh(a / cap), _function("capped")),
    "exponential": TableOperation(1, lambda a, _: np.exp(a), _exponential),
    "row sums": TableOperation(1, lambda a, _: a.sum(axis=1, keepdims=True), _row_sum),
    "row sums with sink": TableOperation(
        1, lambda a, sink: a.sum(axis=1, keepdims=True) + math.exp(sink), _sum_with_sink
    ),
    "share": TableOperation(2, _divide_or_zero, _share),
    "spread": TableOperation(
        1, lambda a, eps: np.sqrt((a * a).mean(axis=1, keepdims=True) + eps), _spread
    ),
    "quotient": TableOperation(2, _divide_or_zero, _quotient),
    "sigmoid": TableOperation(1, lambda a, _: _sigmoid(a), _function("sigmoid")),
    "turned": TableOperation(2, _rotate, _rotated),
    "beside": TableOperation(2, lambda a, b, _: np.concatenate([a, b], axis=1), _concatenated),
    "row": TableOperation(1, lambda a, row: a[[int(row)]], _copied_row),
    "decays": TableOperation(1, _multiply_decays, _decay_product),
    "carried": TableOperation(4, _update_state, _recurrent_state),
    "largest size": TableOperation(
        1,
        lambda a, _: np.abs(a).max(axis=1, keepdims=True),
        lambda tables, step, row, _: (
            "largest size",
            _as_terms(*_row_operands(tables, step.inputs[0], row)),
        ),
    ),
    "rounded": TableOperation(1, lambda a, _: np.rint(a), _function("rounded")),
}
"""The operations by their names."""
