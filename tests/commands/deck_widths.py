"""Text measurements of a deck in DejaVu's fonts, the widest that replace PowerPoint's.

Pillow measures with the fonts of matplotlib, so no LibreOffice is needed.
"""

from functools import cache
from pathlib import Path

import matplotlib
from PIL import ImageFont

FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
FAMILIES = {
    "Arial": "DejaVuSans",
    "Times New Roman": "DejaVuSerif",
    "Courier New": "DejaVuSansMono",
}
POINT = 12700  # EMU per point
LINE = 1.1641  # the height of a line of DejaVu Sans, as a share of the font size


@cache
def _font(name):
    return ImageFont.truetype(str(FONTS / f"{name}.ttf"), 1000)


def run_width(run, text):
    """Return the width in points of a text in the font and size of a run."""
    size = run.font.size.pt * (0.66 if run._r.get_or_add_rPr().get("baseline") else 1)
    name = FAMILIES[run.font.name] + "-Bold" * bool(run.font.bold)
    return _font(name).getlength(text) * size / 1000


def paragraph_width(paragraph):
    """Return the width in points of a paragraph on one line."""
    return sum(run_width(run, run.text.replace("\t", "")) for run in paragraph.runs)


def count_lines(paragraph, room):
    """Return the number of lines of a paragraph, and the width of its widest word."""
    count, used, word, widest = 1, 0.0, 0.0, 0.0
    for run in paragraph.runs:
        for i, part in enumerate(run.text.split(" ")):
            if i:
                used, word = used + word + run_width(run, " "), 0.0
            word += run_width(run, part)
            widest = max(widest, word)
            if used and used + word > room:
                count, used = count + 1, 0.0
    return count, widest


def measure_frame(frame, room):
    """Return the height of the text in a frame, and the width of its widest word."""
    high, widest = 0.0, 0.0
    for paragraph in frame.paragraphs:
        size = max((run.font.size.pt for run in paragraph.runs), default=0)
        indent = int(paragraph._p.get_or_add_pPr().get("marL", 0)) / POINT
        count, word = count_lines(paragraph, room - indent)
        spacing = paragraph.line_spacing or 1
        of_line = size * LINE * spacing if spacing < 2 else spacing.pt
        high += count * of_line + (paragraph.space_before.pt if paragraph.space_before else 0)
        widest = max(widest, word + indent)
    return high, widest


def faults(slide):
    """Yield a sentence for each text of a slide that is cut off or overlaps another part."""
    shapes = [s for s in slide.shapes if s.has_text_frame or getattr(s, "has_table", False)]
    for shape in shapes:
        if getattr(shape, "has_table", False):
            yield from _of_table(shape)
            continue
        frame, room = shape.text_frame, shape.width / POINT
        high, widest = measure_frame(frame, room if frame.word_wrap else 1e9)
        if not frame.word_wrap:  # lines of arithmetic: a label, a tab, the line
            tabs = [max(map(int, p._p.xpath(".//a:tab/@pos")), default=0) / POINT for p in
                    frame.paragraphs]  # fmt: skip
            widest = max(
                tab + (sum(run_width(r, r.text) for r in p.runs if
                       str(r.font.color.rgb) == "1C1B19") if tab else paragraph_width(p))
                for p, tab in zip(frame.paragraphs, tabs, strict=True)
            )  # fmt: skip
        if widest > room:
            yield f"{frame.text[:40]!r} is {widest:.0f} points wide in a room of {room:.0f}"
        left, top, right = (x / POINT for x in (shape.left, shape.top, shape.left + shape.width))
        if left < 50 or right > 910:
            yield f"{frame.text[:40]!r} leaves the slide"
        below = min(
            (s.top / POINT for s in slide.shapes if s is not shape and s.top / POINT > top
             and s.left < shape.left + shape.width and s.left + s.width > shape.left),
            default=540,
        )  # fmt: skip
        if top + high > below + 1:
            yield f"{frame.text[:40]!r} ends at {top + high:.0f}, the next begins at {below:.0f}"


def _of_table(shape):
    table = shape.table
    down = shape.top / POINT
    for i, row in enumerate(table.rows):
        high = row.height / POINT
        down += high
        for j, cell in enumerate(row.cells):
            if cell.is_spanned or not cell.text_frame.text:
                continue
            across = range(j, j + (cell.span_width if cell.is_merge_origin else 1))
            room = sum(table.columns[k].width for k in across) / POINT
            room -= (cell.margin_left + cell.margin_right) / POINT
            tall, widest = measure_frame(cell.text_frame, room)
            if widest > room or tall > high + 0.5:
                yield f"cell {i}, {j} of a table: {cell.text_frame.text!r} is not whole"
    if down > 506 or shape.left / POINT < 50 or (shape.left + shape.width) / POINT > 910:
        yield "a table leaves the slide"
