"""Invalid arguments: arrays, counts, numbers, words and objects of every kind."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

SPECIAL = (0.0, -0.0, 1.0, -3.0, 5e-324, 1e-310, 1e-45, 1e308, -1e308, 1e38, 65504.0,
           float("inf"), float("-inf"), float("nan"))  # fmt: skip
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3)
DTYPES = hnp.scalar_dtypes() | hnp.unicode_string_dtypes(max_len=3) | st.just("longdouble")
OBJECTS = st.sampled_from((None, "a", 1.5, 10**400, 2, (), np.float32(2)))


class Sub(np.ndarray):
    """An array subclass, as packages for units or labels define."""


def read_only(array):
    """Return the array itself, made read-only."""
    array.flags.writeable = False
    return array


KEEPING = (
    lambda array: array,
    read_only,
    np.asfortranarray,
    lambda array: array[..., ::-1].copy()[..., ::-1] if array.ndim else array,
    lambda array: np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array,
    lambda array: array.view(Sub),
    lambda array: array.tolist(),
)
"""Presentations of an array that keep its numbers."""

PRESENTED = (
    *KEEPING,
    lambda array: np.broadcast_to(array, (2, *array.shape)),
    lambda array: np.ma.masked_array(array, mask=np.zeros(array.shape, bool)),
    lambda array: array.tobytes(),
)


def presented(array):
    """Draw a memory layout or a type for an array."""
    return st.sampled_from(PRESENTED).map(lambda present: present(array))


@st.composite
def nearly_valid_array(draw, sound):
    """Draw a valid array in another dtype or presentation, with up to two invalid elements."""
    array = np.array(sound)
    if array.dtype.kind == "f":
        for _ in range(draw(st.integers(0, 2))):
            array.flat[draw(st.integers(0, array.size - 1))] = draw(st.sampled_from(SPECIAL))
        with np.errstate(all="ignore"):
            array = array.astype(draw(st.sampled_from(("float64", "float32", "float16", ">f8"))))
    elif array.dtype.kind == "i":
        array.flat[draw(st.integers(0, array.size - 1))] = draw(st.integers(-2, 4))
    return draw(presented(array))


ANY = hnp.arrays(DTYPES, SHAPES) | hnp.arrays(object, SHAPES, elements=OBJECTS, fill=st.nothing())
ANY = ANY.flatmap(presented)
COUNTS = st.sampled_from((-1, 0, 1, 2, 3, 2.0, True, None, "2", np.int8(2), float("nan"), [2]))
NUMBERS = st.sampled_from(
    (-1, 0, 0.5, 2, 1e308, 5e-324, True, None, "2", 10**400, np.float32(2), np.int8(3), 1j)
) | st.sampled_from((float("nan"), float("inf"), [2.0], np.ones((1, 1)), np.ma.masked))
SWITCHES = st.sampled_from((True, False, np.True_, "no", None, 2, [True, False], np.ones(2)))
WORDS = st.sampled_from(("", "no", "before", "output", "a\x00b", None, 3, b"scores", ["a"], 1.5))
THINGS = st.sampled_from((None, "a", 3, 2.5, [], (1,), {}, [[1.0]], b"ab", np.ones(2), object))


def argument(name, sound):
    """Return a strategy for an argument: valid, nearly valid or invalid."""
    if name == "self":
        return st.just(sound)
    if isinstance(sound, np.random.Generator):
        return st.builds(np.random.default_rng, st.just(3)) | THINGS
    if isinstance(sound, np.ndarray):
        return st.just(sound) | nearly_valid_array(sound) | ANY
    if sound is None and name in OPTIONAL_ARRAYS:
        return st.just(sound) | ANY
    for kind, strange in ((bool, SWITCHES), (int, COUNTS), (float, NUMBERS), (str, WORDS)):
        if isinstance(sound, kind):
            return st.just(sound) | strange
    return st.just(sound) | OPTIONS.get(name, THINGS)


OPTIONAL_ARRAYS = (
    *("mask", "positions", "angles", "target_weights", "query", "key", "value"),
    *("b_q", "b_k", "b_v", "b_o", "query_norm", "key_norm", "relative_bias"),
)
OPTIONS = {
    "scale": NUMBERS,
    **dict.fromkeys(("d_k", "d_v", "d_out", "num_groups", "num_keys"), COUNTS),
    **dict.fromkeys(("focus", "keys_at_once", "term", "head", "row", "column"), COUNTS),
    "answers": ANY | hnp.arrays(np.int64, (4, 2), elements=st.integers(-2, 3)),
    # Errors raised inside a caller's own function are not ours.
    **dict.fromkeys(("measure", "holds"), THINGS.filter(lambda thing: not callable(thing))),
    "tokens": st.lists(WORDS, max_size=4),
    "head_names": st.lists(WORDS, max_size=2),
    "steps": st.lists(WORDS, max_size=3),
    "index": st.lists(COUNTS, max_size=3),
}
