"""The documentation site: it is built without warnings and opened in Chromium."""

from __future__ import annotations

import functools
import http.server
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

import airpath as ap

if TYPE_CHECKING:
    from conftest import Browser

pytestmark = [pytest.mark.browser, pytest.mark.docs]

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "scripts" / "site" / "mkdocs.yml"
LARGEST_FRONT_PAGE = 500_000
PAGES = (
    "index.html",
    "reference/cli.html",
    "reference/api/link.html",
    "reference/papers/qawla-numbers.html",
    "tutorial/first-figure-notebook.html",
)
SEARCHED = {
    "CoDel": "/reference/models/codel.html",
    "ssthresh": "/reference/tcp-profiles.html",
    "airpath sweep": "/reference/cli.html",
}
"""Mapping from a search term to a page that its results must contain."""
LOADED = """
const entries = [...performance.getEntriesByType("navigation"),
                 ...performance.getEntriesByType("resource")];
return entries.map((entry) => [entry.name, entry.encodedBodySize]);
"""
RESULTS = """
const [words, wanted, done] = arguments;
const field = document.querySelector("[data-md-component=search-query]");
const results = document.querySelector("[data-md-component=search-result]");
const look = () => {
  const links = [...results.querySelectorAll("a")].map((link) => new URL(link.href).pathname);
  if (links.includes(wanted)) { observer.disconnect(); done(links); }
};
const observer = new MutationObserver(look);
observer.observe(results, { childList: true, subtree: true });
field.focus();
field.value = words;
field.dispatchEvent(new Event("keyup"));
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site, built as by `make site`, with notebooks without outputs."""
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", target]
    done = subprocess.run(
        [*command, "--config-file", CONFIG],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return target


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Serve the site on a local server and return its address."""
    handler = functools.partial(QuietHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """A request handler without a log."""

    def log_message(self, *_: object) -> None:
        pass


def public_names() -> set[str]:
    """Return the names of the package and of its namespaces."""
    found = set(ap.__all__) - {"__version__"}
    for name in sorted(found):
        if isinstance(module := getattr(ap, name), ModuleType):
            found.remove(name)
            found |= {
                f"{name}.{each}"
                for each, value in vars(module).items()
                if not each.startswith("_")
                and getattr(value, "__module__", "").startswith("airpath")
            }
    return found


def test_every_public_name_has_an_entry(site: Path) -> None:
    described = set()
    for page in (site / "reference" / "api").glob("*.html"):
        described |= set(re.findall(r'id="airpath\.([\w.]+)"', page.read_text("utf-8")))
    # `airpath.phy.measure` is a module and a function in this module.
    described |= {name.rpartition(".")[0] for name in described if name.endswith("measure.measure")}
    assert sorted(public_names() - described) == []


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("page", PAGES)
def test_page_opens_without_errors_or_overflow(
    browser: Browser, address: str, page: str, width: int
) -> None:
    browser.open(f"{address}/{page}", width)
    assert browser.console_messages() == []
    assert browser.cut(".md-content", strict=False) == []
    hosts = {name.split("/")[2] for name, _size in browser.run(LOADED)}
    assert hosts == {address.split("/")[2]}


def test_search_returns_page(browser: Browser, address: str) -> None:
    browser.open(f"{address}/index.html")
    for words, page in SEARCHED.items():
        assert page in browser.driver.execute_async_script(RESULTS, words, page)


def test_front_page_loads_little_data(browser: Browser, address: str) -> None:
    browser.call("Network.clearBrowserCache")
    browser.open(f"{address}/index.html")
    assert sum(size for _name, size in browser.run(LOADED)) < LARGEST_FRONT_PAGE


def test_cut_element_is_detected(browser: Browser, address: str) -> None:
    browser.open(f"{address}/index.html", 400)
    wide = "<p class=wide style='width: 500px'>wide</p>"
    browser.run("document.querySelector('.md-content').innerHTML += arguments[0]", wide)
    assert "outside: P wide: wide" in browser.cut(".md-content", strict=False)


def test_site_follows_the_colour_scheme(browser: Browser, address: str) -> None:
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    try:
        browser.call("Emulation.setEmulatedMedia", features=[dark])
        # Otherwise the scheme of an earlier visit would be kept.
        browser.open("about:blank")
        browser.call("Storage.clearDataForOrigin", origin=address, storageTypes="local_storage")
        browser.open(f"{address}/index.html")
        ground = browser.run("return getComputedStyle(document.body).backgroundColor")
    finally:
        browser.call("Emulation.setEmulatedMedia", features=[])
    assert max(int(each) for each in re.findall(r"\d+", ground)) < 64
