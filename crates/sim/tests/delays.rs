//! Tests of delay quantiles against the delays of all packets in a recorded run, and against the
//! waiting time distributions of M/D/1 and M/D/1/K.

use crate::common::*;
use crate::theory::{CONFIDENCE, SERVICE_S, embedded_chain, poisson, reports};
use airpath_aqm::{AnyQueue, QueueDisc, QueueState, delegate_queue};
use airpath_conformance::Law;
use airpath_core::stats::mean_interval;
use airpath_core::{Bytes, Ctx, Histogram, LinkRate, Packet, Recorder, Series, StageError, Time};
use airpath_path::{Components, PacketDistribution, QueueSummary, ReplicationReport};
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

const WAIT: Law = Law {
    area: "Queueing theory",
    source: "Erlang 1909: the law of waiting in M/D/1, D = 1 ms",
    allows: "half of our interval at a confidence of 1 − 10⁻⁷, and 0.1 % for the histogram",
};
const WAIT_IN_SHORT_QUEUE: Law = Law {
    area: "Queueing theory",
    source: "The law of waiting of those that are admitted to M/D/1/K, from the embedded chain",
    allows: "half of our interval at a confidence of 1 − 10⁻⁷, and 0.1 % for the histogram",
};
const RECORDED: Law = Law {
    area: "Statistics",
    source: "Quantiles of the delays of every packet of a recorded run, in order",
    allows: "0.8 % for the histogram: half a bucket",
};

/// Relative error of a quantile that is interpolated within a histogram bucket with evenly
/// distributed values.
const INTERPOLATED: f64 = 0.001;

const LEVELS: [(f64, &str); 3] = [(0.5, "p50"), (0.95, "p95"), (0.99, "p99")];

/// Returns the smallest value that at least the share `q` of `values` does not exceed.
fn exact(values: &mut [f64], q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() as f64 * q).ceil() as usize).max(1) - 1]
}

/// Compares quantiles with the quantiles of the recorded delays.
fn check_recorded(what: &str, found: [Option<f64>; 3], mut recorded: Vec<f64>) {
    assert!(recorded.len() > 1000, "{what}: {} packets", recorded.len());
    for ((q, name), found) in LEVELS.into_iter().zip(found) {
        let found = found.expect("there were packets");
        let expected = exact(&mut recorded, q);
        let tolerance = Histogram::RELATIVE_ERROR / 2.0;
        RECORDED.close_relative(format!("{what}: {name}"), "s", found, expected, tolerance);
    }
}

fn waits_of(queue: &QueueSummary) -> [Option<f64>; 3] {
    [queue.p50_sojourn_s, queue.p95_sojourn_s, queue.p99_sojourn_s]
}

/// Returns the sample times of a series for one flow, s.
fn instants(recorder: &Recorder, series: Series, flow: u32) -> Vec<f64> {
    let of_flow = recorder.samples(series).iter().filter(|sample| sample.id == flow);
    of_flow.map(|sample| sample.time.as_secs_lossy()).collect()
}

/// Three TCP flows without drops: segments arrive in the order in which they were sent.
#[test]
fn quantiles_are_those_of_the_recorded_packets() {
    let window = json!({"receive_window": 400_000});
    let near = json!({"egress": {"delay_ns": 5 * MS}, "group": 7});
    let far = json!({"egress": {"delay_ns": 60 * MS}, "group": 3});
    let flows = vec![
        flow(tcp(window.clone()), near.clone()),
        flow(tcp(window.clone()), far),
        flow(tcp(window), near),
    ];
    let record = json!({"record": {
        "series": ["sojourn", "seq_sent", "seq_received"],
        "distributions": ["delay", "sojourn"],
    }});
    let scenario = scenario(20, flows, fixed(20_000_000), droptail(100_000), record);
    let driver = run_with(&scenario, &Components::default(), &Arc::default(), 1);
    let report = driver.report(0);
    assert_eq!(report.flows.iter().map(|flow| flow.retransmissions.unwrap()).sum::<u64>(), 0);
    let recorder = driver.into_recorder();

    let waits: Vec<f64> =
        recorder.samples(Series::Sojourn).iter().map(|sample| sample.value).collect();
    check_recorded("wait", waits_of(&report.queues[0]), waits.clone());

    let delays = |flow: u32| -> Vec<f64> {
        let sent = instants(&recorder, Series::SeqSent, flow);
        let received = instants(&recorder, Series::SeqReceived, flow);
        received.iter().zip(sent).map(|(received, sent)| received - sent).collect()
    };
    let three = |of: airpath_path::DelayQuantiles| [of.p50_delay_s, of.p95_delay_s, of.p99_delay_s];
    for flow in 0..3 {
        let found = three(report.flows[flow as usize].delays);
        check_recorded(&format!("one way, flow {flow}"), found, delays(flow));
    }
    let groups: Vec<u32> = report.together.groups.iter().map(|group| group.group).collect();
    assert_eq!(groups, [3, 7]);
    check_recorded("one way, group 3", three(report.together.groups[0].delays), delays(1));
    let near = [delays(0), delays(2)].concat();
    check_recorded("one way, group 7", three(report.together.groups[1].delays), near);
    let everything = [delays(0), delays(1), delays(2)].concat();
    check_recorded("one way, all", three(report.together.all), everything);

    let [far, close_by, sojourn] = &report.distributions[..] else {
        panic!("two groups, one queue")
    };
    assert_eq!([&*far.of, &*close_by.of, &*sojourn.of], ["3", "7", "bottleneck"]);
    check_distribution(far, &delays(1));
    check_distribution(close_by, &[delays(0), delays(2)].concat());
    check_distribution(sojourn, &waits);
}

/// Checks that each bucket counts the recorded times between its least and its greatest time.
fn check_distribution(found: &PacketDistribution, recorded: &[f64]) {
    assert_eq!(found.count.iter().sum::<u64>(), recorded.len() as u64);
    assert!(found.bucket.is_sorted_by(|one, next| one < next));
    let edges = found.least_s.iter().zip(&found.greatest_s);
    for ((least, greatest), count) in edges.zip(&found.count) {
        let within = |time: &&f64| **time > least - 1e-9 && **time < greatest + 1e-9;
        assert_eq!(recorded.iter().filter(within).count() as u64, *count, "from {least} s");
    }
}

fn of_acks(of: airpath_path::DelayQuantiles) -> [Option<f64>; 3] {
    [of.p50_ack_delay_s, of.p95_ack_delay_s, of.p99_ack_delay_s]
}

/// Flow number, time at which a packet of the flow left the queue, s, and sojourn time of the
/// packet, s.
type Wait = (u32, f64, f64);

/// Queue that records the sojourn time of each packet.
struct EnqueueTimestamps {
    inner: AnyQueue,
    queued: VecDeque<Time>,
    waits: Arc<Mutex<Vec<Wait>>>,
}

impl airpath_aqm::QueueWrapper for EnqueueTimestamps {
    delegate_queue!(inner: peek, state, on_bypass, on_wake, on_rate, on_served, on_lost, on_held);
    delegate_queue!(inner: measured, restart_measurement, take_error);

    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.queued.push_back(ctx.now);
        self.inner.enqueue(packet, ctx);
    }
    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        if !self.inner.dequeue_into(packet, ctx) {
            return false;
        }
        let queued = self.queued.pop_front().expect("it came in, and none is dropped");
        let (left, wait) = (ctx.now.as_secs_lossy(), ctx.now.saturating_since(queued));
        let mut waits = self.waits.lock().expect("one thread");
        waits.push((packet.flow.0, left, wait.as_secs_lossy()));
        true
    }
}

/// ACKs wait for a link of 250 kbit/s, are serialized at its rate, and then pass the return wire of
/// their flow. No packet is lost, so all ACKs have the same size. The first four seconds are not
/// measured.
#[test]
fn quantiles_of_acks_are_those_of_the_recorded_acks() {
    for (timestamps, ack_bytes) in [(false, 40), (true, 52)] {
        let waits = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&waits);
        let mut components = Components::default();
        components.queues.register("noting", move |_, setup| {
            let (queued, waits) = (VecDeque::new(), Arc::clone(&notes));
            Ok(Box::new(EnqueueTimestamps {
                inner: AnyQueue::build(&droptail(9999), setup)?,
                queued,
                waits,
            }))
        });
        let back_ms = [5, 60, 20];
        let flows = back_ms.map(|millis| {
            let source = tcp(json!({"receive_window": 60_000, "timestamps": timestamps}));
            let group = if millis == 60 { 3 } else { 7 };
            flow(source, json!({"return_wire": {"delay_ns": millis * MS}, "group": group}))
        });
        let back = json!({"kind": "reverse", "link": fixed(250_000), "queue": {"kind": "noting"}});
        let change = json!({"ack_path": back, "warmup_ns": 4 * SECOND});
        let link = fixed(20_000_000);
        let scenario = scenario(20, flows.to_vec(), link, droptail(100_000), change);
        let report = run_with(&scenario, &components, &Arc::default(), 1).report(0);
        assert_eq!(report.flows.iter().map(|flow| flow.retransmissions.unwrap()).sum::<u64>(), 0);
        let waits = waits.lock().expect("one thread");
        let delays = |flow: u32| -> Vec<f64> {
            let on_link = f64::from(ack_bytes * 8) / 250e3;
            let behind_queue = on_link + back_ms[flow as usize] as f64 * 1e-3;
            let of_flow = waits.iter().filter(|(of, left, _)| {
                *of == flow && (4.0..20.0).contains(&(left + behind_queue))
            });
            of_flow.map(|(_, _, wait)| wait + behind_queue).collect()
        };
        let what = |of: &str| format!("ACKs, timestamps {timestamps}, {of}");
        for flow in 0..3 {
            let found = of_acks(report.flows[flow as usize].delays);
            check_recorded(&what(&format!("flow {flow}")), found, delays(flow));
        }
        let [far, near] = &report.together.groups[..] else { panic!("two groups") };
        check_recorded(&what("group 3"), of_acks(far.delays), delays(1));
        check_recorded(&what("group 7"), of_acks(near.delays), [delays(0), delays(2)].concat());
        let everything = [delays(0), delays(1), delays(2)].concat();
        check_recorded(&what("all"), of_acks(report.together.all), everything);
    }
}

/// The reverse delay is 37 ms without a queue, regardless of the content of ACKs: SACK blocks and
/// timestamps in every combination, under loss.
#[test]
fn ack_delay_equals_the_wire_delay_for_any_ack_content() {
    for recovery in ["reno", "newreno", "sack", "prr"] {
        for timestamps in [false, true] {
            let source = tcp(json!({"recovery": recovery, "timestamps": timestamps}));
            let mut link = fixed(5_000_000);
            link["loss"] = json!(0.05);
            let wire = json!({"return_wire": {"delay_ns": 37 * MS}});
            let flows = vec![flow(source, wire), flow(datagrams("cbr", 100_000), json!({}))];
            let report = run(&scenario(10, flows, link, droptail(100), json!({})), 1);
            assert!(report.flows[0].retransmissions.unwrap() > 10);
            for found in of_acks(report.flows[0].delays) {
                assert_eq!(found, Some(0.037), "{recovery} {timestamps}");
            }
            assert_eq!(of_acks(report.flows[1].delays), [None; 3], "datagrams have no ACKs");
        }
    }
}

/// A flow without packets has no quantiles. If all delays are equal, all quantiles equal this
/// delay.
#[test]
fn quantiles_of_constant_delays_and_of_no_packets() {
    let idle =
        flow(datagrams("cbr", 1_000_000), json!({"start": {"kind": "at", "time_ns": SECOND}}));
    let flows = vec![flow(datagrams("cbr", 1_000_000), json!({})), idle];
    let mut scenario = scenario(1, flows, fixed(12_000_000), droptail(5), json!({}));
    scenario.warmup_ns = SECOND / 2;
    let report = run(&scenario, 1);
    assert_eq!(waits_of(&report.queues[0]), [Some(0.0); 3]);
    let delays = report.flows[0].delays;
    for found in [delays.p50_delay_s, delays.p95_delay_s, delays.p99_delay_s] {
        assert_eq!(found, Some(0.011));
    }
    assert_eq!(report.flows[1].delays, Default::default());
}

/// Returns P(W ≤ t) in M/D/1, t in service times.
///
/// Source: Erlang 1909; Gross & Harris, Fundamentals of Queueing Theory, §5.1.3.
fn waits_at_most(rho: f64, t: f64) -> f64 {
    let mut sum = 0.0;
    for j in 0..=t.floor() as u32 {
        let x = rho * (f64::from(j) - t);
        let power: f64 = (1..=j).map(|i| x / f64::from(i)).product();
        sum += power * (-x).exp();
    }
    (1.0 - rho) * sum
}

/// Returns P(W > t | admitted) in M/D/1/K with a total capacity of `system` packets, t in service
/// times.
///
/// A service starts with j packets in the system; the distribution of j follows from the embedded
/// chain. A packet that arrives y service times later finds j + k packets, of which k arrived after
/// the start of the service. It waits for the rest of this service and for j + k − 1 complete
/// services. Between services the system is empty for 1/λ on average.
fn waits_longer_when_admitted(rho: f64, system: usize, t: f64) -> f64 {
    let left_behind = embedded_chain(rho, system);
    let begins_with = |j: usize| left_behind[j] + if j == 1 { left_behind[0] } else { 0.0 };
    // λ ∫ e^(−λx) (λx)^k / k! dx from 0 to y: more than k arrivals within y.
    let more_than = |k: usize, y: f64| {
        let at_most: f64 = (0..=k)
            .scan(1.0, |term, i| {
                *term *= if i == 0 { (-rho * y).exp() } else { rho * y / i as f64 };
                Some(*term)
            })
            .sum();
        1.0 - at_most
    };
    let (mut longer, mut all) = (0.0, left_behind[0]);
    for j in 1..system {
        for k in 0..system - j {
            longer += begins_with(j) * more_than(k, ((j + k) as f64 - t).clamp(0.0, 1.0));
            all += begins_with(j) * more_than(k, 1.0);
        }
    }
    longer / all
}

/// Returns the t in 0 to `most` at which the decreasing function `longer` reaches 1 − `q`.
fn quantile(q: f64, most: f64, longer: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, most);
    if longer(0.0) <= 1.0 - q {
        return 0.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if longer(middle) > 1.0 - q { low = middle } else { high = middle }
    }
    high
}

/// Checks the mean quantiles of the waiting time over the replications. Their confidence interval
/// must be narrower than the share `width`.
fn check_waits(
    law: &Law,
    what: &str,
    reports: &[ReplicationReport],
    width: f64,
    expected_at: impl Fn(f64) -> f64,
) {
    for (level, (q, name)) in LEVELS.into_iter().enumerate() {
        let expected = expected_at(q) * SERVICE_S;
        let found: Vec<f64> = reports
            .iter()
            .map(|report| waits_of(&report.queues[0])[level].expect("packets waited"))
            .collect();
        let interval = mean_interval(&found, CONFIDENCE);
        let half = interval.high - interval.mean;
        let tolerance = half + INTERPOLATED * expected;
        law.close(format!("{what}: {name}"), "s", interval.mean, expected, tolerance);
        assert!(half <= width * expected, "{what}: {name}: {interval:?} is wider than {width}");
    }
}

#[test]
fn waiting_time_quantiles_equal_those_of_m_d_1() {
    for (rho, seconds, width) in [(0.3, 150, 0.03), (0.7, 200, 0.05)] {
        let longer = |t: f64| 1.0 - waits_at_most(rho, t);
        let reports = reports(&poisson(rho, 1_000_000, seconds), 11);
        check_waits(&WAIT, &format!("ρ = {rho}"), &reports, width, |q| quantile(q, 40.0, longer));
    }
}

#[test]
fn waiting_time_quantiles_in_a_short_queue_equal_those_of_m_d_1_k() {
    for (rho, capacity) in [(0.8, 5), (1.0, 3), (1.5, 10)] {
        let longer = |t: f64| waits_longer_when_admitted(rho, capacity + 1, t);
        let what = format!("ρ = {rho}, capacity {capacity}");
        check_waits(
            &WAIT_IN_SHORT_QUEUE,
            &what,
            &reports(&poisson(rho, capacity, 100), 12),
            0.03,
            |q| quantile(q, capacity as f64, longer),
        );
    }
}

/// A long queue is never full at a low load, so the two independently derived distributions agree.
/// The mean of the first one equals the Pollaczek–Khinchine formula.
#[test]
fn waiting_time_distributions_of_m_d_1_and_m_d_1_k_agree_at_low_load() {
    let rho = 0.4;
    for t in [0.0, 0.3, 1.0, 1.7, 2.5, 6.2] {
        let (long, short) = (1.0 - waits_at_most(rho, t), waits_longer_when_admitted(rho, 24, t));
        assert!((long - short).abs() < 1e-9, "P(W > {t}): {long}, {short}");
    }
    let step = 1e-3;
    let mean: f64 =
        (0..20_000).map(|i| step * (1.0 - waits_at_most(rho, (f64::from(i) + 0.5) * step))).sum();
    assert!((mean - rho / (2.0 * (1.0 - rho))).abs() < 1e-6, "{mean}");
}
