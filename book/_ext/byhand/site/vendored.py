"""The list of what this project carries of others, `vendored.toml`."""

import tomllib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
LIST = Path(__file__).with_name("vendored.toml")


@dataclass(frozen=True)
class VendoredFile:
    """A file of others that stands in this project.

    Parameters
    ----------
    name, version : str
    path, text : str
        Where it is, and where its licence is.
    source, use : str
        From what it was made, and what for.
    licence : str
        Its SPDX identifier.
    copyright : str
        Years and holder.
    sha256 : str
    """

    name: str
    version: str
    path: str
    text: str
    source: str
    use: str
    licence: str
    copyright: str
    sha256: str


@dataclass(frozen=True)
class CarriedPackage:
    """A package of the lock of which the site has files.

    Parameters
    ----------
    name, version : str
    gives : str
        What the site has of it.
    licence : str
        Its SPDX identifier.
    """

    name: str
    version: str
    gives: str
    licence: str


def vendored_files() -> list[VendoredFile]:
    """Return the files in the order of the list."""
    files = tomllib.loads(LIST.read_text(encoding="utf-8"))["file"]
    return [VendoredFile(source=file.pop("from"), **file) for file in files]


def carried_packages() -> list[CarriedPackage]:
    """Return the packages in the order of the list, with the versions that are installed."""
    packages = tomllib.loads(LIST.read_text(encoding="utf-8"))["package"]
    return [CarriedPackage(version=version(one["name"]), **one) for one in packages]
