"""Cut out of a style sheet what no page of the book can use.

A rule goes where every one of its selectors names a class, an id or an element that stands on no
page and in no string of a script. What stands in brackets, such as ``:not(.a)``, is not looked at,
so a rule is rather kept than lost. Then go the custom properties that nothing reads, the fonts of
families that nothing names, and the animations that nothing starts.
"""

import re
from collections.abc import Container, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

K = TypeVar("K", bound=Hashable)  # what tells style sheets apart

GROUPS = ("@media", "@supports", "@container", "@layer")  # they hold rules of their own

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_PIECE = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|url\([^"\')]*\)|[{};]', re.DOTALL)
_SCRIPT_STRING = re.compile(
    r'"((?:\\.|[^"\\\n])*)"|\'((?:\\.|[^\'\\\n])*)\'|`((?:\\.|[^`\\])*)`', re.DOTALL
)
_WORD = re.compile(r"-{0,2}[A-Za-z_][\w-]*")
_TAG = re.compile(r"<([a-zA-Z][\w-]*)([^>]*)>")
_ATTRIBUTE = re.compile(r"\b(?:class|id|style)=(?:\"([^\"]*)\"|'([^']*)')")
_NAME = re.compile(r"[.#]?-?[_a-zA-Z](?:[\w-]|\\.)*")


@dataclass(frozen=True)
class Rule:
    """What stands before a brace, and what the braces hold; a statement has no braces."""

    prelude: str
    body: str | None = None

    def __str__(self) -> str:
        """Return the rule as it is written."""
        return f"{self.prelude};" if self.body is None else f"{self.prelude}{{{self.body}}}"


def words_of_page(html: str) -> set[str]:
    """Return the elements, classes, ids and properties that a page names.

    Examples
    --------
    >>> sorted(words_of_page('<p class="a b" style="--c: 1">d</p>'))
    ['--c', 'a', 'b', 'p']
    """
    found = set()
    for tag, attributes in _TAG.findall(html):
        found.add(tag.lower())
        for one, other in _ATTRIBUTE.findall(attributes):
            found.update(_WORD.findall(one or other))
    return found


def words_of_script(script: str) -> set[str]:
    """Return the words that stand in a script's strings: what it may put on a page.

    Examples
    --------
    >>> sorted(words_of_script('a.className = "b c-d"; // e'))
    ['b', 'c-d']
    """
    strings = (one or two or three for one, two, three in _SCRIPT_STRING.findall(script))
    return {word for string in strings for word in _WORD.findall(string)}


def without_comments(sheet: str) -> str:
    r"""Return a style sheet without its comments and the white space at the lines' ends.

    Examples
    --------
    >>> without_comments("p { /* why */\n  top: 0;\n}\n")
    'p {\ntop: 0;\n}'
    """
    return re.sub(r"\s*\n\s*", "\n", _COMMENT.sub("", sheet)).strip()


def without_unused(sheet: str, words: set[str]) -> str:
    """Return a style sheet, which has no comments, without the rules that reach nothing.

    Parameters
    ----------
    sheet : str
    words : set of str
        The elements, classes and ids that there are, or may come to be.

    Returns
    -------
    str
        Without the white space between rules, too.

    Examples
    --------
    >>> without_unused("p, .a p { top: 0 } .a { left: 0 } @media print { .a { top: 0 } }", {"p"})
    'p{top: 0}'
    """
    return "".join(str(rule) for rule in _used(parse(sheet), words))


def _used(sheet: Iterable[Rule], words: set[str]) -> Iterator[Rule]:
    for rule in sheet:
        if rule.body is None or (rule.prelude.startswith("@") and not is_group(rule)):
            yield rule
        elif is_group(rule):
            inside = without_unused(rule.body, words)
            if inside:
                yield Rule(rule.prelude, inside)
        else:
            kept = [s for s in split_selectors(rule.prelude) if names(s) <= words]
            if kept:
                yield Rule(",".join(kept), rule.body)


def is_group(rule: Rule) -> bool:
    """Tell whether a rule holds rules."""
    return rule.prelude.startswith(GROUPS)


def parse(sheet: str) -> Iterator[Rule]:
    """Yield the outermost rules of a style sheet that has no comments.

    Examples
    --------
    >>> [rule.prelude for rule in parse("@import 'a;b'; p { content: '}' } q { top: 0 }")]
    ["@import 'a;b'", 'p', 'q']
    """
    start = opened = depth = 0
    for piece in _PIECE.finditer(sheet):
        mark = piece[0]
        if mark == "{":
            opened, depth = (piece.start(), 1) if depth == 0 else (opened, depth + 1)
        elif mark == "}":
            depth -= 1
            if depth == 0:
                body = sheet[opened + 1 : piece.start()].strip()
                yield Rule(sheet[start:opened].strip(), body)
                start = piece.end()
        elif mark == ";" and depth == 0:
            yield Rule(sheet[start : piece.start()].strip())
            start = piece.end()


def split_selectors(prelude: str) -> list[str]:
    """Return the selectors of a rule, which commas part, though not those in brackets.

    Examples
    --------
    >>> split_selectors("a:is(b, c), d")
    ['a:is(b, c)', 'd']
    """
    parts, depth = [""], 0
    for char in prelude:
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def names(selector: str) -> set[str]:
    r"""Return the elements, classes and ids without which a selector reaches nothing.

    Examples
    --------
    >>> sorted(names("a.b > #c:not(.d)::before [e='f']"))
    ['a', 'b', 'c']
    """
    bare, shorter = "", selector
    while bare != shorter:  # from the innermost brackets to the outermost
        bare, shorter = shorter, re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", shorter)
    bare = re.sub(r"::?[\w-]+", "", bare)
    return {name.lstrip(".#").replace("\\", "") for name in _NAME.findall(bare)}


# ---- What rules name: properties, fonts, animations ----


def without_unread(sheets: dict[K, str], said: set[str], chosen: Container[K]) -> dict[K, str]:
    """Return some style sheets without what is defined in them and read nowhere.

    Parameters
    ----------
    sheets : dict to str
        Every sheet that the pages load, so that what one defines and another reads is kept.
    said : set of str
        The words of pages and scripts, which may read a property too.
    chosen : container
        The names of the sheets to be changed.

    Returns
    -------
    dict to str
        All of the sheets.

    Examples
    --------
    >>> sheet = "p{--b:1;--c:var(--b);top:0}@font-face{font-family:D}"
    >>> without_unread({"a": sheet}, set(), {"a"})
    {'a': 'p{top:0}'}
    """
    while True:
        text = " ".join(sheets.values())
        read = said | set(re.findall(r"var\(\s*(--[\w-]+)", text))
        shorter = {
            name: _without(sheet, read, text) if name in chosen else sheet
            for name, sheet in sheets.items()
        }
        if shorter == sheets:
            return sheets
        sheets = shorter


def _without(sheet: str, read: set[str], text: str) -> str:
    kept = []
    for rule in parse(sheet):
        kind = rule.prelude.partition(" ")[0]
        if rule.body is None or is_named_elsewhere(rule, kind, text):
            kept.append(str(rule))
        elif is_group(rule):
            kept.append(str(Rule(rule.prelude, _without(rule.body, read, text))))
        elif not kind.startswith("@"):
            lines = [line for line in declarations(rule.body) if not is_unread(line, read)]
            kept += [str(Rule(rule.prelude, ";".join(lines)))] * bool(lines)
    return "".join(kept)


def declarations(body: str) -> list[str]:
    """Return the declarations of a rule.

    Examples
    --------
    >>> declarations("top: 0; background: url(data:a;b); ")
    ['top: 0', 'background: url(data:a;b)']
    """
    ends = [p.start() for p in _PIECE.finditer(body) if p[0] == ";"]
    pieces = [
        body[start:end].strip()
        for start, end in zip([0, *(e + 1 for e in ends)], [*ends, None], strict=True)
    ]
    return [piece for piece in pieces if piece]


def is_unread(declaration: str, read: set[str]) -> bool:
    """Tell whether a declaration sets a property of its own that nothing reads."""
    name = declaration.partition(":")[0].strip()
    return name.startswith("--") and name not in read


def is_named_elsewhere(rule: Rule, kind: str, text: str) -> bool:
    """Tell whether a font or an animation is used; other at-rules that hold no rules are."""
    if not kind.startswith("@") or is_group(rule):
        return False
    if kind.endswith("keyframes"):
        return starts_animation(rule.prelude.split()[-1], text)
    family = re.search(r"font-family:\s*[\"']?([^;\"'}]+)", rule.body or "")
    if kind != "@font-face" or family is None:
        return True
    return family[1].strip() in re.sub(r"@font-face\s*{[^}]*}", "", text)


def starts_animation(name: str, text: str) -> bool:
    """Tell whether a style sheet starts an animation of this name."""
    return any(name in use for use in re.findall(r"animation(?:-name)?\s*:([^;{}]*)", text))
