"""What WeasyPrint leaves out of a tagged PDF: what a heading cell heads, and where each is found.

It calls `finish` with the objects of the PDF, before they are written.
"""

from collections.abc import Iterator
from typing import Any

import pydyf


def finish(document: Any, pdf: pydyf.PDF, *, front: int) -> None:
    """Complete the tags, and give the first `front` pages Roman numbers."""
    scope_headings(pdf)
    add_id_tree(pdf)
    first, text = pydyf.Dictionary({"S": "/r"}), pydyf.Dictionary({"S": "/D"})
    labels = pydyf.Dictionary({"Nums": pydyf.Array([0, first, front, text])})
    pdf.catalog["PageLabels"] = labels


def elements(pdf: pydyf.PDF, kind: str) -> Iterator[Any]:
    """Yield the elements of one kind in the structure of a PDF."""
    for found in pdf.objects:
        if isinstance(found, pydyf.Dictionary) and found.get("S") == kind:
            yield found


def scope_headings(pdf: pydyf.PDF) -> None:
    """Say of each heading cell whether it heads its column or its row."""
    by_reference = {found.reference: found for found in pdf.objects}
    for cell in elements(pdf, "/TH"):
        row = by_reference[cell["P"]]
        is_above = by_reference[row["P"]]["S"] == "/THead"
        cell["A"]["Scope"] = "/Column" if is_above else "/Row"


def add_id_tree(pdf: pydyf.PDF) -> None:
    """List the heading cells by the names by which other cells refer to them."""
    named = {cell["ID"].data: cell for cell in elements(pdf, "/TH") if "ID" in cell}
    names = pydyf.Array()
    for cell in sorted(named.values(), key=lambda cell: str(cell["ID"].string)):
        names.extend((cell["ID"], cell.reference))
    tree = pydyf.Dictionary({"Names": names})
    pdf.add_object(tree)
    root = next(o for o in pdf.objects if is_root(o))
    root["IDTree"] = tree.reference


def is_root(found: object) -> bool:
    """Tell whether an object is the root of the structure."""
    return isinstance(found, pydyf.Dictionary) and found.get("Type") == "/StructTreeRoot"
