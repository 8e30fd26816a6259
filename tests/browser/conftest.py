"""A headless browser, if it is installed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException

from required import program, skip_without

NAME = "chromium"
OPTIONS = (
    "--headless=new",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)


CUT = """
const [within, strict] = arguments;
for (const each of document.querySelectorAll("details")) each.open = true;
const name = (of) => `${of.tagName} ${of.getAttribute("class")}: ${of.textContent.slice(0, 40)}`;
const wrong = [], scrolling = [];
const visit = (of, around) => {
  const box = of.getBoundingClientRect();
  if (box.width === 0) return;
  if (box.right > around.right + 1 || box.left < around.left - 1)
    wrong.push(`outside: ${name(of)}`);
  const overflow = getComputedStyle(of).overflowX;
  if (/auto|scroll/.test(overflow) && of.scrollWidth > of.clientWidth) {
    // The content can be scrolled into view.
    scrolling.push(of);
    return;
  }
  if (of.clientWidth && of.scrollWidth > of.clientWidth + 1 && (strict || overflow !== "visible"))
    wrong.push(`cut: ${name(of)}`);
  if (of.tagName !== "svg") for (const inner of of.children) visit(inner, strict ? box : around);
};
const root = document.documentElement;
visit(document.querySelector(within), root.getBoundingClientRect());
for (const of of strict ? scrolling : []) {
  if (of.offsetHeight - of.clientHeight - 2 * of.clientTop < 5)
    wrong.push(`without a visible scroll bar: ${name(of)}`);
  if (of.offsetHeight > window.innerHeight) wrong.push(`scroll bar out of sight: ${name(of)}`);
  of.scrollLeft = 20;
  if (of.scrollLeft !== Math.min(20, of.scrollWidth - of.clientWidth))
    wrong.push(`does not scroll: ${name(of)}`);
  of.scrollLeft = 0;
}
for (const each of document.querySelectorAll("figure svg, figure img")) {
  const box = each.getBoundingClientRect();
  const frame = each.closest(".drawn, figure").getBoundingClientRect();
  if (box.left < frame.left || box.right > frame.right || box.height < 100)
    wrong.push(`figure cut: ${name(each)}`);
}
if (root.scrollWidth > root.clientWidth) wrong.push(`page: ${root.scrollWidth}`);
return wrong;
"""
"""Elements that are wider than their container, unless the container has a visible scroll bar."""


class Browser:
    """A page in Chromium.

    Parameters
    ----------
    driver : WebDriver
        Driver of Selenium.
    """

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path | str, width: int = 1600) -> None:
        """Open a file or an address in a window of this width, pixels."""
        self.resize(width)
        self.driver.get(page.as_uri() if isinstance(page, Path) else page)

    def resize(self, width: int) -> None:
        """Set the width of the window, pixels."""
        # A real window has a minimum width; an emulated one has none.
        size = {"width": width, "height": 1200, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def call(self, command: str, **settings: Any) -> Any:
        """Call a command of the DevTools."""
        return self.driver.execute_cdp_cmd(command, settings)

    def run(self, script: str, *arguments: Any) -> Any:
        """Return the value of a script that runs on the page."""
        return self.driver.execute_script(script, *arguments)

    def cut(self, within: str = "body", *, strict: bool = True) -> list[str]:
        """Return the elements that are cut off.

        If `strict`, also elements that extend beyond their container, or that scroll without a
        visible bar.
        """
        return self.run(CUT, within, strict)

    def console_messages(self) -> list[str]:
        """Return the messages of the console since the previous call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium with its driver. If it is missing, tests are skipped, or fail if it is required."""
    options = webdriver.ChromeOptions()
    options.binary_location = program(NAME, "chromium", "google-chrome", package="chromium")
    service = webdriver.ChromeService(program(NAME, "chromedriver", package="chromium-driver"))
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # Chromium's own sandbox refuses to start for root.
    for option in (*OPTIONS, *(["--no-sandbox"] if os.geteuid() == 0 else [])):
        options.add_argument(option)
    try:
        driver = webdriver.Chrome(options=options, service=service)
    except WebDriverException as error:
        # For example, because of too little memory.
        skip_without(NAME, f"Chromium does not start: {str(error).splitlines()[0]}")
    driver.set_page_load_timeout(1000)
    yield Browser(driver)
    driver.quit()
