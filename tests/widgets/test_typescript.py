"""The unit tests of the TypeScript modules, which need no browser, run with the others."""

import os
import re
import subprocess
import sys
from pathlib import Path

from book_site import ROOT


def test_the_modules_hold_their_promises_without_a_browser():
    done = subprocess.run(
        [Path(sys.executable).with_name("deno"), "test", "--no-check", "tests/typescript"],
        cwd=ROOT,
        env=os.environ | {"DENO_DIR": str(Path(sys.prefix) / "deno"), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 27
