"""Display of a scenario and its components: in a notebook, in `help`, in an editor."""

from __future__ import annotations

import inspect
import pydoc

import pytest

import airpath as ap
from airpath.scenario import FAMILIES
from airpath.scenario.base import Component
from airpath.scenario.examples import example_path, examples


def test_scenario_shows_given_values_without_defaults() -> None:
    """Regression: each omitted key was shown with None."""
    scenario = ap.Scenario(
        duration="2 s",
        flows=ap.flows(2, base_rtt="20 ms", start={"uniform": ["0 s", "1 s"]}, tcp={"mss": "1 kB"}),
        bottleneck=ap.Bottleneck(aqm="codel", link=ap.link.Fixed(rate="1 Mbit/s", delay="0 s")),
    )
    shown = (
        "ap.Scenario(duration='2 s', "
        "bottleneck=ap.Bottleneck(aqm=ap.aqm.CoDel(), link=ap.link.Fixed(rate='1 Mbit/s')), "
        "flows=[ap.traffic.Tcp(count=2, base_rtt='20 ms', "
        "start=ap.traffic.Uniform(uniform=['0 s', '1 s']), tcp=ap.TcpConfig(mss='1 kB'))])"
    )
    assert (repr(scenario), str(scenario)) == (shown, shown)


SCENARIOS = [name for name, line in examples().items() if not line.startswith("sweep: ")]


@pytest.mark.parametrize("name", SCENARIOS)
def test_shown_scenario_is_equal_when_evaluated(name: str) -> None:
    scenario = ap.load(example_path(name))
    again = eval(repr(scenario), {"ap": ap})
    assert again.document() == scenario.document()


def components() -> list[type[Component]]:
    return [kind for family in FAMILIES.values() for kind in family.registry.values()]


@pytest.mark.parametrize("kind", components(), ids=lambda kind: kind.__name__)
def test_help_begins_with_the_keys_and_their_defaults(kind: type[Component]) -> None:
    """Regression: it began with `typing.Annotated[…, AfterValidator(func=<function …>)]`."""
    signature = inspect.signature(kind)
    keys = {key for key in kind.keys(from_file=False) if key != "kind"}
    assert set(signature.parameters) == keys
    lines = [line.strip(" |") for line in pydoc.plain(pydoc.render_doc(kind)).splitlines()]
    # A component without keys has no signature. Python 3.13 splits a long signature into lines.
    end = lines.index("", 3) if keys else 2
    first, summary = "".join(lines[3:end]), lines[end + 1]
    expected = f"{kind.__name__}{signature}" if keys else ""
    assert first.replace(" ", "") == expected.replace(" ", "")
    assert not any(word in first for word in ("Annotated", "<function", "airpath."))
    assert summary == inspect.getdoc(kind).splitlines()[0]  # type: ignore[union-attr]


def test_signature_has_defaults_in_file_syntax() -> None:
    shown = str(inspect.signature(ap.link.Fixed))
    assert shown.startswith("(*, rate, delay='0 s', errors=None, frame_overhead='0 B', ")
