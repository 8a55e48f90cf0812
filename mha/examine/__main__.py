"""Examine a function by its name: ``python -m mha.examine package.module:function``.

The exit status is 0 where the function is right, 1 where something is wrong, and 2 where it cannot
be examined.
"""

import importlib
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mha.command_line import Parser
from mha.examine import examine, examine_decoding, examine_layer, examine_positions

KINDS: dict[str, Callable[..., Any]] = {
    "attention": examine,
    "layer": examine_layer,
    "decoding": examine_decoding,
    "rotary-decoding": partial(examine_decoding, rotary=True),
    "positions": examine_positions,
    "positions-in-halves": partial(examine_positions, layout="halves"),
}
"""The function that examines each kind of function."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the report on a function, and exit with 0 if it is right, else 1.

    Parameters
    ----------
    arguments : sequence of str, default those of the command line

    Raises
    ------
    SystemExit
        Always.
    """
    parser = Parser(
        prog="python -m mha.examine",
        description="Say whether a function computes attention, and if not, which bug it has.",
    )
    parser.add_argument("function", help="package.module:function, or package.module.function")
    parser.add_argument("--as", dest="kind", choices=KINDS, default="attention",
                        help="the kind of function; default: %(default)s")  # fmt: skip
    parser.add_argument("--asarray", metavar="MODULE:FUNCTION",
                        help="converter of NumPy arrays, such as torch:tensor")  # fmt: skip
    parser.add_argument("--strict", action="store_true",
                        help="require zeros for a fully masked row")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--save", metavar="FILE", help="write the report as JSON, to report.json")
    options = parser.parse_args(arguments)
    function = import_by_name(parser, options.function)
    asarray = import_by_name(parser, options.asarray) if options.asarray else None
    try:
        report = KINDS[options.kind](function, asarray=asarray, strict=options.strict)
    except (TypeError, ValueError) as error:
        parser.error(str(error))
    if options.save:
        report.save(options.save)
    data = json.dumps(report.as_data(), indent=1, ensure_ascii=False)
    print(data if options.json else report)
    sys.exit(0 if report.ok else 1)


def import_by_name(parser: Parser, name: str) -> Any:
    """Import ``package.module:function`` or a dotted path, or exit with one sentence."""
    module, _, path = name.partition(":") if ":" in name else name.rpartition(".")
    if not module or not path:
        parser.error(f"{name!r} names no function; write package.module:function")
    sys.path.insert(0, "")  # also a module in this folder, however the command was started
    try:
        imported = importlib.import_module(module)
        for part in path.split("."):
            imported = getattr(imported, part)
    except Exception as error:
        parser.error(f"{name} cannot be imported ({type(error).__name__}: {error})")
    return imported


if __name__ == "__main__":
    main()
