"""List every number in the source documents: ``python tests/audit/list_source_tokens.py FOLDER``.

This is the second, independent extraction, which the transcription in mha/audit/sources is held
against: it walks along each line one character at a time, and uses no regular expression. For each
.txt file of the folder it writes a file of the same name in tests/audit/source_tokens, with one
line for each source line that has a number, such as ``43: 0.48 0.04 0.6 0.06 0.81``.

A number is a run of digits with at most one point inside it ("0.81", "512"; the "3." that ends a
sentence is "3"). A "-" right before it is its sign, unless a letter, a digit or a closing bracket
comes before that "-": "[1.0, -1.0]" has a sign, and "64-2" and "GPT-3" have none. A digit inside a
word counts ("W_Q1"), and subscript digits are numbers of their own, written as they stand.
"""

import sys
from pathlib import Path

TOKENS = Path(__file__).resolve().parent / "source_tokens"
DIGITS = "0123456789"
SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"


def run_end(line: str, start: int, characters: str) -> int:
    """Return the index after the run of `characters` that begins at `start`."""
    end = start
    while end < len(line) and line[end] in characters:
        end += 1
    return end


def number_end(line: str, start: int) -> int:
    """Return the index after the unsigned number that begins at `start`."""
    whole = run_end(line, start, DIGITS)
    if whole == start:
        return run_end(line, start, SUBSCRIPTS)
    fraction = run_end(line, whole + 1, DIGITS)
    return fraction if line[whole : whole + 1] == "." and fraction > whole + 1 else whole


def has_sign(line: str, start: int) -> bool:
    """Tell whether a "-" before the number that begins at `start` is its sign."""
    before, sign = line[: start - 1][-1:], line[:start][-1:]
    return sign == "-" and line[start] in DIGITS and not (before.isalnum() or before in [*")]}"])


def tokens(line: str) -> list[str]:
    """Return the numbers of one line as they are printed, from left to right.

    Examples
    --------
    >>> tokens("Q₁[0] = 0.6×0.8, [1.0, -1.0], GPT-3, 64-2.")
    ['₁', '0', '0.6', '0.8', '1.0', '-1.0', '3', '64', '2']
    """
    found, position = [], 0
    while position < len(line):
        end = number_end(line, position)
        if end > position:
            found.append(line[position - has_sign(line, position) : end])
        position = max(end, position + 1)
    return found


if __name__ == "__main__":
    for document in sorted(Path(sys.argv[1]).glob("*.txt")):
        listed = enumerate(map(tokens, document.read_bytes().decode("utf-8").split("\n")), start=1)
        lines = [f"{number}: {' '.join(words)}\n" for number, words in listed if words]
        (TOKENS / document.name).write_bytes("".join(lines).encode("utf-8"))
