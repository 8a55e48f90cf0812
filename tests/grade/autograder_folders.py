"""Folders laid out as Gradescope documents them, and the submissions for both autograders."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hostile import KINDS, attempt
from student_submissions import CHEATS, WRONG, filled_notebook, notebook

from mha.grade.other_user import USERS

SET_UP = """\
import os
import numpy as np
folder, package = {folder!r}, {package!r}
secret, classmate = folder + '/submission/submission.ipynb', folder + '/source/run_autograder'
canary, port, unix = folder + '/results/results.json', 9, folder + '/u'
"""
"""A cell that tells a hostile notebook the paths of its targets."""

ALLOWED = {
    *("passwd", "pwd", "hostname", "proc-self-fd", "sys", "cgroup"),  # public, and no secret
    *("tempfile", "shared-memory"),  # a container's folders for temporary files
}
"""Attempts that succeed for another user of a container, as the teachers' page says."""


def open_python():
    """Return a Python of this version in folders that each user may open; skip if there is none."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    system = shutil.which(f"python{version}", path="/usr/local/bin:/usr/bin")
    for path in filter(None, (os.path.realpath(sys.executable), system)):
        if all(folder.stat().st_mode & 1 for folder in Path(os.path.realpath(path)).parents):
            return path
    pytest.skip(f"no Python {version} that another user may start")


class Autograder:
    """The folders that `setup.sh` leaves, without its downloads: NumPy is that of this Python."""

    def __init__(self, archive):
        self.top = Path(tempfile.mkdtemp(prefix="autograder-"))
        self.top.chmod(0o755)
        with zipfile.ZipFile(BytesIO(archive)) as files:
            files.extractall(self.top / "source")
        (wheel,) = (self.top / "source").glob("*.whl")
        with zipfile.ZipFile(wheel) as files:
            files.extractall(self.top / "source" / "package")
        command = [open_python(), "-m", "venv", "--without-pip", str(self.top / "python")]
        subprocess.run(command, check=True)
        (self.site,) = (self.top / "python").glob("lib/python*/site-packages")
        for found in Path(np.__file__).parents[1].glob("numpy*"):
            shutil.copytree(found, self.site / found.name)
        for path in (self.top / "source").rglob("*"):
            path.chmod(0o700)

    def delete(self):
        """Delete the folders, and what notebooks wrote into the system's folders."""
        shutil.rmtree(self.top)
        for path in (*Path(tempfile.gettempdir()).iterdir(), *Path("/dev/shm").iterdir()):
            if path.lstat().st_uid in USERS and path.is_file():
                path.unlink()

    def grade(self, submission, name):
        """Return what `run_autograder` writes for the text of a notebook, and its process."""
        folder = self.top / name
        for made in ("submission", "results"):
            (folder / made).mkdir(parents=True)
        for shared in ("source", "python"):
            (folder / shared).symlink_to(self.top / shared)
        (folder / "submission_metadata.json").write_text('{"users": []}', encoding="utf-8")
        if submission is not None:
            submission = submission.replace("FOLDER", str(folder))
            path = folder / "submission" / "submission.ipynb"
            path.write_text(submission, encoding="utf-8")
        (folder / "run_autograder").write_bytes(
            (self.top / "source" / "run_autograder").read_bytes()
        )
        command = ["bash", str(folder / "run_autograder")]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        results = folder / "results" / "results.json"
        found = json.loads(results.read_text(encoding="utf-8")) if results.exists() else None
        return found, ran

    def grade_all(self, submissions):
        """Return the results of many notebooks by name."""
        with ThreadPoolExecutor(2) as pool:
            done = pool.map(lambda item: self.grade(item[1], item[0])[0], submissions.items())
            return dict(zip(submissions, done, strict=True))


def wrong_notebooks():
    """Return each wrong step in a notebook of its own, by name."""
    return {name: filled_notebook(**{step: code}) for name, (step, code, _) in WRONG.items()}


def cheating_notebooks(package):
    """Return the cheating notebooks by name; `package` is the folder of `mha`."""
    return {
        name: notebook(*(cell.replace("{package}", package) for cell in cells))
        for name, cells in CHEATS.items()
    }


def hostile_notebooks(package):
    """Return a notebook of attempts for each kind, by name."""
    first = SET_UP.format(folder="FOLDER", package=package)
    return {
        f"hostile-{kind}": notebook(first, *map(attempt, bodies.values()))
        for kind, bodies in KINDS.items()
    }
