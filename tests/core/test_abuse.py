"""For any arguments, no input changes, no warning is issued, and each refusal is one sentence.

The profile `thorough` draws 20,000 arguments a function; docs/upkeep.md says how to run it.
"""

import dataclasses
import inspect
import linecache
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sound_arguments import GIVEN, call_public, valid_arguments
from strange import argument

from mha import public_names

# A message starts with the argument, then has the fault, and usually the expected value.
SENTENCE = re.compile(
    r"\w[\w ,']*(?: (?:is|are|has|have|holds|overflows?|must|cannot|and|of)\b)[^\n]{5,}"
)

GIVES_ONLY = (
    *("Arithmetic", "AttentionGradients", "DecoderRun", "EightBits", "HeadScores", "KeptLayer"),
    *("LatentRun", "LayerSizes", "LogitShares", "ModelSizes", "MultiHeadGradients", "NextTokens"),
    *("NounPairs", "Operand", "Origin", "PatternFit", "Reading", "VectorLengths", "WrittenToken"),
    *("RecordedMaps", "Trace", "TrainedModel", "Training", "TransformerGradients", "Written"),
)
"""Records of results: their constructors check nothing, but their methods are tested."""

TRIED_ELSEWHERE = (
    *("examine", "examine_decoding", "examine_layer", "examine_positions"),  # tests/examine
    *("read_layer", "explorer", "read_model"),  # tests/layouts, tests/widgets, tests/decoders
)


def names_with_arguments():
    """Return every public name that takes arguments, and their methods that raise."""
    found = set()
    for name in public_names.__all__:
        public = getattr(public_names, name)
        if callable(public) and inspect.signature(public).parameters and name not in GIVES_ONLY:
            found.add(name)
        for method, kept in vars(public).items() if inspect.isclass(public) else ():
            if not method.startswith("_") and "Raises\n" in str(kept.__doc__):
                found.add(f"{name}.{method}")
    return found - set(TRIED_ELSEWHERE)


def snapshot(value):
    """Return a snapshot of an argument, to compare it with a later one."""
    if isinstance(value, np.ndarray):
        kind = (value.dtype, value.shape, value.strides, value.flags.writeable)
        return (*kind, repr(value.tolist()))
    if dataclasses.is_dataclass(value):
        return [snapshot(getattr(value, field.name)) for field in dataclasses.fields(value)]
    return repr(value)


def test_no_public_name_is_missing():
    assert names_with_arguments() - set(GIVEN) == set()
    assert set(GIVES_ONLY) <= set(public_names.__all__)


@pytest.mark.parametrize("name", GIVEN)
def test_valid_arguments_are_accepted(name):
    call_public(name, valid_arguments(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", GIVEN)
def test_no_argument_changes_and_each_refusal_is_one_sentence(name):
    sound = valid_arguments(name)

    @settings(max_examples=max(settings().max_examples // 4, 1))
    @given(st.fixed_dictionaries({each: argument(each, value) for each, value in sound.items()}))
    def check(given):
        before = snapshots(given)
        refused = None
        try:
            call_public(name, given)
        except (TypeError, ValueError) as error:
            refused = error
        assert refused is None or SENTENCE.match(str(refused)), refused
        assert refused is None or is_own(refused), f"not the package refuses: {refused}"
        assert snapshots(given) == before

    check()


def is_own(error):
    """Return whether the last frame of an error is a `raise` statement of the package."""
    last = error.__traceback__
    while last.tb_next:
        last = last.tb_next
    code = last.tb_frame.f_code
    line = linecache.getline(code.co_filename, last.tb_lineno)
    return "/mha/" in Path(code.co_filename).as_posix() and line.lstrip().startswith("raise ")


def snapshots(given):
    """Return a snapshot of all arguments except a generator, which may advance."""
    return {name: snapshot(value) for name, value in given.items() if name != "rng"}
