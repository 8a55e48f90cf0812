"""The workflows of the host: what they start exists, and what they use has a version."""

import re
import shlex

import pytest
import yaml
from book_site import ROOT

FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))
KNOWN = {"name", "on", "permissions", "concurrency", "jobs"}
OF_A_JOB = {
    "runs-on", "container", "timeout-minutes", "steps", "needs", "permissions", "environment"
}  # fmt: skip
OF_A_STEP = {"name", "id", "uses", "with", "run", "env"}


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def workflow(request):
    return yaml.load(request.param.read_text(encoding="utf-8"), yaml.BaseLoader)


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_there_is_one_for_each_occasion():
    assert [file.stem for file in FILES] == ["preview", "publish", "release", "test"]


def test_it_has_the_parts_that_the_host_knows(workflow):
    assert KNOWN - {"concurrency"} <= set(workflow) <= KNOWN
    for job in workflow["jobs"].values():
        assert {"runs-on", "timeout-minutes", "steps"} <= set(job) <= OF_A_JOB
        assert set(job.get("needs", "").split()) <= set(workflow["jobs"])
    for step in steps(workflow):
        assert set(step) <= OF_A_STEP
        assert ("uses" in step) != ("run" in step)
        assert "with" not in step or "uses" in step


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


def test_what_is_kept_or_published_is_what_the_commands_write(workflow):
    for step in steps(workflow):
        if step.get("uses", "").startswith("actions/upload"):
            for path in step["with"]["path"].split():
                assert path in (
                    "_build/html",
                    "_build/pdf/*.pdf",
                    "_build/epub/*.epub",
                    "_build/wheel/*.whl",
                    "_build/bill/*.json",
                )
