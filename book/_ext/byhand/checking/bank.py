"""Questions of the question bank: ``scripts/packs/bank.toml`` has an entry for each one in words.

The question bank exports quizzes and exercises one by one, without their page. Only a person can
tell whether a question in words is complete without it, and notes the answer in the file.
"""

from collections.abc import Iterator

from byhand.checking.marking_schemes import BANK, LISTS, exercises_in_words, schemes_of
from byhand.checking.shapes import read_tables
from byhand.checking.sources import Finding, Page, Project


def questions_in_words(page: Page) -> Iterator[tuple[str, int]]:
    """Yield the labels and lines of the quizzes, and of the exercises that a person marks."""
    for block in page.blocks:
        if block.name in ("quiz", "predict"):
            yield f"quiz-{block.argument}", block.line
    for label, _, block, _ in exercises_in_words(page):
        yield label, block.line


def check(project: Project) -> Iterator[Finding]:
    """Find questions in words without an entry in the file."""
    schemes = schemes_of(project)
    for _, text in project.files(BANK):
        lists = read_tables(text, LISTS)
        known = {*lists["left-out"], *lists["complete"], *lists["needs"]}
        known |= {label for label, scheme in schemes.items() if scheme.stands_alone}
        for page in project.pages:
            for label, line in questions_in_words(page):
                if label not in known:
                    message = (
                        f"{label} is in no list of {BANK}; the givens that it lacks, in"
                        " [needs], or its name in `complete` or `left-out` are wanted"
                    )
                    yield Finding(page.file, line, message)
