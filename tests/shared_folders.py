"""Folders that several test processes share. The first process that needs one fills it."""

import fcntl
import os


def fill_shared_folder(tmp_path_factory, name, make):
    """Return a folder that `make` has filled, the same for all processes of a test run."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, begun = shared / name, shared / f"{name}-begun"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            begun.mkdir(exist_ok=True)
            make(begun)
            begun.rename(folder)
    return folder
