"""Set formulas with LaTeX, each as a small vector drawing that can stand in a line of text."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

BORDER = 1  # points around a formula, for what sticks out of its box
HEAD = r"""\documentclass[10pt]{article}
\usepackage{amsmath}
\usepackage{unicode-math}
\setmainfont{FreeSerif}[Extension=.otf]
\setmathfont{texgyretermes-math.otf}
\newwrite\sizes
\newcommand{\formula}[1]{\setbox0\hbox{#1}%
  \immediate\write\sizes{\the\wd0 \the\ht0 \the\dp0}%
  \pdfpagewidth=\dimexpr\wd0+2pt\relax
  \pdfpageheight=\dimexpr\ht0+\dp0+2pt\relax
  \hoffset=\dimexpr1pt-1in\relax \voffset=\dimexpr1pt-1in\relax
  \shipout\box0 }
\begin{document}
\immediate\openout\sizes=\jobname.sizes
"""


@dataclass(frozen=True)
class Drawing:
    """A formula as SVG, and how far it reaches below the line, all in points."""

    svg: str
    width: float
    height: float
    depth: float


def draw(formulas: list[tuple[str, bool]], folder: Path) -> list[Drawing]:
    """Return a drawing of each formula, given as TeX and whether it is displayed.

    Raises
    ------
    subprocess.CalledProcessError
        If LaTeX does not accept a formula.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        rf"\formula{{$\displaystyle {tex}$}}" if is_display else rf"\formula{{${tex}$}}"
        for tex, is_display in formulas
    ]
    source = HEAD + "\n".join(lines) + "\n\\immediate\\closeout\\sizes\n\\end{document}\n"
    (folder / "formulas.tex").write_text(source, encoding="utf-8")
    command = ["xelatex", "-interaction=batchmode", "-halt-on-error", "formulas.tex"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    sizes = (folder / "formulas.sizes").read_text(encoding="utf-8").splitlines()
    return [_drawing(folder, page, line) for page, line in enumerate(sizes, 1)]


def _drawing(folder: Path, page: int, sizes: str) -> Drawing:
    width, height, depth = (float(x) for x in re.findall(r"(-?[\d.]+)pt", sizes))
    target = folder / f"{page}.svg"
    command = ["pdftocairo", "-svg", "-f", str(page), "-l", str(page), "formulas.pdf", target.name]
    subprocess.run(command, cwd=folder, check=True)
    return Drawing(
        svg=target.read_text(encoding="utf-8"),
        width=width + 2 * BORDER,
        height=height + depth + 2 * BORDER,
        depth=depth + BORDER,
    )
