//! Invariants of every receive-window policy.
//!
//! A new built-in policy is tested automatically, with the sample parameters from its Python class.

use airpath_conformance::samples;
use airpath_core::{ConfigError, Flags, Seed, Setup, Time};
use airpath_tcp::window::{
    AckSent, AnyWindow, Arrival, ReceiveWindow, WindowRegistry, WindowSetup, WindowState,
};
use proptest::prelude::*;
use serde_json::Value;

/// The receive window, bytes.
const RECEIVE_WINDOW: u64 = 60_000;
const MSS: u64 = 1000;

fn try_build(description: &Value) -> Result<AnyWindow, ConfigError> {
    let registry = WindowRegistry::default();
    let extra = WindowSetup { receive_window: RECEIVE_WINDOW, mss: MSS };
    let setup = Setup { seed: Seed::new(1, 0, "window"), registry: &registry, extra };
    AnyWindow::build(description, setup)
}

fn descriptions() -> impl Iterator<Item = Value> {
    AnyWindow::BUILT_IN
        .iter()
        .flat_map(|(kind, _)| samples("window", kind, |description| try_build(description).is_ok()))
}

/// Returns the advertised right edges for `segments`: (time since the previous segment in ns, bytes
/// within the window, price). Checks the distance between the edge and the data.
fn edges(policy: &mut AnyWindow, segments: &[(u64, u64, f64)]) -> Vec<u64> {
    let (mut now_ns, mut next) = (0, 0);
    let mut edge = if policy.is_bounded() { RECEIVE_WINDOW } else { policy.window() };
    let segment = |&(wait, bytes, price): &(u64, u64, f64)| {
        now_ns += wait;
        let (now, delivered) = (Time::from_nanos(now_ns), bytes.min(edge - next));
        next += delivered;
        let bytes = delivered + 40;
        let arrival = Arrival {
            now,
            bytes,
            feedback: price as f32,
            in_order: true,
            duplicate: false,
            delivered,
        };
        policy.on_arrival(&arrival).expect("a built-in policy does not fail");
        let before = edge;
        if policy.is_bounded() {
            edge = policy.right_edge(&WindowState { now, next, edge, mss: MSS, step: 1 });
            assert!(edge >= before, "the right edge moves back from {before} to {edge}");
        } else {
            edge = edge.max(next + policy.window());
        }
        let window = (edge - next) as u32;
        policy.on_ack_sent(&AckSent { now, next, window, flags: Flags::NONE });
        assert!(edge - next <= RECEIVE_WINDOW, "{} bytes are more than there is", edge - next);
        edge
    };
    segments.iter().map(segment).collect()
}

proptest! {
    #[test]
    fn right_edge_never_moves_back_and_policies_are_deterministic(
        segments in prop::collection::vec(
            (prop_oneof![3 => 0..200_000_000u64, 1 => Just(0), 1 => 0..1u64 << 50], 1..=MSS,
             prop_oneof![1 => Just(0.0), 2 => 0.0..0.02, 1 => Just(1e6)]), 1..200,
        ),
    ) {
        for description in descriptions() {
            let [once, again] = [0; 2].map(|_| {
                let mut policy = try_build(&description).expect("it was accepted");
                edges(&mut policy, &segments)
            });
            prop_assert_eq!(once, again, "{}", description);
        }
    }
}
