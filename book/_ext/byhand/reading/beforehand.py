"""What many pages need and what takes its time: it is there before the first page is forked."""

from contextlib import suppress
from importlib import import_module

from mha.audit.judging import judgements
from mha.audit.sources import source_names

MODULES = (
    "byhand.reading.running",
    "mha.chapters",
    "matplotlib.figure",
    "matplotlib.backends.backend_svg",
)

for module in MODULES:
    import_module(module)
for source in source_names():
    with suppress(ValueError):  # the page that needs it tells what is wrong
        judgements(source)
