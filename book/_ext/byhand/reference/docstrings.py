"""Parsing of numpydoc docstrings into sections and entries."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_SIGNATURE_LENGTH = 66  # characters of a signature in one line
UNDERLINED = re.compile(r"^(.+)\n-{3,}$", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """The description of one or several parameters, of a result or of an error."""

    names: tuple[str, ...]  # empty for a result without a name
    kind: str  # a type with its shape, or an error
    text: str


def read_sections(docstring: str) -> dict[str, str]:
    r"""Return a docstring's sections by heading; the text before the first has the key "".

    Examples
    --------
    >>> read_sections("Return x.\n\nMore.\n\nReturns\n-------\nfloat\n    The x.")
    {'': 'Return x.\n\nMore.', 'Returns': 'float\n    The x.'}
    """
    first, *others = UNDERLINED.split(inspect.cleandoc(docstring))
    sections = {"": first} | dict(zip(others[::2], others[1::2], strict=True))
    return {heading: text.strip("\n") for heading, text in sections.items()}


def read_entries(section: str, *, named: bool) -> Iterator[Entry]:
    r"""Yield the entries of a section such as Parameters.

    A line without a colon has names if the entries are `named`, as parameters are, else a type.
    """
    for block in re.split(r"\n(?=\S)", section):
        head, _, text = block.partition("\n")
        names, colon, kind = head.partition(" : ")
        if not colon and not named:
            names, kind = "", head
        split = tuple(name.strip() for name in names.split(",") if name.strip())
        yield Entry(split, kind.strip(), textwrap.dedent(text).strip())


def signature(name: str, called: Any) -> str:
    """Return how something is called, without types: its docstring has these, with shapes.

    Examples
    --------
    >>> signature("read_entries", read_entries)
    'read_entries(section, *, named)'
    """
    whole = inspect.signature(called)
    bare = [
        parameter.replace(annotation=parameter.empty)
        for parameter in whole.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    called_with = str(whole.replace(parameters=bare, return_annotation=whole.empty))[1:-1]
    called_with = re.sub(r"=<[^>]*>", "=...", called_with)
    if len(f"{name}({called_with})") <= MAX_SIGNATURE_LENGTH:
        return f"{name}({called_with})"
    lines = re.sub(r", (?=[a-z_*])", ",\n    ", called_with)
    return f"{name}(\n    {lines},\n)"


def code_of(thing: Any) -> str:
    """Return the code of a function or class without its docstring.

    Examples
    --------
    >>> print(code_of(Entry))
    @dataclass(frozen=True)
    class Entry:
        names: tuple[str, ...]  # empty for a result without a name
        kind: str  # a type with its shape, or an error
        text: str
    """
    source = textwrap.dedent(inspect.getsource(thing))
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef | ast.ClassDef)
    lines = source.splitlines()
    first = definition.body[0]
    if ast.get_docstring(definition, clean=False) is not None:
        del lines[first.lineno - 1 : first.end_lineno]
        while first.lineno - 1 < len(lines) and not lines[first.lineno - 1].strip():
            del lines[first.lineno - 1]
    return "\n".join(lines).rstrip()
