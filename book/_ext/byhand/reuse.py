"""Reuse of what the last build computed from texts that have not changed."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")  # as JSON has it


def compute_changed(
    file: Path, texts: Mapping[str, str], compute: Callable[[str], Result]
) -> dict[str, Result]:
    """Return `compute(text)` for each text, taken from the last build if it had the same text.

    A result must depend on nothing but the text and the program. The results are kept in a file
    beside Sphinx's parsed pages, which a build discards if anything but pages has changed, or if a
    file is damaged.
    """
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        known = {}
    digests = {key: hashlib.sha256(text.encode()).hexdigest() for key, text in texts.items()}
    found = {
        key: known[digest] if (digest := digests[key]) in known else compute(text)
        for key, text in texts.items()
    }
    kept = {digests[key]: result for key, result in found.items()}
    file.write_text(json.dumps(kept), encoding="utf-8")
    return found
