"""What the text says about the distribution of the uplink delay (wimax-2009 §5.2, Fig. 6)."""

from __future__ import annotations

from collections.abc import Mapping

from airpath.reproduction.claims import ClaimSpec, Finding, known
from airpath.reproduction.session import Session
from airpath_papers.wimax.claims.common import CLAIMS
from airpath_papers.wimax.claims.losses import CURVES
from airpath_papers.wimax.measures import MAC_DELAY, DelayDistribution
from airpath_papers.wimax.scenarios import Case


@CLAIMS.check("fig6-uni", lambda _spec: [Case("uni")])
def _uni(session: Session, spec: ClaimSpec, cases: list[Case]) -> Finding:
    found = DelayDistribution(session, cases[0])
    median, upper = found.at(spec["median_ms"]), found.at(spec["upper_ms"])
    return Finding(
        abs(median - spec["median"]) <= spec["median_within"]
        and abs(upper - spec["upper"]) <= spec["upper_within"],
        [
            f"{median:.3f} at {spec['median_ms']:g} ms, {upper:.3f} at {spec['upper_ms']:g} ms; "
            f"median {found.quantile(0.5):.1f} ms, 90 % {found.quantile(0.9):.1f} ms"
        ],
        {"median_share": median, "upper_share": upper},
    )


@CLAIMS.check("fig6-blind", lambda _spec: [Case("blind-bi")])
def _blind(session: Session, spec: ClaimSpec, cases: list[Case]) -> Finding:
    found = DelayDistribution(session, cases[0])
    median, upper = found.quantile(0.5), found.at(spec["upper_ms"])
    return Finding(
        abs(median - spec["median_ms"]) <= spec["median_within_ms"]
        and abs(upper - spec["upper"]) <= spec["upper_within"],
        [f"median {median:.1f} ms; {upper:.3f} at {spec['upper_ms']:g} ms"],
        {"median_ms": median, "upper_share": upper},
    )


@CLAIMS.check(
    "fig6-adapt", lambda _spec: {policy: Case(policy) for policy in ("adapt-bi", "blind-bi")}
)
def _adapt(session: Session, spec: ClaimSpec, cases: Mapping[str, Case]) -> Finding:
    ours, blind = (DelayDistribution(session, cases[name]) for name in ("adapt-bi", "blind-bi"))
    above, upper = ours.quantile(0.5) - blind.quantile(0.5), ours.at(spec["upper_ms"])
    return Finding(
        spec["low_ms"] <= above <= spec["high_ms"] and upper >= spec["upper"],
        [
            f"median {ours.quantile(0.5):.1f} ms, {above:.1f} ms above blind-BI's; {upper:.3f} at "
            f"{spec['upper_ms']:g} ms"
        ],
        {"above_ms": above, "upper_share": upper},
    )


@CLAIMS.check("half-the-delay", lambda _spec: {name: Case(name) for name in ("uni", "adapt-bi")})
def _half(session: Session, spec: ClaimSpec, cases: Mapping[str, Case]) -> Finding:
    uni, adapt = (
        known(session, cases[name], MAC_DELAY.measure).mean for name in ("uni", "adapt-bi")
    )
    return Finding(
        uni >= spec["times"] * adapt,
        [f"{uni:.1f} and {adapt:.1f} ms: {uni / adapt:.2f} times"],
        {"times": uni / adapt},
    )


@CLAIMS.check("steps", lambda _spec: [Case("blind-bi")])
def _steps(session: Session, spec: ClaimSpec, cases: list[Case]) -> Finding:
    found = DelayDistribution(session, cases[0])
    median = found.quantile(0.5)
    most = int((found.delays_ms[-1] - median) // spec["apart_ms"]) + 1
    steps = [median + n * spec["apart_ms"] for n in range(most + 1)]
    share = found.near(steps, spec["within_ms"])
    return Finding(
        share >= spec["share"],
        [f"{share:.3f} of the delays; median {median:.1f} ms"],
        {"share": share, "median_ms": median},
    )


def _with_and_without(spec: ClaimSpec) -> dict[str, Case]:
    without = next(case for case in CURVES["blind-BI"] if case.loss == spec["loss"])
    return {"with": Case("blind-bi"), "without": without}


@CLAIMS.check("steps-by-repetitions", _with_and_without)
def _steps_by_repetitions(session: Session, spec: ClaimSpec, cases: Mapping[str, Case]) -> Finding:
    shares = {}
    for name, case in cases.items():
        found = DelayDistribution(session, case)
        # At the edge itself, whatever doubles make of it.
        shares[name] = 1 - found.at(found.quantile(0.5) + spec["above_ms"] - 1e-6)
    return Finding(
        shares["with"] >= spec["repeated"] and shares["without"] <= spec["else"],
        [f"{shares['with']:.1%} with HARQ and ARQ, {shares['without']:.1%} without"],
        shares,
    )
