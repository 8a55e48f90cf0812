"""Calls in a page's code that make boxes, which ask for numbers and check the answers."""

import re

NUMBER_BOXES = ("turn", "turns", "your_turn", "your_turns", "fill_row", "row")
"""Functions whose boxes ask for numbers of a stage."""
QUERY_BOXES = ("query", "build_query")
"""Functions whose box asks for a query with a wanted property, which many queries have."""


def calls_pattern(*functions: str) -> str:
    """Return a pattern of the beginning of a call of some functions, up to the bracket."""
    return rf"\b(?:{'|'.join(functions)})\("


BOX_CALL = re.compile(calls_pattern(*NUMBER_BOXES, *QUERY_BOXES))
NUMBER_BOX_CALL = re.compile(calls_pattern(*NUMBER_BOXES))
STAGE_CALL = re.compile(
    calls_pattern("arithmetic", *NUMBER_BOXES) + r"(?:[\w.\[\]]+,\s*)?\"(\w+)\""
)
"""A call that computes a stage by hand, and the stage's name; a run may be before the name."""
