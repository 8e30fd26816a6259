"""The public names of `import airpath`: top-level names and namespaces of components."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from operator import attrgetter
from pathlib import Path
from types import ModuleType

import pytest

import airpath as ap
from airpath.scenario import FAMILIES
from airpath.scenario.base import Model

OF_COMPONENTS = (
    *("ack_path", "aqm", "cc", "frame_errors", "grant", "link", "policy", "request"),
    *("scheduler", "snr", "traffic", "window"),
)
MOST_NAMES = 31
"""Maximum number of top-level names, including `__version__`, without namespaces."""


@pytest.fixture(scope="module")
def result() -> ap.Result:
    bottleneck = ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="1 Mbit/s"))
    flows = ap.flows(base_rtt="40 ms")
    return ap.simulate(ap.Scenario(flows=flows, bottleneck=bottleneck, duration="1 s"), reps=1)


def models(base: type[Model] = Model) -> list[type[Model]]:
    """Return the model classes of scenarios, without those of sweep files."""
    of_scenarios = "airpath.scenario."
    own = [each for each in base.__subclasses__() if each.__module__.startswith(of_scenarios)]
    return own + [found for model in own for found in models(model)]


def public(namespace: str) -> set[str]:
    module = importlib.import_module(f"airpath.{namespace}")
    return {name for name in vars(module) if not name.startswith("_")}


def names_of_package(module: ModuleType) -> list[str]:
    found = pkgutil.iter_modules(getattr(module, "__path__", ()), f"{module.__name__}.")
    return [each.name for each in found]


def test_stub_names_match_runtime_names() -> None:
    tree = ast.parse(Path(ap.__file__).read_text("utf-8"))
    seen = {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is not None
    }
    assert seen == set(ap.__all__) - {"__version__"}
    assert [name for name in ap.__all__ if getattr(ap, name) is None] == []


def test_package_has_few_top_level_names() -> None:
    at_top = [name for name in ap.__all__ if not isinstance(getattr(ap, name), ModuleType)]
    assert len(at_top) <= MOST_NAMES


@pytest.mark.parametrize("namespace", OF_COMPONENTS)
def test_namespace_has_the_classes_of_its_module(namespace: str) -> None:
    home = importlib.import_module(f"airpath.scenario.{namespace}")
    submodules = (importlib.import_module(found) for found in names_of_package(home))
    names = [name for module in (home, *submodules) for name in getattr(module, "__all__", ())]
    assert sorted(public(namespace)) == sorted({*names} - {"FlowKeys"})
    assert len(names) == len({*names})


def test_every_family_has_a_namespace() -> None:
    homes = {family.public_name().partition(".")[0] for family in FAMILIES.values()}
    assert homes == set(OF_COMPONENTS) - {"ack_path", "traffic"}


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_public_name_of_a_class_refers_to_it(model: type[Model]) -> None:
    """Messages begin with the public name, because components of three families have the kind
    ``fixed``.
    """
    is_public = not model.__name__.startswith("_") and model.public_name() in EXPORTED
    if is_public:
        assert attrgetter(model.public_name())(ap) is model
    else:
        assert model.__name__.startswith("_") or model.__name__ in ("Component", "TcpParameters")


EXPORTED = {
    *ap.__all__,
    *(f"{namespace}.{name}" for namespace in OF_COMPONENTS for name in public(namespace)),
}


def test_result_has_few_methods() -> None:
    methods = [name for name, _ in inspect.getmembers(ap.Result) if not name.startswith("_")]
    assert len(methods) <= 21


def test_unknown_name_raises_attribute_error(result: ap.Result) -> None:
    with pytest.raises(AttributeError, match=r"^'Result' object has no attribute 'nothing'$"):
        getattr(result, "nothing")  # noqa: B009
    with pytest.raises(AttributeError, match=r"^module 'airpath' has no attribute 'Nothing'$"):
        getattr(ap, "Nothing")  # noqa: B009
