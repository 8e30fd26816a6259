//! Tests of the ACK access wire: the wire between a receiver and the link that its ACKs pass.

use crate::common::*;
use airpath_aqm::{AnyQueue, QueueDisc, QueueState, delegate_queue};
use airpath_core::{Bytes, Ctx, LinkRate, Packet, Series, StageError, Time};
use airpath_path::{Components, Scenario};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Queue that records the arrival time of each packet.
struct Joined {
    inner: AnyQueue,
    at: Arc<Mutex<Vec<Time>>>,
}

impl airpath_aqm::QueueWrapper for Joined {
    delegate_queue!(inner: dequeue_into, peek, state, on_bypass, on_wake, on_rate, on_served);
    delegate_queue!(inner: on_lost, on_held, measured, restart_measurement, take_error);

    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.at.lock().expect("one thread").push(ctx.now);
        self.inner.enqueue(packet, ctx);
    }
}

/// Returns a scenario with a link of 10 Mbit/s and 32 ms in each direction and side links of 20
/// Mbit/s and 6.4 ms, as in vcp-2008 §IV. One segment is in flight at a time.
fn dumbbell(wires: Value) -> Scenario {
    let side = json!({"rate_bps": 20_000_000, "delay_ns": 6_400_000});
    let options = json!({"handshake": false, "receive_window": 1460, "delayed_ack_segments": 1});
    let mut given = json!({"access": side, "egress": side, "return_wire": side});
    merge(&mut given, wires);
    let mut link = fixed(10_000_000);
    link["delay_ns"] = json!(32 * MS);
    let back = json!({"kind": "reverse", "link": fixed(10_000_000), "delay_ns": 32 * MS,
                      "queue": {"kind": "joined"}});
    let more = json!({"ack_path": back, "record": {"series": ["seq_received"]}});
    scenario(2, vec![flow(tcp(options), given)], link, droptail(100), more)
}

/// Returns the arrival times of data at the receiver, and of ACKs at the queue of the reverse link.
fn instants(scenario: &Scenario) -> (Vec<Time>, Vec<Time>) {
    let at = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&at);
    let mut components = Components::default();
    components.queues.register("joined", move |_, setup| {
        let at = Arc::clone(&notes);
        Ok(Box::new(Joined { inner: AnyQueue::build(&droptail(100), setup)?, at }))
    });
    let recorder = run_with(scenario, &components, &Arc::default(), 1).into_recorder();
    let received = recorder.samples(Series::SeqReceived).iter().map(|sample| sample.time).collect();
    let joined = at.lock().expect("one thread").clone();
    (received, joined)
}

/// An ACK joins the queue 6.4 ms after its data left the egress wire, and 16 µs later if the wire
/// has a rate of 20 Mbit/s.
#[test]
fn an_ack_joins_the_reverse_queue_after_its_access_wire() {
    let cases = [
        (json!({}), 0),
        (json!({"ack_access": {"delay_ns": 6_400_000}}), 6_400_000),
        (json!({"ack_access": {"delay_ns": 6_400_000, "rate_bps": 20_000_000}}), 6_416_000),
    ];
    for (wires, after_ns) in cases {
        let (received, joined) = instants(&dumbbell(wires.clone()));
        assert!(joined.len() > 15, "{wires}: {} ACKs", joined.len());
        let later = received
            .iter()
            .zip(&joined)
            .map(|(received, joined)| joined.as_nanos() - received.as_nanos());
        assert!(
            later.clone().all(|nanos| nanos == after_ns),
            "{wires}: {:?}",
            later.collect::<Vec<_>>()
        );
        // 1.2 ms at 10 Mbit/s, twice 0.6 ms at 20 Mbit/s, and 44.8 ms.
        assert_eq!(received[0].as_nanos(), 44_800_000 + 2_400_000);
    }
}

fn mean_rtt_s(wires: Value) -> f64 {
    let mut scenario = dumbbell(wires);
    scenario.hops[0].up.as_mut().expect("a reverse direction").queue = droptail(100);
    run(&scenario, 1).flows[0].mean_rtt_s.expect("there are samples")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// No ACK waits, so the delay has the same effect before and after the reverse link.
    #[test]
    fn round_trip_does_not_depend_on_the_position_of_the_delay(total in 1..80 * MS, share in 0.0..1.0f64) {
        let (before, wire) = ((total as f64 * share) as u64, |nanos| json!({"delay_ns": nanos}));
        let whole = mean_rtt_s(json!({"return_wire": wire(total)}));
        let split = json!({"ack_access": wire(before), "return_wire": wire(total - before)});
        prop_assert_eq!(mean_rtt_s(split), whole);
    }
}

#[test]
fn ack_access_without_an_effect_is_rejected() {
    let wire = json!({"ack_access": {"delay_ns": 1}});
    let document = |source: Value, ack_path: Value| {
        json!({"duration_ns": SECOND, "flows": [flow(source, wire.clone())], "ack_path": ack_path,
               "bottleneck": hop(fixed(1_000_000), droptail(9))})
        .to_string()
    };
    let error = |document: String| Scenario::from_json(&document).expect_err("refused").to_string();
    let link = json!({"kind": "link", "link": fixed(1_000_000), "queue": droptail(9)});
    assert_eq!(
        error(document(tcp(json!({})), json!({"kind": "ideal"}))),
        "flows.0.ack_access = a wire: an ideal ACK path has no link that ACKs could be delayed \
         before. Set ack_path of kind \"link\" or \"reverse\", or give the delay to the return wire"
    );
    assert_eq!(
        error(document(datagrams("cbr", 1_000), link)),
        "flows.0.ack_access = a wire: datagrams have no ACKs. Remove it"
    );
}
