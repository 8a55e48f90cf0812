"""How a quiz is written, for the check of sources and for `byhand.quiz.reading` alike."""

import re
from collections.abc import Iterator

from byhand.checking.finding import Finding
from byhand.checking.sources import Block, Line, Page, Project

LABEL = re.compile(r"[a-z][a-z0-9-]*")
MARK = re.compile(r"\[([x ])\]\s*")
MARK_WITH_CODE = re.compile(r"\[([x ])\s*")
SEPARATOR = re.compile(r"(?:^|\s+)::(?:\s+|$)")
ITEM = re.compile(r"[-*+] (.*)")
WITH_CODE = re.compile(r"\[([x ])\s*(`+)(?!`).*?(?<!`)\2(?!`)\]\s*", re.DOTALL)

NO_LABEL = "its label is not lower-case words joined by hyphens"
TAKEN = "another quiz of this page has this label"
NO_LIST = "a question and a list of options are wanted"
TOO_FEW = "at least two options are wanted"
NO_MARK = "an option begins with `[x]` or `[ ]`"


class QuizError(ValueError):
    """A quiz is not written as it should be, at a line of its page."""

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message)
        self.line = line


def check_key(key: list[bool], multiple: bool) -> None:
    """Raise unless the quiz can be answered."""
    if multiple and not any(key):
        raise QuizError("no option is right; at least one is wanted")
    if not multiple and sum(key) != 1:
        raise QuizError(f"{sum(key)} options are right; one is wanted, or `:multiple:`")


def check(project: Project) -> Iterator[Finding]:
    """Look at every quiz."""
    for page in project.pages:
        yield from quizzes(page)


def quizzes(page: Page) -> Iterator[Finding]:
    """Find quizzes that cannot be read or answered."""
    taken: set[str] = set()
    for block in page.blocks:
        if block.name != "quiz":
            continue
        label = block.argument.strip()
        try:
            if not LABEL.fullmatch(label):
                raise QuizError(NO_LABEL)
            if label in taken:
                raise QuizError(TAKEN)
            taken.add(label)
            _check(block)
        except QuizError as error:
            yield Finding(page.file, error.line or block.line, f"quiz {label}: {error}")


def _check(block: Block) -> None:
    """Raise unless a quiz has a question, and options that can be answered."""
    unknown = [(key, line) for key, (line, _) in block.options.items() if key != "multiple"]
    if unknown:
        key, line = unknown[0]
        raise QuizError(f"`:{key}:` is no option of a quiz; `:multiple:` is the only one", line)
    options = list(_options(block.content))
    first = next((i for i, (_, text) in enumerate(block.content) if ITEM.match(text)), 0)
    question = "".join(text for _, text in block.content[:first]).strip()
    if not question or not options:
        raise QuizError(NO_LIST)
    if len(options) < 2:
        raise QuizError(TOO_FEW, options[0][0])
    check_key([_right(*option) for option in options], "multiple" in block.options)


def _options(lines: tuple[Line, ...]) -> Iterator[Line]:
    """Yield the items of the last list, each as one text."""
    items: list[Line] = []
    for number, text in lines:
        if item := ITEM.match(text):
            items.append((number, item[1]))
        elif items and (not text.strip() or text.startswith(" ")):
            items[-1] = (items[-1][0], f"{items[-1][1]}\n{text.strip()}")
        else:
            items = []
    yield from items


def _right(line: int, text: str) -> bool:
    """Return whether an option is marked right, or raise unless it has mark, text and feedback."""
    mark = MARK.match(text) or WITH_CODE.match(text)
    if not mark:
        raise QuizError(NO_MARK, line)
    plain = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "code", text[mark.end() :], flags=re.DOTALL)
    option, *feedback = SEPARATOR.split(plain, maxsplit=1)
    if not option.strip():
        raise QuizError("an option has no text", line)
    if not any(part.strip() for part in feedback):
        raise QuizError(f"option `{option.strip()}` has no feedback after `::`", line)
    return mark[1] == "x"
