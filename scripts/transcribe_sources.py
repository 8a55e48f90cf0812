"""Transcribe every number of the five source documents into `mha/sources`.

Run it on a folder that holds the documents: ``python scripts/transcribe_sources.py FOLDER``.
The book and the tests need only the files that it writes.

Each document is read line by line. A rule for the line says what each of its numbers is, in
order; a line whose numbers are not all spoken for stops the run. The kinds are those of
`mha.audit.sources.KINDS`.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "mha" / "sources"
TOKEN = re.compile(r"(?:(?<![A-Za-z0-9\])}])-)?[0-9]+(?:\.[0-9]+)?|[₀-₉]+")


@dataclass(frozen=True)
class Entry:
    """What one printed number is."""

    kind: str
    quantity: str = ""
    restates: bool = False
    intended: str = ""
    reason: str = ""


Rule = Callable[[re.Match[str]], list[Entry]]
LABEL, SHAPE, CLAIM = Entry("label"), Entry("shape"), Entry("claim")
SIZE, FORMULA, ILLUSTRATION = Entry("size"), Entry("formula"), Entry("illustration")


def name(example: str, stage: str, **index: int) -> str:
    """Return a quantity's name: example, stage, and its place counted from 0."""
    return " ".join([example, stage, *(f"{axis}={i}" for axis, i in index.items())])


def derived(quantity: str, *, restates: bool = False) -> Entry:
    """Return an entry for a result; `restates` where it only repeats the result before it."""
    return Entry("derived", quantity, restates)


def copy(quantity: str, intended: str = "", reason: str = "") -> Entry:
    """Return an entry for a number that a later calculation takes up."""
    return Entry("copy", quantity, intended=intended, reason=reason)


def given(quantity: str) -> Entry:
    """Return an entry for an input."""
    return Entry("input", quantity)


def grid(make: Callable[[int, int], Entry], rows: Iterable[int], columns: int) -> list[Entry]:
    """Return entries for a matrix, row after row."""
    return [make(row, column) for row in rows for column in range(columns)]


class Document:
    """One document's lines, and the entries that its rules have given their numbers."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.entries: dict[int, list[Entry]] = {}

    def tokens(self, line: int) -> list[str]:
        """Return the numbers of a line, from left to right; lines count from 1."""
        return TOKEN.findall(self.lines[line - 1])

    def set(self, line: int, *entries: Entry | list[Entry]) -> None:
        """Say what the numbers of a line are, in order."""
        flat = [e for part in entries for e in (part if isinstance(part, list) else [part])]
        tokens = self.tokens(line)
        if len(tokens) != len(flat):
            raise SystemExit(f"line {line} has {len(tokens)} numbers, its rule has {len(flat)}")
        if line in self.entries:
            raise SystemExit(f"line {line} has two rules")
        self.entries[line] = flat

    def match(self, pattern: str, rule: Rule, lines: range | None = None) -> None:
        """Apply a rule to every line that matches a pattern."""
        for line in lines or range(1, len(self.lines) + 1):
            found = re.search(pattern, self.lines[line - 1])
            if found and self.tokens(line):
                self.set(line, rule(found))

    def prose(self, kinds: Iterable[tuple[Entry, str]]) -> None:
        """Give the numbers of all other lines the kind of the first pattern that holds them."""
        for line, text in enumerate(self.lines, start=1):
            spots = list(TOKEN.finditer(text))
            if not spots or line in self.entries:
                continue
            kind: dict[int, Entry] = {}
            for entry, pattern in kinds:
                for found in re.finditer(pattern, text):
                    for spot in spots:
                        if found.start() <= spot.start() and spot.end() <= found.end():
                            kind.setdefault(spot.start(), entry)
            missing = [s.group() for s in spots if s.start() not in kind]
            if missing:
                raise SystemExit(f"line {line}: no rule for {', '.join(missing)}")
            self.set(line, [kind[s.start()] for s in spots])

    def records(self) -> list[dict[str, object]]:
        """Return all numbers in order, each as the fields that it needs."""
        return [
            {"line": line, "printed": printed} | {k: v for k, v in asdict(entry).items() if v}
            for line in sorted(self.entries)
            for printed, entry in zip(self.tokens(line), self.entries[line], strict=True)
        ]


def apple_walkthrough(page: Document) -> None:
    """Transcribe "I bought apple to eat": five tokens, width 4, three heads alike."""
    x, apple, width, words = "apple", 2, 4, range(5)
    embedding = [name(x, "embeddings", row=apple, column=i) for i in range(width)]
    copies = [copy(q) for q in embedding]
    for row in words:
        page.set(
            16 + row,
            LABEL,
            [given(name(x, "embeddings", row=row, column=c)) for c in range(width)],
        )
    column = [given(name(x, "w_q", head=0, row=i, column=0)) for i in range(width)]
    first = name(x, "query", head=0, row=apple, column=0)
    factors = [f for a, b in zip(copies, column, strict=True) for f in (a, copy(b.quantity))]
    products = [derived(f"{first} term={i}") for i in range(width)]
    page.set(34, [LABEL] * 2)
    page.set(36, copies)
    page.set(38, [LABEL] * 2, column)
    page.set(40, [LABEL] * 2, factors)
    page.set(42, [e for i in range(width) for e in (*factors[2 * i : 2 * i + 2], products[i])])
    page.set(43, [copy(p.quantity) for p in products], derived(first))
    for head, lines in enumerate((range(45, 246), range(251, 447), range(448, 645))):
        apple_head(page, head, lines)
    for head in range(3):
        outputs = [name(x, "head_outputs", head=head, row=apple, column=c) for c in range(width)]
        page.set(652 + head, LABEL, [copy(q) for q in outputs])
    page.set(656, [derived(name(x, "concat", row=apple, column=c)) for c in range(3 * width)])
    page.prose(
        [
            (LABEL, r"(?i)Step 0 of 18|heads? \d( (&|and) \d)?|step [\d.]+|Q[12]:|[WK]?_?[QKV]\d"),
            (LABEL, r"e[₁₂₃₄]|[QKVW][₁₂₃]?\[\d(,\d)?\]|Result\[\d\]|[QKV][₁₂₃]"),
            (CLAIM, r"sum to 1\.0"),
            (SHAPE, r"\d+D\b|\d+×\d|\d-dimensional"),
        ]
    )


def apple_head(page: Document, head: int, lines: range) -> None:
    """Transcribe one head of "I bought apple to eat"."""
    x, apple, width, words = "apple", 2, range(4), range(5)
    focus = {0: 4, 1: 1, 2: 4}[head]  # the key whose softmax is practised

    def at(stage: str, row: int, column: int) -> str:
        return name(x, stage, head=head, row=row, column=column)

    def row_of(stage: str, row: int, count: range, make: Callable[[str], Entry]) -> list[Entry]:
        return [make(at(stage, row, c)) for c in count]

    def factors(left: list[str], right: list[str]) -> list[Entry]:
        return [copy(q) for pair in zip(left, right, strict=True) for q in pair]

    def terms(quantity: str, count: range, make: Callable[[str], Entry]) -> list[Entry]:
        return [make(f"{quantity} term={i}") for i in count]

    embedding = [name(x, "embeddings", row=apple, column=i) for i in width]
    for letter, matrix in zip("QKV", ("w_q", "w_k", "w_v"), strict=True):
        caption = next(n for n in lines if page.lines[n - 1].startswith(f"W{letter}{head + 1} ("))
        page.set(caption, LABEL)
        for row in width:
            for column in width:
                page.set(caption + 2 + 4 * row + column, given(at(matrix, row, column)))
    page.match(r"^Apple embedding \[", lambda _: [*map(copy, embedding), LABEL], lines)

    def projection(found: re.Match[str]) -> list[Entry]:
        stage = {"Q": "query", "K": "key"}[found[1]]
        quantity, column = at(stage, apple, int(found[2])), int(found[2])
        matrix = [at(f"w_{found[1].lower()}", i, column) for i in width]
        worked = [*terms(quantity, width, derived), derived(quantity)]
        return [LABEL, LABEL, *factors(embedding, matrix), *([] if found[3] else worked)]

    page.match(r"^([QK])[₁₂₃]\[(\d)\] = .*?(\?)?$", projection, lines)
    page.match(
        r"^Apple's Query \(Head",
        lambda _: [
            LABEL,
            *(replace(e, restates=True) for e in row_of("query", apple, width, derived)),
        ],
        lines,
    )
    tables = [n for n in lines if re.search(r"^Word[QKV][₁₂₃] Vector", page.lines[n - 1])]
    for title, stage in zip(tables, ("query", "key", "value"), strict=True):
        page.set(title, LABEL, SHAPE)
        for row in words:
            again = stage == "query" and row == apple
            page.set(
                title + 1 + row,
                [replace(e, restates=again) for e in row_of(stage, row, width, derived)],
            )
    scores, weights = (n for n in lines if page.lines[n - 1].startswith("Query \\ Key"))
    page.set(scores, [copy(at("key", r, c)) for r in words for c in width])
    for row in words:
        page.set(
            scores + 1 + row,
            row_of("query", row, width, copy),
            row_of("scores", row, words, derived),
        )
        page.set(weights + 1 + row, row_of("weights", row, words, derived))
    page.match(r"^Apple Query: ", lambda _: row_of("query", apple, width, copy), lines)
    arrows = [n for n in lines if page.lines[n - 1].startswith("Apple → ")]
    query = [at("query", apple, i) for i in width]
    for key, arrow in enumerate(arrows):
        quantity = at("scores", apple, key)
        pairs = factors(query, [at("key", key, i) for i in width])
        result = [*terms(quantity, width, derived), derived(quantity)]
        if key == 0:  # the first one names its two vectors and takes two lines
            vectors = row_of("query", apple, width, copy) + row_of("key", 0, width, copy)
            page.set(arrow + 1, vectors, pairs)
            page.set(arrow + 2, result)
        else:
            page.set(arrow + 1, pairs, result)
    root = name(x, "root")
    page.match(
        r"^We scale attention scores by √4 = 2",
        lambda m: [SHAPE, derived(root), CLAIM, *([LABEL] if "Head 1" in m.string else [])],
        lines,
    )
    page.match(r"^Scaled Score = Raw Score ÷ √4", lambda _: [SHAPE, copy(root)], lines)
    score, scaled = at("scores", apple, focus), at("scaled_scores", apple, focus)
    page.match(
        r"^Raw score: ",
        lambda _: [copy(score), copy(score), copy(root), derived(scaled)],
        lines,
    )
    exponents = [
        copy(scaled) if key == focus else derived(at("scaled_scores", apple, key)) for key in words
    ]
    page.match(
        r"^Exponentials: ",
        lambda _: [*exponents, *row_of("exponentials", apple, words, derived)],
        lines,
    )
    row_sum, exponential = (
        name(x, "row_sums", head=head, row=apple),
        at("exponentials", apple, focus),
    )
    page.match(
        r"^Sum = ",
        lambda _: [derived(row_sum), copy(exponential), copy(row_sum)],
        lines,
    )
    listed = next(n for n in lines if page.lines[n - 1] == "WordWeight")
    weighted = [n for n in lines if re.match(r"0\.\d+ × \[", page.lines[n - 1])]
    for key in words:
        page.set(listed + 1 + key, derived(at("weights", apple, key)))
        page.set(
            weighted[key],
            copy(at("weights", apple, key)),
            row_of("value", key, width, copy),
            [derived(f"{at('head_outputs', apple, c)} term={key}") for c in width],
        )

    def component(found: re.Match[str]) -> list[Entry]:
        quantity = at("head_outputs", apple, int(found[1]) - 1)
        return [LABEL, *terms(quantity, words, copy), derived(quantity)]

    page.match(r"^Component (\d): ", component, lines)
    page.match(
        r"^Output: \[",
        lambda _: [
            replace(e, restates=True) for e in row_of("head_outputs", apple, width, derived)
        ],
        lines,
    )


def attention_notes(page: Document) -> None:
    """Transcribe the lecture notes: two worked examples and the sizes of two models."""
    play_football(page)
    the_cat_sat(page)
    page.prose(
        [
            (LABEL, r"(?i)heads? \d|step \d|^\d\."),
            (LABEL, r"_\{?K?\d\}?\^|\(I_\d\)|[QKV]_?\{?\d\}?|W_\{?K?\d\}?"),
            (CLAIM, r"each row sums to 1|^0 and 1\.$"),
            (ILLUSTRATION, r"\[1\.0, 0, 0\]"),
            (SIZE, r"512/8 = 64|= (512|1024|8|16|64)\b|512 \\times 512"),
            (SHAPE, r"d_k = 2|d_K = 2|= 4 / 2 = 2|4/2 = 2|= [24]\$|4 \\times 4|4×2|4-dimensional"),
            (SHAPE, r"3 \\rightarrow 2|3 \\times [23]"),
            (SHAPE, r"\\sqrt\{2\}"),
            (LABEL, r"K\^0|k\^0"),
        ]
    )


def play_football(page: Document) -> None:
    """Transcribe "I play football": three tokens, one head from width 3 to width 2."""
    x, words, two, three = "play-football", range(3), range(2), range(3)

    def at(stage: str, row: int, column: int) -> str:
        return name(x, stage, head=0, row=row, column=column)

    def matrix(stage: str, columns: range, make: Callable[[str], Entry]) -> list[Entry]:
        return [make(at(stage, r, c)) for r in words for c in columns]

    embeddings = [name(x, "embeddings", row=r, column=c) for r in words for c in three]
    for row in words:
        page.set(133 + 2 * row, [given(q) for q in embeddings[3 * row : 3 * row + 3]])
    page.set(141, [copy(q) for q in embeddings])
    page.set(147, matrix("w_q", two, given))
    page.set(149, [given(at("w_k", r, c)) for r in range(2) for c in two])
    page.set(151, [given(at("w_k", 2, c)) for c in two])
    page.set(153, matrix("w_v", two, given))
    query = matrix("query", two, derived)
    query[3] = replace(
        query[3],
        intended="0.0",
        reason="the same matrix, taken up for the scores eight lines down, has 0.0 here",
    )
    page.set(157, query)
    page.set(159, matrix("key", two, derived))
    page.set(161, matrix("value", two, derived))
    page.set(165, matrix("query", two, copy), matrix("key", two, copy))
    page.set(167, matrix("scores", three, derived))
    page.set(171, SHAPE, SHAPE, derived(name(x, "root")))
    page.set(173, SHAPE, matrix("scaled_scores", three, derived))
    page.set(177, matrix("weights", three, derived))
    for row, line in enumerate((181, 183, 185)):
        page.set(line, [derived(at("percentages", row, c)) for c in three])
    page.set(189, matrix("value", two, copy))
    page.set(193, matrix("head_outputs", two, derived))


def the_cat_sat(page: Document) -> None:
    """Transcribe "the cat sat": three tokens, two heads of width 2, an output projection."""
    x, words, two, four = "the-cat-sat", range(3), range(2), range(4)
    ones = {0: (0, 2), 1: (1, 3), 2: (0, 1)}  # where each embedding has its ones

    def at(stage: str, head: int, row: int, column: int) -> str:
        return name(x, stage, head=head, row=row, column=column)

    def row_of(stage: str, head: int, row: int, count: range, make: Callable[[str], Entry]):
        return [make(at(stage, head, row, c)) for c in count]

    def matrix(stage: str, head: int, make: Callable[[str], Entry]) -> list[Entry]:
        return [make(at(stage, head, r, c)) for r in four for c in two]

    def embedding(row: int, make: Callable[[str], Entry]) -> list[Entry]:
        return [make(name(x, "embeddings", row=row, column=c)) for c in four]

    def sums(stage: str, row: int) -> list[Entry]:
        """Return the terms of both components: the entries that the ones pick out."""
        return [derived(f"{at(stage, 0, row, c)} term={i}") for c in two for i in ones[row]]

    def result(stage: str, head: int, row: int, count: range = two) -> list[Entry]:
        return row_of(stage, head, row, count, derived)

    def whole(stage: str, row: int, make: Callable[[str], Entry]) -> list[Entry]:
        return [make(name(x, stage, row=row, column=c)) for c in four]

    projection = [name(x, "w_o", row=r, column=c) for r in four for c in four]
    for row in words:
        page.set(307 + 2 * row, embedding(row, given))
    for line, stage, head, labels in (
        (317, "w_q", 0, 1),
        (319, "w_k", 0, 1),
        (321, "w_v", 0, 1),
        (325, "w_q", 1, 1),
        (327, "w_k", 1, 1),
        (329, "w_v", 1, 1),
    ):
        page.set(line, [LABEL] * labels, matrix(stage, head, given))
    page.set(363, LABEL, [given(q) for q in projection])
    for line, stage, w in ((369, "query", "w_q"), (371, "key", "w_k"), (373, "value", "w_v")):
        page.set(
            line,
            [LABEL] * 2,
            embedding(0, copy),
            matrix(w, 0, copy),
            sums(stage, 0),
            result(stage, 0, 0),
        )
    for line, stage, row in (
        (375, "query", 1),
        (379, "key", 1),
        (383, "value", 1),
        (391, "key", 2),
    ):
        page.set(line, [LABEL] * 2, embedding(row, copy))
        page.set(line + 2, sums(stage, row), result(stage, 0, row))
    damaged = [
        copy(name(x, "embeddings", row=2, column=c), intended, reason)
        for c, intended, reason in (
            (0, "", ""),
            (1, "1", "the vector of sat has four entries, 1, 1, 0, 0; the scan has five"),
            (2, "0", "the vector of sat has four entries, 1, 1, 0, 0; the scan has five"),
            (3, "", ""),
        )
    ]
    page.set(387, [LABEL] * 2, damaged, Entry("damage", reason="a fifth entry of a vector of four"))
    page.set(389, sums("query", 2), result("query", 0, 2))
    page.set(395, [LABEL] * 2, embedding(2, copy), sums("value", 2)[:2])
    page.set(397, sums("value", 2)[2:], result("value", 0, 2))
    for row, line in ((0, 401), (1, 407), (2, 413)):
        for i, stage in enumerate(("query", "key", "value")):
            page.set(line + 2 * i, LABEL, result(stage, 1, row))
    page.set(423, SHAPE, SHAPE, derived(name(x, "root")))
    transposed = [copy(at("key", 0, key, c)) for c in two for key in words]
    for row, line in ((0, 427), (1, 433), (2, 437)):
        page.set(line, [LABEL] * 2, row_of("query", 0, row, two, copy), transposed)
    page.set(
        429,
        [
            copy(q)
            for key in words
            for c in two
            for q in (at("query", 0, 0, c), at("key", 0, key, c))
        ],
    )
    for row, line in enumerate((431, 435, 439)):
        page.set(line, result("scores", 0, row, words))
    for head, lines in enumerate(((443, 445, 447), (451, 453, 455))):
        for row, line in enumerate(lines):
            page.set(line, LABEL, result("scaled_scores", head, row, words))
    for head, lines in enumerate(((463, 467, 471), (477, 481, 485))):
        for row, line in enumerate(lines):
            page.set(line, LABEL, row_of("scaled_scores", head, row, words, copy))
            page.set(line + 2, result("weights", head, row, words))

    def weight(head: int, row: int, key: int) -> Entry:
        return copy(at("weights", head, row, key))

    def mixed(head: int, row: int, keys: Iterable[int] = words) -> list[Entry]:
        """Return a weight before each name of a value: ``0.43 · V_{the,1}``."""
        return [e for key in keys for e in (weight(head, row, key), LABEL)]

    def vectors(head: int, row: int) -> list[Entry]:
        """Return a weight before each value: ``0.43 [0.4, 0.4]``."""
        return [
            e
            for key in words
            for e in (weight(head, row, key), *row_of("value", head, key, two, copy))
        ]

    def first_column(head: int, row: int) -> list[Entry]:
        """Return a weight before the first component of each value: ``0.38(0.4)``."""
        return [
            e for key in words for e in (weight(head, row, key), copy(at("value", head, key, 0)))
        ]

    def terms(head: int, row: int, columns: Iterable[int]) -> list[Entry]:
        return [
            derived(f"{at('head_outputs', head, row, c)} term={key}")
            for c in columns
            for key in words
        ]

    page.set(495, LABEL, mixed(0, 0, (0, 1)), weight(0, 0, 2))
    page.set(497, LABEL, vectors(0, 0), terms(0, 0, [0]))
    page.set(499, terms(0, 0, [1]))
    page.set(501, result("head_outputs", 0, 0))
    for row, line in ((1, 503), (2, 509)):
        page.set(line, LABEL, mixed(0, row))
        page.set(line + 2, first_column(0, row))
        page.set(line + 4, result("head_outputs", 0, row))
    page.set(517, LABEL, mixed(1, 0))
    page.set(519, vectors(1, 0))
    page.set(521, terms(1, 0, two))
    page.set(523, result("head_outputs", 1, 0))
    for row, line in ((1, 525), (2, 529)):
        page.set(line, LABEL, mixed(1, row))
        page.set(line + 2, LABEL, first_column(1, row), result("head_outputs", 1, row))
    for row, line in enumerate((537, 539, 541)):
        page.set(line, [LABEL] * 2, whole("concat", row, derived))
    page.set(545, whole("concat", 0, copy))
    page.set(547, [copy(q) for q in projection])
    for line, row in ((549, 0), (555, 1), (561, 2), (585, 0), (591, 1), (597, 2)):
        page.set(line, whole("output", row, derived))
    for line in (551, 587):
        page.set(line, LABEL, whole("concat", 1, copy))
    for line, places in ((557, (2, 3)), (593, (3,))):
        reason = "the concatenation of sat, printed on line 541, has 1.30 here"
        page.set(
            line,
            LABEL,
            [
                replace(e, intended="1.30", reason=reason) if i in places else e
                for i, e in enumerate(whole("concat", 2, copy))
            ],
        )


def aiayn_part_2(page: Document) -> None:
    """Transcribe "cat sat": two tokens, given queries, keys and values."""
    x, words, four = "cat-sat", range(2), range(4)

    def at(stage: str, row: int, column: int) -> str:
        return name(x, stage, head=0, row=row, column=column)

    def row_of(stage: str, row: int, make: Callable[[str], Entry], count: range = words):
        return [make(at(stage, row, c)) for c in count]

    for row in words:
        page.set(74 + row, row_of("query", row, given, four))
        page.set(77 + row, row_of("key", row, given, four))
        page.set(80 + row, row_of("value", row, given))
        page.set(
            85 + row,
            row_of("query", row, copy, four),
            [copy(at("key", key, row)) for key in words],
        )
        page.set(87 + row, [copy(at("key", key, 2 + row)) for key in words])
        page.set(
            90 + row,
            [
                copy(q)
                for key in words
                for i in four
                for q in (at("query", row, i), at("key", key, i))
            ],
        )
        page.set(93 + row, row_of("scores", row, derived))
        page.set(98 + row, row_of("scaled_scores", row, derived))
        again = [replace(e, restates=True) for e in row_of("weights", row, derived)]
        page.set(111 + row, again, row_of("percentages", row, derived))
        page.set(116 + row, row_of("weights", row, copy), row_of("value", row, copy))
        page.set(
            119 + row,
            [
                copy(q)
                for c in words
                for key in words
                for q in (at("weights", row, key), at("value", key, c))
            ],
        )
        page.set(122 + row, row_of("head_outputs", row, derived))
    root, row_sum = name(x, "root"), name(x, "row_sums", head=0, row=0)
    page.set(96, LABEL, SHAPE, derived(root))
    page.set(103, LABEL, row_of("scaled_scores", 0, copy))
    page.set(
        104,
        [
            e
            for key in words
            for e in (
                copy(at("scaled_scores", 0, key)),
                derived(at("exponentials", 0, key)),
            )
        ],
    )
    page.set(105, derived(row_sum))
    page.set(
        106,
        LABEL,
        [e for key in words for e in (copy(at("exponentials", 0, key)), copy(row_sum))],
        row_of("weights", 0, derived),
    )
    page.set(108, LABEL, row_of("scaled_scores", 1, copy))
    page.set(109, LABEL, row_of("weights", 1, derived))
    page.prose(
        [
            (LABEL, r"Part \d|[Ss]tep \d|^  \d\."),
            (FORMULA, r"mean=0|sqrt\(2/"),
            (SIZE, r"h=8"),
            (ILLUSTRATION, r"d_k = 512"),
            (SHAPE, r"d_k = 4"),
        ]
    )


def back_to_cats_slides(page: Document) -> None:
    """Transcribe "The cat sat <end>": four tokens, width 4, one head, the first token's output."""
    x, four = "the-cat-sat-end", range(4)

    def at(stage: str, row: int, column: int) -> str:
        return name(x, stage, head=0, row=row, column=column)

    def row_of(stage: str, row: int, make: Callable[[str], Entry]) -> list[Entry]:
        return [make(at(stage, row, c)) for c in four]

    embeddings = [[name(x, "embeddings", row=r, column=c) for c in four] for r in four]
    for row, line in enumerate((9, 11, 13, 15)):
        page.set(line, [given(q) for q in embeddings[row]], LABEL)
    for line, matrix in ((27, "w_q"), (37, "w_k"), (47, "w_v")):
        for row in four:
            page.set(line + 2 * row, row_of(matrix, row, given))
    for line, stage in ((63, "query"), (89, "key")):
        matrix = f"w_{stage[0]}"
        page.set(line, LABEL)
        page.set(line + 1, [copy(q) for q in embeddings[0]], row_of(matrix, 0, copy))
        for row in (1, 2, 3):
            page.set(line + 1 + row, row_of(matrix, row, copy))
        for column in four:
            pairs = [(embeddings[0][i], at(matrix, i, column)) for i in four]
            page.set(line + 6 + column, [copy(q) for pair in pairs for q in pair])
        page.set(line + 10, row_of(stage, 0, derived))
        for row in (1, 2, 3):
            page.set(line + 10 + 2 * row, row_of(stage, row, derived))
    for row in four:
        page.set(107 + 2 * row, [replace(e, restates=True) for e in row_of("key", row, derived)])
        page.set(123 + 2 * row, row_of("value", row, derived))
        page.set(139 + 2 * row, [copy(at("key", key, row)) for key in four])
    page.set(147, row_of("query", 0, copy))
    for key in four:
        quantity = at("scores", 0, key)
        pairs = [(at("query", 0, i), at("key", key, i)) for i in four]
        page.set(149 + 4 * key, [copy(q) for pair in pairs for q in pair])
        page.set(151 + 4 * key, [derived(f"{quantity} term={i}") for i in four], derived(quantity))
    halves = [e for key in four for e in (copy(at("scores", 0, key)), copy(name(x, "root")))]
    page.set(173, halves, row_of("scaled_scores", 0, derived))
    page.set(
        177,
        [
            e
            for key in four
            for e in (copy(at("scaled_scores", 0, key)), derived(at("exponentials", 0, key)))
        ],
    )
    row_sum = name(x, "row_sums", head=0, row=0)
    page.set(178, derived(row_sum))
    shares = [e for key in four for e in (copy(at("exponentials", 0, key)), copy(row_sum))]
    page.set(182, shares, row_of("weights", 0, derived))
    for key in four:
        page.set(186 + key, derived(at("percentages", 0, key)))
    weights = row_of("weights", 0, copy)
    page.set(197, weights)
    # The slide on values prints rows of K; the right ones first appear here.
    page.set(
        199,
        [
            e
            for key in four
            for e in (weights[key], *row_of("value", key, copy if key == 0 else derived))
        ],
    )
    page.set(201, [derived(f"{at('head_outputs', 0, c)} term={key}") for key in four for c in four])
    page.set(203, row_of("head_outputs", 0, derived))
    page.prose([(LABEL, r"^\d+$")])


def mha_tutorial(page: Document) -> None:
    """Transcribe the tutorial in prose: shapes, labels, three drawn weights."""
    x = "cat-sat-on-it"

    def weight(row: int, column: int) -> str:
        return name(x, "weights", head=0, row=row, column=column)

    def percentage(row: int, column: int) -> Entry:
        return derived(name(x, "percentages", head=0, row=row, column=column))

    page.set(110, given(weight(0, 1)), percentage(0, 1))
    page.set(111, given(weight(1, 2)), percentage(1, 2))
    page.set(112, given(weight(0, 2)), copy(weight(0, 2)))
    page.prose(
        [
            (
                ILLUSTRATION,
                r"-0\.09, 0\.14, -0\.27|e\.g\., 5\.0|\d-gallon|from 0\.0|to 1\.0 \(100%",
            ),
            (CLAIM, r"exactly 1\.00 \(or 100%\)|sums? to 1\.0|0\.0 to 1\.0"),
            (LABEL, r"GPT-3\)"),
            (SIZE, r"512 or 768|\b8 or more|\b8 or 16|standard 8|512\+|512/8 = 64|Input is 512"),
            (SIZE, r"8 Heads|size 64|numTokens, 512|d_model = 512|numHeads = 8|d_k = 64"),
            (SIZE, r"of 8|With 8 heads"),
            (LABEL, r"(?i)heads?,? ?\d|(stage|step|module|case|block) \d|\(\d\)|[QKV],\d|\bd\d\b"),
            (
                SHAPE,
                r"(?i)\[[^\]]*\d[^\]]*\]|\d heads|\d parallel|\d tokens|3D|\d different|\d-dim\w*",
            ),
            (
                SHAPE,
                r"\d dim\w*",
            ),
            (
                SHAPE,
                r"(?i)all \d|\d workers|\d attention|\d outputs?|\d parts|\d inputs|= \d|size \d",
            ),
            (SHAPE, r"is \d\.|model\) ?\(?\d|to \d|\(\d|\d bars|with \d|\d horizontal|keep \d"),
        ]
    )


RULES: dict[str, Callable[[Document], None]] = {
    "aiayn-part-2": aiayn_part_2,
    "apple-walkthrough": apple_walkthrough,
    "attention-notes": attention_notes,
    "back-to-cats-slides": back_to_cats_slides,
    "mha-tutorial": mha_tutorial,
}


def main() -> None:
    """Read the documents and write the transcriptions, all of them or none."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the five documents are")
    folder = parser.parse_args().folder
    written = {}
    for stem, rule in RULES.items():
        try:
            text = (folder / f"{stem}.txt").read_text(encoding="utf-8")
        except OSError as error:
            sys.exit(
                f"{folder / stem}.txt cannot be read ({error.strerror}); the document is wanted"
            )
        page = Document(text)
        try:
            rule(page)
        except SystemExit as error:
            sys.exit(f"{stem}: {error}")
        rows = ",\n".join(json.dumps(record, ensure_ascii=False) for record in page.records())
        written[TARGET / f"{stem}.json"] = f"[\n{rows}\n]\n"
    for path, content in written.items():
        path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
