"""Decimals typed into prose are found, with their line."""

import pytest

from byhand.checking import markup
from byhand.checking.sources import Page


def bare_numbers(text):
    """Return the line of each number that is found, and the number."""
    found = markup.numbers(Page("book/page.md", text))
    return [(line, message.partition(" is typed")[0]) for _, line, message in found]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The weight is 0.73.", [(1, "0.73")]),
        ("It takes 73 % of itself.", [(1, "73 %")]),
        ("It takes 73.1% of itself.", [(1, "73.1%")]),
        ("one\ntwo 2.8068 three 4.0758", [(2, "2.8068"), (2, "4.0758")]),
        ("$A_{11} = 0.73$", [(1, "0.73")]),
        ("```{math}\nx = 0.5\n```", [(2, "0.5")]),
        ("```{admonition} Note\nIt is 0.25.\n```", [(2, "0.25")]),
        ("| a | 0.5 |", [(1, "0.5")]),
        (
            "```{code-cell}\n---\nmystnb:\n  figure:\n    caption: falls to 0.2\n---\nx = 0.1\n```",
            [(5, "0.2")],
        ),
        ("```{code-cell}\n:tags: [a]\nx = 0.1\n```\n0.3", [(5, "0.3")]),
        ("---\ntitle: 0.1\n---\n0.2", [(4, "0.2")]),
    ],
)
def test_a_typed_number_is_found(text, wanted):
    assert bare_numbers(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "{eval}`shown(0.73)` and {given}`0.73` and `0.73` and ``0.7`3``",
        "A width of 512, in 2017, step 3.",
        "Section 3.2.2 of the paper.",
        "[a link](page-1.5.html) and <https://x.invalid/1.5>",
        "```python\nx = 0.5\n```",
        "```{code-cell}\nx = 0.5\n```",
        "```{literalinclude} a.py\n:lines: 1.5\n```",
        "% a comment with 0.5",
    ],
)
def test_what_is_evaluated_given_or_code_is_left_alone(text):
    assert bare_numbers(text) == []
