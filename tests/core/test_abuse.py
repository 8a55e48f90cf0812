"""Whatever is handed in: no input changes, nothing warns, and what is refused gets one sentence.

The profile `thorough` draws 20,000 arguments a function; docs/upkeep.md says how to run it.
"""

import dataclasses
import inspect
import linecache
import re
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from helpers import raises
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sound_arguments import BESIDE, DRAWING, MORE, SOUND
from strange import PRESENTED, SPECIAL, argument

import mha

# A sentence names the argument first, says what is wrong, and mostly what is wanted.
SENTENCE = re.compile(
    r"\w[\w ,']*(?: (?:is|are|has|have|holds|overflows?|must|cannot|and|of)\b)[^\n]{5,}"
)

DRAWN = {name: {"rng": np.random.default_rng(3)} for name in DRAWING}
GIVEN = BESIDE | {
    name: given | MORE.get(name, {}) | DRAWN.get(name, {}) for name, given in SOUND.items()
}
"""What each public name is handed, by name; options that are not here have their default."""

GIVES_ONLY = (
    *("Arithmetic", "AttentionGradients", "LayerSizes", "MultiHeadGradients", "Operand", "Origin"),
    *(
        "EightBits",
        "ModelSizes",
        "LatentRun",
        "LogitShares",
        "PatternFit",
        "Reading",
        "RecordedMaps",
        "Trace",
        "TrainedModel",
    ),
    *("Training", "TransformerGradients", "Written"),
)
"""Records of what was found or read: they check nothing, and their methods are tried."""

EXAMINED = ("examine", "examine_decoding", "examine_layer", "examine_positions")
"""What is handed a function, and tells what it makes of arrays: tests/examine has them."""

READ = ("read_layer",)
"""What is handed a file: tests/layouts has it."""

SHOWN = ("explorer",)
"""What shows a run: tests/widgets has it."""


def handed():
    """Return every public name that is handed something, and each of their methods that refuses."""
    found = set()
    for name in mha.__all__:
        public = getattr(mha, name)
        if callable(public) and inspect.signature(public).parameters and name not in GIVES_ONLY:
            found.add(name)
        for method, kept in vars(public).items() if inspect.isclass(public) else ():
            if not method.startswith("_") and "Raises\n" in str(kept.__doc__):
                found.add(f"{name}.{method}")
    return found - set(EXAMINED) - set(READ) - set(SHOWN)


def taken(name):
    """Return every argument that a public name takes, each as it should be."""
    parameters = inspect.signature(attrgetter(name)(mha)).parameters.values()
    left_out = {p.name: p.default for p in parameters if p.default is not p.empty}
    return left_out | GIVEN[name]


def called(name, given):
    """Call a public name; what goes into a star is not handed over by name."""
    function, by_place, by_name = attrgetter(name)(mha), [], dict(given)
    parameters = list(inspect.signature(function).parameters.values())
    starred = [i for i, p in enumerate(parameters) if p.kind is p.VAR_POSITIONAL]
    for parameter in parameters[: starred[0] + 1] if starred else ():
        value = by_name.pop(parameter.name)
        by_place += value if parameter.kind is parameter.VAR_POSITIONAL else [value]
    return function(*by_place, **by_name)


def held(value):
    """Return what an argument holds, to compare it with what it holds later."""
    if isinstance(value, np.ndarray):
        kind = (value.dtype, value.shape, value.strides, value.flags.writeable)
        return (*kind, repr(value.tolist()))
    if dataclasses.is_dataclass(value):
        return [held(getattr(value, field.name)) for field in dataclasses.fields(value)]
    return repr(value)


def test_no_public_name_is_missing():
    assert handed() - set(GIVEN) == set()
    assert set(GIVES_ONLY) <= set(mha.__all__)


@pytest.mark.parametrize("name", GIVEN)
def test_what_is_sound_is_taken(name):
    called(name, taken(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", GIVEN)
def test_no_argument_changes_and_what_is_refused_gets_a_sentence(name):
    sound = taken(name)

    @settings(max_examples=max(settings().max_examples // 4, 1))
    @given(st.fixed_dictionaries({each: argument(each, value) for each, value in sound.items()}))
    def check(given):
        before = held_by(given)
        refused = None
        try:
            called(name, given)
        except (TypeError, ValueError) as error:
            refused = error
        assert refused is None or SENTENCE.match(str(refused)), refused
        assert refused is None or is_own(refused), f"not the package refuses: {refused}"
        assert held_by(given) == before

    check()


def is_own(error):
    """Tell whether an error comes from a `raise` of the package, and not from further in."""
    last = error.__traceback__
    while last.tb_next:
        last = last.tb_next
    code = last.tb_frame.f_code
    line = linecache.getline(code.co_filename, last.tb_lineno)
    return "/mha/" in Path(code.co_filename).as_posix() and line.lstrip().startswith("raise ")


def held_by(given):
    """Return what all arguments hold; a generator alone may go on."""
    return {name: held(value) for name, value in given.items() if name != "rng"}


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
