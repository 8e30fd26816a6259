"""Packages of `airpath` import only packages of lower layers, as in
`docs/explanation/design.md`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "python" / "airpath"

LAYERS = (
    # Modules for users: one for each family of components.
    "ack_path aqm cc frame_errors grant link models parts policy request scheduler snr testing "
    "traffic units window",
    "__main__ demo part_checks",
    "cli",
    "report",
    "reproduction",
    "comparison gym",
    "sweeps",
    "emulation phy",
    "api",
    "results",
    "solutions",
    "engine",
    "trace",
    "present",
    "scenario",
    "files",
    "foreign_traces",
    "arguments",
    "errors execution interrupts",
    "_airpath",
)
"""Layers from top to bottom. Packages of one layer do not import each other."""

EXCEPTIONS = {
    ("errors", "comparison"): "an interrupted call raises what was finished; a type only",
    ("errors", "results"): "the same",
    ("errors", "sweeps.result"): "the same",
    ("arguments", "scenario.decibels"): "the bound of a type variable; a type only",
    ("arguments", "scenario.units"): "the same",
    ("reproduction.run", "report.paper"): "a run with a directory writes its page",
}
"""Permitted upward imports, with their reasons. Do not add new ones."""

RANKS = {name: -place for place, layer in enumerate(LAYERS) for name in layer.split()}


def imports(source: str) -> Iterator[str]:
    """Yield the modules of the package that a module imports, at the top or inside functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            full = node.module == "airpath"
            names = [f"airpath.{a.name}" if full else str(node.module) for a in node.names]
        else:
            continue
        for name in dict.fromkeys(names):
            package, _, module = name.partition(".")
            assert package not in ("airpath_papers", "studies"), name
            if package == "airpath" and module:
                yield module


def layer_of(module: str) -> int:
    """Return the rank of a module's layer; programs are at the top."""
    first, _, rest = module.partition(".")
    return RANKS["__main__" if rest.endswith("__main__") else first]


def test_imports_between_packages_go_downward() -> None:
    upward = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        module = module.removesuffix(".__init__")
        if module == "__init__":
            continue
        for found in imports(path.read_text("utf-8")):
            is_inside = found.partition(".")[0] == module.partition(".")[0]
            if not is_inside and layer_of(found) >= layer_of(module):
                upward.add((module, found))
    assert upward == EXCEPTIONS.keys()


@pytest.mark.parametrize(
    "source",
    [
        "import airpath.cli.run",
        "from airpath import cli",
        "from airpath.cli.run import run",
        "def f():\n    from airpath.cli.run import run",
        "if TYPE_CHECKING:\n    from airpath.cli import run",
    ],
)
def test_imports_are_found_wherever_they_are(source: str) -> None:
    [found] = imports(source)
    assert found.startswith("cli")


def test_package_does_not_import_papers() -> None:
    with pytest.raises(AssertionError, match="airpath_papers"):
        list(imports("from airpath_papers.sbd import PAPER"))
