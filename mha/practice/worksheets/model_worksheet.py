"""Two tasks on the trained model: the patterns of its heads, and logits as sums.

Each student has another story. All numbers are the model's, rounded as they are printed.
"""

from __future__ import annotations

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
        The seed of the whole set of sheets.
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
        return self.seed.rng(self.student.entropy, MODEL)

    @cached_property
    def story(self) -> tuple[str, ...]:
        """Seven tokens: a name of two syllables, a verb, another name, a full stop, and a syllable.

        The last one begins the first name again. Stories are drawn until the model predicts the
        second syllable, as it does for most.
        """
        while True:
            first, second, third, fourth = self._rng.permutation(SYLLABLES)[:4].tolist()
            story = first, second, str(self._rng.choice(VERBS)), third, fourth, ".", first
            model = load_model("names").model
            if model.words[int(model.logits(story)[-1].argmax())] == second:
                return story

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The head that each letter names, from 0 to 3; A and B are of the first block."""
        assert self.story  # drawn first, so that both orders of access give the same numbers
        return (*self._rng.permutation(2).tolist(), *(2 + self._rng.permutation(2)).tolist())

    @cached_property
    def runs(self) -> tuple[Trace, ...]:
        """The model's runs on the story."""
        return trace_text(load_model("names").model, self.story)

    @property
    def maps(self) -> list[Array]:
        """The weights of the head of each letter, in whole percent."""
        weights = [head for run in self.runs for head in run.weights]
        return [np.rint(100 * weights[head]).astype(int) for head in self.order]

    @property
    def parts(self) -> list[tuple[str, float, float]]:
        """The contribution of each part of the model to the logits of the two second syllables."""
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
        """The two questions as Markdown, with their points."""
        first, second = self.story[1], self.story[4]
        return (
            "Four heads of the model, their weights in percent; each row is a query."
            " A and B are of the first block: which of them attends to the previous word? C and D"
            " are of the second: which of them attends from the last word to the word after its"
            " earlier occurrence? Which word comes next? (3 points)",
            f"The table has the contribution of each part to the logits of *{first}* and *{second}*"
            " after the last word. Add up both logits. How many times as likely is"
            f" *{first}*? Which part decides it? (4 points)",
        )

    @property
    def tables(self) -> tuple[tuple[Table, ...], tuple[Table, ...]]:
        """The tables of each question: four weight maps, and the parts of two logits."""
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
        """The answers as Markdown, one per line."""
        first, second = self.story[1], self.story[4]
        _, speaks, against = zip(*self.parts, strict=True)
        one, other = math.fsum(speaks), math.fsum(against)
        widest = max(self.parts, key=lambda part: part[1] - part[2])[0]
        difference = f"e^({shown(one, PLACES)} − {_in_sum(other)})"
        times = shown(math.exp(one - other), 0)
        return (
            f"Previous word: {self.letter(_BACK)}. After the same word:"
            f" {self.letter(_FINDS)}. Next: *{first}*.",
            *(
                f"*{word}*: "
                + chain(" + ".join(map(_in_sum, numbers)), shown(math.fsum(numbers), PLACES))
                for word, numbers in ((first, speaks), (second, against))
            ),
            f"{chain(difference, times)} times as likely; {widest} decides it.",
        )

    def sheet(self) -> str:
        """Return the sheet of the student as Markdown."""
        asked = "\n\n".join(
            f"**{number}.** {question}\n\n" + "\n\n".join(map(_markdown, tables))
            for number, (question, tables) in enumerate(
                zip(self.questions, self.tables, strict=True), 1
            )
        )
        return f"## {self.student}: {TITLE}\n\n*{' '.join(self.story)}* …\n\n{asked}\n"

    def key(self) -> str:
        """Return the key as Markdown."""
        return f"## {self.student}\n\n" + "".join(f"- {line}\n" for line in self.answers)


def _in_sum(number: float) -> str:
    text = shown(number, PLACES)
    return f"({text})" if number < 0 else text


def _markdown(table: Table) -> str:
    lines = [table.header, ["---"] * len(table.header), *table.rows]
    rows = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{table.caption}\n\n{rows}"


def model_texts(students: Sequence[Student], seed: Seed) -> dict[str, str]:
    """Return the tasks and their key for a class, by file name.

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
        f"{seed.file_stem('model')}.md": "\n".join(
            [f"# A trained model, {seed}\n", *(made.sheet() for made in sheets)]
        ),
        f"{seed.file_stem('model-key')}.md": "\n".join(
            [f"# Key to the trained model, {seed}\n", *(made.key() for made in sheets)]
        ),
    }
