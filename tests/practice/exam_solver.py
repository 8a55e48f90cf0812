"""An independent solver of printed exams, which compares its results with the marking scheme.

It reads only the Markdown of a form and of the scheme. Numbers are exact decimals, powers and roots
have fifty digits, and results are rounded as the exam asks: to three decimals where there are more.
"""

import re
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal, getcontext

getcontext().prec = 50

QUESTION = re.compile(r"^## (\d+)\. (.*) \((\d+) points?, about (\d+) minutes\)$", re.MULTILINE)
TABLE = re.compile(r"^\*\*(.*?)\*\*\n\n((?:\|.*\n?)+)", re.MULTILINE)
PART = re.compile(r"^\(([a-h])\) (.*) \((\d+) points?\)$", re.MULTILINE)
NUMBERED = re.compile(r"^(\d+)\. (.*): (.*)$", re.MULTILINE)
MARK = re.compile(r"^- (?:\(([a-h])\) )?(\d+) points?: (.*)$", re.MULTILINE)
OFF = re.compile(r" \(off by at most ([\d.]+)\)$")
STAR = re.compile(r"\*([^*]+)\*")


def number(text):
    return Decimal(text.strip("()").replace("−", "-").replace(",", ""))


def rounded(value):
    """Return a result as the exam asks for it."""
    short = value.quantize(Decimal("0.001"), ROUND_HALF_EVEN)
    return value if abs(value - short) < Decimal("1e-30") else short


@dataclass
class Printed:
    """A question of a form, as printed."""

    number: int
    title: str
    points: int
    minutes: int
    body: str
    tables: dict = field(default_factory=dict)

    @property
    def parts(self):
        return [(letter, text, int(worth)) for letter, text, worth in PART.findall(self.body)]

    @property
    def lines(self):
        return [line for _, _, line in NUMBERED.findall(self.body)]

    def rows(self, caption):
        """Return the rows of the table whose caption begins so, by label, in order."""
        (found,) = [rows for name, rows in self.tables.items() if name.startswith(caption)]
        return found

    def numbers(self, caption, label=None):
        rows = self.rows(caption)
        row = next(iter(rows.values())) if label is None else rows[label]
        return [number(cell) for cell in row]


def questions(text):
    """Return the questions of a Markdown text of a form or of one form's scheme."""
    found = list(QUESTION.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    made = []
    for match, end in zip(found, ends, strict=True):
        body = text[match.end() : end]
        tables = {}
        for caption, lines in TABLE.findall(body):
            cells = [re.split(r" \| ", line.strip("| \n")) for line in lines.strip().splitlines()]
            tables[caption] = {row[0]: row[1:] for row in cells[2:]}
            tables[caption + " header"] = {"header": cells[0]}
        made.append(
            Printed(*_typed(match), body, {k: v for k, v in tables.items() if "header" not in k})
        )
    return made


def _typed(match):
    return int(match[1]), match[2], int(match[3]), int(match[4])


# ---- The calculations ----


def softmax(exponents, extra=()):
    """Return the exponentials, their sum and the weights, each rounded."""
    powers = [rounded(x.exp()) for x in exponents]
    others = [rounded(x.exp()) for x in extra]
    total = rounded(sum(powers + others))
    return [*powers, *others, total], [rounded(power / total) for power in powers]


def dot(left, right):
    return rounded(sum(a * b for a, b in zip(left, right, strict=True)))


def outputs(weights, values):
    return [dot(weights, column) for column in zip(*values, strict=True)]


def vectors(question, caption):
    return {word: [number(cell) for cell in row] for word, row in question.rows(caption).items()}


def attention_row(q):
    query = q.numbers("Query of")
    keys, values = vectors(q, "Keys"), vectors(q, "Values")
    scores = [dot(query, key) for key in keys.values()]
    scaled = [rounded(s / Decimal(len(query)).sqrt()) for s in scores]
    first, weights = softmax(scaled)
    return [*scores, *scaled, *first, *weights, *outputs(weights, values.values())]


def first_output(q):
    query = q.numbers("Query of")
    scores = [dot(query, key) for key in vectors(q, "Keys").values()]
    first, weights = softmax(scores)
    return [*scores, *first, *weights, *outputs(weights, vectors(q, "Values").values())]


def projected_score(q):
    (of_query, of_key) = STAR.findall(q.body)[:2]
    x = vectors(q, "Embeddings")
    w_q, w_k = vectors(q, "Query projection").values(), vectors(q, "Key projection").values()
    query = outputs(x[of_query], w_q)
    key = outputs(x[of_key], w_k)
    score = dot(query, key)
    return [*query, *key, score, rounded(score / Decimal(len(query)).sqrt())]


def scale_or_not(q):
    width = Decimal(re.search(r"d_k = (\d+)", q.body)[1])
    scores = q.numbers("Scores of the query")
    scaled = [rounded(s / width.sqrt()) for s in scores]
    first, weights = softmax(scaled)
    raw, of_raw = softmax(scores)
    return [*scaled, *first, *weights, *raw, max(of_raw)]


def masked_row(q):
    (*first, total), weights = softmax(q.numbers("Scaled scores", "scaled score")[:3])
    output = dot(weights, q.numbers("Scaled scores", "value")[:3])
    return [*first, Decimal(0), total, *weights, Decimal(0), output]


def row_without_its_mask(q):
    """Return the results of a masked row for a student who forgets the mask."""
    first, weights = softmax(q.numbers("Scaled scores", "scaled score"))
    return [*first, *weights, dot(weights, q.numbers("Scaled scores", "value"))]


def temperature_row(q):
    at = Decimal(re.search(r"temperature is (\d+)", q.body)[1])
    divided = [rounded(s / at) for s in q.numbers("Scaled scores")]
    first, weights = softmax(divided)
    return [*divided, *first, *weights, rounded(max(weights) / min(weights))]


def two_heads(q):
    weights = vectors(q, "Weights of")
    heads = [
        outputs(weights[f"Head {i}"], vectors(q, f"Values of Head {i}").values()) for i in (1, 2)
    ]
    joined = heads[0] + heads[1]
    return [*joined, *outputs(joined, vectors(q, "Output projection").values())]


def rotated_score(q):
    found = re.search(r"\*(\S+)\* is at position (\d) and \*(\S+)\* at position (\d)", q.body)
    rotations = vectors(q, "Rotation")
    before = vectors(q, "Before the rotation")
    turned = []
    for kind, word, at in (("query", found[1], found[2]), ("key", found[3], found[4])):
        (a, b), (cos, sin) = before[f"{kind} of {word}"], rotations[at]
        turned.append([rounded(a * cos - b * sin), rounded(a * sin + b * cos)])
    return [*turned[0], *turned[1], dot(*turned)]


def cached_step(q):
    query = q.numbers("Query of the new")
    keys = [*vectors(q, "Cached keys").values(), q.numbers("Key of the new")]
    values = [*vectors(q, "Cached values").values(), q.numbers("Value of the new")]
    scores = [dot(query, key) for key in keys]
    scaled = [rounded(s / Decimal(len(query)).sqrt()) for s in scores]
    first, weights = softmax(scaled)
    growth = Decimal(len(keys[2]) + len(values[2]))
    return [*scores, *scaled, *first, *weights, outputs(weights, values)[0], growth]


def layer_norm(q):
    before = q.numbers("The stream", "before the layer")
    added = q.numbers("The stream", "output of the layer")
    total = [a + b for a, b in zip(before, added, strict=True)]
    mean = rounded(sum(total) / 4)
    away = [x - mean for x in total]
    spread = rounded((sum(x * x for x in away) / 4).sqrt())
    return [*total, mean, *away, spread, *(rounded(x / spread) for x in away)]


def score_gradient(q):
    slope = Decimal(re.search(r"this output is (\d+)", q.body)[1])
    rate = Decimal(re.search(r"learning rate ([\d.]+)", q.body)[1].rstrip("."))
    scores, weights, values = (q.numbers("The row", name) for name in ("score", "weight", "value"))
    of_weights = [value * slope for value in values]
    average = dot(weights, of_weights)
    away = [rounded(d - average) for d in of_weights]
    of_scores = [rounded(w * d) for w, d in zip(weights, away, strict=True)]
    new = [rounded(s - rate * d) for s, d in zip(scores, of_scores, strict=True)]
    return [*of_weights, average, *away, *of_scores, *new]


def next_word(q):
    parts = vectors(q, "Parts of the logits")
    logits = {word: rounded(sum(row)) for word, row in parts.items()}
    first, weights = softmax(list(logits.values()))
    head = int(re.search(r"Head (\d) is turned off", q.body)[1])
    best = max(logits, key=logits.get)
    assert f"logit of *{best}* without" in q.body
    cut = sum(x for i, x in enumerate(parts[best]) if i != head)
    return [*logits.values(), *first, *weights, cut]


def online_softmax(q):
    scores = q.numbers("Scaled scores", "scaled score")
    values = q.numbers("Scaled scores", "value")
    results, largest, total, mixture = [], None, None, None
    for block in (0, 2):
        now = max(
            scores[block : block + 2] if largest is None else [largest, *scores[block : block + 2]]
        )
        results.append(now)
        if largest is not None:
            drop = largest - now
            factor = rounded(drop.exp())
            results += [drop, factor]
        powers = []
        for score in scores[block : block + 2]:
            powers.append(rounded((score - now).exp()))
            results += [score - now, powers[-1]]
        mixed = sum(p * v for p, v in zip(powers, values[block : block + 2], strict=True))
        if largest is None:
            total, mixture = rounded(sum(powers)), rounded(mixed)
        else:
            total, mixture = (
                rounded(factor * total + sum(powers)),
                rounded(factor * mixture + mixed),
            )
        results += [total, mixture]
        largest = now
    return [*results, rounded(mixture / total)]


def sink_row(q):
    sink = number(re.search(r"sink with the score (−?[\d.]+)\. ", q.body)[1])
    scores = q.numbers("Scaled scores", "scaled score")
    first, weights = softmax(scores, extra=[sink])
    values = q.numbers("Scaled scores", "value")
    return [*first, *weights, rounded(sum(weights)), dot(weights, values)]


def of_width(q):
    card = {field: number(row[-1]) for field, row in q.rows("Card of").items()}
    count = Decimal(re.search(r"reads (\d+) tokens", q.body)[1])
    score = Decimal(re.search(r"have the score (\d+)", q.body)[1])
    heads, width = card["num_attention_heads"], card["head_dim"]
    return [heads * width, card["num_key_value_heads"] * width, count * count,
            heads * count * count, rounded(score / width.sqrt())]  # fmt: skip


def of_cache(q):
    card = {field: number(row[-1]) for field, row in q.rows("Card of").items()}
    count = Decimal(re.search(r"how many do (\d+)\s+tokens", q.body)[1])
    keys = card["num_key_value_heads"] * card["head_dim"]
    token = 2 * keys * card["num_hidden_layers"]
    groups = card["num_attention_heads"] / card["num_key_value_heads"]
    return [keys, 2 * keys, token, 2 * token, 2 * token * count, groups]


def of_latent(q):
    card = {field: number(row[-1]) for field, row in q.rows("Card of").items()}
    count = Decimal(re.search(r"how many do (\d+)\s+tokens", q.body)[1])
    stored = card["kv_lora_rank"] + card["qk_rope_head_dim"]
    token = stored * card["num_hidden_layers"]
    heads = card["num_attention_heads"] * card["qk_nope_head_dim"]
    return [stored, token, 2 * token, 2 * token * count, heads, 2 * heads]


SOLVERS = {
    "A head has three tokens. Compute the output": attention_row,
    "The scores are not scaled here": first_output,
    "Compute the scaled score of the query of": projected_score,
    "A query has three scores; keys have the width": scale_or_not,
    "The third of four tokens": masked_row,
    "The temperature is": temperature_row,
    "A layer has two heads": two_heads,
    "Rotary positions rotate": rotated_score,
    "A model writes one token at a time": cached_step,
    "A layer adds its output to the stream": layer_norm,
    "The output of a query is the sum of weight times value": score_gradient,
    "Each logit of a small model": next_word,
    "An output is computed in two blocks": online_softmax,
    "A head has a learned sink": sink_row,
    "a softmax, no window and no mask": of_width,
    "keeps the keys and values of all tokens": of_cache,
    "A layer stores one latent vector": of_latent,
}
"""The solver of each kind of question, by words that only its text has."""


def solve(question):
    """Return the results of a question, in the order in which its parts ask for them."""
    (solver,) = {solver for words, solver in SOLVERS.items() if words in question.body}
    return solver(question)


def result_of(line):
    """Return the last number of a line of arithmetic."""
    return number(re.split(r" [=≈] ", OFF.sub("", line))[-1])


def marks(scheme):
    """Return the marks of a question of the scheme: part, points, text."""
    return [(part, int(worth), text) for part, worth, text in MARK.findall(scheme.body)]


def faults(question, scheme):
    """Yield what is wrong with the scheme of a question."""
    found = marks(scheme)
    if sum(worth for _, worth, _ in found) != question.points:
        yield "the points of the marks do not add up"
    for letter, _, worth in question.parts:
        if sum(points for part, points, _ in found if part == letter) != worth:
            yield f"the points of part {letter} do not add up"
    lines = [text for _, _, text in found if re.search(r": .* [=≈] ", text)]
    for line in lines:
        yield from wrong_steps(OFF.sub("", line).rpartition(": ")[2])
    if question.title == "Explain":
        return
    right = solve(question)
    if question.title == "Find the mistake":
        yield from mistake_faults(question, found, lines, right)
    else:
        printed = [result_of(line) for line in lines]
        if printed != right:
            yield f"{printed} is printed, {right} is right"


def mistake_faults(question, found, lines, right):
    """Yield what is wrong with the scheme of a question that shows a mistake."""
    shown = [result_of(line) for line in question.lines]
    if len(shown) != len(right):
        yield "the student's lines are not those of the calculation"
    first = next(i for i, (a, b) in enumerate(zip(shown, right, strict=True)) if a != b)
    if f"The first wrong line is line {first + 1}. " not in found[0][2]:
        yield f"line {first + 1} is the first wrong one; {found[0][2]}"
    for line in question.lines:
        yield from wrong_steps(line)
    if [text.partition(": ")[0] for part, _, text in found if part == "b"] != REASONED:
        yield f"the points of part b are not those of {REASONED}"
    changed = [i for i, (a, b) in enumerate(zip(shown, right, strict=True)) if a != b]
    labels = [f"line {i + 1}, {NUMBERED.findall(question.body)[i][1]}" for i in changed]
    if [line.partition(": ")[0] for line in lines] != labels:
        yield f"the lines to be computed again are not {labels}"
    corrected = [result_of(line) for line in lines]
    if corrected != [right[i] for i in changed]:
        yield f"{corrected} are not the right results {right}"


REASONED = ["The rule", "A reason, such as"]


def value(expression):
    """Return the value of a printed calculation."""
    python = expression.replace("−", "-").replace("×", "*").replace("÷", "/")
    python = re.sub(
        r"e\^(-?(?:[\d.]+|∞))|([\d.]+)",
        lambda m: f"D('{m[1].replace('∞', 'Infinity')}').exp()" if m[1] else f"D('{m[2]}')",
        python,
    )
    python = re.sub(r"√(D\('[^']*'\))", r"root(\1)", python).replace("√(", "root(")
    names = {"D": Decimal, "root": lambda x: x.sqrt(), "max": max, "__builtins__": {}}
    return eval(python, names)


def wrong_steps(line):
    """Yield the steps of a line of arithmetic that do not hold as printed."""
    steps = re.split(r" ([=≈]) ", line)
    for left, sign, right in zip(steps[::2], steps[1::2], steps[2::2], strict=False):
        off = abs(value(left) - value(right))
        decimals = len(right.partition(".")[2]) if re.fullmatch(r"−?[\d.]+", right) else 6
        allowed = Decimal(0) if sign == "=" else Decimal(5).scaleb(-decimals - 1)
        if off > allowed + Decimal("1e-30"):
            yield f"{left} {sign} {right} does not hold"
