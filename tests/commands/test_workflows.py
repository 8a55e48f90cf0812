"""The workflows of the host: what they start exists, and what they use has a version."""

import re
import shlex

import pytest
import yaml
from book_site import ROOT

FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def workflow(request):
    return yaml.load(request.param.read_text(encoding="utf-8"), yaml.BaseLoader)


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_what_it_uses_has_a_version_and_is_the_hosts_own(workflow):
    for step in steps(workflow):
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+(\.\d+)*", step["uses"])
    for job in workflow["jobs"].values():
        assert re.search(r"\d$", job["runs-on"])
        assert re.fullmatch(r"debian:\d+", job.get("container", "debian:12"))


def test_it_may_read_and_says_where_it_may_write(workflow):
    assert workflow["permissions"] == {"contents": "read"}
    writing = [job for job in workflow["jobs"].values() if "permissions" in job]
    assert all("container" not in job for job in writing)  # nothing of the project runs there


def test_its_commands_exist_and_hide_no_failure(workflow):
    from building import _parser

    assert any("run" in step or "deploy" in step["uses"] for step in steps(workflow))
    for step in steps(workflow):
        command = step.get("run", "")
        assert "||" not in command
        assert "${{" not in command  # a title or branch of a stranger could be a command
        words = shlex.split(command)
        if words[:1] == ["python3"]:
            assert (ROOT / words[1]).is_file()
            if words[1] == "scripts/build.py":
                _parser().parse_args(words[2:])
            else:
                assert words[1:] == ["scripts/test.py"]
