"""Dependencies: requirements in pyproject.toml are pinned in the lock file and imported."""

from __future__ import annotations

import ast
import itertools
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
SYSTEMS = {"linux": "Linux", "darwin": "Darwin"}
PROJECT = {
    "dependencies": ["numpy>=1.24", "tomli>=2; python_version < '3.11'"],
    "optional-dependencies": {"dev": ["ruff~=0.17.0"]},
}
OF_EXTRAS = {"gym": {"gymnasium", "stable_baselines3"}}
"""Optional packages of a subpackage that requires an extra."""
LOCK = """\
# made by a command
numpy==2.2.6 ; python_full_version < '3.11'
    # via airpath
numpy==2.4.6 ; python_full_version >= '3.11'
ruff==0.17.6
tomli==2.3.0 ; python_full_version < '3.11'
"""


def problems(project: dict[str, Any], lock: str) -> list[str]:
    """Return the requirements without exactly one matching pin, for each Python and system."""
    lines = [line.partition("#")[0].strip() for line in lock.splitlines()]
    pins = [Requirement(line) for line in lines if line]
    extras = project["optional-dependencies"].values()
    expected = [Requirement(line) for line in itertools.chain(project["dependencies"], *extras)]
    found = []
    for python, system in itertools.product(PYTHONS, SYSTEMS):
        environment = {
            "extra": "",
            "implementation_name": "cpython",
            "os_name": "posix",
            "platform_python_implementation": "CPython",
            "platform_system": SYSTEMS[system],
            "python_full_version": f"{python}.0",
            "python_version": python,
            "sys_platform": system,
        }

        def applies(line: Requirement, environment: dict[str, str] = environment) -> bool:
            return line.marker is None or line.marker.evaluate(environment)

        versions: dict[str, list[str]] = {}
        for pin in filter(applies, pins):
            [clause] = pin.specifier
            assert clause.operator == "==", f"{pin}: not pinned"
            versions.setdefault(canonicalize_name(pin.name), []).append(clause.version)
        for line in filter(applies, expected):
            pinned = versions.get(canonicalize_name(line.name), [])
            if len(pinned) != 1 or not line.specifier.contains(pinned[0]):
                found.append(f"Python {python}, {system}: {line.name}{line.specifier}: {pinned}")
    return found


def test_lock_file_pins_every_requirement() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = declared["project"]
    papers = tomllib.loads((ROOT / "papers" / "pyproject.toml").read_text("utf-8"))
    extras = project["optional-dependencies"]
    [of_papers] = extras.pop("papers")
    assert Requirement(of_papers).name == papers["project"]["name"]
    extras["build"] = [
        line for one in (declared, papers) for line in one["build-system"]["requires"]
    ]
    lock = (ROOT / "scripts" / "requirements-dev.txt").read_text("utf-8")
    assert problems(project, lock) == [], "run: make lock"


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        ("", "", 0),
        ("ruff==0.17.6", "ruff==0.18.0", 10),
        ("ruff==0.17.6", "", 10),
        ("; python_full_version >= '3.11'", "", 2),
        ("numpy==2.2.6 ; python_full_version < '3.11'", "", 2),
        ("python_full_version >= '3.11'", "sys_platform == 'linux'", 5),
        ("tomli==2.3.0", "tomli==1.2.3", 2),
    ],
)
def test_requirement_without_exactly_one_matching_pin_is_found(
    old: str, new: str, count: int
) -> None:
    assert len(problems(PROJECT, LOCK.replace(old, new))) == count


def test_line_without_a_pin_is_found() -> None:
    with pytest.raises(AssertionError, match="not pinned"):
        problems(PROJECT, LOCK.replace("ruff==", "ruff>="))


def test_modules_import_declared_dependencies_only() -> None:
    """Packages of an extra are imported in functions, except in the package of the extra; the wheel
    is tested with all extras installed.
    """
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = {Requirement(line).name.replace("-", "_") for line in declared["dependencies"]}
    # pydantic requires an exact version of pydantic_core.
    allowed = {"airpath", "pydantic_core", *names, *sys.stdlib_module_names}
    found = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in sorted((ROOT / "python" / "airpath").rglob("*.py"))
        for node in ast.parse(file.read_text("utf-8")).body
        for name in imported(node)
        if name.partition(".")[0] not in allowed | OF_EXTRAS.get(file.parent.name, set())
    ]
    assert not found


def imported(node: ast.stmt) -> list[str]:
    """Return the modules that an absolute import names; an empty list for another statement."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
