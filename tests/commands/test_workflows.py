"""The workflows of the host: what they start exists, and what they use has a version."""

import re
import shlex

import building
import pytest
import yaml
from book_site import ROOT

FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_workflow_uses_what_has_a_version_starts_what_exists_and_hides_no_failure(file):
    workflow = yaml.load(file.read_text(encoding="utf-8"), yaml.BaseLoader)
    assert workflow["permissions"] == {"contents": "read"}
    jobs = workflow["jobs"].values()
    for job in jobs:
        assert re.search(r"\d$", job["runs-on"])
        assert re.fullmatch(r"debian:\d+", job.get("container", "debian:12"))
        # Where something may be written, nothing of the project runs.
        assert "permissions" not in job or "container" not in job
    steps = [step for job in jobs for step in job["steps"]]
    assert any("run" in step or "deploy" in step["uses"] for step in steps)
    for step in steps:
        uses, command = step.get("uses", "actions/a@v1"), step.get("run", "")
        assert re.fullmatch(r"actions/[a-z-]+@v\d+(\.\d+)*", uses)  # the host's own
        assert "||" not in command
        assert "${{" not in command  # a title or branch of a stranger could be a command
        words = shlex.split(command)
        if words[:2] == ["python3", "scripts/build.py"]:
            building._parser().parse_args(words[2:])
        elif words[:1] == ["python3"]:
            assert words[1:] == ["scripts/test.py"]
