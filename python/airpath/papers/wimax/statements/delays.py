"""What the text says about the distribution of the uplink delay (wimax-2009 §5.2, Fig. 6)."""

from __future__ import annotations

from collections.abc import Mapping

from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import Finding, Said, known
from airpath.papers.wimax.measures import MAC_DELAY, DelayDistribution
from airpath.papers.wimax.scenarios import Case
from airpath.papers.wimax.statements.common import SAYS
from airpath.papers.wimax.statements.losses import CURVES


@SAYS.check("fig6-uni", lambda _said: [Case("uni")])
def _uni(session: Session, said: Said, cases: list[Case]) -> Finding:
    found = DelayDistribution(session, cases[0])
    median, upper = found.at(said["median_ms"]), found.at(said["upper_ms"])
    return Finding(
        abs(median - said["median"]) <= said["median_within"]
        and abs(upper - said["upper"]) <= said["upper_within"],
        [
            f"{median:.3f} at {said['median_ms']:g} ms, {upper:.3f} at {said['upper_ms']:g} ms; "
            f"median {found.quantile(0.5):.1f} ms, 90 % {found.quantile(0.9):.1f} ms"
        ],
        {"median_share": median, "upper_share": upper},
    )


@SAYS.check("fig6-blind", lambda _said: [Case("blind-bi")])
def _blind(session: Session, said: Said, cases: list[Case]) -> Finding:
    found = DelayDistribution(session, cases[0])
    median, upper = found.quantile(0.5), found.at(said["upper_ms"])
    return Finding(
        abs(median - said["median_ms"]) <= said["median_within_ms"]
        and abs(upper - said["upper"]) <= said["upper_within"],
        [f"median {median:.1f} ms; {upper:.3f} at {said['upper_ms']:g} ms"],
        {"median_ms": median, "upper_share": upper},
    )


@SAYS.check(
    "fig6-adapt", lambda _said: {policy: Case(policy) for policy in ("adapt-bi", "blind-bi")}
)
def _adapt(session: Session, said: Said, cases: Mapping[str, Case]) -> Finding:
    ours, blind = (DelayDistribution(session, cases[name]) for name in ("adapt-bi", "blind-bi"))
    above, upper = ours.quantile(0.5) - blind.quantile(0.5), ours.at(said["upper_ms"])
    return Finding(
        said["low_ms"] <= above <= said["high_ms"] and upper >= said["upper"],
        [
            f"median {ours.quantile(0.5):.1f} ms, {above:.1f} ms above blind-BI's; {upper:.3f} at "
            f"{said['upper_ms']:g} ms"
        ],
        {"above_ms": above, "upper_share": upper},
    )


@SAYS.check("half-the-delay", lambda _said: {name: Case(name) for name in ("uni", "adapt-bi")})
def _half(session: Session, said: Said, cases: Mapping[str, Case]) -> Finding:
    uni, adapt = (
        known(session, cases[name], MAC_DELAY.measure).mean for name in ("uni", "adapt-bi")
    )
    return Finding(
        uni >= said["times"] * adapt,
        [f"{uni:.1f} and {adapt:.1f} ms: {uni / adapt:.2f} times"],
        {"times": uni / adapt},
    )


@SAYS.check("steps", lambda _said: [Case("blind-bi")])
def _steps(session: Session, said: Said, cases: list[Case]) -> Finding:
    found = DelayDistribution(session, cases[0])
    median = found.quantile(0.5)
    most = int((found.delays_ms[-1] - median) // said["apart_ms"]) + 1
    steps = [median + n * said["apart_ms"] for n in range(most + 1)]
    share = found.near(steps, said["within_ms"])
    return Finding(
        share >= said["share"],
        [f"{share:.3f} of the delays; median {median:.1f} ms"],
        {"share": share, "median_ms": median},
    )


def _with_and_without(said: Said) -> dict[str, Case]:
    without = next(case for case in CURVES["blind-BI"] if case.loss == said["loss"])
    return {"with": Case("blind-bi"), "without": without}


@SAYS.check("steps-by-repetitions", _with_and_without)
def _steps_by_repetitions(session: Session, said: Said, cases: Mapping[str, Case]) -> Finding:
    shares = {}
    for name, case in cases.items():
        found = DelayDistribution(session, case)
        # At the edge itself, whatever doubles make of it.
        shares[name] = 1 - found.at(found.quantile(0.5) + said["above_ms"] - 1e-6)
    return Finding(
        shares["with"] >= said["repeated"] and shares["without"] <= said["else"],
        [f"{shares['with']:.1%} with HARQ and ARQ, {shares['without']:.1%} without"],
        shares,
    )
