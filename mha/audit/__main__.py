"""The audit of the source documents, on the command line.

``python -m mha.audit`` prints a summary, ``python -m mha.audit --json FILE`` writes every verdict.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from mha.audit.report import report, verdicts
from mha.audit.sources import TITLES, source_names
from mha.command_line import Parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the audit, or write it to a file.

    Parameters
    ----------
    arguments : sequence of str, default those of the command line
    """
    parser = Parser(
        prog="python -m mha.audit",
        description="Recompute and judge every derived number of the source documents.",
    )
    parser.add_argument("source", nargs="*", help=f"any of {', '.join(TITLES)}; all by default")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every verdict to FILE")
    options = parser.parse_args(arguments)
    for source in options.source:
        if source not in TITLES:
            parser.error(f"source is {source!r}; one of {', '.join(TITLES)} is wanted")
    sources = options.source or source_names()
    try:
        lines = list(report(sources))
        data = verdicts(sources) if options.json else []
    except ValueError as error:  # a file of numbers or of an example is not as it should be
        parser.error(str(error))
    if options.json:
        try:
            options.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            parser.error(f"{options.json} cannot be written ({error.strerror}); a file is wanted")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
