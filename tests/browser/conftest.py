"""A browser without a window, where there is one."""

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


class Browser:
    """A page in Chromium.

    Parameters
    ----------
    driver : WebDriver
        Of Selenium.
    """

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path, width: int = 1600) -> None:
        """Open a file in a window of this width, pixels."""
        self.resize(width)
        self.driver.get(page.as_uri())

    def resize(self, width: int) -> None:
        """Give the window another width, pixels."""
        # A window has a least width; what is emulated has none.
        size = {"width": width, "height": 1200, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def call(self, command: str, **settings: Any) -> Any:
        """Call a command of the DevTools."""
        return self.driver.execute_cdp_cmd(command, settings)

    def run(self, script: str, *arguments: Any) -> Any:
        """Return what a script on the page returns."""
        return self.driver.execute_script(script, *arguments)

    def complaints(self) -> list[str]:
        """Return what the console said since it was asked before."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium with its driver; without them tests are skipped, or fail where it is required."""
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
        # For example too little memory.
        skip_without(NAME, f"Chromium does not start: {str(error).splitlines()[0]}")
    driver.set_page_load_timeout(1000)
    yield Browser(driver)
    driver.quit()
