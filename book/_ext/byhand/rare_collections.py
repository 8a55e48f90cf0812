"""Have Python look for lost objects rarely while a book is built.

What a build makes, it needs to the end: to look through all of it again and again, and once more
when Python ends, takes two fifths of the time of a build that executes nothing.
"""

import gc

from sphinx.application import Sphinx

NEW_OBJECTS = 200_000  # after so many Python looks; 700 if nobody says otherwise
TIMES = 20  # after so many looks at new objects, it looks at older ones too


def setup(app: Sphinx) -> dict[str, bool]:
    """Leave what stands already alone, and at the end everything."""
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, TIMES, TIMES)
    app.connect("build-finished", leave_everything, priority=999)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def leave_everything(app: Sphinx, exception: Exception | None) -> None:
    """Let the process end without a last look."""
    gc.freeze()
