"""The command ``python -m mha.audit``, which prints a summary of the audit.

``python -m mha.audit --json FILE`` writes every verdict to a file.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from mha.audit.report import report, verdicts
from mha.audit.sources import TITLES, source_names
from mha.command_line import Parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the summary, and with ``--json`` write every verdict to a file.

    Parameters
    ----------
    arguments : sequence of str, default those of the command line
    """
    parser = Parser(
        prog="python -m mha.audit",
        description="Recompute every number that the source documents derive, and judge it.",
    )
    parser.add_argument(
        "source",
        nargs="*",
        help=f"a document, by default each of: {', '.join(TITLES)}",
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every verdict to FILE")
    options = parser.parse_args(arguments)
    for source in options.source:
        if source not in TITLES:
            parser.error(f"source is {source!r}; one of {', '.join(TITLES)} is wanted")
    sources = options.source or source_names()
    try:
        lines = list(report(sources))
        data = verdicts(sources) if options.json else []
    except ValueError as error:  # a data file or an example is not valid
        parser.error(str(error))
    if options.json:
        try:
            options.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            parser.error(f"{options.json} cannot be written ({error.strerror}); a file is wanted")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
