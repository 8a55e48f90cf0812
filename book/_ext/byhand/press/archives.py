"""Archives of files: the same bytes from the same files, whenever they are packed."""

from collections.abc import Container, Mapping
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

DATE = (2026, 1, 1, 0, 0, 0)


def packed(files: Mapping[str, bytes], *, as_is: Container[str] = ()) -> bytes:
    """Return files as an archive, in their order and with one date; some are not compressed."""
    made = BytesIO()
    with ZipFile(made, "w") as archive:
        for name, data in files.items():
            how = ZIP_STORED if name in as_is else ZIP_DEFLATED
            archive.writestr(ZipInfo(name, DATE), data, how)
    return made.getvalue()


def undated(archive: bytes) -> bytes:
    """Return an archive that another program has made, without its dates."""
    with ZipFile(BytesIO(archive)) as made:
        return packed({name: made.read(name) for name in made.namelist()})
