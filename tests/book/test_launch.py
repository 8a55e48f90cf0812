"""With a repository each page that is a notebook has buttons that run it elsewhere, else none."""

import re
import shutil
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import book_site as site
import nbformat
import printed_book
import pytest
from bs4 import BeautifulSoup
from small_project import build, write_pages
from sphinx.errors import ExtensionError
from wheel_only import run

from byhand.notebooks.writing import package_address
from byhand.site.launch import check_repository
from mha.widgets.own import WHEEL

ADDRESS = "https://example.org/book/"
REPOSITORY = "https://github.com/example/by-hand"
HUB = "https://hub.example.org"
WITHOUT_CELLS = "\n# Gamma\n\nText alone.\n"


@pytest.fixture(scope="module")
def launched(tmp_path_factory):
    """Return the pages of a small book that has an address, a repository and a JupyterHub."""
    project = printed_book.small_book(tmp_path_factory.mktemp("launched"))
    contents = (project / "_toc.yml").read_text(encoding="utf-8")
    contents = contents.replace("      - file: beta", "      - file: beta\n      - file: gamma")
    (project / "_toc.yml").write_text(contents, encoding="utf-8")
    write_pages(project, {"gamma": WITHOUT_CELLS})
    config = project / "_config.yml"
    text = config.read_text(encoding="utf-8")
    for name, value in {"baseurl": ADDRESS, "url": REPOSITORY, "jupyterhub_url": HUB}.items():
        text, count = re.subn(rf'^  {name}: ""$', f'  {name}: "{value}"', text, flags=re.MULTILINE)
        assert count == 1
    config.write_text(text, encoding="utf-8")
    shutil.copy(site.ROOT / "book" / "screenshot.png", project / "book")
    done = build(project)
    assert done.returncode == 0, done.stderr
    return project / "_build" / "html"


def links(folder, name):
    """Return the launch links of a page by the name of the service."""
    page = BeautifulSoup((folder / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    menus = page.select(".launch-menu")
    opened = [button["popovertarget"] for button in page.select("button[popovertarget]")]
    assert opened == [menu["id"] for menu in menus]
    return {link.get_text(): link["href"] for menu in menus for link in menu.select("a")}


@pytest.mark.parametrize("name", ["index", "alpha", "beta"])
def test_the_buttons_of_a_page_lead_to_its_notebook_in_the_branch_of_built_pages(launched, name):
    found = links(launched, name)
    assert list(found) == ["Binder", "JupyterHub", "Colab"]
    assert (launched / f"{name}.ipynb").is_file()
    assert found["Colab"] == (
        f"https://colab.research.google.com/github/example/by-hand/blob/gh-pages/{name}.ipynb"
    )
    binder = urlsplit(found["Binder"])
    assert (binder.netloc, binder.path) == ("mybinder.org", "/v2/gh/example/by-hand/gh-pages")
    assert parse_qs(binder.query) == {"urlpath": [f"lab/tree/{name}.ipynb"]}
    hub = urlsplit(found["JupyterHub"])
    assert f"{hub.scheme}://{hub.netloc}" == HUB
    assert parse_qs(hub.query) == {
        "repo": [REPOSITORY],
        "branch": ["gh-pages"],
        "urlpath": [f"lab/tree/by-hand/{name}.ipynb"],
    }


def test_a_page_without_cells_has_no_button(launched):
    assert links(launched, "gamma") == {}


@pytest.mark.book
@pytest.mark.parametrize("name", ["index", "mechanism/softmax", "downloads"])
def test_without_a_repository_no_page_has_a_button_or_a_place_for_one(name):
    assert links(site.SITE, name) == {}
    items = site.soup(name).select(".header-article-item")
    assert [str(item) for item in items if not item.find(True)] == []


def test_a_launched_notebook_installs_the_published_wheel_and_runs_to_its_end(
    launched, wheel_with_plots, tmp_path
):
    for name in ("index", "alpha", "beta"):
        made = nbformat.read(launched / f"{name}.ipynb", as_version=4)
        nbformat.validate(made)
        assert "the next cell installs it" in made.cells[0].source
        first, *codes = [cell.source for cell in made.cells if cell.cell_type == "code"]
        assert first == f'%pip install -q "mha[plots] @ {ADDRESS}downloads/{WHEEL}"'
        program = tmp_path / f"{name}.py"
        program.write_text("\n".join(codes), encoding="utf-8")
        run(wheel_with_plots, "-I", "-W", "error", program, cwd=tmp_path)


@pytest.mark.parametrize(
    ("address", "repository", "wanted"),
    [
        (ADDRESS, REPOSITORY, f"{ADDRESS}downloads/{WHEEL}"),
        ("", REPOSITORY, f"git+{REPOSITORY}"),
        ("", "", ""),
    ],
)
def test_the_package_comes_from_the_site_or_else_from_the_repository(address, repository, wanted):
    options = {"repository_url": repository} if repository else {}
    config = SimpleNamespace(html_baseurl=address, html_theme_options=options)
    assert package_address(config) == wanted


@pytest.mark.parametrize("address", ["example", "http://github.com/a/b", "https://github.com/a"])
def test_a_repository_that_is_none_is_refused_in_one_sentence(address):
    config = SimpleNamespace(html_theme_options={"repository_url": address})
    with pytest.raises(ExtensionError, match=f"repository: url: in _config.yml is '{address}'; "):
        check_repository(None, config)


def test_without_a_repository_the_theme_is_asked_for_no_button():
    options = {"repository_url": "", "repository_branch": "a", "launch_buttons": {"colab_url": "b"}}
    config = SimpleNamespace(html_theme_options=options | {"home_page_in_toc": True})
    check_repository(None, config)
    assert config.html_theme_options == {"home_page_in_toc": True}
