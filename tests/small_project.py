"""A copy of the project with a few small pages, built by the project's own code."""

import os
import shutil
import subprocess
import sys

from book_site import FRONT, ROOT

# The part of build.py that runs inside the environment. The tests already run inside it.
COMMAND = """\
import sys
sys.path[:0] = ["scripts", "book/_ext"]
import environment
sys.excepthook = environment.exit_in_one_sentence
import building
building.main()
"""


def copy_without_pages(folder):
    """Copy the files that a build needs, except the chapters and the table of contents.

    Compiled Python files are copied too, so that the builds of the copy need not compile again.
    """
    folders = ("mha", "scripts", "book/_ext", "book/_static", "book/_templates")
    folders += ("tests/gift_pegjs", "tests/axe")  # the page of notices shows their licences
    for name in folders:
        shutil.copytree(ROOT / name, folder / name)
    files = ("_config.yml", "requirements.lock", "pyproject.toml", "book/references.bib")
    for name in (*files, "CITATION.cff"):
        shutil.copy(ROOT / name, folder / name)


def write_pages(folder, pages):
    """Write pages, given by name as text without the common front matter."""
    for name, text in pages.items():
        (folder / "book" / f"{name}.md").write_text(FRONT + text, encoding="utf-8")


def write_contents(folder, names):
    """Write the table of contents: the first page, then one part with the others."""
    first, *others = names
    lines = ["format: jb-book", f"root: {first}"]
    if others:
        lines += ["parts:", "  - caption: All", "    numbered: 2", "    chapters:"]
        lines += [f"      - file: {name}" for name in others]
    (folder / "_toc.yml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def environment(folder, **variables):
    """Return the environment variables of a build of the copy.

    Python writes no bytecode there: it would not notice a file that is edited twice in one second.
    """
    own = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**os.environ, **own, **variables}


def build(folder, *arguments, **variables):
    """Run build.py in the copy, with the copy's `mha`, and return the finished process.

    `variables` are added to the environment.
    """
    return run(COMMAND, *arguments, cwd=folder, env=environment(folder, **variables))


def started(folder):
    """Start a build of the copy, and return the process."""
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def run(code, *arguments, cwd, env):
    """Run a program as `python -c` does, and return the finished process with its output."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def log(folder):
    """Return Sphinx's log of the last build."""
    return (folder / "_build" / "build.log").read_text(encoding="utf-8")


def published(folder):
    """Return every file of the published book by its name."""
    html = folder / "_build" / "html"
    return {
        path.relative_to(html).as_posix(): path.read_bytes()
        for path in html.rglob("*")
        if path.is_file()
    }
