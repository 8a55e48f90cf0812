"""The form in which Jupyter saves a page, so that opening and saving it changes nothing.

Jupytext defines the form: `byhand` does not import it, because only the tests do. Each cell has one
blank line around it and a header with sorted keys, as one line per key or, if values are nested, as
YAML between hyphens.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from byhand.checking.sources import Block, Fault, Page

REWRITE = "check.py --fix writes it so"


class _Dumper(yaml.SafeDumper):
    """A writer of YAML with lists in one line, unless they contain mappings."""

    def represent_list(self, data: list[Any]) -> yaml.SequenceNode:
        """Return the node of a list."""
        in_a_line = not any(isinstance(one, dict) for one in data)
        return self.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=in_a_line)

    def represent_dict(self, data: dict[str, Any]) -> yaml.MappingNode:
        """Return the node of a mapping."""
        return self.represent_mapping("tag:yaml.org,2002:map", data, flow_style=False)


_Dumper.add_representer(list, _Dumper.represent_list)
_Dumper.add_representer(dict, _Dumper.represent_dict)


def not_normal(page: Page) -> Iterator[Fault]:
    """Find the first line that Jupyter would save differently."""
    lines, wanted = page.text.split("\n"), normal_form(page).split("\n")
    if lines == wanted:
        return
    pairs = zip([*lines, None], [*wanted, None], strict=False)
    number, line = next((n, new) for n, (old, new) in enumerate(pairs, 1) if old != new)
    shown = "nothing" if line is None else f"`{line}`" if line else "a blank line"
    yield min(number, len(lines)), f"Jupyter would save this line otherwise, as {shown}; {REWRITE}"


def normal_form(page: Page) -> str:
    r"""Return the text of a page as Jupyter saves it.

    A page without cells, or with a fence that is not closed, is returned as it is.

    Examples
    --------
    >>> text = "---\nkernelspec: {}\n---\n# A\n```{code-cell}\n1\n```\n"
    >>> normal_form(Page("book/a.md", text)).partition("---\n\n")[2]
    '# A\n\n```{code-cell}\n1\n```\n'
    """
    if not page.cells or not page.front_length or not all(block.closed for block in page.blocks):
        return page.text
    front = yaml.safe_load("\n".join(page.lines[1 : page.front_length - 1]))
    parts = [f"---\n{_yaml(front)}---\n"]
    begin = page.front_length
    for cell in page.cells:
        text = _stripped(page.lines[begin : cell.line - 1])
        parts += [f"{text}\n"] if text else []
        parts.append(_cell(cell))
        begin = cell.line + len(cell.body) + 1
    if text := _stripped(page.lines[begin:]):
        parts.append(f"{text}\n")
    return "\n".join(parts).rstrip() + "\n"


def _stripped(lines: list[str]) -> str:
    """Return lines as one text without blank lines at its start and end."""
    return "\n".join(lines).rstrip().lstrip("\n")


def _yaml(data: Any) -> str:
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def _cell(cell: Block) -> str:
    """Return a code cell with its header."""
    options = yaml.safe_load(
        "\n".join(t for _, t in cell.header)
        or "\n".join(t.strip().removeprefix(":") for _, t in cell.options_lines)
    )
    source = "\n".join(text for _, text in cell.content)
    source = re.sub(r"\A[ \t]*\n", "", source)
    header = ""
    if options:
        # A notebook's file has sorted keys.
        header = _yaml(_sorted(options))
        lines = header.splitlines()
        if all(line and line[0].isalpha() for line in lines):
            header = "".join(f":{line}\n" for line in lines) + "\n"
        else:
            header = f"---\n{header}---\n"
    elif source.startswith(("---", ":")):
        header = "\n"
    end = "" if source.endswith("\n") else "\n"
    return f"{cell.fence}{{code-cell}}\n{header}{source}{end}{cell.fence}\n"


def _sorted(data: Any) -> Any:
    """Return data whose mappings have sorted keys, at every level."""
    if isinstance(data, dict):
        return {key: _sorted(data[key]) for key in sorted(data)}
    return data
