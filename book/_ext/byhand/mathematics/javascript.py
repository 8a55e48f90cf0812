"""JavaScript in this process: V8, as the package mini-racer brings it."""

import atexit

from py_mini_racer import MiniRacer


def engine(*scripts: str) -> MiniRacer:
    """Return an engine that has run scripts.

    It is closed when Python ends: one that is left to the garbage collection, which comes after
    the threads have gone, waits for its own thread, now and then for ever.

    Examples
    --------
    >>> engine("var one = 1;", "function more(n) { return n + one; }").call("more", 2)
    3
    """
    made = MiniRacer()
    atexit.register(made.close)
    for script in scripts:
        made.eval(script)
    return made
