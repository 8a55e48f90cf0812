"""The fields of configurations that the chapter *Attention since 2023* explains."""

import re
from pathlib import Path

from mha.examples.published_models import published_models

PAGE = Path(__file__).parents[1] / "book/transformer/since-2023.md"


def explained_fields():
    """Return the fields in the chapter's table of fields, in their meanings and in its prose."""
    page = PAGE.read_text(encoding="utf-8")
    models = re.search(r"^```\{published-fields\}\n:models: (.+)$", page, re.M)[1].split(", ")
    shown = [fact for fact in published_models().facts if fact.model in models and fact.named]
    prose = " ".join([page, *(fact.meaning for fact in shown)])
    return {fact.field for fact in shown} | set(re.findall(r"`(\w+)`", prose))
