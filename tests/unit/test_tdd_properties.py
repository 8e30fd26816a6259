"""The TDD link with random parameters: results do not depend on threads, and the lists of schemes
equal those of the engine.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import airpath as ap
from airpath import _airpath
from airpath.scenario import loads
from airpath.scenario.link.stations import DOWNLINK_MCS, UPLINK_MCS
from random_examples import examples

BASE = """
duration = "2 s"
ack_path = {kind = "reverse"}
flows = [{count = 3, base_rtt = "30 ms"}, {direction = "reverse", user = 0, base_rtt = "40 ms"}]
bottleneck.aqm = {kind = "droptail", limit = "100 packets"}
bottleneck.link = {kind = "ofdma-tdd", stations = 2}
"""

REQUESTS = st.sampled_from(
    [
        {"kind": "random-delay", "per": "packet", "collision": 0.2},
        {"kind": "random-delay", "delay": "20 ms"},
        {"kind": "ranging", "codes": 1},
        {"kind": "scheduling-request", "period": "10 ms"},
    ]
)
GRANTS = st.sampled_from(
    ["uni", "blind-bi", "adapt-bi", {"kind": "unsolicited", "period": "20 ms"}]
)
LINKS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"request": REQUESTS, "grant": GRANTS},
    optional={
        "scheduler": st.sampled_from(["round-robin", "proportional-fair", "max-rate"]),
        "harq": st.just({"attempts": 3, "error": 0.2, "round_trip": "10 ms"}),
        "arq": st.just({"delay": "50 ms"}),
        "errors": st.just({"kind": "independent", "loss": 0.05}),
        "radio": st.sampled_from([{"distance": "1 km"}, {"distance": "2 km", "profile": "epa"}]),
        "reverse_errors": st.just({"kind": "independent", "loss": 0.2}),
        "piggyback_read": st.just("with-mpdu"),
        "map_relevance": st.integers(0, 3),
        "crc": st.booleans(),
        "packing": st.just({"down": True, "up": True}),
        "in_order": st.just({"down": False, "up": True}),
    },
)


@examples(15)
@given(link=LINKS)
def test_output_bytes_do_not_depend_on_threads(link: dict[str, Any]) -> None:
    scenario = loads(BASE).replace({f"bottleneck.link.{key}": each for key, each in link.items()})
    alone, both = (ap.simulate(scenario, reps=2, threads=count).to_dict() for count in (1, 2))
    for document in (alone, both):
        del document["provenance"]
    assert json.dumps(alone) == json.dumps(both)


@pytest.mark.parametrize(
    ("key", "names"), [("downlink_mcs", DOWNLINK_MCS), ("uplink_mcs", UPLINK_MCS)]
)
def test_lists_of_schemes_equal_those_of_the_engine(key: str, names: tuple[str, ...]) -> None:
    resolved = json.loads(loads(BASE).resolve()[0])
    for name in names:
        resolved["bottleneck"]["link"][key] = name
        _airpath.check(json.dumps(resolved), {})
    resolved["bottleneck"]["link"][key] = "none of them"
    [(path, value, _, accepted, _)] = _airpath.check(json.dumps(resolved), {})
    assert (path, value) == (f"bottleneck.link.{key}", "none of them")
    assert accepted == f"Accepted: {', '.join(names)}"
