"""Python programs run in forks of one process, which has imported what builds of a book need.

Of a small book's build two thirds go into importing Sphinx, Jupyter and what sets PDFs, each time
anew. Here this is done once for a whole run of tests. Nothing of the project is imported before the
fork, so that every program runs the `mha`, the scripts and the Sphinx package of its own folder; it
has its own environment and output, and ends as a process does. Where it starts `jupyter-book`, that
is one more fork of the process that has imported nothing of the project.
"""

import atexit
import gc
import importlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import types
from contextlib import suppress
from functools import cache
from pathlib import Path

IMPORTED = (
    *("IPython.display", "bs4", "fontTools.varLib.instancer", "jinja2"),
    *("jupyter_book.cli.main", "jupyter_book.sphinx", "jupytext", "myst_nb.sphinx_ext"),
    *("nbclient", "nbformat", "numpy", "pybtex.database.input.bibtex", "sphinx_book_theme"),
    *("sphinx_comments", "sphinx_copybutton", "sphinx_design.extension", "sphinx_exercise"),
    *("sphinx_external_toc", "sphinx_togglebutton", "sphinxcontrib.bibtex", "typst"),
)
SPHINX = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"


def run(code, *arguments, cwd, env, fresh=False):
    """Run a program as `python -c` does, and return the finished process with what it said.

    Where it is to be `fresh`, or its environment changes what Python is as it starts, it gets a
    Python that starts with it.
    """
    if fresh or "PYTHONOPTIMIZE" in env:
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=cwd,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
    with tempfile.TemporaryDirectory() as folder:
        said = [Path(folder, name) for name in ("stdout", "stderr")]
        task = {"code": code, "argv": ["-c", *arguments], "path": "", "cwd": str(cwd), "env": env}
        done = _ask(_server(), task | {"said": list(map(str, said))})
        texts = [path.read_text(encoding="utf-8") for path in said]
    return subprocess.CompletedProcess(task["argv"], done, *texts)


@cache
def _server():
    """Start the process that has imported everything; return where it listens."""
    folder = tempfile.TemporaryDirectory(prefix="warm-")
    address = f"{folder.name}/socket"
    # With the seed that the build of a book gives Sphinx, and no package of anyone's own.
    variables = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": ""}
    variables["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads cannot be forked safely
    process = subprocess.Popen(
        [sys.executable, __file__, address],
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"ready\n"

    def end():
        process.communicate()  # it ends with its input
        folder.cleanup()

    atexit.register(end)
    return address


def _ask(address, task):
    """Have a task done, and return its exit code."""
    with socket.socket(socket.AF_UNIX) as connection, connection.makefile("rw") as lines:
        connection.connect(address)
        lines.write(json.dumps(task) + "\n")
        lines.flush()
        return json.loads(lines.readline())


# ---- In the process that has imported everything ----


def _serve(address):
    from sphinx.application import builtin_extensions

    for name in (*builtin_extensions, *IMPORTED):
        importlib.import_module(name)
    gc.freeze()  # looking through all that was imported would copy it into every fork
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(address, connection)
            connection.close()
            with suppress(ChildProcessError):  # there is none any more
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _answer(address, connection):
    """Do a task in a fork of its own, tell its exit code, and end."""
    with connection.makefile("rw") as lines:
        task = json.loads(lines.readline())
        child = os.fork()
        if child == 0:
            _begin(address, **task)
            sys.exit()
        _, status = os.waitpid(child, 0)
        lines.write(json.dumps(os.waitstatus_to_exitcode(status)) + "\n")
    os._exit(0)


def _begin(address, code, argv, path, cwd, env, said):
    """Become the program that a task asks for."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for stream, file in enumerate([os.devnull, *said]):
        opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        os.dup2(opened, stream)
        os.close(opened)
    sys.argv[:] = argv
    sys.path[0] = path
    sys.path[1:1] = filter(None, env.get("PYTHONPATH", "").split(os.pathsep))
    sys.dont_write_bytecode = bool(env.get("PYTHONDONTWRITEBYTECODE"))
    subprocess.run = _another_for_sphinx(address, subprocess.run)
    sys.modules["__main__"] = program = types.ModuleType("__main__")
    exec(compile(code, "<string>", "exec"), vars(program))


def _another_for_sphinx(address, run):
    """Return what runs a command as `run` does, but `jupyter-book` in a fork of its own."""

    def run_command(command, **options):
        if Path(command[0]).name != "jupyter-book":
            return run(command, **options)
        log = options["stdout"].name
        task = {"code": SPHINX, "argv": command, "path": str(Path(command[0]).parent)}
        task |= {"cwd": str(options["cwd"]), "env": options["env"], "said": [log, log]}
        return subprocess.CompletedProcess(command, _ask(address, task))

    return run_command


if __name__ == "__main__":
    _serve(sys.argv[1])
