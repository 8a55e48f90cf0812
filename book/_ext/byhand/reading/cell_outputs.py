"""What a cell may not give: errors in words, addresses, images without a text, scripts, a flood."""

import json
import re
from collections.abc import Iterator
from typing import Any

from byhand.checking.markup import ELSEWHERE
from byhand.site.policy import refused_in

LIMIT = 1_000_000  # characters of one cell's outputs, as they are kept
ADDRESS = re.compile(r"\bat (0x[0-9a-fA-F]{6,})")
IMAGES = ("image/png", "image/jpeg", "image/gif")
MARKUP = ("text/html", "text/markdown")
RICH = (*MARKUP, "text/latex", "image/svg+xml", *IMAGES)


def faults(outputs: list[dict[str, Any]], metadata: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the outputs of one cell, given as a notebook has them.

    Examples
    --------
    >>> list(faults([{"output_type": "stream", "name": "stderr", "text": "beware"}], {}))
    ['the cell writes to stderr: beware']
    """
    size = len(json.dumps(outputs))
    if size > LIMIT:
        yield f"the cell's output has {size:,} characters; at most {LIMIT:,} are wanted"
        return
    alternative = metadata.get("mystnb", {}).get("image", {}).get("alt")
    for output in outputs:
        data = output.get("data", {})
        if output.get("name") == "stderr":
            lines = output["text"].strip().splitlines() or [""]
            yield f"the cell writes to stderr: {lines[-1]}"
        elif address := ADDRESS.search(_seen(output)):
            yield (
                f"the cell shows an object's address, {address[1]}, which differs each time;"
                " show what the object holds"
            )
        marked = "\n".join(str(data.get(kind, "")) for kind in MARKUP)
        if refused := refused_in(marked):
            yield f"the cell shows {refused}; scripts go into book/_static"
        elif outside := ELSEWHERE.search(marked):
            yield (
                f"the cell shows {outside[1]}, which is loaded from elsewhere; keep a copy in the"
                " book's folder"
            )
        if any(kind in data for kind in IMAGES) and not alternative:
            yield (
                "the cell's image has no alternative text; say what is to be seen, as"
                " mystnb: image: alt: in its header"
            )


def _seen(output: dict[str, Any]) -> str:
    """Return the text that a reader sees of an output."""
    data = output.get("data", {})
    texts = [output.get("text", ""), data.get("text/html", ""), data.get("text/markdown", "")]
    if not any(kind in data for kind in RICH):
        texts.append(data.get("text/plain", ""))
    return "\n".join(map(str, texts))
