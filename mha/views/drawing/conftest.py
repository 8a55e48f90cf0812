"""For pytest: the examples of `plots` are omitted where matplotlib is not installed."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("matplotlib") else ["plots.py"]
