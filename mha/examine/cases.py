"""Test cases, and subjects that compute their right outputs and the outputs of bugs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator

from mha.core.checks import Array
from mha.examine.derivations import ATTENTION, Told
from mha.practice.attention_parts import Parts

NOTHING_SEEN = "fully masked row"
BY_NUMBERS = "additive mask"
NOTHING_BY_NUMBERS = "fully masked row, additive mask"
NOTHING_BY_PADDING = "fully masked row, padding"
CAUSAL_AND_MASK, CAUSAL_AND_PADDING = "is_causal with mask", "is_causal with key_padding_mask"
OF_SEQUENCES = "mask per sequence"


@dataclass(frozen=True, eq=False)
class Case:
    """One test case: its kind, its inputs by the names of `mha`, and its leading axes.

    `takes` are the names that its inputs were drawn for. The right output of a case and the outputs
    of bugs do not depend on the function that is asked: they are kept here once they are known.
    """

    about: str
    given: Mapping[str, Any]
    leading: tuple[int, ...] = ()
    takes: frozenset[str] = frozenset()
    gives: dict[Parts, Array | None] = field(default_factory=dict, init=False, repr=False)
    empty: list[Array] = field(default_factory=list, init=False, repr=False)

    @property
    def floats(self) -> list[np.dtype[Any]]:
        """The floating dtypes of its inputs."""
        arrays = (x for x in self.given.values() if isinstance(x, np.ndarray))
        return [x.dtype for x in arrays if x.dtype.kind == "f"]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The common floating dtype of its inputs; float64 if it has none."""
        return np.result_type(*self.floats or [np.dtype(np.float64)])

    @property
    def size(self) -> int:
        """The number of elements of all inputs."""
        return sum(int(np.size(x)) for x in self.given.values())

    def in_float32(self) -> "Case":
        """Return the case with float32 inputs."""
        cast = {
            name: x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x
            for name, x in self.given.items()
        }
        return replace(self, given=cast)


@dataclass(frozen=True)
class Draw:
    """Draws the arrays of a case: its kind, the function's inputs, leading axes, a generator."""

    about: str
    takes: frozenset[str]
    leading: tuple[int, ...]
    rng: Generator
    is_whole: bool = False

    def numbers(self, *shape: int) -> Array:
        """Draw normal numbers, or small integers without zeros and equal rows, which hide bugs."""
        if not self.is_whole:
            return self.rng.normal(size=shape)
        return self.rng.permuted(np.resize(self.rng.permutation([-1.0, 1.0, 2.0, 3.0]), shape))

    def allowed(self, *shape: int) -> Array:
        """Draw a mask with a True in each row, and a False if it has two columns or more."""
        mask = self.rng.random(shape) < 0.6
        order = np.argsort(self.rng.random(shape), axis=-1)
        np.put_along_axis(mask, order[..., :1], True, axis=-1)
        if shape[-1] > 1:
            np.put_along_axis(mask, order[..., 1:2], False, axis=-1)
        return mask

    def masks(self, n: int, m: int) -> dict[str, Any]:
        """Draw the mask of this kind of case, if it has one."""
        allowed = self.allowed(n, m)
        if "fully masked" in self.about:
            allowed[0], allowed[1:2] = False, True  # read either way, a query sees nothing
        if self.about == CAUSAL_AND_MASK:  # so that a query sees something
            allowed[:, 0] = True
        added = np.where(allowed, self.numbers(n, m) * (self.rng.random((n, m)) < 0.5), -np.inf)
        found: dict[str, dict[str, Any]] = {
            "boolean mask": {"mask": allowed},
            "mask of one row": {"mask": allowed[:1]},
            NOTHING_SEEN: {"mask": allowed},
            BY_NUMBERS: {"mask": added},
            NOTHING_BY_NUMBERS: {"mask": added},
            "bias": {"bias": added},
            "key_padding_mask": {"padding": allowed[0]},
            "is_causal": {"is_causal": True},
            CAUSAL_AND_MASK: {"is_causal": True, "mask": allowed},
        }
        return found.get(self.about, {})


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A kind of function that can be examined: attention, a layer, a decoding step, or positions.

    Parameters
    ----------
    aliases : mapping of str to tuple of str
        What is handed in, by the names of `mha`; how arguments are called that take it, in lower
        case and without underscores.
    first : tuple of str
        What the first arguments take that are called otherwise.
    needs : frozenset of str
        What a function has to take.
    kinds : mapping of str to tuple of str
        Of each kind of case the arguments that it needs.
    made : callable
        Takes a `Draw` and sizes, and gives what is handed in; None where there is no such case.
    leading, sizes, small : sequence of tuple of int
        Leading axes and sizes of cases, and sizes of the smallest, the smallest first.
    wanted : callable
        Takes what is handed in and gives what is right.
    worked : callable
        Takes what is handed in and parts, and gives what attention of these parts makes of it.
    parts : tuple of str
        The parts that have to do with it.
    steps : tuple of Told
        The steps to a number of the output, which is the last of them.
    call : callable
        Takes what is handed in and an index of the output; gives which call of each part makes that
        number, and its index there.
    limits : mapping of str to str
        On which condition a function is right that refuses cases of a kind.
    compared : callable
        Takes what is handed in and what came, and gives what of it is compared.
    blank : callable, optional
        Takes what is handed in, and gives True for each row of the output whose query sees no key.
    tokens : callable, optional
        Takes a `Draw` and numbers of queries and keys, and gives plain inputs: where a function is
        asked for its conventions.
    moved : tuple of str
        The inputs whose axis of tokens may be before that of heads, or of sequences.
    shaped : callable, optional
        Takes what is handed in and gives the shape of the right output; default: of `wanted`.
    has_heads : bool
        Whether inputs have an axis of heads.
    has_float32 : bool
        Whether cases are asked in float32 too.
    right : str
        The function of the package that is right.
    calls : callable, optional
        Takes what is handed in, and gives the arguments of each call of the function, as Python in
        which {own} stands for what is handed in: where it takes and returns a cache.
    """

    aliases: Mapping[str, tuple[str, ...]]
    first: tuple[str, ...]
    needs: frozenset[str]
    kinds: Mapping[str, tuple[str, ...]]
    made: Callable[..., dict[str, Any] | None]
    sizes: Sequence[tuple[Any, ...]]
    small: Sequence[tuple[Any, ...]]
    wanted: Callable[[Any], Array]
    worked: Callable[[Any, Parts], Array]
    parts: tuple[str, ...]
    right: str
    leading: Sequence[tuple[int, ...]] = ((),)
    steps: tuple[Told, ...] = ATTENTION
    call: Callable[[Any, tuple[int, ...]], tuple[int, tuple[int, ...]]] = lambda _, at: (0, at)
    limits: Mapping[str, str] = field(default_factory=dict)
    compared: Callable[[Any, Array], Array] = lambda _given, x: x
    calls: Callable[[Any], list[dict[str, str]]] | None = None
    blank: Callable[[Any], Array] | None = None
    tokens: Callable[[Draw, int, int], dict[str, Any] | None] | None = None
    moved: tuple[str, ...] = ()
    shaped: Callable[[Any], tuple[int, ...]] | None = None
    has_heads: bool = False
    has_float32: bool = True
    asked: dict[Any, list[Case]] = field(default_factory=dict, init=False, repr=False)

    def shape(self, given: Any) -> tuple[int, ...]:
        """Return the shape of the right output."""
        return self.wanted(given).shape if self.shaped is None else self.shaped(given)

    def cases(self, takes: frozenset[str], facts: frozenset[tuple[str, Any]]) -> list[Case]:
        """Return cases for a function that takes some arguments, the same each time.

        `facts` are inputs that every case has, by the conventions of the function.
        """
        if (takes, facts) not in self.asked:
            self.asked[takes, facts] = self._drawn(takes, facts)
        return self.asked[takes, facts]

    def _drawn(self, takes: frozenset[str], facts: frozenset[tuple[str, Any]]) -> list[Case]:
        """Draw cases, and each third in float32 too."""
        rng = np.random.default_rng(41)
        kinds = [kind for kind, needs in self.kinds.items() if takes.issuperset(needs)]
        found = [
            Case(kind, {**given, **dict(facts)}, leading, takes)
            for kind, leading, size in product(kinds, self.leading, self.sizes)
            if (given := self.made(Draw(kind, takes, leading, rng), *size))
        ]
        if not self.has_float32:
            return found
        exact = ("fully masked", "large negative")  # float32 has too few digits for the latter
        narrow = [case for case in found[::3] if not case.about.startswith(exact)]
        return found + [case.in_float32() for case in narrow if "weights" not in case.given]

    def smaller(
        self, like: Case, facts: frozenset[tuple[str, Any]], rng: Generator
    ) -> Iterator[Case]:
        """Yield cases of the same kind with small whole numbers, the smallest first."""
        axes = len(like.leading)
        for size, leading in product(self.small, ((1,) * axes, (2,) * axes)[: 1 + bool(axes)]):
            for _ in range(6):
                draw = Draw(like.about, like.takes, leading, rng, is_whole=True)
                given = self.made(draw, *size)
                if given:
                    yield Case(like.about, {**given, **dict(facts)}, leading, like.takes)
