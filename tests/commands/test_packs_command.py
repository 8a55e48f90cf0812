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
    ("arguments", "sentence"),
    [
        (
            ["--only", "questions,odd"],
            "--only has 'odd'; one of questions, cards, slides, figures, notebooks is wanted",
        ),
        (["--variants", "51"], "--variants is 51; 0 to 50 is wanted"),
        (["--seed", "-1"], "--seed is -1; 0 to 1,000,000,000 is wanted"),
        (
            ["--site", "https://a.example/b c/"],
            "--site is 'https://a.example/b c/'; https://, a host and a last / are wanted",
        ),
    ],
)
def test_bad_input_gets_a_sentence(arguments, sentence):
    with pytest.raises(SystemExit) as stopped:
        command.plan(parsed(*arguments))
    assert str(stopped.value) == f"error: {sentence}"


def test_the_readme_has_every_pack():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"- `{name}`: " in text for name in command.PACKS)


@pytest.mark.book
def test_files_of_a_pack_go_into_its_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "HTML", SITE)
    to = tmp_path / "to"
    command.make(parsed("--only", "notebooks", "--to", str(to)))  # test_site.py makes more
    made = {path.relative_to(to).as_posix() for path in to.rglob("*.*")}
    assert made == {
        "notebooks/attention-step-by-step.ipynb",
        "notebooks/attention-graded.ipynb",
    }
