"""Data files: contents, settings, front matter, bibliography, examples and transcripts."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any

import yaml
from sphinx_external_toc.parsing import MalformedError, parse_toc_data

from byhand.checking import marking_schemes, objectives
from byhand.checking.shapes import Shape, ShapeError, read_tables
from byhand.checking.sources import Fault, Finding, Page, Project, nearest
from byhand.checking.works import bibliography_faults
from mha.audit.sources import TITLES, numbers_from
from mha.examples import ExampleError, example_from
from mha.examples.published_models import read_models

FASTEST: Any = getattr(
    yaml, "CSafeLoader", yaml.SafeLoader
)  # safe both, the first ten times faster
CONTENTS = "_toc.yml"
SETTINGS: dict[tuple[str, ...], tuple[str, ...]] = {  # known keys by their group
    (): (
        *("title", "author", "copyright", "logo", "only_build_toc_files", "exclude_patterns"),
        *("execute", "parse", "html", "latex", "repository", "launch_buttons", "sphinx"),
        "bibtex_bibfiles",
    ),
    ("execute",): ("execute_notebooks",),
    ("html",): ("baseurl", "favicon", "extra_footer"),
    ("sphinx",): ("extra_extensions", "local_extensions", "recursive_update", "config"),
}
ENTRIES_OF_CONTENTS: dict[str, tuple[str, ...]] = {  # known keys by the list of the entries
    "": ("format", "root", "chapters", "parts"),
    "parts": ("caption", "numbered", "chapters"),
    "chapters": ("file", "title", "sections"),
    "sections": ("file", "title", "sections"),
}
RANKING = "book/_ext/byhand/search/ranking.toml"
SHAPE_OF_RANKING: dict[str, Shape] = {
    "stop": [str],
    "synonyms": [[str]],
    **{name: {"*": float} for name in ("pages", "first", "headings")},
    "asked": {"*": str},
}
TITLE_OF_EXAMPLE = re.compile(r"""^title\s*=\s*(["'].*["'])""", re.MULTILINE)


def check(project: Project) -> Iterator[Finding]:
    """Find faults in all data files."""
    for pattern, look in FILE_CHECKS.items():
        for file, text in project.files(pattern):
            yield from (Finding(file, *fault) for fault in look(file, text))
    for _, text in project.files(CONTENTS):
        yield from contents_faults(text, {page.name for page in project.pages})
    yield from repeated_titles(project)


def repeated_titles(project: Project) -> Iterator[Finding]:
    """Find examples that have the title of another one."""
    files: dict[str, str] = {}  # by title
    for file, text in project.files("mha/examples/*.toml"):
        if found := TITLE_OF_EXAMPLE.search(text):
            title = found[1].strip("\"' ")
            if (other := files.setdefault(title, file)) != file:
                number = text[: found.start()].count("\n") + 1
                message = f"{other} has the title {title!r} too; a title of its own is wanted"
                yield Finding(file, number, message)


class Loader(FASTEST):
    """A loader of YAML that refuses a key that is given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping of a node."""
        found: set[Any] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in found:
                problem = f"the key {key.value!r} is given twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            found.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def read_yaml(text: str, first: int = 1) -> tuple[Any, list[Fault]]:
    """Return the value of a YAML text, or the fault; its first line has the number `first`."""
    try:
        return yaml.load(text, Loader=Loader), []
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem, line = error.problem, mark.line if mark else 0
    except yaml.reader.ReaderError as error:
        problem, line = error.reason, text[: error.position].count("\n")
    return None, [(first + line, f"this is not YAML: {problem}")]


def line_of(text: str, pattern: str) -> int:
    """Return the number of the first line that matches a pattern, or 1."""
    found = re.search(pattern, text, re.MULTILINE)
    return text[: found.start()].count("\n") + 1 if found else 1


def settings_faults(file: str, text: str) -> Iterator[Fault]:
    """Find YAML errors in the settings."""
    data, faults = read_yaml(text)
    yield from faults
    if not faults and not isinstance(data, dict):
        yield 1, "lines such as `title: ...` are wanted"
    elif not faults:
        for path, known in SETTINGS.items():
            group = data
            for key in path:
                group = group.get(key) if isinstance(group, dict) else None
            for key in group if isinstance(group, dict) else ():
                if key not in known:
                    inside = f" of {'.'.join(path)}" if path else ""
                    number = line_of(text, rf"^[ \t]*{re.escape(str(key))}\s*:")
                    yield number, f"unknown key {key!r}{inside}; {nearest(str(key), known)}"


def contents_faults(text: str, names: set[str]) -> Iterator[Finding]:
    """Find YAML errors in the contents, and pages that are missing, listed twice or unlisted."""
    data, faults = read_yaml(text)
    faults = faults or [*_faulty_entries(text, data)]
    yield from (Finding(CONTENTS, *fault) for fault in faults)
    if faults:
        return
    try:
        listed = set(parse_toc_data(data))
    except MalformedError as error:
        twice = re.search(r"multiple times: '(.*)'", str(error))
        yield Finding(CONTENTS, _line_of_page(text, twice[1]) if twice else 1, str(error))
        return
    for name in sorted(listed - names):
        message = f"there is no page book/{name}.md; the name of a page is wanted"
        yield Finding(CONTENTS, _line_of_page(text, name), message)
    for name in sorted(names - listed):
        message = "no contents list names this page; a line in _toc.yml is wanted"
        yield Finding(f"book/{name}.md", 1, message)


def _faulty_entries(text: str, data: Any) -> Iterator[Fault]:
    """Find entries of the contents of another kind, and keys that an entry does not have."""
    lists = [("", [data])]
    while lists:
        name, entries = lists.pop(0)
        wanted = f"{name or 'the contents'}: a list of entries such as `- file: ...` is wanted"
        if not isinstance(entries, list) or not entries:
            yield line_of(text, rf"^[ \t-]*{name}\s*:"), wanted
            continue
        for entry in entries:
            if not isinstance(entry, dict):
                line = line_of(text, rf"^\s*-\s*{re.escape(str(entry))}\s*$") if name else 1
                yield line, wanted if name else "lines such as `root: index` are wanted"
                continue
            known = ENTRIES_OF_CONTENTS[name]
            for key, value in entry.items():
                if key not in known:
                    line = line_of(text, rf"^[ \t-]*{re.escape(str(key))}\s*:")
                    of = f" of an entry of {name}" if name else ""
                    yield line, f"unknown key {key!r}{of}; {nearest(str(key), known)}"
                elif key in ENTRIES_OF_CONTENTS:
                    lists.append((key, value))
    if isinstance(data, dict) and data.get("format") != "jb-book":
        yield line_of(text, r"^format\s*:"), "the first line `format: jb-book` is wanted"


def _line_of_page(text: str, name: str) -> int:
    return line_of(text, rf"(?:file|root):\s*{re.escape(name)}\s*$")


def front_matter_faults(page: Page) -> Iterator[Fault]:
    """Find front matter that is invalid, or that a page with cells needs and lacks."""
    if page.lines[0].rstrip() != "---":
        if page.cells:
            yield 1, "the page has cells but no front matter; copy that of another chapter"
        return
    if not page.front_length:
        yield 1, "the front matter has no end; a second line --- is wanted"
        return
    data, faults = read_yaml("\n".join(page.lines[1 : page.front_length - 1]), 2)
    yield from faults
    for cell in page.cells:
        yield from read_yaml("\n".join(text for _, text in cell.header), cell.line + 2)[1]
    if faults or not page.cells:
        return
    for keys in (("jupytext", "text_representation", "format_name"), ("kernelspec", "name")):
        value = data
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if not isinstance(value, str):
            yield 1, f"the front matter has no {'.'.join(keys)}; copy that of another chapter"


def toml_faults(file: str, text: str) -> Iterator[Fault]:
    """Find TOML errors, and invalid values in the files of examples and of published models."""
    path = PurePath(file)
    loaders: dict[str, Callable[[], object]] = {
        "mha/examples": lambda: example_from(path.stem, text),
        "mha/examples/models": lambda: read_models(text),
        objectives.FILE: lambda: objectives.read_objectives(text),
        marking_schemes.FILE: lambda: marking_schemes.read_schemes(text),
        marking_schemes.BANK: lambda: read_tables(text, marking_schemes.LISTS),
        RANKING: lambda: read_tables(text, SHAPE_OF_RANKING),
    }
    load = loaders.get(file) or loaders.get(str(path.parent)) or (lambda: tomllib.loads(text))
    yield from _loader_faults(file, text, load)


def transcript_faults(file: str, text: str) -> Iterator[Fault]:
    """Find invalid transcripts of source documents."""
    name = PurePath(file).stem
    if name not in TITLES:
        yield 1, "no document has this name; see TITLES in mha/audit/sources"
    else:
        yield from _loader_faults(file, text, lambda: numbers_from(name, text))


def _loader_faults(file: str, text: str, load: Callable[[], object]) -> Iterator[Fault]:
    """Load a file, and yield the error of its loader at the line of the faulty key."""
    try:
        load()
    except ValueError as error:
        cause = error.__cause__ or error
        if isinstance(cause, json.JSONDecodeError):
            yield cause.lineno, f"this is not JSON: {cause.msg}"
        elif isinstance(cause, tomllib.TOMLDecodeError):
            reason, _, place = str(cause).partition(" (at ")
            line = re.search(r"line (\d+)", place)
            number = int(line[1]) if line else text.count("\n") + 1
            yield number, f"this is not TOML: {reason[:1].lower()}{reason[1:]}"
        elif isinstance(error, ShapeError):
            name = rf"""["']?{re.escape(error.key)}["']?"""
            yield line_of(text, rf"^\s*(?:{name}\s*=|\[+\s*{name}\s*\])"), str(error)
        elif isinstance(error, ExampleError) and (error.key or error.table):
            yield _line_of_key(text, error), str(error).removeprefix(f"{file}: ")
        else:
            message = str(error).removeprefix(f"{file}: ")
            key = re.match(r"'?(\w+)", message)
            yield line_of(text, rf"^\s*{re.escape(key[1])}\s*=") if key else 1, message


def _line_of_key(text: str, error: ExampleError) -> int:
    """Return the line of the key at fault, or of the header of a table that lacks a key."""
    header = re.compile(rf"^\s*\[\[\s*{error.table}\s*\]\]") if error.table else None
    key = re.compile(rf"""^\s*["']?{re.escape(error.key)}["']?\s*=""") if error.key else header
    tables = 0
    for number, line in enumerate(text.split("\n"), 1):
        tables += bool(header and header.match(line))
        if key and tables == error.number and key.match(line):
            return number
    return line_of(text, rf"^\s*\[+\s*{re.escape(error.key)}\b") if error.key else 1


FILE_CHECKS: dict[str, Callable[[str, str], Iterator[Fault]]] = {
    "_config.yml": settings_faults,
    "book/references.bib": bibliography_faults,
    "mha/**/*.toml": toml_faults,
    "book/**/*.toml": toml_faults,
    "scripts/**/*.toml": toml_faults,
    "mha/audit/sources/*.json": transcript_faults,
}
