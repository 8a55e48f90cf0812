"""Bundles of the pages' TypeScript, which the book and `mha` publish.

Deno runs `bundle.ts`. The packages that it needs, Rollup and esbuild, are pinned with their hashes
in `deno.lock` and fetched once. A new result replaces the last one only when it is complete, so an
error in a module leaves the scripts unchanged.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from environment import ROOT, step

WIDGETS = ROOT / "mha" / "widgets"
PUBLISHED = WIDGETS / "published"
MADE_FROM = ("mha/widgets/src", "mha/widgets/static", "scripts/bundle.ts", "deno.json", "deno.lock")
STAMP = "made-from"


class BundlingError(Exception):
    """Raised if a module cannot be bundled; the message has file, line and cause."""


def update() -> bool:
    """Bundle the scripts if their sources have changed, and return whether they had.

    Raises
    ------
    BundlingError
        If a module cannot be bundled; the last bundles stay.
    """
    with (ROOT / "scripts" / "bundle.ts").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two commands may begin at once
        wanted, stamp = digest_of_sources(), PUBLISHED / STAMP
        if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
            return False
        with (
            step("Bundling the scripts of the pages"),
            tempfile.TemporaryDirectory(prefix="bundles-", dir=WIDGETS) as folder,
        ):
            made = Path(folder) / "published"
            made.mkdir()
            run_deno("install", "--frozen")
            run_deno("run", "--allow-all", "--cached-only", "scripts/bundle.ts", str(made))
            (made / STAMP).write_text(wanted, encoding="utf-8")
            shutil.rmtree(PUBLISHED, ignore_errors=True)
            made.rename(PUBLISHED)
    return True


def digest_of_sources() -> str:
    """Return a digest of all inputs of the bundles."""
    digest = hashlib.sha256()
    for name in MADE_FROM:
        path = ROOT / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                digest.update(f"{file.relative_to(ROOT).as_posix()}\0".encode())
                digest.update(file.read_bytes() + b"\0")
    return digest.hexdigest()


def run_deno(*arguments: str) -> None:
    """Run Deno with the locked packages.

    Raises
    ------
    BundlingError
        If it fails; the message is the last line that it printed: file, line and cause.
    """
    deno = Path(sys.executable).with_name("deno")
    done = subprocess.run(
        [deno, *arguments],
        cwd=ROOT,
        env=os.environ | {"DENO_DIR": str(Path(sys.prefix) / "deno"), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BundlingError(
            (done.stderr.strip() or "deno failed without a message").splitlines()[-1]
        )
