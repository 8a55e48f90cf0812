"""The drawing of figures, by kind; `mha.views.figures` has the public names. Needs matplotlib."""

from importlib.util import find_spec

if find_spec("matplotlib") is None:
    raise ImportError('figures need matplotlib; install it with: pip install "mha[figures]"')
