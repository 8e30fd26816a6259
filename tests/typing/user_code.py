"""Examples of user code with valid and invalid calls.

The package's own type check (`make lint-python`) includes this file. Each invalid line has the
expected error code in a ``type: ignore`` comment. If mypy reports no error in such a line, the
comment itself is an error (``strict``).
"""

import airpath as ap

link = ap.link.Fixed(rate="5 Mbit/s", delay="10 ms", loss=0.01)
again = ap.link.Fixed(rate=5e6, delay=0.01, errors={"kind": "independent", "loss": 0.1})
queue = ap.aqm.DropTail(limit="100 packets")
early = ap.aqm.Gred(min_th="30 packets", max_th=90, ecn=True)
red = ap.aqm.Red(min_th="automatic", max_th="automatic")
slow = ap.link.MultiRegime(
    thresholds=[20],
    regimes=[{"rate": "16 Mbit/s", "per": 0.002}, ap.link.Regime(rate=21e6, per=0.1)],
)
recorded = ap.link.Trace(file="some.trace", offset="random")
adaptive = ap.link.Adaptive(
    table="airpath:802.16-ctc-awgn", snr_db=22, policy={"kind": "fixed", "mcs": 3}
)
stations = ap.link.OfdmaTdd(
    stations=40,
    map_overhead={"per_burst": 2},
    harq={"attempts": 4, "error": 0.1, "round_trip": "30 ms"},
    in_order={"up": True},
    request=ap.request.RandomDelay(delay=["25 ms", 0.05], piggyback="5 ms"),
    grant=ap.grant.AdaptBi(size="58 B"),
    users=[{"user": 0, "uplink_mcs": "qpsk-1/8"}, ap.link.TddUser(user=1)],
)
far = ap.link.OfdmaTdd(radio=ap.link.Radio(distance="1 km", profile="none"), users=[{"user": 0}])
contend = ap.link.OfdmaTdd(
    request=ap.request.Ranging(backoff=[2, 64]), grant="uni", map_overhead=30
)
options = ap.TcpConfig(mss="1400 B", initial_window="10 segments", recovery="sack")
group = ap.traffic.Tcp(
    count=2, cc="cubic", base_rtt=["40 ms", 0.08], start={"uniform": ["0 s", "1 s"]}, tcp=options
)
wired = ap.traffic.Tcp(access={"delay": "1 ms"}, return_wire=ap.Wire(delay="2 ms"))
web = ap.traffic.Tcp(
    size={"exponential": "100 kB"}, base_rtt="40 ms", arrivals={"poisson": "10 /s"}
)
scenario = ap.Scenario(
    flows=[*ap.flows(4, cc="reno", base_rtt="40 ms"), group, web, wired],
    bottleneck=ap.Bottleneck(aqm="codel", link=link),
    ack_path="reverse",
    backhaul={"rate": "1 Gbit/s"},
    control=[{"at": "20 s", "rate": "1 Mbit/s"}],
    record={"series": ["cwnd"]},
    duration="60 s",
)
rate: ap.units.Rate = link.rate
mean = rate / 2 + int(scenario.duration)
first = scenario.flows[0].count + early.min_th
name = scenario.bottleneck.link.delay.noun

ap.link.Fixed(rat="5 Mbit/s")  # type: ignore[call-arg]
ap.link.Fixed(rate="5 Mbit/s", dealy="10 ms")  # type: ignore[call-arg]
ap.link.Fixed()  # type: ignore[call-arg]
ap.link.Fixed("5 Mbit/s")  # type: ignore[call-arg]
ap.link.Fixed(rate=["5 Mbit/s"])  # type: ignore[arg-type]
ap.link.Fixed(rate="5 Mbit/s", loss="1 %")  # type: ignore[arg-type]
ap.aqm.DropTail(limit=100)  # type: ignore[arg-type]
ap.aqm.Gred(min_th=[30])  # type: ignore[arg-type]
ap.aqm.Gred(ecn="yes")  # type: ignore[arg-type]
ap.Bottleneck(aqm=3, link=link)  # type: ignore[arg-type]
ap.Bottleneck(queue="gred", link=link)  # type: ignore[call-arg]
ap.request.Ranging(backoff="2 to 64")  # type: ignore[arg-type]
ap.TcpConfig(initial_windw="10 segments")  # type: ignore[call-arg]
ap.traffic.Tcp(cc=["reno"])  # type: ignore[arg-type]
ap.flows(4, cc="reno", bas_rtt="40 ms")  # type: ignore[call-arg]
ap.Scenario(flows=[], bottleneck=ap.Bottleneck(aqm="gred", link=link))  # type: ignore[call-arg]
ap.simulate(scenario, rep=4)  # type: ignore[call-arg]
print(link.rat)  # type: ignore[attr-defined]
