"""An address and its text are the same thing, and lead to the number that an array has there."""

import pytest
from helpers import MASK, projected, raises
from hypothesis import given
from hypothesis import strategies as st

from mha import Place, trace
from mha.runs.places import places
from mha.runs.stages import AXES, STAGES

INDEX = st.integers(0, 10**6)


@st.composite
def any_place(draw):
    """Draw the address of a number of any stage, or of a term of one."""
    stage = draw(st.sampled_from(list(STAGES)))
    index = {axis: draw(INDEX) for axis in STAGES[stage].axes}
    return Place(stage, **index, term=draw(st.none() | INDEX))


@given(any_place())
def test_the_text_and_the_index_build_the_place_again(place):
    assert Place.parse(str(place)) == place
    assert Place.at(place.stage, *place.index, term=place.term) == place
    head, row, column = (getattr(place, axis) or 0 for axis in AXES)
    assert Place.of(place.stage, head, row, column) == place.whole


@pytest.mark.parametrize(
    "text",
    [
        "", "scores.", "scores.0.1.", "scores..0.1", "scores.00.1.2", "scores.0.1.2:",
        "scores.0.1.2:01", "scores.0.1.2:-1", "scores.-1.0.0", "scores.0.1.2 ", "scores.0.1.2\n",
        "Scores.0.1.2", "scores 0 1 2", "scores.0.1.2:1:2", "scores.0.1.²", "scores.٣.1.2",
    ],
)  # fmt: skip
def test_a_text_that_is_no_address_is_refused(text):
    with raises(ValueError, f"place is {text!r}; an address such as scores.0.1.2 is wanted"):
        Place.parse(text)


def test_the_places_of_a_stage_are_its_numbers_in_order(rng):
    run = trace(projected(rng, mask=MASK))
    for name, kind in STAGES.items():
        array = kind.array(run)
        if array is None:
            continue
        found = list(places(run, name))
        assert found == sorted(found)
        assert [place.value(run) for place in found] == array.ravel().tolist(), name
