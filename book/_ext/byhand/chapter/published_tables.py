"""Tables of facts about published models, generated from the facts of `mha.examples`.

``{published-fields}`` lists fields of configurations with their meaning, and ``{published-models}``
lists models with their changes of attention and sources. Both have the caption as content, and the
option ``:name:``. `lines` writes the Markdown, for pages and for notebooks.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from mha.examples.published_models import Fact, PublishedModels, Value, published_models

FIELDS, MODELS = "published-fields", "published-models"
FILES = (".json", ".md", ".py", ".sh", ".yaml")
PROBLEMS = ("keep less", "look at less", "stay stable", "reach farther")


class PublishedTable(SphinxDirective):
    """A table of facts about published models."""

    has_content = True
    option_spec: ClassVar[dict[str, object]] = {
        "name": directives.unchanged_required,
        "models": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return the parsed Markdown of the table."""
        caption, name = " ".join(self.content), self.options["name"]
        models = names_of(self.options.get("models", ""))
        written = lines(self.name, caption, models, f":name: {name}", ":class: words stacked")
        return self.parse_text_to_nodes("\n".join(written))


def write_value(value: Value) -> str:
    """Return a value as text: numbers with commas, truth as in a configuration file.

    Examples
    --------
    >>> write_value(131072), write_value(False), write_value(0.5)
    ('131,072', 'false', '0.5')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def names_of(option: str) -> list[str]:
    """Return the names of an option's comma-separated list.

    Examples
    --------
    >>> names_of("Qwen3-Next, Kimi K2")
    ['Qwen3-Next', 'Kimi K2']
    """
    return [name.strip() for name in option.split(",") if name.strip()]


def lines(table: str, caption: str, models: Sequence[str], *options: str) -> Iterator[str]:
    """Yield the Markdown of a table as a list table.

    Parameters
    ----------
    table : {"published-fields", "published-models"}
    caption : str
    models : sequence of str
        Names of models; all models if empty.
    *options : str
        Lines of options of the list table.
    """
    known = published_models()
    rows = _rows_of_fields if table == FIELDS else _rows_of_models
    yield from (f"```{{list-table}} {caption}", ":header-rows: 1", *options, "")
    for row in rows(known, models or list(known)):
        for sign, text in zip(("* -", *["  -"] * len(row)), row, strict=False):
            yield f"{sign} {text}".rstrip()
    yield "```"


def _rows_of_fields(known: PublishedModels, models: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield "Field", "meaning", "for example"
    facts = [fact for fact in known.facts if fact.model in models and fact.named]
    for field in dict.fromkeys(fact.field for fact in facts):
        own = [fact for fact in facts if fact.field == field]
        examples = ", ".join(f"{fact.model} {write_value(fact.value)}" for fact in own[:2])
        yield f"`{field}`", own[0].meaning, examples


def _rows_of_models(known: PublishedModels, models: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield "Model", *PROBLEMS, "sources"
    for model in models:
        own = [fact for fact in known.facts if fact.model == model]
        yield (
            model,
            *(", ".join(_changes(own, problem)) or "–" for problem in PROBLEMS),
            "; ".join(_sources(own)),
        )


def _changes(facts: Sequence[Fact], problem: str) -> list[str]:
    """Return a model's changes that solve a problem, each once."""
    found = (
        fact.change.title.format(write_value(fact.value))
        for fact in facts
        if fact.change and fact.change.problem == problem and fact.value is not False
    )
    return list(dict.fromkeys(found))


def _sources(facts: Sequence[Fact]) -> Iterator[str]:
    """Yield each source of some facts, with its files or sections."""
    for source in dict.fromkeys(fact.source for fact in facts):
        places = dict.fromkeys(fact.where for fact in facts if fact.source == source)
        cited = f"{{cite:t}}`{source.key}`" if source.paper else source.title
        yield ", ".join([cited, *(f"`{p}`" if p.endswith(FILES) else p for p in places)])


DIRECTIVES = {FIELDS: PublishedTable, MODELS: PublishedTable}
