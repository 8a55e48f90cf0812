"""Exported questions are complete: each numeric answer is computed from the question alone.

A numeric exercise needs an entry in `ANSWERS` that computes its answer from the numbers of the
exported question; without one the test fails.
"""

import math
import re
from itertools import combinations

import numpy as np
import pytest
from book_site import SITE
from bs4 import BeautifulSoup
from packs import cards, pages, questions, standalone_questions
from question_text import Given

pytestmark = pytest.mark.book


@pytest.fixture(scope="module")
def book():
    return pages.read(SITE)


@pytest.fixture(scope="module")
def bank(book):
    return questions.bank(book, seed=5, variants=3)


def softmax(scores):
    powers = np.exp(scores)
    return powers / powers.sum()


def fewest_properties(of):
    """Return the smallest number of properties that catches every bug of a picture."""
    caught = [set(re.findall("[A-J]", found)) for found in re.findall(r": ([A-J, ]+)\.", of)]
    assert len(caught) == 12
    return next(
        size
        for size in range(1, 11)
        for chosen in combinations("ABCDEFGHIJ", size)
        if all(bug & {*chosen} for bug in caught)
    )


def rotate_quarter_turns(pairs, times):
    """Return a vector whose pairs of components are rotated by quarter turns."""
    for _ in range(times):
        pairs = np.stack([-pairs[1::2], pairs[::2]], axis=-1).ravel()
    return pairs


def by_hand(g):
    words, w_q, keys = g.rows
    query = words["cat"] @ np.array([w_q[f"x{i}"] for i in "₁₂₃₄"])
    scores = np.array([query @ key for key in keys.values()])
    return softmax(scores / math.sqrt(len(query))).max()


def projected(g, token, other):
    """Return the score of a token's query, which is computed, with a key from a table."""
    words, matrix, keys = g.rows
    return words[token] @ np.array([*matrix.values()]) @ keys[other]


def multiplications(g, tokens):
    n, width = len(g.rows[0]), len(g.rows[0]["The"])
    projection = width**2
    return (tokens + n + n) * projection + tokens * n * width + tokens * n * width


def linear(g):
    p = np.array(g.prose[-12:])
    one, two = (np.where(x > 0, x + 1, np.exp(x)) for x in (p[:4], p[4:8]))
    weights = np.array([one @ one, one @ two])
    return weights @ [p[8], p[10]] / weights.sum()


def third_score(g):
    (rows,) = g.rows
    columns = np.array([*rows.values()])
    x = np.array(g.prose[:4])
    query, place = x @ columns[:, 2:4], rotate_quarter_turns(x @ columns[:, 4:6], 2)
    up = np.array(g.prose[7:11]).reshape(2, 2)
    return query @ up.T @ g.prose[11:13] + place @ g.prose[13:15]


ANSWERS = {
    "ex-double": lambda g: softmax(
        [2 * g.rows[0]["cat"] @ key / g.prose[0] for key in g.rows[1].values()]
    )[0],
    "ex-self-zero": lambda g: softmax([0, 1]) @ [g.rows[0]["cat"][0], g.rows[0]["sat"][0]],
    "ex-scaling-wider": lambda g: math.sqrt(g.prose[1] / g.prose[0]),
    "ex-scaling-cat-sat-1": lambda g: softmax(g.prose[:2])[0],
    "ex-scaling-cat-sat-2": lambda g: softmax(np.array(g.prose[:2]) / g.prose[2])[0],
    "ex-softmax-fill": lambda g: 1 - g.prose[2] - g.prose[2] / g.prose[1],
    "ex-softmax-entropy": lambda g: math.exp(
        -sum(a / b * math.log(a / b) for a, b in zip(g.prose[:6:2], g.prose[1:6:2], strict=True))
    ),
    "ex-heads-by-hand": by_hand,
    "ex-heads-root": lambda g: g.rows[0]["it"] @ g.rows[1]["cat"] / math.sqrt(len(g.rows[0]["it"])),
    "ex-heads-contribution": lambda g: (
        g.rows[1]["it"] @ [g.rows[0][f"Head 1, {name}"][2] for name in ("animal", "thing")]
    ),
    "ex-cat-sat-equal": lambda g: np.mean([g.rows[2]["cat"][0], g.rows[2]["sat"][0]]),
    "ex-cat-sat-three-quarters-1": lambda g: math.log(3),
    "ex-cat-sat-three-quarters-2": lambda g: [3 / 4, 1 / 4] @ np.array([*g.rows[0].values()])[:, 0],
    "ex-cat-sat-on-it-read": lambda g: max(row[4] for row in g.rows[0].values()),
    "ex-cat-sat-on-it-score": lambda g: g.rows[0]["it"] @ g.rows[1]["cat"],
    "ex-cat-sat-on-it-two-tokens": lambda g: (math.log(g.prose[7]) - math.log(g.prose[6])) / 2,
    "ex-apple-count-1": lambda g: 9 * g.shapes["embeddings"][1] * g.shapes["query"][2],
    "ex-apple-count-2": lambda g: g.shapes["concat"][1] * g.shapes["embeddings"][1],
    "ex-apple-query-of-to": lambda g: projected(g, "to", "to") / math.sqrt(4),
    "ex-apple-ratio": lambda g: math.exp(
        (g.rows[0]["apple"][1] - g.rows[0]["apple"][4]) / math.sqrt(g.shapes["query"][2])
    ),
    "ex-apple-query-sum": lambda g: sum(g.prose[2:6]),
    "ex-play-football-key": lambda g: (
        g.rows[2]["I"] @ (g.rows[0]["football"] @ np.array([*g.rows[1].values()]))
    ),
    "ex-play-football-wrong-root": lambda g: g.rows[0]["play"][1] / math.sqrt(3),
    "ex-play-football-percent": lambda g: 100 - g.prose[0] - g.prose[1],
    "ex-the-cat-sat-sat": lambda g: (
        (g.rows[2]["sat"] @ np.array([*g.rows[0].values()])) @ g.rows[1]["sat"]
    ),
    "ex-the-cat-sat-steps": lambda g: (
        g.rows[0]["cat"] @ np.diff(np.array([*g.rows[1].values()]), axis=1)[:, 0]
    ),
    "ex-the-cat-sat-order-of-weights": lambda g: softmax(g.prose[1:4])[2],
    "ex-the-cat-sat-end-recall": lambda g: math.sqrt(g.prose[0]),
    "ex-the-cat-sat-end-query": lambda g: projected(g, "<end>", "The"),
    "ex-the-cat-sat-end-ratio": lambda g: 100 * (g.rows[0]["<end>"][3] - g.rows[0]["<end>"][2]),
    "ex-the-cat-sat-end-count-1": lambda g: multiplications(g, 1),
    "ex-the-cat-sat-end-count-2": lambda g: multiplications(g, 4),
    "ex-the-cat-sat-end-key-slip": lambda g: (
        g.rows[2]["The"][2]
        * (g.rows[0]["<end>"] @ np.array([*g.rows[1].values()])[:, 2] - g.prose[0])
    ),
    "ex-work-your-own-causal": lambda g: g.rows[0]["drink"][0] / sum(g.rows[0]["drink"][:2]),
    "ex-order-three": lambda g: g.rows[0]["cat"] @ rotate_quarter_turns(g.rows[1]["sat"], 1),
    "ex-decoding-window-1": lambda g: sum(min(i, 1 + g.prose[1]) for i in range(1, 11)),
    "ex-decoding-window-2": lambda g: sum(range(int(g.prose[0]) + 1)),
    "ex-decoding-tenth-1": lambda g: 3 * g.prose[1] ** 2 + 2 * 10 * g.prose[1],
    "ex-decoding-tenth-2": lambda g: 10 * (3 * g.prose[1] ** 2 + 2 * 10 * g.prose[1]),
    "ex-decoding-reach": lambda g: g.prose[0] * (g.prose[1] - 1),
    "ex-decoding-batch": lambda g: g.prose[0] * g.prose[1] / 2,
    "ex-depth-norm": lambda g: (g.prose[0] - np.mean(g.prose[:4])) / np.std(g.prose[:4]),
    "ex-cost-linear": linear,
    "ex-learning-sign": lambda g: softmax(g.rows[0]["WQ, sat"][3] * np.array(g.prose[2:4])).max(),
    "ex-names-perplexity": lambda g: math.exp(g.prose[0]),
    "ex-names-temperature": lambda g: math.exp((g.prose[0] - g.prose[1]) / g.prose[2]),
    "ex-serving-pages": lambda g: 2 * math.ceil(g.prose[1] / g.prose[0]) - g.prose[2] // g.prose[0],
    "ex-serving-rule": lambda g: sum(map(min, g.prose[1:4], g.prose[4:7])),
    "ex-serving-bug": lambda g: (
        min(g.prose[1], g.prose[4]) + (1 - sum(map(min, g.prose[:3], g.prose[3:6]))) * g.prose[1]
    ),
    "ex-real-heads-ratio": lambda g: math.exp(g.rows[0]["animal"][1] - g.rows[0]["didn"][1]),
    "ex-real-heads-cache": lambda g: 2 * math.prod(g.prose[:4]),
    "ex-bugs-fewest": lambda g: fewest_properties(g.pictures[0]),
    "ex-since-third": third_score,
    "ex-since-bytes": lambda g: (
        36 * math.prod(g.prose[4:7]) * 2 / (12 * 2 * math.prod(g.prose[2:4]) * 2)
    ),
    "ex-since-sink": lambda g: math.log(3 * math.exp(g.prose[0])),
    "ex-audit-judge": lambda g: np.dot(g.prose[2:5], g.prose[5:8]),
    "ex-audit-mend": lambda g: max(g.prose[2:7]) / g.prose[7],
}
"""For each exercise, a function that computes its answer from the numbers of its question."""

BOOK_ONLY = re.compile(
    r"\b(?:Tables?|Figs?\.|Figures?|Equations?|Exercises?|Algorithms?|Listings?|Sections?|Examples?"
    r"|Chapters?)\s\d+\.\d|\b(?:Question|Exercise|Chapter)\s\d|(?<![\w\d])\(\d+\.\d+\)"
    r"|\b(?:tables?|figures?|formulas?|sections?|chapters?) (?:above|below)|\bthe chapter\b|\\0"
)
NAMED = re.compile(r"\b(?:Table|Figure) [A-Z]\b|(?<![\w)])\([A-Z]\)")


def test_every_answer_can_be_computed_from_its_question_alone(bank):
    asked = [q for q in bank if q.kind == "number" and q.name.startswith("ex-")]
    names = {question.name for question in asked}
    assert names - ANSWERS.keys() == set(), "an entry of ANSWERS in this file is wanted"
    assert ANSWERS.keys() - names == set(), "no page has an {asked} of these names"
    for question in asked:
        found = float(ANSWERS[question.name](Given(question.text)))
        unit = 10.0**-question.places
        assert abs(found - float(question.key)) <= 0.5001 * unit, (question.name, found)
        assert abs(abs(found / unit) % 1 - 0.5) > 1e-6, f"{question.name} lies on a tie"


def test_each_table_or_figure_that_a_question_names_is_in_the_question(bank):
    contained = 0
    for question in bank:
        options = [text for option in question.options for text in (option.text, option.feedback)]
        html = "".join([question.text, *options, question.feedback])
        words = " ".join(BeautifulSoup(html, "html.parser").get_text(" ").split())
        assert not BOOK_ONLY.search(words), (question.name, BOOK_ONLY.search(words))
        for name in NAMED.findall(words):
            assert re.search(rf"<p>(?:<strong>)?{re.escape(name)}(?:</strong>)?(?: |</p>)", html)
            contained += 1
        assert len(re.findall("<strong>Table", html)) <= html.count("<table")
        assert not re.search(r"(Table [A-Z]) and \1", words)
    assert contained > 80


def test_a_card_and_a_name_lose_no_token_in_angle_brackets(bank, book):
    for question in bank:
        for name in (question.title, question.chapter, *question.tags):
            assert BeautifulSoup(name, "html.parser").get_text() == name
    assert sum("‹end›" in question.title for question in bank) >= 10
    for question in standalone_questions.questions(book):
        if cards.fits_card(question):
            front, there = cards._front(question), question.text
            words = BeautifulSoup(cards.in_tex(front), "html.parser").get_text()
            assert ("&lt;end&gt;" in there) <= ("<end>" in words)


def test_no_answer_begins_with_a_raw_value_of_python(bank):
    for question in bank:
        words = BeautifulSoup(question.feedback, "html.parser").get_text().strip()
        assert not re.match(r"[\[({]['\"]|array\(|np\.", words), question.name
