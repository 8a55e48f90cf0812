"""The command that makes packs: what it can be asked for. What it makes: `test_site.py`."""

import re

import building
import pytest
from book_site import ROOT
from packs import command


@pytest.mark.parametrize(
    ("option", "value", "so"),
    [
        ("--only", "questions,odd", "has 'odd'; one of questions, cards, slides, figures, noteboo"),
        ("--variants", "51", "is 51; 0 to 50 is wanted"),
        ("--seed", "-1", "is -1; 0 to 1,000,000,000 is wanted"),
        ("--site", "https://a.example/b c/", "is 'https://a.example/b c/'; https://, a host and a"),
    ],
)
def test_bad_input_gets_a_sentence(option, value, so):
    asked = building._parser().parse_args(["packs", option, value])
    with pytest.raises(SystemExit, match=re.escape(f"error: {option} {so}")):
        asked.plan(asked)


def test_the_readme_has_every_pack():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"- `{name}`: " in text for name in command.PACKS)
