"""A new example needs a data file and a chapter: the guide's example, in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest
from book_site import FRONT, ROOT, cells

from byhand.checking import check_sources

NAME = "dogs-bark"
GUIDE = (ROOT / "docs" / "writing.md").read_text(encoding="utf-8")
INDENTED = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.MULTILINE)


def copy_of_the_project(folder):
    """Copy the package, the book and its settings, and add the data file of the guide."""
    unwanted = shutil.ignore_patterns("__pycache__", "_build")
    for name in ("mha", "book"):
        shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
    (folder / "scripts" / "packs").mkdir(parents=True)
    for name in ("pyproject.toml", "_config.yml", "_toc.yml", "scripts/packs/bank.toml"):
        shutil.copy(ROOT / name, folder / name)
    data = re.search(r"```toml\n(.*?)```", GUIDE, re.DOTALL)[1]
    (folder / "mha" / "examples" / f"{NAME}.toml").write_text(data, encoding="utf-8")


def blocks_of_the_guide():
    """Return the guide's indented blocks, with the name of the new chapter."""
    return [textwrap.dedent(block).replace("NAME", NAME) for block in INDENTED.findall(GUIDE)]


def block_with(part):
    """Return the first block of the guide that contains a text."""
    return next(block for block in blocks_of_the_guide() if part in block).strip("\n")


def code_of_the_guide():
    """Return the opening of the guide's chapter, the names of its tokens, and its views."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    opening, tokens, views = (block.replace("NAME", NAME) for block in blocks[:3])
    return opening, tokens, [re.sub(r"  #.*", "", line) for line in views.splitlines()]


def cell(code, *header):
    return "\n".join(["```{code-cell}", *header, code.strip(), "```"])


def figure(code):
    """Return a cell with a figure, whose header is that of the guide."""
    (name,) = re.findall(r'name="(fig-[\w-]+)"', code)
    head = block_with("mystnb").partition("show.maps")[0].rstrip("\n")
    return re.sub(r"name: \S+", f"name: {name}", head) + f"\n{code}\n```"


def chapter_of_the_guide():
    """Return a chapter that has everything as the guide prints it."""
    opening, tokens, views = code_of_the_guide()
    head = block_with("(my-label)=").replace("my-label", f"example-{NAME}")
    head = re.sub(r"^\(a question.*\)$", "Which token does *bark* attend to?", head, flags=re.M)
    exercise, quiz = block_with("{exercise}"), block_with("{quiz}")
    label = f"ex-{NAME}-wider"
    parts = [
        head,
        block_with("{read-in-steps}"),
        *(cell(opening), cell(tokens), block_with("The weight is")),
        cell(block_with("assert run.weights[0, 0]").split("\n\n")[1].removesuffix("```")),
        *(figure(line) if '"fig-' in line else cell(line) for line in views),
        block_with("mystnb"),
        block_with("show.turn"),
        block_with("cite:t"),
        block_with("{claim}"),
        *(quiz.replace(f"{NAME}-who", f"{NAME}-who-{i}") for i in "abc"),
        "## Exercises",
        *(
            block.replace(label, f"{label}{end}")
            for end in ("", "-a", "-b", "-c")
            for block in (exercise, block_with("{asked}"))
        ),
    ]
    return FRONT + "\n\n".join(parts) + "\n"


def write_the_example(folder):
    """Do the steps of the guide for a new example in a copy of the project."""
    copy_of_the_project(folder)
    (folder / "book" / "examples" / f"{NAME}.md").write_text(
        chapter_of_the_guide(), encoding="utf-8"
    )
    line = re.search(r"Add `(- file: examples/NAME)`", GUIDE)[1].replace("NAME", NAME)
    toc = (folder / "_toc.yml").read_text(encoding="utf-8")
    last = "      - file: examples/work-your-own"
    assert last in toc
    toc = toc.replace(last, f"{last}\n      {line}")
    (folder / "_toc.yml").write_text(toc, encoding="utf-8")
    bank = folder / "scripts" / "packs" / "bank.toml"
    label = re.search(r'`"(quiz-NAME-who)"`', GUIDE)[1].replace("NAME", NAME)
    entries = ", ".join(f'"{label}-{i}"' for i in "abc")
    text = bank.read_text(encoding="utf-8")
    bank.write_text(text.replace("complete = [", f"complete = [{entries}, "), encoding="utf-8")
    claims = folder / "book" / "claims.toml"
    entry = block_with(f"[{NAME}-first]")
    claims.write_text(f"{claims.read_text(encoding='utf-8')}\n{entry}\n", encoding="utf-8")


def test_the_steps_of_the_guide_give_a_chapter_without_a_fault(tmp_path):
    write_the_example(tmp_path)
    assert [str(finding) for finding in check_sources(tmp_path)] == []
    page = chapter_of_the_guide()
    expressions = re.findall(r"\{eval\}`([^`]+)`|\[x `([^`]+)`\]|^:answer: (.+)$", page, re.M)
    codes = ["display = repr", *(code for _, code in cells(page))]
    codes += [f"assert ({next(filter(None, one))}) is not None" for one in expressions]
    codes += [f"assert {marked}" for marked in re.findall(r"\[x `([^`]+)`\]", page)]
    done = run("\n".join(codes), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_typo_is_corrected_and_checked_as_the_guide_says(tmp_path):
    copy_of_the_project(tmp_path)
    page = tmp_path / "book" / "index.md"
    text = page.read_text(encoding="utf-8")
    head, title, body = text.partition("\n# ")
    corrected = re.sub(r"^([A-Z]\w+) \w+ ", r"\1 corrected ", body, count=1, flags=re.MULTILINE)
    page.write_text(head + title + corrected, encoding="utf-8")
    assert page.read_text(encoding="utf-8") != text
    assert check_sources(tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{given}`64`", "64.5", "64.5 is typed into the prose"),
        ("```{solution-end}\n```", "", "solution"),
        ('show.stage("weights", ', "show.maps(", "no table shows weights"),
        ("row=bark, column=dogs", "0, 1", f"{NAME}.md:82: book/examples/play-football.md has this"),
        (f"{{claim}}`{NAME}-first`", "", f"no sentence makes the claim {NAME}-first"),
    ],
)
def test_a_step_that_is_left_out_is_told(old, new, message, tmp_path):
    write_the_example(tmp_path)
    file = tmp_path / "book" / "examples" / f"{NAME}.md"
    page = file.read_text(encoding="utf-8")
    assert old in page
    file.write_text(page.replace(old, new), encoding="utf-8")
    told = "\n".join(str(finding) for finding in check_sources(tmp_path))
    assert message in told


def run(code, folder):
    """Run a program with the package of a copy of the project."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_chapter_of_the_guide_works_and_the_overview_lists_it(tmp_path):
    copy_of_the_project(tmp_path)
    opening, tokens, lines = code_of_the_guide()
    printed_types = [f"print(type({line}).__name__)" for line in lines]
    beside = "print([table.printed for table in show.stage('weights', 'query').tables])"
    text = (tmp_path / "book" / "examples" / "overview.md").read_text(encoding="utf-8")
    overview = ["display = repr", *(code for _, code in cells(text))]
    listed = "print(*[e.name for e in more], len(runs))"
    code = "\n".join([opening, tokens, *printed_types, beside, *overview, listed])
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    *kinds, prints, found = done.stdout.splitlines()
    assert kinds == [*["Block"] * 6, "Figure", "YourTurn", "Explorer"]
    beside = "{(0, 0): [], (0, 1): [], (1, 0): [], (1, 1): []}"
    assert prints == f"[{beside}, {beside}]"  # it is no example of a document
    *more, compared = found.split()
    assert (NAME in more, compared) == (True, "6")
