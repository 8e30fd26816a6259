"""Scenarios whose results are stored: short runs that together contain every registered component.

A new component of a family is included automatically, with its defaults and with the example of
each required key.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from airpath import _airpath
from airpath.scenario import FAMILIES as FAMILY_CLASSES
from airpath.scenario import profiles

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Document = dict[str, Any]

REGISTRY: dict[str, list[tuple[str, str]]] = json.loads(_airpath.registry())
FAMILIES = tuple(FAMILY_CLASSES)
"""Families of the registry whose components a scenario can name."""

LINKS: dict[str, Document] = {
    "fixed": {"rate": "5 Mbit/s", "loss": 1e-3, "frame_overhead": "6 B"},
    "multi-regime": {
        "thresholds": [15],
        "regimes": [{"rate": "4 Mbit/s", "per": 1e-4}, {"rate": "6 Mbit/s", "per": 2e-2}],
    },
    "adaptive": {
        "table": "airpath:802.16-ctc-awgn",
        "snr_db": 13,
        "snr_noise_db": 2,
        "policy": {"kind": "tagla", "th_per": 0.0032},
    },
    "trace": {"file": "uneven.trace", "frame_overhead": "4 B"},
    "rate-trace": {"file": "rates.csv"},
    "rlc-am": {
        "rate": "384 kbit/s",
        "errors": {"kind": "burst", "frame_error_rate": 0.1, "doppler": 0.01},
    },
    "ofdma-tdd": {
        "stations": 2,
        "harq": {"attempts": 3, "error": 0.1, "round_trip": "20 ms"},
        "arq": {"delay": "100 ms"},
        "reverse_errors": {"kind": "independent", "loss": 0.02},
    },
    "cell": {
        "slot": "3 ms",
        "rate": {"kind": "shannon", "bandwidth": "4.3 MHz", "cap": "10 Mbit/s"},
        "margin": {"target_loss": 1e-2},
        "attempts": 3,
        "snr": {"kind": "rayleigh", "mean": "6 dB", "doppler": "60 Hz"},
    },
}
ERRORS: dict[str, Document] = {
    "independent": {"loss": 0.02},
    "gilbert-elliott": {"slot": "2 ms", "p_good_to_bad": 0.01, "p_bad_to_good": 0.2},
    "burst": {"slot": "2 ms", "frame_error_rate": 0.05, "doppler": 0.02},
}
POLICIES: dict[str, Document] = {
    "fixed": {"mcs": "mcs3"},
    "dual-regime": {"mcs_below": "mcs1", "mcs_above": "mcs3", "threshold": 10},
    "tagla": {"th_per": 0.0032},
    "qawla": {"th_per": 0.05, "h": 100, "threshold": 10},
    "tfer": {"th_fer": 0.0013},
    "max-phy-throughput": {},
    "optimum": {"threshold": 20},
}
WINDOWS: dict[str, Document] = {
    "fixed": {},
    "drain": {"rate": "1 Mbit/s"},
    "clamp": {"average_packets": 200},
}
AQMS: dict[str, Document] = {
    "droptail": {"limit": "25 packets"},
    "sbd": {"limit": 40, "min_th": 15, "reaction_time": "300 ms"},
    "rlc-red": {"limit": 40, "min_th": 8, "max_p": 0.1},
}
SNRS: dict[str, Document] = {
    "beamforming": {"mean": "15 dB", "period": "300 ms", "doppler": "1 Hz"},
    "block": {"mean": "15 dB", "coherence": "25 ms"},
    "constant": {"mean": "13 dB"},
    "jakes": {"mean": "15 dB", "doppler": "4 Hz"},
    "rayleigh": {"mean": "15 dB", "doppler": "4 Hz"},
    "tapped-delay-line": {"mean": "15 dB", "profile": "vehicular-a", "doppler": "4 Hz"},
    "rician": {"mean": "15 dB", "k": "3 dB", "doppler": "4 Hz"},
    "shadowed": {
        "deviation": "6 dB",
        "correlation_distance": "20 m",
        "speed": "5 m/s",
        "inner": {"kind": "rayleigh", "mean": "15 dB", "doppler": "4 Hz"},
    },
    "trace": {"file": "snr.csv"},
}
COMPONENTS: dict[str, dict[str, Document]] = {
    "aqm": AQMS,
    "link": LINKS,
    "errors": ERRORS,
    "policy": POLICIES,
    "scheduler": {},
    "request": {},
    "grant": {},
    "snr": SNRS,
    "window": WINDOWS,
    "congestion": {},
}
"""Parameters of components for which the defaults of the class are not suitable."""

SERIES = ["cwnd", "rtt", "queue", "sojourn", "drop", "mark", "delivered", "seq_received"]


def write_files(directory: Path) -> None:
    """Write the traces that the scenarios use."""
    opportunities = [millisecond for millisecond in range(1, 2000) if millisecond % 7 % 3]
    opportunities = [at for at in opportunities if not 900 < at < 1150]
    (directory / "uneven.trace").write_text("".join(f"{at}\n" for at in opportunities))
    (directory / "rates.csv").write_text(
        "time_s,rate_bps\n0,4000000\n1.5,900000\n2.25,0\n2.5,7500000\n4,4000000\n6,4000000\n"
    )
    (directory / "snr.csv").write_text("time_s,snr_db\n0,13\n1.5,4\n2.25,-3\n2.5,21\n4,9\n6,9\n")


def component(family: str, kind: str) -> Document:
    """Return a component with the parameters in `COMPONENTS`, or with the examples of required
    keys."""
    told = COMPONENTS[family].get(kind)
    if told is None:
        fields = FAMILY_CLASSES[family].registry[kind].model_fields.items()
        examples = [(key, info.examples[0]) for key, info in fields if info.examples]
        told = {key: tomllib.loads(f"value = {text}")["value"] for key, text in examples}
    return {"kind": kind, **told}


def scenario(**changes: Any) -> Document:
    """Return a scenario with two flows over 5 Mbit/s, 10 s long, modified by `changes`."""
    document: Document = {
        "duration": "10 s",
        "warmup": "2 s",
        "bottleneck": path(),
        "flows": [flow(count=2)],
        "record": {"series": SERIES},
    }
    return {**document, **changes}


def flow(**keys: Any) -> Document:
    """Return a group of flows with a receive window that is never limiting."""
    tcp = {"receive_window": "500 kB", **keys.pop("tcp", {})}
    start = {"uniform": ["0 s", "0.5 s"]}
    return {"cc": "newreno", "base_rtt": "60 ms", "start": start, "tcp": tcp, **keys}


def path(aqm: Any = None, link: Any = None) -> Document:
    link = link or {"kind": "fixed", "rate": "5 Mbit/s", "delay": "5 ms"}
    return {"aqm": aqm or component("aqm", "droptail"), "link": link}


REFUSED = {"ns2": ("bbr", "bbr1", "copa", "prague"), "ns3": ("prague",)}
"""Congestion controls that a profile refuses: ns-2 has no SACK, ns-3 no accurate ECN."""


def kinds(family: str) -> list[str]:
    return [name for name, _ in REGISTRY[family]]


def cases() -> dict[str, Document]:
    """Return a mapping from names to scenarios."""
    found = dict(_cases())
    return {name: {"name": name, **document} for name, document in found.items()}


def _cases() -> Iterator[tuple[str, Document]]:
    for aqm in kinds("aqm"):
        for link in kinds("link"):
            bottleneck = path(component("aqm", aqm), component("link", link))
            if FAMILY_CLASSES["link"].registry[link].has_stations:
                back = {"kind": "reverse", "aqm": "droptail"}
                yield f"{aqm} over {link}", scenario(bottleneck=bottleneck, ack_path=back)
            else:
                yield f"{aqm} over {link}", scenario(bottleneck=bottleneck)
        both = {"kind": "reverse", "aqm": component("aqm", aqm)}
        yield f"{aqm} for ACKs", scenario(ack_path=both)
    for profile in profiles():
        for control in kinds("congestion"):
            if control in REFUSED.get(profile, ()):
                continue
            yield from control_cases(profile, control)
    for kind in kinds("errors"):
        link = {"kind": "fixed", "rate": "5 Mbit/s", "errors": component("errors", kind)}
        yield f"channel {kind}", scenario(bottleneck=path(link=link))
    for kind in kinds("policy"):
        link = {**component("link", "adaptive"), "policy": component("policy", kind)}
        yield f"policy {kind}", scenario(bottleneck=path(link=link))
    for kind in kinds("snr"):
        link = {
            key: value for key, value in component("link", "adaptive").items() if key != "snr_db"
        }
        yield f"snr {kind}", scenario(bottleneck=path(link={**link, "snr": component("snr", kind)}))
    for kind in kinds("scheduler"):
        link = {**component("link", "cell"), "scheduler": component("scheduler", kind)}
        yield f"scheduler {kind}", scenario(bottleneck=path(link=link))
    yield from station_cases()
    rate = {"kind": "mcs", "table": "airpath:802.16-ctc-awgn", "bandwidth": "4 MHz"}
    yield (
        "cell with schemes",
        scenario(bottleneck=path(link={**component("link", "cell"), "rate": rate})),
    )
    for kind in kinds("window"):
        # CLAMP's window requires a queue that writes a price.
        bottleneck = path(component("aqm", "clamp" if kind == "clamp" else "droptail"))
        flows = [flow(count=2, window=component("window", kind))]
        yield f"window {kind}", scenario(flows=flows, bottleneck=bottleneck)
    yield from other_cases()


def station_cases() -> Iterator[tuple[str, Document]]:
    """Yield scenarios of two stations, one for each request procedure, grant policy and
    scheduler.
    """
    both = {"kind": "reverse", "aqm": "droptail"}
    link = component("link", "ofdma-tdd")
    ahead = {**link, "grant": {"kind": "adapt-bi", "size": "46 B"}}
    for kind in kinds("request"):
        # Without requests, grants must be proactive.
        given = ahead if kind == "none" else link
        bottleneck = path(link={**given, "request": component("request", kind)})
        yield f"request {kind}", scenario(bottleneck=bottleneck, ack_path=both)
    for kind in kinds("grant"):
        bottleneck = path(link={**link, "grant": component("grant", kind)})
        yield f"grant {kind}", scenario(bottleneck=bottleneck, ack_path=both)
    for kind in kinds("scheduler"):
        bottleneck = path(link={**ahead, "scheduler": component("scheduler", kind)})
        yield f"scheduler {kind} of stations", scenario(bottleneck=bottleneck, ack_path=both)
    radio = {"distance": "1.5 km", "speed": "30 km/h"}
    harq = {"attempts": 3, "round_trip": "10 ms"}
    moved = {"at": "1 s", "user": 1, "snr": "3 dB"}
    yield (
        "stations over the radio",
        scenario(
            bottleneck=path(link={**ahead, "radio": radio, "harq": harq}),
            ack_path=both,
            control=[moved],
        ),
    )
    odd: Document = {
        "packing": {"down": True, "up": True},
        "crc": True,
        "map_overhead": {"slots": 20, "per_burst": 4},
        "map_relevance": 0,
        "users": [{"user": 1, "downlink_mcs": "64qam-5/6", "uplink_mcs": "qpsk-1/8"}],
    }
    flows = [flow(count=2), flow(direction="reverse", user=1), flow(user=0)]
    yield (
        "stations that differ, packing and an upload",
        scenario(bottleneck=path(link={**link, **odd}), ack_path=both, flows=flows),
    )


def control_cases(profile: str, control: str) -> Iterator[tuple[str, Document]]:
    """Yield scenarios of a congestion control algorithm: with losses, and with marks if it supports
    them.
    """
    lossy = {"kind": "fixed", "rate": "5 Mbit/s", "delay": "5 ms", "loss": 0.005}
    flows = [flow(count=2, cc=control, profile=profile)]
    name = f"{control} under {profile}"
    # CLAMP requires a queue that writes a price, VCP a queue that writes a load code.
    aqm = component("aqm", control if control in ("clamp", "vcp") else "droptail")
    if control != "dctcp":
        yield name, scenario(flows=flows, bottleneck=path(aqm, lossy))
    if profiles()[profile]["stack"].value != "ns3" and profile != "ns3-2014":
        marking: Document = {"kind": "codel", "ecn": True}
        marking = {**aqm, "inner": marking} if control == "clamp" else marking
        # VCP interprets marks as overload without a request for them.
        tcp = {} if control == "vcp" else {"ecn": "on"}
        flows = [flow(count=2, cc=control, profile=profile, tcp=tcp)]
        yield f"{name}, marks", scenario(flows=flows, bottleneck=path(marking))


def other_cases() -> Iterator[tuple[str, Document]]:
    """Yield the scenarios that test no component: recoveries, traffic, wires, ACK paths,
    changes.
    """
    lossy = {"kind": "fixed", "rate": "5 Mbit/s", "loss": 0.02}
    for recovery in ("reno", "newreno", "sack", "prr"):
        flows = [
            flow(
                count=2,
                cc=recovery if recovery == "reno" else "newreno",
                tcp={"recovery": recovery},
            )
        ]
        yield f"recovery {recovery}", scenario(flows=flows, bottleneck=path(link=lossy))
    slow = {"kind": "fixed", "rate": "64 kbit/s", "delay": "10 ms"}
    yield "slow ACK link", scenario(ack_path={"kind": "link", "link": slow, "aqm": "codel"})
    wires = {"rate": "20 Mbit/s", "delay": "10 ms"}
    yield (
        "wires and backhaul",
        scenario(
            backhaul={"rate": "8 Mbit/s", "delay": "15 ms"},
            flows=[{"cc": "cubic", "access": wires, "egress": wires, "return": wires}],
        ),
    )
    yield (
        "traffic of every kind",
        scenario(
            flows=[
                flow(),
                flow(size="200 kB", start="3 s"),
                flow(
                    count=20,
                    start="0 s",
                    arrivals={"poisson": "4 /s"},
                    size={"pareto": {"smallest": "10 kB", "shape": 1.3}},
                ),
                flow(on_off={"on": {"exponential": "500 ms"}, "off": "300 ms"}),
                {"source": "cbr", "rate": "300 kbit/s", "packet": "400 B", "stop": "8 s"},
                {"source": "poisson", "rate": "200 kbit/s", "packet": "90 B"},
            ]
        ),
    )
    small = {"exponential": "10 kB"}
    pages = {"size": small, "objects": 8, "main": "20 kB", "think": {"exponential": "0.5 s"}}
    yield (
        "applications",
        scenario(
            flows=[
                {"source": "voice", "base_rtt": "60 ms"},
                flow(video={"ladder": ["300 kbit/s", "1 Mbit/s"], "segment": "1 s"}),
                flow(requests={"size": small, "think": "100 ms"}),
                flow(count=8, requests={**pages, "connections": 4}),
                flow(count=2, requests={**pages, "streams": 100}),
            ]
        ),
    )
    harq = {"attempts": 3, "error": 0.3, "round_trip": "30 ms", "processes": 4}
    table = {"table": "airpath:802.16-ctc-awgn", "mcs": "mcs0", "snr": "1.5 dB"}
    combined = {"attempts": 4, "error": table, "round_trip": "8 ms"}
    for name, kind, keys in (
        ("HARQ, ARQ and order", "fixed", {"harq": harq, "arq": {"delay": "90 ms"}}),
        ("chase combining", "multi-regime", {"harq": combined}),
        ("ARQ alone", "rate-trace", {"loss": 0.02, "arq": {"delay": "40 ms"}}),
    ):
        link = {**component("link", kind), **keys, "in_order": kind != "rate-trace"}
        yield f"{name} over {kind}", scenario(bottleneck=path(link=link))
    wire = {"rate": "900 kbit/s", "delay": "8 ms", "limit": "12 packets"}
    triangle = {"smallest": "2920 B", "mode": "7300 B", "largest": "146 kB", "step": "1460 B"}
    yield (
        "triangular sizes, arrivals that end and a wire with a limit",
        scenario(
            flows=[
                {"cc": "newreno", "access": wire, "return": {"delay": "10 ms"}},
                flow(
                    count=30,
                    start="0 s",
                    arrivals={"poisson": "4 /s", "until": "5 s"},
                    size={"triangular": triangle},
                ),
            ]
        ),
    )
    yield (
        "rates that change",
        scenario(
            control=[{"at": "4 s", "rate": "1 Mbit/s"}, {"at": "6 s", "rate": "9 Mbit/s"}],
            ack_path={"kind": "reverse"},
        ),
    )
    for kind in kinds("link"):
        bottleneck = path(link=component("link", kind))
        flows = [flow(), flow(direction="reverse"), flow(cc="cubic", direction="reverse")]
        both = {"kind": "reverse", "aqm": "droptail"}
        yield f"both ways over {kind}", scenario(bottleneck=bottleneck, flows=flows, ack_path=both)
    for name, control, inside in (
        ("REM marks", {"cc": "reno", "tcp": {"ecn": "on"}}, {"kind": "rem", "ecn": True}),
        ("VCP", {"cc": "vcp", "profile": "ns2"}, {"kind": "vcp", "capacity": "measured"}),
    ):
        aqm = {"kind": "ack-priority", "aqm": inside}
        flows = [flow(count=3, **control), flow(count=3, direction="reverse", **control)]
        both = {"kind": "reverse", "aqm": aqm}
        yield f"{name}, ACKs first", scenario(bottleneck=path(aqm), flows=flows, ack_path=both)
    for kind in ("rlc-am", "ofdma-tdd", "cell"):
        bottleneck = path("l4span", link=component("link", kind))
        flows = [flow(cc="prague"), flow(cc="cubic", profile="linux", tcp={"ecn": "on"})]
        both = {"kind": "reverse", "aqm": "droptail"}
        marked = scenario(bottleneck=bottleneck, flows=flows, ack_path=both)
        yield f"L4Span marks over {kind}", marked
    bearer = {"aqm": component("aqm", "droptail"), "link": component("link", "rlc-am")}
    yield (
        "both directions of a bearer",
        scenario(
            bottleneck=bearer,
            ack_path={"kind": "reverse", "aqm": component("aqm", "codel")},
            control=[{"at": "5 s", "rate": "128 kbit/s"}],
        ),
    )


def as_hops(document: Document) -> Document:
    """Return a scenario with its path written as a list of hops."""
    kept = {key: document[key] for key in document if key not in ("ack_path", "backhaul")}
    bottleneck = kept.pop("bottleneck")
    ack_path = document.get("ack_path", {"kind": "ideal"})
    hops: list[Document] = []
    if "backhaul" in document:
        hops.append({"name": "backhaul", "wire": document["backhaul"]})
    up = {key: value for key, value in ack_path.items() if key in ("link", "aqm")}
    if ack_path["kind"] == "link":
        hops.append({"name": "ack_path", "up": up})
    hop: Document = {"name": "bottleneck", "down": bottleneck}
    if ack_path["kind"] == "reverse":
        hop["up"] = up
        if "link" not in up:
            link = {"link": bottleneck["link"]}
            hop = {"name": "bottleneck", **link, "down": {"aqm": bottleneck["aqm"]}, "up": up}
    return {**kept, "hops": [*hops, hop]}
