"""Whatever is handed in: no input changes, nothing warns, and what is refused gets one sentence.

The profile `thorough` draws 20,000 arguments a function: pytest --hypothesis-profile thorough
"""

import re

import numpy as np
import pytest
from helpers import raises
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mha

EXAMPLES = max(200, settings().max_examples)

# A sentence names the argument first, says what is wrong, and mostly what is wanted.
SENTENCE = re.compile(
    r"\w[\w ,]*(?: (?:is|are|has|have|holds|overflows?|must|cannot|and|of)\b)[^\n]{5,}"
)

DTYPES = (
    *("bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64"),
    *(">f8", "longdouble", "complex64", "object", "U3", "M8[s]"),
)
SPECIAL = (0.0, -0.0, 1.0, -3.0, 5e-324, 1e-310, 1e-45, 1e308, -1e308, 1e38, 65504.0,
           float("inf"), float("-inf"), float("nan"))  # fmt: skip
SIZES = st.integers(0, 3)


class Sub(np.ndarray):
    """A subclass, as units or labels make one."""


@st.composite
def strange_arrays(draw):
    """Draw an array of any kind, presented in any way, and what it holds as bytes."""
    shape = tuple(draw(st.lists(SIZES, min_size=0, max_size=4)))
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    if dtype.kind == "f":
        elements = st.sampled_from(SPECIAL) | st.floats(-9, 9, width=16)
        array = np.array(draw(hnp.arrays(np.float64, shape, elements=elements)))
        with np.errstate(all="ignore"):
            array = array.astype(dtype)
    elif dtype.kind == "O":
        things = st.sampled_from((None, "a", 1.5, 10**400, 2, (), np.float32(2)))
        array = np.empty(shape, object)
        for index in np.ndindex(shape):
            array[index] = draw(things)
    else:
        array = draw(hnp.arrays(dtype, shape))
    return draw(st.sampled_from(PRESENTED))(array)


def read_only(array):
    array.flags.writeable = False
    return array


PRESENTED = (
    lambda array: array,
    read_only,
    np.asfortranarray,
    lambda array: array[..., ::-1].copy()[..., ::-1] if array.ndim else array,
    lambda array: np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array,
    lambda array: np.broadcast_to(array, (2, *array.shape)),
    lambda array: array.view(Sub),
    lambda array: np.ma.masked_array(array, mask=np.zeros(array.shape, bool)),
    lambda array: array.tolist(),
    lambda array: array.tobytes(),
)

COUNTS = st.sampled_from((-1, 0, 1, 2, 3, 2.0, True, None, "2", np.int8(2), 10**30, float("nan")))
ANY = strange_arrays()
ANSWERS = hnp.arrays(np.int64, st.lists(SIZES, max_size=3).map(tuple), elements=st.integers(-2, 3))
LAYER = mha.draw_layer(np.random.default_rng(3), 3, 1, 2, 3)
CALLS = {
    "softmax": (ANY, COUNTS),
    "softmax_jacobian": (ANY,),
    "softmax_backward": (ANY, ANY),
    "attention_scores": (ANY, ANY),
    "attention_weights": (ANY, ANY, st.none() | ANY),
    "scaled_dot_product_attention": (ANY, ANY, ANY, st.none() | ANY),
    "blockwise_attention": (ANY, ANY, ANY),
    "scaled_dot_product_attention_backward": (ANY, ANY, ANY, ANY),
    "online_softmax": (ANY, ANY),
    "split_heads": (ANY, COUNTS),
    "merge_heads": (ANY,),
    "entropy": (ANY,),
    "total_variation": (ANY, ANY),
    "centred_log": (ANY,),
    "layer_norm": (ANY, st.none() | ANY, st.none() | ANY, COUNTS),
    "feed_forward": (ANY, ANY, st.none() | ANY, ANY, st.none() | ANY),
    "transformer": (ANY, st.just([mha.Block(LAYER)])),
    "cross_entropy": (ANY, ANY | ANSWERS),
    "answer_scores": (ANY, st.just(LAYER), COUNTS),
    "layer_gradients": (st.just(LAYER), ANY, ANY | ANSWERS),
    "padding_mask": (ANY, st.integers(-1, 4)),
    "causal_mask": (st.integers(-1, 4) | st.none(), st.integers(-1, 4) | st.just(2.5)),
    "sliding_window_mask": (st.integers(-1, 4), st.integers(-1, 4), st.integers(-1, 4)),
    "shown": (ANY,),
    "percent": (ANY,),
    "short": (ANY,),
}


MASKED = ("attention_weights", "scaled_dot_product_attention")


def held(value):
    """Return what an argument holds, to compare it with what it holds later."""
    if isinstance(value, np.ndarray):
        kind = (value.dtype, value.shape, value.strides, value.flags.writeable)
        return (*kind, repr(value.tolist()))
    return repr(value)


def called(name, *arguments):
    """Call a function of the package; a mask is not taken by its position."""
    if name in MASKED:
        return getattr(mha, name)(*arguments[:-1], mask=arguments[-1])
    return getattr(mha, name)(*arguments)


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_no_argument_changes_and_what_is_refused_gets_a_sentence(name, record_property):
    record_property("counted", EXAMPLES)

    @settings(max_examples=EXAMPLES)
    @given(st.tuples(*CALLS[name]))
    def check(arguments):
        before = [held(value) for value in arguments]
        said = None
        try:
            called(name, *arguments)
        except (TypeError, ValueError) as error:
            said = str(error)
        assert said is None or SENTENCE.match(said), said
        assert [held(value) for value in arguments] == before

    check()


FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=32)


@st.composite
def sound_inputs(draw):
    """Draw a query, a key and a value that fit, in any presentation that keeps what they hold."""
    queries, keys, d_k, d_v = (draw(st.integers(1, 3)) for _ in range(4))
    shapes = ((queries, d_k), (keys, d_k), (keys, d_v))
    elements = FLOATS | st.sampled_from([x for x in SPECIAL if abs(x) < 1e30])
    arrays = [draw(hnp.arrays(np.float64, shape, elements=elements)) for shape in shapes]
    present = draw(st.sampled_from([*PRESENTED[:5], PRESENTED[6], PRESENTED[8]]))
    return arrays, [present(array.copy()) for array in arrays]


@pytest.mark.slow
@settings(max_examples=EXAMPLES)
@given(sound_inputs())
def test_how_an_array_lies_in_memory_changes_no_result(drawn):
    plain, presented = drawn
    results = []
    for inputs in (plain, presented):
        try:
            results.append(mha.scaled_dot_product_attention(*inputs))
        except ValueError as error:
            results.append(str(error))
    if isinstance(results[0], str):
        assert results[0] == results[1]
        return
    for first, second in zip(*results, strict=True):
        assert type(second) is np.ndarray
        assert second.flags.writeable
        np.testing.assert_allclose(first, second, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", ["softmax", "entropy"])
def test_a_masked_array_is_refused_for_its_hidden_numbers_would_count(name):
    hidden = np.ma.masked_array([0.5, 0.5, 9.0], mask=[False, False, True])
    argument = {"softmax": "scores", "entropy": "weights"}[name]
    sentence = f"{argument} is a masked array; an array that hides no number is wanted"
    with raises(TypeError, sentence):
        getattr(mha, name)(hidden)
