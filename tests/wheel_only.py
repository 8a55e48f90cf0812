"""The wheel, and a Python environment with the wheel and NumPy alone."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from byhand.digests import ROOT


def run(*command, cwd):
    """Run a command without PYTHONPATH, and fail with its whole output."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """Build the wheel from this working tree, without network access."""
    folder = tmp_path_factory.mktemp("wheel")
    code = "import sys; from flit_core.buildapi import build_wheel; build_wheel(sys.argv[1])"
    run(sys.executable, "-c", code, folder, cwd=ROOT)
    (path,) = folder.iterdir()
    return path


NUMPY = ("numpy", "numpy.libs")  # the second on Linux alone
MATPLOTLIB = (
    *("matplotlib", "mpl_toolkits", "contourpy", "cycler", "dateutil", "fontTools", "kiwisolver"),
    *("packaging", "PIL", "pillow.libs", "pyparsing", "six.py"),
)


@pytest.fixture(scope="session")
def wheel_only(wheel, tmp_path_factory):
    """Install the wheel in an environment with NumPy alone, and return its Python."""
    return _python(wheel, tmp_path_factory.mktemp("empty"), NUMPY)


@pytest.fixture(scope="session")
def wheel_with_plots(wheel, tmp_path_factory):
    """Install the wheel with the packages for plotting, `mha[plots]`."""
    return _python(wheel, tmp_path_factory.mktemp("plots"), (*NUMPY, *MATPLOTLIB))


def _python(wheel, folder, others):
    """Return a Python that has the wheel, and some packages of the current environment."""
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    site = next((folder / "venv").glob("lib/python*/site-packages"))
    zipfile.ZipFile(wheel).extractall(site)
    (folder / "others").mkdir()
    installed = Path(np.__file__).parents[1]
    for name in others:
        if (installed / name).exists():
            (folder / "others" / name).symlink_to(installed / name)
    (site / "others.pth").write_text(f"{folder / 'others'}\n", encoding="utf-8")
    return folder / "venv" / "bin" / "python"
