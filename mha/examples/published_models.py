"""Facts about the attention of published models, each with its source.

The file ``models/models.toml`` beside this module has the facts. A fact is the value of one field
of one model, with the document, the file or section in it, and its date.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

Value = int | float | str | bool

_FILE = "models/models.toml"


@dataclass(frozen=True)
class Source:
    """A document that states facts.

    Parameters
    ----------
    key : str
        Key of the bibliography for a paper or report, else a name.
    title : str
    published : str
        Date of the document or of its version: ``2025-08`` or ``2025-08-05``.
    fetched : str
        Date on which the facts were last compared with it.
    paper : bool, default False
        Whether the bibliography has it.
    """

    key: str
    title: str
    published: str
    fetched: str
    paper: bool = False


@dataclass(frozen=True)
class Change:
    """A change of attention that several models have.

    Parameters
    ----------
    key : str
    problem : str
        The problem that the change solves.
    title : str
        A few words, in which ``{}`` is the value of a model's field.
    """

    key: str
    problem: str
    title: str


@dataclass(frozen=True)
class Fact:
    """The value of one field of a model.

    Parameters
    ----------
    model, field : str
    value : int, float, str or bool
    meaning : str
        Meaning of the field, as Markdown.
    change : Change or None
        The change of attention that the field describes.
    named : bool
        Whether a configuration has a field of this name.
    source : Source
    where : str
        File or section of the source.
    """

    model: str
    field: str
    value: Value
    meaning: str
    change: Change | None
    named: bool
    source: Source
    where: str


@dataclass(frozen=True)
class PublishedModels(Mapping[str, Mapping[str, Value]]):
    """The values of each model's fields, by the names of the model and of the field.

    Parameters
    ----------
    facts : tuple of Fact
    changes : mapping of str to Change
    """

    facts: tuple[Fact, ...]
    changes: Mapping[str, Change]

    def __getitem__(self, model: str) -> Mapping[str, Value]:
        """Return the values of the fields of a model."""
        found = {fact.field: fact.value for fact in self.facts if fact.model == model}
        if not found:
            raise KeyError(f"no facts about {model!r}; known models: {', '.join(self)}")
        return found

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the models."""
        return iter(dict.fromkeys(fact.model for fact in self.facts))

    def __len__(self) -> int:
        """Return the number of models."""
        return len(list(iter(self)))

    def with_change(self, change: str) -> tuple[str, ...]:
        """Return the models that have a change of attention.

        Parameters
        ----------
        change : str
            A key of `changes`.

        Returns
        -------
        tuple of str
            In the order of the file.

        Raises
        ------
        ValueError
            If there is no such change.
        """
        if change not in self.changes:
            raise ValueError(f"change is {change!r}; one of {', '.join(self.changes)} is wanted")
        wanted = self.changes[change]
        return tuple(dict.fromkeys(f.model for f in self.facts if f.change == wanted))


def published_models() -> PublishedModels:
    """Return the facts about the attention of published models.

    Returns
    -------
    PublishedModels

    Examples
    --------
    >>> models = published_models()
    >>> models["gpt-oss-120b"]["sliding_window"]
    128
    >>> models.with_change("indexer")
    ('DeepSeek-V3.2',)
    """
    return _read_file()


@cache
def _read_file() -> PublishedModels:
    return read_models(resources.files("mha.examples").joinpath(_FILE).read_text("utf-8"))


def read_models(text: str) -> PublishedModels:
    """Parse the text of a file of facts.

    Parameters
    ----------
    text : str
        TOML with the tables ``sources``, ``changes``, ``fields`` and ``models``.

    Returns
    -------
    PublishedModels

    Raises
    ------
    ValueError
        If a key is missing or unknown, or a model has two facts about one field.
    """
    tables = tomllib.loads(text)
    try:
        sources = {key: Source(key, **own) for key, own in tables["sources"].items()}
        changes = {key: Change(key, **own) for key, own in tables["changes"].items()}
        facts = tuple(
            _fact(model, own, tables["fields"][own["field"]], sources, changes)
            for model, entry in tables["models"].items()
            for own in entry["facts"]
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"the file of facts has no {error}; it is wanted") from error
    seen: set[tuple[str, str]] = set()
    for fact in facts:
        if (fact.model, fact.field) in seen:
            raise ValueError(f"{fact.model} has two facts about {fact.field}; one is wanted")
        seen.add((fact.model, fact.field))
    return PublishedModels(facts, MappingProxyType(changes))


def _fact(
    model: str,
    own: dict[str, Any],
    field: dict[str, Any],
    sources: dict[str, Source],
    changes: dict[str, Change],
) -> Fact:
    return Fact(
        model=model,
        field=own["field"],
        value=own["value"],
        meaning=field["meaning"],
        change=changes[field["change"]] if "change" in field else None,
        named=field.get("named", True),
        source=sources[own["source"]],
        where=own["where"],
    )
