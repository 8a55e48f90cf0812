"""List every number in the source documents: ``python tests/audit/list_source_tokens.py FOLDER``.

This is the second, independent extraction of every number in the five source documents, which the
tests hold the transcription in mha/audit/sources against. It shares nothing with the first: it
walks along each line one character at a time, and uses no regular expression.

For each .txt file of the folder it writes a file of the same name in tests/audit/source_tokens,
with one line for each source line that has a number, such as ``43: 0.48 0.04 0.6 0.06 0.81``.

A number is a run of digits with at most one point inside it ("0.81", "512"; the "3." that ends a
sentence is "3"). A "-" right before it is its sign, unless a letter, a digit or a closing bracket
comes before that "-": "[1.0, -1.0]" has a sign, and "64-2" and "GPT-3" have none. A digit inside a
word counts ("W_Q1"), and subscript digits are numbers of their own, written as they stand.
"""

import argparse
from pathlib import Path

TOKENS = Path(__file__).resolve().parent / "source_tokens"
DIGITS = "0123456789"
SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
CLOSING = ")]}"


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
    if whole == len(line) or line[whole] != ".":
        return whole
    fraction = run_end(line, whole + 1, DIGITS)
    return fraction if fraction > whole + 1 else whole


def has_sign(line: str, start: int) -> bool:
    """Tell whether a "-" before the number that begins at `start` is its sign."""
    if start == 0 or line[start - 1] != "-" or line[start] in SUBSCRIPTS:
        return False
    before = line[start - 2] if start > 1 else " "
    return not before.isalnum() and before not in CLOSING


def tokens(line: str) -> list[str]:
    """Return the numbers of one line as they are printed, from left to right.

    Examples
    --------
    >>> tokens("Q₁[0] = 0.6×0.8, [1.0, -1.0], GPT-3, 64-2.")
    ['₁', '0', '0.6', '0.8', '1.0', '-1.0', '3', '64', '2']
    """
    found = []
    position = 0
    while position < len(line):
        end = number_end(line, position)
        if end == position:
            position += 1
            continue
        found.append(line[position - has_sign(line, position) : end])
        position = end
    return found


def listing(text: str) -> str:
    """Return a line for each line of `text` that has a number: where it is, and its numbers."""
    found = [(number, tokens(line)) for number, line in enumerate(text.split("\n"), start=1)]
    return "".join(f"{number}: {' '.join(words)}\n" for number, words in found if words)


def main() -> None:
    """Write the numbers of each document of the folder that is named."""
    parser = argparse.ArgumentParser(
        description="List every number in the source documents, line by line, for the tests.",
    )
    parser.add_argument("folder", type=Path, help="the folder with the documents, as .txt files")
    folder = parser.parse_args().folder
    TOKENS.mkdir(parents=True, exist_ok=True)
    for document in sorted(folder.glob("*.txt")):
        text = document.read_bytes().decode("utf-8")
        (TOKENS / document.name).write_bytes(listing(text).encode("utf-8"))


if __name__ == "__main__":
    main()
