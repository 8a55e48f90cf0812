"""Files of the book: readable files, names for addresses, images, styles and templates."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

import tinycss2
from jinja2 import Environment, TemplateSyntaxError

from byhand.checking.sources import Fault, Finding, Project

READABLE = ("_config.yml", "_toc.yml", "CITATION.cff", "book/**/*", "mha/**/*")
NAME = re.compile(r"[A-Za-z0-9._-]+")
IN_ADDRESSES = ("book/**/*", "mha/examples/**/*")
SIGNATURES = {
    ".png": (b"\x89PNG\r\n\x1a\n", "PNG"),
    ".jpg": (b"\xff\xd8\xff", "JPEG"),
    ".jpeg": (b"\xff\xd8\xff", "JPEG"),
    ".gif": (b"GIF8", "GIF"),
    ".webp": (b"RIFF", "WebP"),
}
ACTIVE = ("script", "foreignobject", "iframe", "object", "embed")
EXTERNAL = re.compile(r"\s*(?:\w+:)?//|\s*javascript:", re.IGNORECASE)
STYLES = ("book/_static/*.css", "mha/widgets/static/*.css")
TEMPLATES = "book/_templates/**/*.html"
STYLE_TOKENS = re.compile(
    r"""/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|/\*|["'{}()\[\]]""", re.DOTALL
)
BRACKETS = {"{": "}", "(": ")", "[": "]"}


def check(project: Project) -> Iterator[Finding]:
    """Find files that cannot be read, or whose names or contents a page cannot use."""
    for file in project.paths(*READABLE):
        if reason := project.unreadable(file):
            yield Finding(file, 1, f"this file cannot be read: {reason}")
    for file in project.paths(*IN_ADDRESSES):
        wrong = [part for part in Path(file).parts if not NAME.fullmatch(part)]
        if wrong:
            message = f"the name {wrong[0]!r} cannot be part of an address"
            yield Finding(file, 1, f"{message}; letters from a to z, digits, - and _ are wanted")
    for file, content in project.contents("book/**/*"):
        for number, message in image_faults(Path(file).suffix.lower(), content):
            yield Finding(file, number, message)
    for file, text in project.files(*STYLES):
        yield from (Finding(file, *wrong) for wrong in style_faults(text))
    for file, text in project.files(TEMPLATES):
        try:
            Environment(extensions=["jinja2.ext.i18n"]).parse(text)
        except TemplateSyntaxError as error:
            yield Finding(file, error.lineno, f"this is not Jinja: {error.message}")


def image_faults(suffix: str, content: bytes) -> Iterator[Fault]:
    r"""Yield the faults of an image file: another format than its name says, and active content.

    Examples
    --------
    >>> list(image_faults(".png", b"text"))
    [(1, 'this is not PNG, as its name says; an image file is wanted')]
    >>> list(image_faults(".svg", b"<svg>\n<script/></svg>"))
    [(2, 'the image has <script>; a drawing without it is wanted')]
    """
    if suffix in SIGNATURES:
        begin, name = SIGNATURES[suffix]
        if not content.startswith(begin) or not _is_complete(suffix, content):
            yield 1, f"this is not {name}, as its name says; an image file is wanted"
    elif suffix == ".svg":
        yield from _drawing_faults(content)


def _is_complete(suffix: str, content: bytes) -> bool:
    """Return whether an image has its end; only PNG files say where that is."""
    return suffix != ".png" or content.rstrip(b"\0")[-8:-4] == b"IEND"


def _drawing_faults(content: bytes) -> Iterator[Fault]:
    found: list[Fault] = []
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2].lower()
        number = parser.CurrentLineNumber
        if not found and not seen and local != "svg":
            found.append((number, f"the image begins with <{local}>; <svg> is wanted"))
        seen.append(local)
        if local in ACTIVE:
            found.append((number, f"the image has <{local}>; a drawing without it is wanted"))
        for key, value in attributes.items():
            attribute = key.rpartition(" ")[2].lower()
            if attribute.startswith("on"):
                message = f"the attribute {attribute} runs code; a drawing without it is wanted"
                found.append((number, message))
            elif attribute in ("href", "src") and EXTERNAL.match(value):
                message = f"{value.strip()} is loaded from elsewhere; keep a copy here"
                found.append((number, message))

    seen: list[str] = []
    parser.StartElementHandler = start
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        found.append((error.lineno, f"this is not SVG: {expat.ErrorString(error.code)}"))
    yield from found


def style_faults(text: str) -> Iterator[Fault]:
    """Yield the syntax errors of a style sheet.

    Examples
    --------
    >>> list(style_faults("a { color: red; }"))
    []
    >>> list(style_faults("a { color: red;"))
    [(1, '{ has no end; } is wanted')]
    """
    faults = list(_bracket_faults(text))
    yield from faults
    if not faults:
        rules = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
        yield from _rule_faults(rules)


def _bracket_faults(text: str) -> Iterator[Fault]:
    """Find the first bracket, comment or string of a style sheet without an end."""
    opened: list[tuple[str, int]] = []
    for found in STYLE_TOKENS.finditer(text):
        token, number = found[0], text[: found.start()].count("\n") + 1
        if token in BRACKETS:
            opened.append((token, number))
        elif token in BRACKETS.values():
            if not opened or BRACKETS[opened[-1][0]] != token:
                yield number, f"{token} ends nothing"
                return
            opened.pop()
        elif token == "/*":
            yield number, "the comment has no end; */ is wanted"
            return
        elif len(token) == 1:
            yield number, f"the string has no end; {token} is wanted"
            return
    for token, number in opened[-1:]:
        yield number, f"{token} has no end; {BRACKETS[token]} is wanted"


def _rule_faults(rules: list[tinycss2.ast.Node]) -> Iterator[Fault]:
    for rule in rules:
        if rule.type == "error":
            yield rule.source_line, f"this is not CSS: {rule.message}"
        content = getattr(rule, "content", None)
        if rule.type in ("qualified-rule", "at-rule") and content is not None:
            inner = tinycss2.parse_blocks_contents(
                content, skip_comments=True, skip_whitespace=True
            )
            yield from _rule_faults(inner)
