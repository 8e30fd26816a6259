//! Tests a toy with the structure of CLAMP: the queue writes a price into each packet when its
//! service completes, the receiver's window policy reads the price, and the ACK returns it to the
//! sender.

use crate::common::{MS, SECOND, droptail, fixed, flow, run_with, scenario, tcp};
use airpath_aqm::{AnyQueue, QueueDisc, QueueState, delegate_queue};
use airpath_core::{Bytes, Ctx, LinkRate, Packet, StageError, Time};
use airpath_path::Components;
use airpath_tcp::window::{Arrival, ReceiveWindow};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Queue that writes the number of remaining packets into each served packet.
struct Pricing {
    inner: AnyQueue,
}

impl airpath_aqm::QueueWrapper for Pricing {
    delegate_queue!(inner: enqueue, dequeue_into, peek, state, on_bypass, on_wake, on_rate);
    delegate_queue!(inner: on_lost, on_held, measured, restart_measurement, take_error);

    fn on_served(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) {
        self.inner.on_served(packet, ctx);
        packet.feedback = self.inner.packets() as f32;
    }
}

/// Window policy that changes the window by at most the share `gain` of each segment's payload: it
/// opens while the price is below the target and closes above it.
struct PriceWindow {
    window: f64,
    most: f64,
    target: f64,
    gain: f64,
    out_of_order: Arc<AtomicUsize>,
}

impl ReceiveWindow for PriceWindow {
    fn on_arrival(&mut self, arrival: &Arrival) -> Result<(), StageError> {
        let out_of_order = usize::from(!arrival.in_order && !arrival.duplicate);
        self.out_of_order.fetch_add(out_of_order, Ordering::Relaxed);
        let error = (self.target - f64::from(arrival.feedback)) / self.target;
        self.window += self.gain * arrival.bytes as f64 * error.clamp(-1.0, 1.0);
        self.window = self.window.clamp(3000.0, self.most);
        Ok(())
    }

    fn window(&self) -> u64 {
        self.window as u64
    }
}

fn components(out_of_order: &Arc<AtomicUsize>) -> Components {
    let mut components = Components::default();
    components.queues.register("pricing", |parameters, setup| {
        Ok(Box::new(Pricing { inner: AnyQueue::build(&parameters["inner"], setup)? }))
    });
    let out_of_order = Arc::clone(out_of_order);
    components.windows.register("price", move |parameters, setup| {
        Ok(Box::new(PriceWindow {
            window: 3000.0,
            most: setup.extra.receive_window as f64,
            target: parameters["target"].as_f64().expect("the test gives it"),
            gain: 0.02,
            out_of_order: Arc::clone(&out_of_order),
        }))
    });
    components
}

fn bulk(window: Value) -> Value {
    let mut source = tcp(json!({"receive_window": 1_000_000, "delayed_ack_segments": 1}));
    source["window"] = window;
    flow(source, json!({"egress": {"delay_ns": 20 * MS}, "return_wire": {"delay_ns": 20 * MS}}))
}

/// Two flows over 10 Mbit/s and 40 ms: the bandwidth-delay product is 33 packets. A fixed window of
/// 1 MB builds a queue of more than 1000 packets. The price keeps the queue near the target of 12
/// packets without leaving the link idle.
#[test]
fn the_price_in_the_packets_keeps_the_queue_at_its_target() {
    let out_of_order = Arc::default();
    let components = components(&out_of_order);
    let mean_queue = |window: Value| {
        let flows = vec![bulk(window.clone()), bulk(window)];
        let queue = json!({"kind": "pricing", "inner": droptail(2000)});
        let warmup = json!({"warmup_ns": 30 * SECOND});
        let scenario = scenario(90, flows, fixed(10_000_000), queue, warmup);
        let report = run_with(&scenario, &components, &Arc::default(), 1).report(0);
        assert!(report.links[0].utilisation > 0.98, "{report:?}");
        assert_eq!(report.flows.iter().map(|flow| flow.retransmissions.unwrap()).sum::<u64>(), 0);
        report.queues[0].mean_packets
    };
    let fixed = mean_queue(json!({"kind": "fixed"}));
    let priced = mean_queue(json!({"kind": "price", "target": 12.0}));
    assert!(fixed > 1000.0, "{fixed}");
    assert!((8.0..16.0).contains(&priced), "{priced}");
    assert_eq!(out_of_order.load(Ordering::Relaxed), 0);
}

#[test]
fn window_policy_is_notified_of_reordering() {
    let out_of_order = Arc::default();
    let components = components(&out_of_order);
    let link = json!({"kind": "fixed", "rate_bps": 10_000_000, "loss": 0.02});
    let flows = vec![bulk(json!({"kind": "price", "target": 50.0}))];
    let scenario = scenario(10, flows, link, droptail(100), json!({}));
    run_with(&scenario, &components, &Arc::default(), 1);
    assert!(out_of_order.load(Ordering::Relaxed) > 0);
}
