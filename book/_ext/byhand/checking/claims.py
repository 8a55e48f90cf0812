"""The book's claims: label, sentence, kind and evidence; quotations name their source.

``book/claims.toml`` has the kind and the evidence for each label. The claiming sentence on a page
ends with ``{claim}`label` ``. The roles ``{eval}`` and ``{given}`` state the kind of a number. A
sentence with a number from ten on needs one of these roles or a claim. Smaller numbers are mostly
names, such as Head 1. `byhand.checking.patterns` refuses typed decimals and percentages.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from byhand.checking.sources import (
    Fault,
    Finding,
    Line,
    Page,
    Project,
    consecutive_lines,
    without_code,
)

FILE = "book/claims.toml"
KINDS = {
    "proved": "derived on the page, for every input",
    "computed": "computed and asserted by the build, for the named inputs",
    "measured": "found over several seeds or texts, with none omitted",
    "quoted": "taken from a source, with its table, its section or the abstract",
    "convention": "a choice of this book",
}
KEY = re.compile(r"([A-Za-z_-]+)\s*=")
FIELDS = ("says", "kind", "evidence")
TITLE = re.compile(r"^# .*$", re.MULTILINE)  # a name, which may have a year in it
ROLE = re.compile(r"\{claim\}`([^`]*)`")
REFERENCE_OR_CITATION = re.compile(r"\{(?:ref|numref|eq|cite:t|cite:p|func)\}`[^`]+`")
END = re.compile(r"(?<=[.?!])(?:\)|\*\*)?\s+(?=[A-Z*(\[{])")
TYPED_NUMBER = re.compile(r"(?<![\w.,–-])\d{2,}(?:,\d{3})*(?![\w.-]|\s+minutes)")
FORMULA = re.compile(r"\$[^$]*\$")
PROOF_REFERENCE = re.compile(r"\{numref\}`prop-[^`]+`|\{eq\}`[^`]+`")
NUMREF = re.compile(r"\{(?:numref|ref|eq)\}`[^`]*`")
UNESCAPED = re.compile(r"(?<!\\)<\w")
PLACE_IN_SOURCE = re.compile(
    r"\b(?:tables?|figures?|theorem|section)\s+(?:\d|\{given\})|\b(?:abstract|paper)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Claim:
    """One entry of ``claims.toml``."""

    label: str
    says: str  # in one line
    kind: str  # one of `KINDS`
    evidence: str  # Markdown with a reference to a label, or a citation


@cache
def read_claims(text: str) -> tuple[Claim, ...]:
    """Return the claims of a ``claims.toml`` in their order."""
    table = tomllib.loads(text)
    return tuple(
        Claim(key, *(str(entry.get(field, "")) for field in FIELDS))
        for key, entry in table.items()
        if isinstance(entry, dict)
    )


def check(project: Project) -> Iterator[Finding]:
    """Find faulty entries of ``claims.toml``, and claims made twice, never, or without an entry."""
    used: dict[str, tuple[str, int]] = {}
    for page in project.pages_and_decks:
        for label, number in claim_labels(page):
            if label in used:
                message = f"the claim {label} is made twice; a label of its own is wanted"
                yield Finding(page.file, number, message)
            used.setdefault(label, (page.file, number))
    has_ledger = any(block.name == "ledger" for page in project.pages for block in page.blocks)
    listed: set[str] = set()
    for _, text in project.files(FILE):
        try:
            claims = read_claims(text)
        except tomllib.TOMLDecodeError:
            return  # `byhand.checking.data` reports it, and no label is known
        yield from (Finding(FILE, *fault) for fault in _unknown_keys(text))
        for claim in claims:
            listed.add(claim.label)
            header = re.search(rf"""^\s*\[\s*["']?{re.escape(claim.label)}\b""", text, re.MULTILINE)
            line = text[: header.start() if header else 0].count("\n") + 1
            if has_ledger and claim.label not in used:
                message = f"no sentence makes the claim {claim.label}; a `{{claim}}`"
                yield Finding(FILE, line, message)
            yield from (Finding(FILE, line, message) for message in _entry_faults(claim))
    for label, (file, number) in used.items():
        if label not in listed:
            yield Finding(file, number, f"the claim {label} is not in {FILE}; an entry is wanted")


def _unknown_keys(text: str) -> Iterator[Fault]:
    """Yield keys that no claim has, and keys outside an entry."""
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        inside = inside or line.lstrip().startswith("[")
        key = KEY.match(line)
        if key and not inside:
            yield number, f"{key[1]} is not part of a claim; a line such as [label] is wanted above"
        elif key and key[1] not in FIELDS:
            yield number, f"a claim has no {key[1]!r}; one of {', '.join(FIELDS)} is wanted"


def _entry_faults(claim: Claim) -> Iterator[str]:
    if claim.kind not in KINDS:
        yield f"kind is {claim.kind!r}; one of {', '.join(KINDS)} is wanted"
    if claim.kind == "proved" and not PROOF_REFERENCE.search(claim.evidence):
        yield "a proof rests on a proposition or a formula; {numref}, {eq}"
    if claim.kind == "quoted" and not PLACE_IN_SOURCE.search(claim.evidence):
        yield "a quotation has a place in its source; table, section, abstract"
    if UNESCAPED.search(claim.says + claim.evidence):
        yield r"a browser takes <word> for a tag; \\<word\\> is wanted"
    if not claim.says or not REFERENCE_OR_CITATION.search(claim.evidence):
        yield "says, and evidence with a reference or a citation, are wanted"


def claim_labels(page: Page) -> list[tuple[str, int]]:
    """Return the labels of the claims that a page makes, with their lines."""
    return [(label, number) for number, text in page.prose for label in ROLE.findall(text)]


def sentences(page: Page) -> Iterator[Line]:
    """Yield the sentences of a page's prose, each with the line of its first word."""
    for paragraph in consecutive_lines(line for line in page.prose if line[1].strip()):
        text, begin = "\n".join(line for _, line in paragraph), 0
        for end in [*(found.end() for found in END.finditer(text)), len(text)]:
            yield paragraph[0][0] + text[:begin].count("\n"), text[begin:end]
            begin = end


def kind_of_numbers(sentence: str) -> str:
    """Return the kind of a sentence's numbers by their roles, or "".

    Examples
    --------
    >>> kind_of_numbers("It is {eval}`shown(x)`."), kind_of_numbers("Of {given}`2` words.")
    ('computed', 'given')
    """
    if "{eval}" in sentence:
        return "computed"
    if "{given}" not in sentence:
        return ""
    return "quoted" if "{cite" in sentence else "given"


def numbers_without_citation(page: Page) -> Iterator[Fault]:
    """Find sentences with a number from a table or section but without the source."""
    for number, sentence in sentences(page):
        if kind_of_numbers(sentence) == "given" and PLACE_IN_SOURCE.search(
            NUMREF.sub(" ", sentence)
        ):
            message = "a number is quoted without its source; a citation in the sentence is wanted"
            yield number, message


def numbers_without_kind(page: Page) -> Iterator[Fault]:
    """Find sentences with a typed number that has neither a role nor a claim."""
    for number, sentence in sentences(page):
        if kind_of_numbers(sentence) or ROLE.search(sentence):
            continue
        text = without_code(FORMULA.sub(" ", TITLE.sub(" ", sentence)))
        if found := TYPED_NUMBER.search(text):
            line = number + text[: found.start()].count("\n")
            yield line, f"{found[0]} has no kind; {{eval}}, {{given}} or a {{claim}} is wanted"
