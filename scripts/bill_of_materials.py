"""Write the bill of materials of a release, in CycloneDX's JSON: the lock, and the vendored files.

Run in the project's environment, with the file to write as its only argument. It says what the
environment of the build has, by name, version and hash, and has no date: the same lock, the same
bytes.
"""

import json
import sys
from pathlib import Path
from typing import Any

from environment import EXTENSIONS

sys.path.insert(0, str(EXTENSIONS))

import mha
from byhand.outside.vendored import Pinned, VendoredFile, pinned, vendored_files


def main() -> None:
    """Write the bill to the file that is named."""
    if len(sys.argv) != 2:
        sys.exit("usage: bill_of_materials.py FILE")
    file = Path(sys.argv[1])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(bill(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def bill() -> dict[str, Any]:
    """Return the bill: what each component is, and how its files are known."""
    book = {"type": "application", "name": "attention-by-hand", "version": mha.__version__}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": book},
        "components": [
            *(of_package(package) for package in pinned()),
            *(of_file(file) for file in vendored_files()),
        ],
    }


def of_package(package: Pinned) -> dict[str, Any]:
    """Return the component of a package that the lock pins."""
    return {
        "type": "library",
        "name": package.name,
        "version": package.version,
        "purl": f"pkg:pypi/{package.name}@{package.version}",
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in package.hashes],
    }


def of_file(file: VendoredFile) -> dict[str, Any]:
    """Return the component of a vendored file."""
    return {
        "type": "file",
        "name": file.path,
        "version": file.version,
        "description": f"{file.name}: {file.source}",
        "copyright": f"© {file.copyright}",
        "licenses": [{"license": {"id": file.licence}}],
        "hashes": [{"alg": "SHA-256", "content": file.sha256}],
    }


if __name__ == "__main__":
    main()
