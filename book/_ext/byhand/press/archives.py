"""Zip archives with the same bytes for the same files, whenever they are made."""

from collections.abc import Container, Mapping
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

DATE = (2026, 1, 1, 0, 0, 0)


def pack(
    files: Mapping[str, bytes], *, as_is: Container[str] = (), programs: Container[str] = ()
) -> bytes:
    """Return an archive of files in their order with one date.

    The files of `as_is` are not compressed, and those of `programs` can be started.
    """
    made = BytesIO()
    with ZipFile(made, "w") as archive:
        for name, data in files.items():
            compression = ZIP_STORED if name in as_is else ZIP_DEFLATED
            info = ZipInfo(name, DATE)
            if name in programs:
                info.external_attr = 0o755 << 16
            archive.writestr(info, data, compression)
    return made.getvalue()


def without_dates(archive: bytes) -> bytes:
    """Return an archive by another program with its dates replaced."""
    with ZipFile(BytesIO(archive)) as made:
        return pack({name: made.read(name) for name in made.namelist()})
