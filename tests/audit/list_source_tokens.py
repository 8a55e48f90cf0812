"""List every number in the source documents: ``python tests/audit/list_source_tokens.py FOLDER``.

This is the second, independent extraction, which tests the transcription in mha/audit/sources: it
walks along each line one character at a time, and uses no regular expression. For each .txt file
of the folder it writes a file of the same name in tests/audit/source_tokens, with one line for
each source line that has a number, such as ``43: 0.48 0.04 0.6 0.06 0.81``.

A number is a run of digits with at most one point inside it ("0.81", "512"; the "3." that ends a
sentence is "3"). A "-" right before it is its sign, unless a letter, a digit or a closing bracket
comes before that "-": "[1.0, -1.0]" has a sign, and "64-2" and "GPT-3" have none. A digit inside a
word counts ("W_Q1"), and subscript digits are separate numbers, written as subscripts.
"""

import sys
from pathlib import Path

TOKENS = Path(__file__).resolve().parent / "source_tokens"
DIGITS = "0123456789"
SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"


def after(line: str, start: int, characters: str) -> int:
    """Return the index after the run of `characters` that begins at `start`."""
    end = start
    while end < len(line) and line[end] in characters:
        end += 1
    return end


def tokens(line: str) -> list[str]:
    """Return the numbers of one line as they are printed, from left to right.

    Examples
    --------
    >>> tokens("Q₁[0] = 0.6×0.8, [1.0, -1.0], GPT-3, 64-2.")
    ['₁', '0', '0.6', '0.8', '1.0', '-1.0', '3', '64', '2']
    """
    found, end = [], 0
    for start, character in enumerate(line):
        if start < end or character not in DIGITS + SUBSCRIPTS:
            continue
        end = after(line, start, DIGITS if character in DIGITS else SUBSCRIPTS)
        fraction = after(line, end + 1, DIGITS)
        if character in DIGITS and line[end : end + 1] == "." and fraction > end + 1:
            end = fraction
        before, sign = line[: start - 1][-1:], line[:start][-1:]
        is_word = before.isalnum() or before in [*")]}"]
        is_signed = sign == "-" and character in DIGITS and not is_word
        found.append(line[start - is_signed : end])
    return found


if __name__ == "__main__":
    for document in sorted(Path(sys.argv[1]).glob("*.txt")):
        listed = enumerate(map(tokens, document.read_bytes().decode("utf-8").split("\n")), start=1)
        lines = [f"{number}: {' '.join(words)}\n" for number, words in listed if words]
        (TOKENS / document.name).write_bytes("".join(lines).encode("utf-8"))
