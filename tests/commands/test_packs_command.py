"""The command that makes packs: what it can be asked for, and what it makes of the built pages."""

import argparse

import pytest
from book_site import ROOT, SITE
from packs import command


def parsed(*arguments):
    parser = argparse.ArgumentParser()
    what = parser.add_subparsers()
    command.add_command(what, argparse.ArgumentParser(add_help=False))
    return parser.parse_args(["packs", *arguments])


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
    with pytest.raises(SystemExit) as stopped:
        command.plan(parsed(option, value))
    assert str(stopped.value).startswith(f"error: {option} {so}")


def test_the_readme_has_every_pack():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"- `{name}`: " in text for name in command.PACKS)


@pytest.mark.book
def test_files_of_a_pack_go_into_its_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "HTML", SITE)
    to = tmp_path / "to"
    command.make(parsed("--only", "notebooks", "--to", str(to)))  # test_site.py makes more
    made = {path.relative_to(to).as_posix() for path in to.rglob("*.*")}
    names = ("attention-step-by-step", "attention-graded")
    assert made == {f"notebooks/{name}.ipynb" for name in names}
