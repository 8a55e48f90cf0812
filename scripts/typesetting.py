"""Turn the book that the HTML build left into a PDF, with LaTeX.

No page is read or computed again: the LaTeX builder works on a copy of what that build left.
"""

import ctypes.util
import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from environment import BUILD, EXTENSIONS, ROOT, fail, system_package
from html_book import RECORD
from sphinx_runs import NEXT, STATE, jupyter_book, run_logged

from byhand.digests import digest_of
from byhand.document import Document

PRINT = BUILD / "print"  # one folder a document: LaTeX, its log, the PDF before it is published
PACKAGES = (
    "texlive-xetex",
    "latexmk",
    "texlive-fonts-recommended",
    "fonts-freefont-otf",
    "fonts-texgyre-math",
    "fonts-dejavu-core",
    "fonts-dejavu-extra",
)
WEASYPRINT_PACKAGES = (
    "libpango-1.0-0",
    "libpangoft2-1.0-0",
    "libharfbuzz-subset0",
    "poppler-utils",
)
FILES = (
    "FreeSerif.otf",
    "FreeSansOblique.otf",
    "texgyretermes-math.otf",
    "DejaVuSansMono-Oblique.ttf",
    "polyglossia.sty",
    "unicode-math.sty",
    "adjustbox.sty",
    "tabulary.sty",
)
FONTS_OF_EAST_ASIA = "fonts-droid-fallback"
EAST_ASIAN = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef]")
LAST_LATIN = 0xFF  # up to here the book's own fonts have every letter
NO_DATE = 1767225600  # 2026-01-01: a PDF's date where neither the caller nor git gives one
# What LaTeX only warns of, and a reader would stumble over.
FLAWS = re.compile(
    r"^(Missing character: .*|LaTeX Warning: (?:Hyper r|R)eference .*)$", re.MULTILINE
)


def find_weasyprint() -> None:
    """Install the libraries of WeasyPrint and poppler's programs, or say how to."""
    if not shutil.which("pdftocairo") or not ctypes.util.find_library("pangoft2-1.0"):
        system_package("WeasyPrint's libraries", *WEASYPRINT_PACKAGES)


def find_fonts(option: str, text: str) -> None:
    """See to it that the title page can show a text; where it cannot, end by naming the option."""
    for package in (FONTS_OF_EAST_ASIA, ""):
        missing = _without_font(text)
        if not missing:
            return
        what = f"a font for {missing}, which {option} has,"
        if not package or not EAST_ASIAN.match(missing):
            fail(f"{what} is missing; install one, or write {option} in other letters")
        system_package(what, package)


def _without_font(text: str) -> str:
    """Return the first character of a text that no font has, nothing if all have one."""
    for character in dict.fromkeys(text):
        if ord(character) > LAST_LATIN and not _output(
            ["fc-list", f":charset={ord(character):x}", "family"]
        ):
            return character
    return ""


def find_tex() -> None:
    """Install LaTeX and the fonts when root on Debian, else end by saying how to."""
    if not _missing():
        return
    system_package("LaTeX", *PACKAGES)
    still = _missing()
    if still:
        fail(f"LaTeX is installed but lacks {', '.join(still)}")


def _missing() -> list[str]:
    """Return the programs and files that printing needs and this machine has not."""
    programs = [name for name in ("xelatex", "latexmk", "makeindex") if not shutil.which(name)]
    if programs:
        return programs
    return [name for name in FILES if not _output(["kpsewhich", name])]


def typeset(document: Document) -> Path:
    """Return the PDF of a document, made in a folder of its own.

    While nothing has changed that it is made from, the one that is there serves.
    """
    folder = PRINT / document.name
    pdf, record = folder / f"{document.name}.pdf", PRINT / f"{document.name}.made-from"
    made_from = _made_from(document)
    if pdf.is_file() and record.is_file() and record.read_text(encoding="utf-8") == made_from:
        return pdf
    record.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    PRINT.mkdir(parents=True, exist_ok=True)
    _make(document, folder)
    record.write_text(made_from, encoding="utf-8")
    return pdf


def _made_from(document: Document) -> str:
    """Return a digest of all that a PDF depends on: the book as it was built, and the programs."""
    programs = [_output([name, "--version"]) for name in ("xelatex", "pdftocairo")]
    parts = [RECORD.read_text(encoding="utf-8"), date(), *map(str, asdict(document).items())]
    cited = digest_of(["CITATION.cff"])
    return hashlib.sha256("\n".join([*parts, cited, *programs]).encode()).hexdigest()


def _make(document: Document, folder: Path) -> None:
    variables = {**os.environ, **document.save(PRINT / f"{document.name}.json")}
    variables["SOURCE_DATE_EPOCH"] = date()
    if document.edition == "accessible":
        _write(folder, "html", variables)
        _tag(folder, variables)
    else:
        _write(folder, "latex", variables)
        run_latex(folder, document.name)


def _write(folder: Path, builder: str, variables: dict[str, str]) -> None:
    """Let Sphinx write a document into `folder`, as LaTeX or as pages."""
    # Under the name that it was built in, because pages hold their figures' paths.
    shutil.rmtree(NEXT, ignore_errors=True)
    shutil.copytree(STATE, NEXT)
    shutil.rmtree(NEXT / "_build" / "html")  # so that every page is written
    log = PRINT / f"{folder.name}-sphinx.log"
    run_logged(jupyter_book(builder), log, folder.name, variables)
    (NEXT / "_build" / builder).rename(folder)
    shutil.rmtree(NEXT)


def _tag(folder: Path, variables: dict[str, str]) -> None:
    """Make a tagged PDF of the pages in `folder`, under the folder's name."""
    script = Path(__file__).parent / "accessible" / "edition.py"
    command = [sys.executable, str(script), str(folder)]
    variables = {**variables, "PYTHONPATH": str(EXTENSIONS)}
    log = folder / "weasyprint.log"
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(
            command, cwd=folder, env=variables, stdout=file, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode != 0:
        last = log.read_text(encoding="utf-8").strip().splitlines()[-1:]
        fail(f"{folder.name}.pdf was not made: {' '.join(last)}; the whole log is in {log}")


def run_latex(folder: Path, name: str) -> None:
    """Make NAME.pdf of NAME.tex in a folder, or end by saying what LaTeX said."""
    command = ["latexmk", "-xelatex", "-interaction=nonstopmode", "-halt-on-error"]
    command += ["-file-line-error", f"{name}.tex"]
    variables = {
        **os.environ,
        "SOURCE_DATE_EPOCH": date(),
        "FORCE_SOURCE_DATE": "1",
        "max_print_line": "1000",  # no message is broken into lines
    }
    with (folder / "latexmk.log").open("w", encoding="utf-8") as file:
        done = subprocess.run(
            command, cwd=folder, env=variables, stdout=file, stderr=subprocess.STDOUT, check=False
        )
    log = folder / f"{name}.log"
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    if done.returncode != 0:
        fail(f"{_what_latex_said(folder, name, text)}; the whole log is in {log.relative_to(ROOT)}")
    flaw = FLAWS.search(text)
    if flaw:
        fail(f"{name}.pdf is flawed: {flaw.group(1)}; the whole log is in {log.relative_to(ROOT)}")


def date() -> str:
    """Return the second that a PDF is dated by, so that the same inputs give the same bytes."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return given or _output(["git", "log", "-1", "--format=%ct"]) or str(NO_DATE)


def _output(command: list[str]) -> str:
    """Return what a command prints, or nothing if it fails or does not exist."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _what_latex_said(folder: Path, name: str, log: str) -> str:
    """Return LaTeX's first error, with the line of the chapter that it comes from."""
    error = re.search(rf"^(?:\./)?{re.escape(name)}\.tex:(\d+): (.*)$", log, re.MULTILINE)
    if error is None:
        return f"LaTeX could not make {name}.pdf"
    line, message = int(error.group(1)), error.group(2).rstrip(".")
    culprit = re.search(r"(\\\w+)\s*$", log[error.end() :].strip().partition("\n")[0])
    if message.startswith("Undefined control sequence") and culprit:
        message += f" {culprit.group(1)}"
    source = (folder / f"{name}.tex").read_text(encoding="utf-8").splitlines()
    return f"{_chapter_line(source[:line])}LaTeX says: {message}"


def _chapter_line(before: list[str]) -> str:
    """Return the last place in a chapter that LaTeX's source names, as file and line."""
    for text in reversed(before):
        place = re.search(r"%PLACE (.*):(\d+)$", text)
        if place:
            path = Path(place.group(1))
            shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            return f"{shown}:{place.group(2)}: "
    return ""


def publish(pdf: Path, folder: Path, name: str = "") -> Path:
    """Put a finished PDF into a folder, in one step: no reader ever opens half a file.

    It keeps its name, unless another one is given.
    """
    target = folder / f"{name or pdf.stem}{pdf.suffix}"
    waiting = folder / f".{target.name}.new"
    shutil.copy(pdf, waiting)
    waiting.replace(target)
    return target
