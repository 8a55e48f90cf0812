"""Two tasks from the trained model: which head looks where, and one logit as a sum.

Each student has a story; all numbers are the model's own, rounded as they are printed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mha.core.checks import Array
from mha.examples.names import SYLLABLES, VERBS
from mha.examples.trained import load_model
from mha.practice.worksheets.seeds import MODEL, Seed
from mha.practice.worksheets.students import Student
from mha.runs.logit_attribution import logit_shares, trace_text
from mha.runs.record import Trace
from mha.runs.rounding import shown
from mha.views.signs import chain
from mha.views.table import Table

LETTERS = "ABCD"
TITLE = "a trained model reads"
PLACES = 2
_BACK, _FINDS = 0, 3  # of the four heads: the previous-token head, and the induction head


@dataclass(frozen=True)
class ModelSheet:
    """The two tasks of one student.

    Parameters
    ----------
    seed : Seed
        Of the whole set of sheets.
    student : Student

    Examples
    --------
    >>> made = ModelSheet(Seed(7), Student(1))
    >>> len(made.story), sorted(made.order), made.story[-1] == made.story[0]
    (7, [0, 1, 2, 3], True)
    """

    seed: Seed
    student: Student

    @cached_property
    def _rng(self) -> np.random.Generator:
        return self.seed.rng(self.student.drawn_by, MODEL)

    @cached_property
    def story(self) -> tuple[str, ...]:
        """Seven words: two names around a verb, a full stop, and how the first name begins.

        One whose second syllable the model finds, as it does in most.
        """
        while True:
            first, second, third, fourth = self._rng.permutation(SYLLABLES)[:4].tolist()
            story = first, second, str(self._rng.choice(VERBS)), third, fourth, ".", first
            model = load_model("names").model
            if model.words[int(model.logits(story)[-1].argmax())] == second:
                return story

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Which of the four heads each letter stands for: A and B those of the first block."""
        assert self.story  # drawn before
        return (*self._rng.permutation(2).tolist(), *(2 + self._rng.permutation(2)).tolist())

    @cached_property
    def runs(self) -> tuple[Trace, ...]:
        """The model's runs on the story."""
        return trace_text(load_model("names").model, self.story)

    @property
    def maps(self) -> list[Array]:
        """The maps of weights, a letter each, in whole percent."""
        weights = [head for run in self.runs for head in run.weights]
        return [np.rint(100 * weights[head]).astype(int) for head in self.order]

    @property
    def parts(self) -> list[tuple[str, float, float]]:
        """What each part of the stream adds to the logits of the two second syllables."""
        model = load_model("names").model
        found = logit_shares(self.runs, len(self.story) - 1)
        columns = [model.words.index(self.story[i]) for i in (1, 4)]
        rows = found.shares[:, columns].round(PLACES)
        return [(name, float(a), float(b)) for name, (a, b) in zip(found.names, rows, strict=True)]

    def letter(self, head: int) -> str:
        """Return the letter of one of the four heads, block by block."""
        return LETTERS[self.order.index(head)]

    @property
    def questions(self) -> tuple[str, str]:
        """What is asked, as Markdown, with its points."""
        first, second = self.story[1], self.story[4]
        return (
            "Four heads of the model, their weights in percent; a row is a word that looks."
            " A and B are of the first block: which of them looks at the word before? C and D are"
            " of the second: which of them looks, asked by the last word, at what came behind the"
            " same word the last time? What will come next? (3 points)",
            f"What each part of the model adds to the logits of *{first}* and *{second}*"
            " after the last word. Add up both logits. How many times as likely is"
            f" *{first}*? Which part decides it? (4 points)",
        )

    @property
    def tables(self) -> tuple[tuple[Table, ...], tuple[Table, ...]]:
        """What is given for each question: four maps, and the parts of two logits."""
        maps = tuple(
            Table(f"Head {letter}", ("", *self.story), tuple(self._rows(weights)))
            for letter, weights in zip(LETTERS, self.maps, strict=True)
        )
        parts = tuple((name, shown(a, PLACES), shown(b, PLACES)) for name, a, b in self.parts)
        return maps, (Table("Parts of two logits", ("part", self.story[1], self.story[4]), parts),)

    def _rows(self, weights: Array) -> list[tuple[str, ...]]:
        return [
            (word, *(str(w) if j <= i else "" for j, w in enumerate(weights[i])))
            for i, word in enumerate(self.story)
        ]

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers, a line each, as Markdown."""
        first, second = self.story[1], self.story[4]
        _, speaks, against = zip(*self.parts, strict=True)
        one, other = math.fsum(speaks), math.fsum(against)
        widest = max(self.parts, key=lambda part: part[1] - part[2])[0]
        difference = f"e^({shown(one, PLACES)} − {_in_sum(other)})"
        times = shown(math.exp(one - other), 0)
        return (
            f"The word before: {self.letter(_BACK)}. Behind the same word:"
            f" {self.letter(_FINDS)}. Next: *{first}*.",
            *(
                f"*{word}*: "
                + chain(" + ".join(map(_in_sum, numbers)), shown(math.fsum(numbers), PLACES))
                for word, numbers in ((first, speaks), (second, against))
            ),
            f"{chain(difference, times)} times as likely; {widest} decides it.",
        )

    def sheet(self) -> str:
        """Return what the student is given, as Markdown."""
        asked = "\n\n".join(
            f"**{number}.** {question}\n\n" + "\n\n".join(map(_markdown, tables))
            for number, (question, tables) in enumerate(
                zip(self.questions, self.tables, strict=True), 1
            )
        )
        return f"## {self.student}: {TITLE}\n\n*{' '.join(self.story)}* …\n\n{asked}\n"

    def key(self) -> str:
        """Return the answers, as Markdown."""
        return f"## {self.student}\n\n" + "".join(f"- {line}\n" for line in self.answers)


def _in_sum(number: float) -> str:
    text = shown(number, PLACES)
    return f"({text})" if number < 0 else text


def _markdown(table: Table) -> str:
    lines = [table.header, ["---"] * len(table.header), *table.rows]
    rows = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{table.caption}\n\n{rows}"


def model_texts(students: Sequence[Student], seed: Seed) -> dict[str, str]:
    """Return the tasks and their key for a class, by the files' names.

    Parameters
    ----------
    students : sequence of Student
    seed : Seed

    Examples
    --------
    >>> list(model_texts([Student(1)], Seed(7)))
    ['model-7.md', 'model-key-7.md']
    """
    sheets = [ModelSheet(seed, student) for student in students]
    return {
        f"{seed.file('model')}.md": "\n".join(
            [f"# A trained model, {seed}\n", *(made.sheet() for made in sheets)]
        ),
        f"{seed.file('model-key')}.md": "\n".join(
            [f"# Key to the trained model, {seed}\n", *(made.key() for made in sheets)]
        ),
    }
