//! Tests of the simulator against queueing theory.
//!
//! Means are compared with a Student-t interval from 32 independent replications, at a confidence
//! of 1 − 10⁻⁷. A correct simulator fails a comparison for one seed in ten million. (Each
//! replication is an average over many busy periods, so the 32 values are close to normally
//! distributed.) The interval must also be narrower than a given bound, otherwise the test would
//! prove nothing.

use crate::common::*;
use airpath_conformance::Law;
use airpath_core::stats::mean_interval;
use airpath_path::{Components, ReplicationReport, Scenario};
use serde_json::json;

const WAITING: Law = Law {
    area: "Queueing theory",
    source: "Pollaczek–Khinchine for constant service: W = ρD / (2 (1 − ρ)), D = 1 ms",
    allows: "half of our interval at a confidence of 1 − 10⁻⁷",
};
const LENGTH: Law = Law {
    area: "Queueing theory",
    source: "Kleinrock, Queueing Systems I, §5.6: the queue length of M/D/1 at ρ = 0.7",
    allows: "half of our interval at a confidence of 1 − 10⁻⁷",
};
const LOSS: Law = Law {
    area: "Queueing theory",
    source: "Gross & Harris, §5.1.8: loss and use of M/D/1/K",
    allows: "half of our interval at a confidence of 1 − 10⁻⁷",
};
const CONSTANT: Law = Law {
    area: "Queueing theory",
    source: "D/D/1: constant arrivals and services",
    allows: "rounding of doubles; half a packet where 0.8 ms do not divide the run",
};
const BINOMIAL: Law = Law {
    area: "Queueing theory",
    source: "Independent losses: the count is binomial",
    allows: "five standard deviations",
};
const SHARES: Law = Law {
    area: "Queueing theory",
    source: "A link of two regimes, 10 and 15 Mbit/s, under 12 Mbit/s: half in each",
    allows: "0.1 %: where the run ends",
};

const REPLICATIONS: usize = 32;
pub(crate) const CONFIDENCE: f64 = 1.0 - 1e-7;
/// Service time D of 1500 bytes at 12 Mbit/s, s.
pub(crate) const SERVICE_S: f64 = 1e-3;

/// Returns a scenario with Poisson arrivals at load `rho` on a link that serves 1000 packets/s. The
/// warm-up is 5 % of the duration.
pub(crate) fn poisson(rho: f64, waiting_room: usize, seconds: u64) -> Scenario {
    let flows = vec![flow(datagrams("poisson", (12e6 * rho) as u64), json!({}))];
    let warmup = json!({"warmup_ns": seconds * SECOND / 20});
    scenario(seconds, flows, fixed(12_000_000), droptail(waiting_room), warmup)
}

pub(crate) fn reports(scenario: &Scenario, seed: u64) -> Vec<ReplicationReport> {
    let outcome = replications(scenario, &Components::default(), seed, REPLICATIONS, 2);
    assert_eq!(outcome.finished.len(), REPLICATIONS);
    outcome.finished.into_iter().map(|replication| replication.report).collect()
}

/// Checks that the mean of `value` over the replications is `expected`. The confidence interval
/// must be narrower than ±`width`.
fn check_mean(
    law: &Law,
    (what, unit): (&str, &str),
    reports: &[ReplicationReport],
    expected: f64,
    width: f64,
    value: impl Fn(&ReplicationReport) -> f64,
) {
    let values: Vec<f64> = reports.iter().map(value).collect();
    let interval = mean_interval(&values, CONFIDENCE);
    let half = interval.high - interval.mean;
    law.close(what, unit, interval.mean, expected, half);
    assert!(half <= width, "{what}: {interval:?} is wider than {width}");
}

/// Pollaczek–Khinchine for constant service: W = ρ D / (2 (1 − ρ)), L_q = λ W.
#[test]
fn poisson_arrivals_on_a_fixed_link_wait_as_in_m_d_1() {
    for (rho, seconds, width) in
        [(0.3, 100, 0.04), (0.6, 100, 0.05), (0.8, 100, 0.08), (0.9, 150, 0.12)]
    {
        let reports = reports(&poisson(rho, 1_000_000, seconds), 1);
        let wait = rho * SERVICE_S / (2.0 * (1.0 - rho));
        let waiting = rho / SERVICE_S * wait;
        check_mean(
            &WAITING,
            (&format!("ρ = {rho}: W"), "s"),
            &reports,
            wait,
            width * wait,
            |report| report.queues[0].mean_sojourn_s.expect("packets waited"),
        );
        check_mean(
            &WAITING,
            (&format!("ρ = {rho}: L_q"), "packets"),
            &reports,
            waiting,
            width * waiting,
            |report| report.queues[0].mean_packets,
        );
        check_mean(
            &WAITING,
            (&format!("ρ = {rho}: utilisation"), ""),
            &reports,
            rho,
            0.02 * rho,
            |report| report.links[0].utilisation,
        );
        // Waiting time, service time, and 10 ms of the wire.
        let delay = wait + SERVICE_S + 0.010;
        check_mean(
            &WAITING,
            (&format!("ρ = {rho}: delay"), "s"),
            &reports,
            delay,
            width * wait,
            |report| report.flows[0].mean_delay_s.expect("packets arrived"),
        );
    }
}

/// Returns P(k arrivals in a service time) for k = 0 … `most`.
fn arrivals_in_a_service(rho: f64, most: usize) -> Vec<f64> {
    (1..=most)
        .scan((-rho).exp(), |p, k| {
            let now = *p;
            *p *= rho / k as f64;
            Some(now)
        })
        .collect()
}

/// Returns π_n for n < `levels`: the stationary distribution of the number of packets in the system
/// just after a departure, up to a constant factor (π₀ = 1). It follows from π_n = π₀ a_n +
/// Σ_{j=1}^{n+1} π_j a_{n+1−j}. In a finite system, this equation holds for all n that are possible
/// after a departure.
///
/// Source: Kleinrock, Queueing Systems I, §5.6 (the embedded Markov chain of M/G/1).
pub(crate) fn embedded_chain(rho: f64, levels: usize) -> Vec<f64> {
    let a = arrivals_in_a_service(rho, levels + 1);
    let mut pi = vec![1.0];
    for n in 0..levels - 1 {
        let from_others: f64 = (1..=n).map(|j| pi[j] * a[n + 1 - j]).sum();
        pi.push((pi[n] - a[n] - from_others) / a[0]);
    }
    pi
}

/// The number of packets in the system has the same distribution π just after a departure, just
/// before an arrival, and (by PASTA) at a random time. The number of waiting packets is one less.
#[test]
fn the_queue_length_of_m_d_1_follows_the_embedded_chain() {
    let rho = 0.7;
    let reports = reports(&poisson(rho, 1_000_000, 200), 2);
    let pi: Vec<f64> = embedded_chain(rho, 20).iter().map(|p| (1.0 - rho) * p).collect();
    assert!((pi[1] - (1.0 - rho) * (rho.exp() - 1.0)).abs() < 1e-12, "π₁ = (1−ρ)(e^ρ − 1)");
    let waiting = |n: usize| if n == 0 { pi[0] + pi[1] } else { pi[n + 1] };
    for n in 0..12 {
        let expected = waiting(n);
        // Probabilities of at least 0.2 % are known to 5 % … 20 %.
        let width = 0.01 * expected.sqrt();
        check_mean(
            &LENGTH,
            (&format!("P({n} waiting)"), ""),
            &reports,
            expected,
            width,
            |report| report.queues[0].pmf.get(n).copied().unwrap_or(0.0),
        );
    }
    let tail = 1.0 - (0..12).map(waiting).sum::<f64>();
    check_mean(&LENGTH, ("P(12 or more waiting)", ""), &reports, tail, 0.001, |report| {
        report.queues[0].pmf.iter().skip(12).sum()
    });
}

/// M/D/1/K: with at most N packets in the system, π^N is π truncated at N − 1 and normalised. The
/// link is busy for the share ρ/(π₀^N + ρ) of the time, and P_loss = 1 − 1/(π₀^N + ρ).
///
/// Source: Gross & Harris, Fundamentals of Queueing Theory, §5.1.8 (M/G/1/K).
#[test]
fn loss_of_a_short_queue_equals_that_of_m_d_1_k() {
    for (rho, capacity) in [(0.8, 1), (0.8, 5), (1.0, 3), (1.5, 10)] {
        let reports = reports(&poisson(rho, capacity, 60), 3);
        let system = capacity + 1;
        let chain = embedded_chain(rho, system);
        let pi0 = 1.0 / chain.iter().sum::<f64>();
        let loss = 1.0 - 1.0 / (pi0 + rho);
        check_mean(
            &LOSS,
            (&format!("ρ = {rho}, capacity {capacity}: loss"), ""),
            &reports,
            loss,
            0.08 * loss,
            |report| {
                let queue = &report.queues[0];
                queue.drops.get("overflow").copied().unwrap_or(0) as f64 / queue.arrived as f64
            },
        );
        let busy = rho * (1.0 - loss);
        check_mean(
            &LOSS,
            (&format!("ρ = {rho}, capacity {capacity}: busy"), ""),
            &reports,
            busy,
            0.02,
            |report| report.links[0].utilisation,
        );
    }
}

/// Checks the recursion against an iteration of the chain's transition matrix.
#[test]
fn the_recursion_is_the_stationary_distribution_of_the_transition_matrix() {
    let (rho, system) = (1.5_f64, 6);
    let a = arrivals_in_a_service(rho, system);
    let mut pi = vec![1.0 / system as f64; system];
    for _ in 0..2000 {
        let mut next = vec![0.0; system];
        for (i, p) in pi.iter().enumerate() {
            let left = i.saturating_sub(1);
            let mut rest = 1.0;
            for j in left..system - 1 {
                next[j] += p * a[j - left];
                rest -= a[j - left];
            }
            next[system - 1] += p * rest;
        }
        pi = next;
    }
    let chain = embedded_chain(rho, system);
    let total: f64 = chain.iter().sum();
    for (ours, iterated) in chain.iter().zip(&pi) {
        assert!((ours / total - iterated).abs() < 1e-12, "{chain:?} {pi:?}");
    }
}

/// D/D/1 below capacity: no packet waits, and the link is busy for exactly its load.
#[test]
fn constant_arrivals_below_capacity_never_wait() {
    let flows = vec![flow(datagrams("cbr", 9_600_000), json!({}))];
    let report = run(&scenario(10, flows, fixed(12_000_000), droptail(1), json!({})), 1);
    let (queue, link, flow) = (&report.queues[0], &report.links[0], &report.flows[0]);
    // One packet each 1.25 ms, from 0 on.
    assert_eq!((flow.sent_packets, queue.arrived, queue.departed), (8000, 8000, 8000));
    assert_eq!((queue.max_packets, queue.mean_packets), (1, 0.0));
    assert_eq!((queue.mean_sojourn_s, queue.drops.len()), (Some(0.0), 0));
    assert_eq!((queue.pmf.clone(), link.utilisation), (vec![1.0], 0.8));
    let delay = flow.mean_delay_s.expect("packets arrived");
    CONSTANT.close("below capacity: delay", "s", delay, 0.011, 1e-15);
}

/// D/D/1 above capacity: an arrival each 0.8 ms, service times of 1 ms. Packet n waits 0.2 n ms
/// until the queue is full. Then four of five packets are admitted.
#[test]
fn constant_arrivals_above_capacity_fill_the_queue_linearly() {
    let flows = vec![flow(datagrams("cbr", 15_000_000), json!({}))];
    let unlimited = scenario(8, flows.clone(), fixed(12_000_000), droptail(1_000_000), json!({}));
    let report = run(&unlimited, 1);
    let (queue, link) = (&report.queues[0], &report.links[0]);
    assert_eq!((queue.arrived, queue.departed, link.delivered_packets), (10_000, 8000, 7999));
    // Packets 0 … 7999 started their service, so the mean waiting time is the mean of 0.2 n ms.
    let mean = queue.mean_sojourn_s.expect("packets waited");
    CONSTANT.close("above capacity: mean wait", "s", mean, 0.2e-3 * 7999.0 / 2.0, 1e-9);
    assert_eq!((link.utilisation, queue.max_packets), (1.0, 2000));
    // Number of waiting packets at t: ⌈t/0.8⌉ − ⌈t/1⌉ (t in ms), 1000 on average over 0 … 8 s.
    let what = "above capacity: mean queue";
    CONSTANT.close(what, "packets", queue.mean_packets, 1000.0, 0.5);

    let full = json!({"warmup_ns": SECOND});
    let report = run(&scenario(9, flows, fixed(12_000_000), droptail(10), full), 1);
    let queue = &report.queues[0];
    assert_eq!((queue.arrived, queue.departed), (10_000, 8000));
    assert_eq!(queue.drops["overflow"], 2000);
    assert_eq!(report.links[0].utilisation, 1.0);
}

/// Two flows send at the same instants: the packet of the second flow waits while the packet of the
/// first flow is served. Half of the packets wait for 1 ms, in each interval of 3 ms.
#[test]
fn two_synchronous_constant_flows_wait_for_each_other() {
    let source = || flow(datagrams("cbr", 4_000_000), json!({}));
    let flows = vec![source(), source()];
    let report = run(&scenario(30, flows, fixed(12_000_000), droptail(5), json!({})), 1);
    let queue = &report.queues[0];
    assert_eq!(queue.mean_sojourn_s, Some(0.5e-3));
    assert_eq!(queue.pmf.len(), 2, "{:?}", queue.pmf);
    CONSTANT.close("two in step: P(1 waiting)", "", queue.pmf[1], 1.0 / 3.0, 1e-12);
    let used = report.links[0].utilisation;
    CONSTANT.close("two in step: utilisation", "", used, 2.0 / 3.0, 1e-12);
}

/// 10⁵ packets are each lost with probability p, so the number of losses is binomial. One seed in
/// 1.7 million deviates by more than five standard deviations.
#[test]
fn bernoulli_losses_are_binomial() {
    for (loss, seed) in [(0.001, 1), (0.1, 2), (0.5, 3), (0.9, 4)] {
        let link = json!({"kind": "fixed", "rate_bps": 12_000_000, "loss": loss});
        let flows = vec![flow(datagrams("cbr", 12_000_000), json!({}))];
        let report = run(&scenario(100, flows, link, droptail(5), json!({})), seed);
        let link = &report.links[0];
        let sent = (link.delivered_packets + link.lost_packets) as f64;
        assert_eq!(sent, 99_999.0);
        let (mean, sigma) = (sent * loss, (sent * loss * (1.0 - loss)).sqrt());
        let lost = link.lost_packets as f64;
        BINOMIAL.close(format!("lost of {sent}, p = {loss}"), "", lost, mean, 5.0 * sigma);
        // A lost packet occupies the link for its transmission time.
        assert_eq!(link.utilisation, 1.0);
    }
}

/// The regime is chosen at the start of a transmission by the number of waiting packets. With a
/// constant arrival rate between the rates of the two regimes, the queue stays at the threshold.
#[test]
fn a_link_of_two_regimes_holds_the_queue_at_its_threshold() {
    let link = json!({"kind": "multi-regime", "thresholds": [20],
        "regimes": [{"rate_bps": 10_000_000, "per": 0.0}, {"rate_bps": 15_000_000, "per": 0.0}]});
    let flows = vec![flow(datagrams("cbr", 12_000_000), json!({}))];
    let warmup = json!({"warmup_ns": 10 * SECOND});
    let report = run(&scenario(70, flows, link, droptail(1000), warmup), 1);
    let queue = &report.queues[0];
    assert!(queue.pmf[..18].iter().sum::<f64>() == 0.0 && queue.max_packets <= 21, "{queue:?}");
    // Transmissions equal arrivals: with a share α in the upper regime, 1.2 (1 − α) + 0.8 α = 1.
    let regimes = &report.links[0].regime_packets;
    let upper = regimes[1] as f64 / (regimes[0] + regimes[1]) as f64;
    SHARES.close("share of packets in the upper regime", "", upper, 0.5, 1e-3);
}
