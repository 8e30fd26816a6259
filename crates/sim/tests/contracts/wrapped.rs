//! Tests that a transparent wrapper around any queue discipline, on any link in both directions,
//! and around any congestion control algorithm does not change results.
//!
//! Regression: a wrapper that did not forward `on_held` turned a limit of 10 packets into 40 on a
//! link that holds packets. A wrapper that did not forward a timer, a rate or a completion changed
//! the inner discipline.

use crate::common::links::{link_files, links};
use crate::common::{MS, SECOND, datagrams, fixed, flow, run_with, scenario, tcp};
use crate::descriptions::with_kind;
use airpath_aqm::{AnyQueue, QueueDisc, QueueState, delegate_queue};
use airpath_core::{Bytes, Ctx, Duration, Ecn, LinkRate, Packet, Rate, Series, StageError, Time};
use airpath_path::{Components, ReplicationReport};
use airpath_tcp::congestion::{
    AckEvent, AnyCongestion, BurstSize, CongestionControl, IdleEvent, LossEvent, LostSegment,
    PathModel, UndoEvent,
};
use airpath_tcp::{EcnUse, delegate_congestion, profile, profile_names};
use serde_json::{Value, json};

/// Queue wrapper that delegates all calls.
struct Transparent {
    inner: AnyQueue,
}

impl airpath_aqm::QueueWrapper for Transparent {
    delegate_queue!(inner);
}

/// Queue wrapper that delegates the required calls explicitly and checks them: packet and byte
/// counts are consistent, and a timer is not in the past.
struct Checking {
    inner: AnyQueue,
    arrived: usize,
    left: usize,
}

impl Checking {
    fn check(&self, ctx: &Ctx<'_>) {
        assert!(self.inner.packets() <= self.arrived - self.left);
        assert_eq!(self.inner.packets() == 0, self.inner.backlog() == Bytes::ZERO);
        assert_eq!(self.inner.packets() == 0, self.inner.peek().is_none());
        assert!(self.inner.next_wakeup() >= ctx.now, "a timer in the past");
    }
}

impl airpath_aqm::QueueWrapper for Checking {
    delegate_queue!(inner: peek, state, on_bypass, on_rate, on_lost, measured);
    delegate_queue!(inner: restart_measurement, take_error);

    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.arrived += 1;
        self.inner.enqueue(packet, ctx);
        self.check(ctx);
    }

    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        let has_packet = self.inner.dequeue_into(packet, ctx);
        self.left += usize::from(has_packet);
        self.check(ctx);
        has_packet
    }

    fn on_wake(&mut self, ctx: &mut Ctx<'_>) {
        assert!(self.inner.next_wakeup() <= ctx.now, "woken before it is due");
        self.inner.on_wake(ctx);
        self.check(ctx);
    }

    /// Checks that the waiting packets and the timer do not change.
    fn on_served(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) {
        let before = self.inner.state();
        self.inner.on_served(packet, ctx);
        assert_eq!(before, self.inner.state());
    }

    fn on_held(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
        assert_eq!(packets == 0, bytes == Bytes::ZERO);
        self.inner.on_held(packets, bytes, ctx);
        self.check(ctx);
    }
}

const WRAPPERS: [&str; 2] = ["transparent", "checking"];

/// Returns components with both wrappers, described by `{"kind": …, "inner": description}`. The
/// inner discipline uses the seed of the wrapper.
fn components() -> Components {
    let mut components = Components::default();
    components.queues.register("transparent", |parameters, setup| {
        Ok(Box::new(Transparent { inner: AnyQueue::build(&parameters["inner"], setup)? }))
    });
    components.queues.register("checking", |parameters, setup| {
        let inner = AnyQueue::build(&parameters["inner"], setup)?;
        Ok(Box::new(Checking { inner, arrived: 0, left: 0 }))
    });
    components
}

/// Returns all sample descriptions of built-in disciplines, except those with timers that expire a
/// thousand times during a transmission: they are slow and test nothing new.
fn disciplines() -> Vec<Value> {
    let is_slow = |timer: &Value| timer.as_u64().is_some_and(|nanos| nanos < MS);
    let all = AnyQueue::BUILT_IN.iter().flat_map(|(kind, _)| with_kind(kind));
    all.filter(|queue| {
        !["interval_ns", "update_ns", "tick_ns"].iter().any(|key| is_slow(&queue[key]))
    })
    .collect()
}

/// Runs four seconds with a load of twice the rate of 2 Mbit/s in each direction: TCP with and
/// without ECN, datagrams, and ACKs. Returns the report, measured after the first second, and the
/// recorded queue lengths.
fn measured(
    link: &Value,
    queue: &Value,
    components: &Components,
) -> (ReplicationReport, Vec<(Time, f64)>) {
    let mut flows = Vec::new();
    for direction in ["forward", "reverse"] {
        let keys = json!({"direction": direction});
        flows.push(flow(tcp(json!({"ecn": "on"})), keys.clone()));
        flows.push(flow(tcp(json!({"recovery": "sack"})), keys.clone()));
        flows.push(flow(datagrams("poisson", 2_000_000), keys));
    }
    let change = json!({
        "warmup_ns": SECOND, "record": {"series": ["queue"]},
        "bottleneck": {"link": link, "queue": queue},
        "ack_path": {"kind": "reverse", "link": null, "queue": queue}});
    let scenario = scenario(4, flows, Value::Null, Value::Null, change);
    let driver = run_with(&scenario, components, &link_files(), 1);
    let report = driver.report(0);
    let recorder = driver.into_recorder();
    let lengths = recorder.samples(Series::Queue).iter();
    (report, lengths.map(|sample| (sample.time, sample.value)).collect())
}

#[test]
fn a_transparent_queue_wrapper_does_not_change_results_on_any_link() {
    let components = components();
    let (mut drops, mut marks) = (0, 0);
    for link in links() {
        for queue in disciplines() {
            let (bare, bare_lengths) = measured(&link, &queue, &components);
            for report in &bare.queues {
                drops += report.drops.values().sum::<u64>();
                marks += report.marks;
            }
            for wrapper in WRAPPERS {
                let wrapped = json!({"kind": wrapper, "inner": queue});
                let (report, lengths) = measured(&link, &wrapped, &components);
                assert_eq!(report, bare, "{wrapper} around {queue} on {link}");
                assert_eq!(lengths, bare_lengths, "{wrapper} around {queue} on {link}");
            }
        }
    }
    assert!(drops > 10_000 && marks > 100, "{drops} drops and {marks} marks say little");
}

/// Congestion control wrapper that delegates all calls.
struct TransparentCongestion {
    inner: AnyCongestion,
}

impl airpath_tcp::congestion::CongestionWrapper for TransparentCongestion {
    delegate_congestion!(inner);
}

/// Two flows under every TCP profile, over a link that loses 1 %, with a queue that marks.
#[test]
fn a_transparent_congestion_wrapper_does_not_change_results_under_any_profile() {
    let mut components = Components::default();
    components.congestion.register("transparent", |parameters, setup| {
        Ok(Box::new(TransparentCongestion {
            inner: AnyCongestion::build(&parameters["inner"], setup)?,
        }))
    });
    let report = |name: &str, cc: &Value, ecn: &str| {
        let options = json!({"receive_window": 1_000_000, "ecn": ecn});
        let options = profile(name, options).expect("a profile");
        let source = json!({"kind": "tcp", "congestion": cc, "options": options});
        let mut link = fixed(5_000_000);
        link["loss"] = json!(0.01);
        let queue = json!({"kind": "gred", "min_th": 2, "max_th": 12, "max_p": 0.2, "ecn": true});
        let flows = vec![flow(source.clone(), json!({})), flow(source, json!({}))];
        // VCP's window grows more slowly.
        let is_vcp = cc["kind"] == "vcp" || cc["inner"]["kind"] == "vcp";
        let seconds = if is_vcp { 60 } else { 20 };
        run_with(&scenario(seconds, flows, link, queue, json!({})), &components, &link_files(), 1)
            .report(0)
    };
    for name in profile_names() {
        for cc in congestion_controls() {
            // Stack variant `ns3` has no ECN.
            let options = profile(&name, json!({})).expect("a profile");
            let has_ecn = options["stack"] != "ns3";
            // VCP uses the ECN field differently, and at this loss rate its window builds no queue.
            let is_vcp = cc["kind"] == "vcp";
            let uses = ["off", if is_vcp { "vcp" } else { "on" }];
            for ecn in uses.into_iter().take(1 + usize::from(has_ecn)) {
                let bare = report(&name, &cc, ecn);
                let wrapped = json!({"kind": "transparent", "inner": cc});
                assert_eq!(report(&name, &wrapped, ecn), bare, "{cc} under {name}, ecn {ecn}");
                let again: u64 = bare.flows.iter().map(|flow| flow.retransmissions.unwrap()).sum();
                assert!(again > 10, "{cc} under {name}: {again} retransmissions say little");
                let marks: u64 = bare.queues.iter().map(|queue| queue.marks).sum();
                if !is_vcp {
                    assert_eq!(marks > 0, ecn == "on", "{cc} under {name}");
                }
            }
        }
    }
}

/// Returns every built-in congestion control algorithm, with the defaults of its Python class.
fn congestion_controls() -> Vec<Value> {
    let usual = |kind: &str| airpath_conformance::samples("congestion", kind, |_| true).remove(0);
    AnyCongestion::BUILT_IN
        .iter()
        .map(|(kind, _)| {
            let mut cc = usual(kind);
            cc["kind"] = json!(kind);
            cc
        })
        .collect()
}
