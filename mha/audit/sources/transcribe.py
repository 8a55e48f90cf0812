"""Transcribe every number of the five source documents, by the rules in the folder ``rules``.

Run it on a folder that holds the documents: ``python -m mha.audit.sources.transcribe FOLDER``.
The book and the tests need only the files that it writes, beside this module.

Each document has a TOML file of rules. A rule names lines, and says what their numbers are, one
after another; lines without a number may lie between.

- Lines are ``43``, ``16-20``, ``/PATTERN/`` for every line that matches, or ``/PATTERN/ +1-5`` for
  the lines so far below such a line.
- ``derived``, ``input``, ``copy`` and ``again`` (a result that only repeats the one before it) say
  what the addresses after them are. An address may have ranges: ``scores.0.2.0-4`` is five numbers,
  ``query.0.2.0:0-3`` the four terms of one.
- Any other kind, as in ``label`` or ``label*2``, is a number without an address.
- ``[i=0-3 query.0.2.i key.0.4.i]`` repeats what is inside for each i.

A part of the rules may hold for several sections of the document, each of which says what some
letters stand for. Numbers of lines without a rule get the kind of the first pattern under `prose`
that holds them. A line whose numbers are not all spoken for stops the run.
"""

import itertools
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from mha.audit.sources import CALCULATING, KINDS, TITLES
from mha.command_line import Parser
from mha.runs.places import Place

TARGET = Path(__file__).resolve().parent
TOKEN = re.compile(r"(?:(?<![A-Za-z0-9\])}])-)?[0-9]+(?:\.[0-9]+)?|[₀-₉]+")

Record = dict[str, object]
"""The fields of one number in a data file."""


def transcribed(text: str, rules: Mapping[str, Any]) -> list[Record]:
    """Return every number of a document, in order, each with the fields that it needs.

    Parameters
    ----------
    text : str
        The whole document.
    rules : mapping
        As its TOML file has them.

    Returns
    -------
    list of dict

    Raises
    ------
    ValueError
        If a rule does not fit the document, or a number has none, naming the line.

    Examples
    --------
    >>> rules = {"parts": [{"example": "cat-sat", "lines": {"1": "derived root"}}]}
    >>> transcribed("The root is 2.", rules)[0]["place"]
    'root'
    """
    document = _Document(text)
    try:
        for part in rules.get("parts", []):
            _apply(document, part)
        document.prose(rules.get("prose", []))
        for damage in rules.get("damaged", []):
            document.mark_damaged(**damage)
    except KeyError as error:
        raise ValueError(f"a rule has no {error}; it is wanted") from error
    except (re.error, TypeError) as error:
        raise ValueError(f"a rule is not as it should be: {error}") from error
    return document.records()


def expand(numbers: str, example: str, letters: Mapping[str, str]) -> list[Record]:
    """Return what each number is that a rule speaks of.

    Parameters
    ----------
    numbers : str
        In the notation that this module describes.
    example : str
        The worked example that the addresses belong to.
    letters : mapping of str to str
        What letters in addresses stand for: an index or a range.

    Returns
    -------
    list of dict

    Raises
    ------
    ValueError
        If the text is not in this notation.

    Examples
    --------
    >>> [record["place"] for record in expand("copy [i=0-1 key.0.k.i root]", "cat-sat", {"k": "1"})]
    ['key.0.1.0', 'root', 'key.0.1.1', 'root']
    """
    kind, found = "", list[Record]()
    words = iter(re.findall(r"[\[\]]|[^\s\[\]]+", numbers))
    for word in _unrolled(_nested(words), letters):
        bare, _, times = word.partition("*")
        if word in ("again", *CALCULATING):
            kind = word
        elif bare in KINDS:
            found += [{"kind": bare} for _ in range(int(times or 1))]
        elif kind:
            found.append(_calculating(kind, example, word))
        else:
            raise ValueError(f"no kind stands before {word}; one of {', '.join(KINDS)} is wanted")
    return found


def _calculating(kind: str, example: str, address: str) -> Record:
    """Return what a number is that takes part in a calculation."""
    found: Record = {
        "kind": "derived" if kind == "again" else kind,
        "example": example,
        "place": str(Place.parse(address)),
    }
    return found | ({"restates": True} if kind == "again" else {})


@dataclass(frozen=True)
class _Loop:
    letter: str
    values: str
    body: "list[str | _Loop]"


def _nested(words: Iterator[str], *, inside: bool = False) -> list[str | _Loop]:
    """Return words with what stands in brackets as loops."""
    found: list[str | _Loop] = []
    for word in words:
        if word == "]" and inside:
            return found
        if word == "]":
            raise ValueError("a ] closes nothing; a [ before it is wanted")
        if word == "[":
            letter, _, values = next(words, "").partition("=")
            found.append(_Loop(letter, values, _nested(words, inside=True)))
        else:
            found.append(word)
    if inside:
        raise ValueError("a [ is not closed; a ] is wanted")
    return found


def _unrolled(nodes: Iterable[str | _Loop], letters: Mapping[str, str]) -> Iterator[str]:
    """Yield the words with loops repeated and each address on its own."""
    for node in nodes:
        if isinstance(node, _Loop):
            for value in _values(node.values):
                yield from _unrolled(node.body, {**letters, node.letter: value})
        else:
            yield from _addresses(node, letters)


def _addresses(word: str, letters: Mapping[str, str]) -> Iterator[str]:
    """Yield every address that one with letters and ranges stands for, row by row."""
    name, colon, term = word.partition(":")
    stage, *index = name.split(".")
    choices = [_values(letters.get(part, part)) for part in index]
    terms = [f":{i}" for i in _values(letters.get(term, term))] if colon else [""]
    for *chosen, end in itertools.product(*choices, terms):
        yield ".".join([stage, *chosen]) + end


def _values(text: str) -> list[str]:
    """Return the numbers of a list of ranges such as ``0-2,4``."""
    found = list[str]()
    for part in filter(None, text.split(",")):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if match is None:
            raise ValueError(f"{part!r} is no number and no range; one such as 0-3 is wanted")
        found += map(str, range(int(match[1]), int(match[2] or match[1]) + 1))
    return found


class _Document:
    """One document's lines, and what its rules have said of their numbers."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.found: dict[int, list[Record]] = {}

    def tokens(self, line: int) -> list[str]:
        """Return the numbers of a line, from left to right; lines count from 1."""
        if not 1 <= line <= len(self.lines):
            raise ValueError(f"there is no line {line}; 1 to {len(self.lines)} is wanted")
        return TOKEN.findall(self.lines[line - 1])

    def pour(self, lines: Sequence[int], records: Sequence[Record]) -> None:
        """Say what the numbers of some lines are, in order."""
        named, total = f"line {lines[0]}", sum(len(self.tokens(line)) for line in lines)
        if len(lines) > 1:
            named = f"from line {lines[0]} to {lines[-1]} it"
        if total != len(records):
            raise ValueError(f"{named} has {total} numbers, its rule has {len(records)}")
        rest = iter(records)
        for line in lines:
            if line in self.found:
                raise ValueError(f"line {line} has two rules; one is wanted")
            if tokens := self.tokens(line):
                self.found[line] = list(itertools.islice(rest, len(tokens)))

    def named(self, lines: str, within: range) -> list[int]:
        """Return the lines that a rule names: numbers, or those that match a pattern."""
        if not lines.startswith("/"):
            return list(map(int, _values(lines)))
        pattern, _, below = lines[1:].rpartition("/")
        hits = [n for n in within if re.search(pattern, self.lines[n - 1])]
        offsets = [int(i) for i in _values(below.strip().removeprefix("+") or "0")]
        return [hit + offset for hit in hits for offset in offsets]

    def prose(self, kinds: Iterable[Sequence[str]]) -> None:
        """Give the numbers of all other lines the kind of the first pattern that holds them."""
        for line, text in enumerate(self.lines, start=1):
            if line in self.found:
                continue
            spots = list(TOKEN.finditer(text))
            held = [_first_kind(text, spot, kinds) for spot in spots]
            missing = [spot.group() for spot, kind in zip(spots, held, strict=True) if not kind]
            if missing:
                raise ValueError(f"line {line}: no rule for {', '.join(missing)}")
            self.pour([line], [{"kind": kind} for kind in held])

    def mark_damaged(self, *, line: int, number: int, printed: str, **said: str) -> None:
        """Add what was meant, and how that can be told, to a number; numbers count from 1."""
        if self.tokens(line)[number - 1 : number] != [printed]:
            raise ValueError(f"number {number} of line {line} is not {printed}; it is wanted there")
        self.found[line][number - 1] |= said

    def records(self) -> list[Record]:
        """Return all numbers in order."""
        return [
            {"line": line, "printed": printed} | record
            for line in sorted(self.found)
            for printed, record in zip(self.tokens(line), self.found[line], strict=True)
        ]


def _first_kind(text: str, spot: re.Match[str], kinds: Iterable[Sequence[str]]) -> str:
    """Return the kind of the first pattern that holds a number, empty where none does."""
    for kind, pattern in kinds:
        for found in re.finditer(pattern, text):
            if found.start() <= spot.start() and spot.end() <= found.end():
                return kind
    return ""


def _apply(document: _Document, part: Mapping[str, Any]) -> None:
    """Apply the rules of one part to each of its sections."""
    whole = {"lines": f"1-{len(document.lines)}"}
    for lines, numbers in part["lines"].items():
        used = False
        for section in part.get("sections", [whole]):
            first, last = map(int, section["lines"].split("-"))
            named = document.named(lines, range(first, last + 1))
            used = used or bool(named)
            if named:
                document.pour(named, expand(numbers, part["example"], section))
        if not used:
            raise ValueError(f"no line matches {lines}; a rule is for one at least")


def read_rules(name: str) -> dict[str, Any]:
    """Return the rules of one document.

    Parameters
    ----------
    name : str
        One of `mha.audit.sources.source_names`.

    Returns
    -------
    dict

    Examples
    --------
    >>> read_rules("mha-tutorial")["parts"][0]["example"]
    'cat-sat-on-it'
    """
    path = resources.files("mha.audit.sources").joinpath("rules", f"{name}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the documents and write the transcriptions, all of them or none.

    Parameters
    ----------
    arguments : sequence of str, default those of the command line
    """
    parser = Parser(
        prog="python -m mha.audit.sources.transcribe",
        description="Transcribe every number of the source documents.",
    )
    parser.add_argument("folder", type=Path, help="where the five documents are")
    folder = parser.parse_args(arguments).folder
    written = {}
    for name in TITLES:
        path = folder / f"{name}.txt"
        try:
            records = transcribed(path.read_text(encoding="utf-8"), read_rules(name))
        except OSError as error:
            parser.error(f"{path} cannot be read ({error.strerror}); the document is wanted")
        except ValueError as error:
            parser.error(f"{name}: {error}")
        rows = ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
        written[TARGET / f"{name}.json"] = f"[\n{rows}\n]\n"
    for path, content in written.items():
        path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
