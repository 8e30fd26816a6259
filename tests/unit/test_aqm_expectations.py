"""Expected behaviour of each queue discipline with bulk TCP, end to end.

The bounds come from the source that each test names, not from Airpath's own results. All runs have
fixed seeds. The pages of the models show the measured values.
"""

from __future__ import annotations

import pytest

import airpath as ap
from conformance import Law

PIE = Law(
    area="PIE",
    source="RFC 8033 §4: bulk TCP waits near the target of 15 ms and fills the link",
    allows="2 ms below and 5 ms above the target; 95 % of the link",
)
CODEL = Law(
    area="CoDel",
    source="RFC 8289 §3.2: little standing queue of bulk TCP at a small cost",
    allows="four times the target of 5 ms; 90 % of the link",
)
ARED = Law(
    area="ARED",
    source="Floyd, Gummadi & Shenker 2001 §4: the mean queue of bulk TCP, target 18.8 to 22.9",
    allows="two packets: average over time and over arrivals; 10 senders: from min_th on",
)
FQ_CODEL = Law(
    area="FQ-CoDel",
    source="RFC 8290 §1.2, §5.1: flows share the link, a sparse flow hardly waits",
    allows="0.1 % of Jain's index; three targets of 5 ms; two packets and 64 kbit/s' own 0.13 ms",
)


def measured(aqm: ap.aqm.QueueDisc, flows: int, rate: str, base_rtt: str) -> dict[str, float]:
    """Return mean sojourn time, mean queue length, utilisation and Jain's index of NewReno bulk
    flows.
    """
    scenario = ap.Scenario(
        flows=ap.flows(
            flows,
            cc="newreno",
            base_rtt=base_rtt,
            tcp={"receive_window": "4 MB"},
            start={"uniform": ["0 s", "1 s"]},
        ),
        bottleneck=ap.Bottleneck(aqm=aqm, link=ap.link.Fixed(rate=rate)),
        duration="120 s",
        warmup="40 s",
    )
    result = ap.simulate(scenario, reps=4, seed=1)
    queue = result.table("queues").query("queue == 'bottleneck'")
    link = result.table("links").query("link == 'bottleneck'")
    goodput = result.table("flows").groupby("flow")["goodput_bps"].mean()
    return {
        "wait_ms": float(queue["mean_sojourn_s"].mean()) * 1e3,
        "queue": float(queue["mean_packets"].mean()),
        "utilisation": float(link["utilisation"].mean()),
        "jain": float(goodput.sum() ** 2 / (len(goodput) * (goodput**2).sum())),
    }


@pytest.mark.parametrize("delay_estimate", ["timestamps", "departure-rate"])
@pytest.mark.parametrize("flows", [5, 20, 50])
def test_pie_holds_its_target_and_fills_the_link(flows: int, delay_estimate: str) -> None:
    """RFC 8033 §4: mean delay near the target of 15 ms, utilisation of at least 95 %."""
    found = measured(ap.aqm.Pie(delay_estimate=delay_estimate), flows, "10 Mbit/s", "40 ms")
    name = f"{flows} flows, {delay_estimate}"
    PIE.between(f"mean sojourn time, {name}", "ms", found["wait_ms"], 13, 20)
    PIE.between(f"use of the link, {name}", "", found["utilisation"], 0.95)


@pytest.mark.parametrize("flows", [2, 5, 20])
def test_codel_keeps_the_sojourn_time_near_its_target(flows: int) -> None:
    """RFC 8289 §3.2: a short standing queue at a small loss of utilisation. With drop-tail, the
    sojourn time would be 85 to 120 ms.
    """
    found = measured(ap.aqm.CoDel(), flows, "10 Mbit/s", "40 ms")
    CODEL.between(f"mean sojourn time, {flows} flows", "ms", found["wait_ms"], 0, 20)
    CODEL.between(f"use of the link, {flows} flows", "", found["utilisation"], 0.9)


@pytest.mark.parametrize("flows", [10, 20, 30, 50, 100])
def test_ared_stays_in_its_band_for_a_factor_of_ten_in_load(flows: int) -> None:
    """Floyd, Gummadi & Shenker 2001 §4: thresholds 10.4 and 31.3, so the target is 18.8 to 22.9.

    The band applies to the average at arrivals; the test compares the time average, with a
    tolerance of two packets. Ten senders need a loss rate below that of the smallest max_p, so
    their queue only has to be between min_th and the band.
    """
    aqm = ap.aqm.Ared(limit=2000, mean_packet="1500 B")
    found = measured(aqm, flows, "50 Mbit/s", "60 ms")
    least = 10.4 if flows == 10 else 16.8
    ARED.between(f"mean queue, {flows} flows", "packets", found["queue"], least, 24.9)


@pytest.mark.parametrize("flows", [2, 5])
def test_fq_codel_shares_equally(flows: int) -> None:
    """RFC 8290 §1.2: flows share the link regardless of their behaviour."""
    found = measured(ap.aqm.FqCoDel(), flows, "10 Mbit/s", "40 ms")
    FQ_CODEL.between(f"Jain's index, {flows} flows", "", found["jain"], 0.999)
    FQ_CODEL.between(f"mean sojourn time, {flows} flows", "ms", found["wait_ms"], 0, 15)


def test_fq_codel_serves_a_sparse_flow_without_delay() -> None:
    """RFC 8290 §5.1: a flow below its share waits for one or two packets (1.2 ms each)."""
    bulk = ap.flows(4, cc="newreno", base_rtt="40 ms", tcp={"receive_window": "4 MB"})
    sparse = ap.flows(source="cbr", rate="64 kbit/s", packet="160 B")
    waits = {}
    for aqm in (ap.aqm.FqCoDel(), ap.aqm.CoDel()):
        scenario = ap.Scenario(
            flows=bulk + sparse,
            bottleneck=ap.Bottleneck(aqm=aqm, link=ap.link.Fixed(rate="10 Mbit/s")),
            duration="60 s",
            warmup="10 s",
        )
        table = ap.simulate(scenario, reps=4, seed=1).table("flows").query("flow == 4")
        if aqm.kind == "fq-codel":
            assert (table["delivered_packets"] == table["sent_packets"]).all()
        waits[aqm.kind] = float(table["mean_delay_s"].mean()) * 1e3
    what = "delay of 64 kbit/s with 4 bulk flows"
    FQ_CODEL.between(what, "ms", waits["fq-codel"], 0, 2.4 + 0.13)
    assert waits["codel"] > 2 * waits["fq-codel"]
