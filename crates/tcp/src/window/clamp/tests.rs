use super::super::WindowRegistry;
use super::*;
use crate::price_rules::{Arrivals, clamp_change, clamp_delay};

const MSS: u64 = 1000;
const RECEIVE_WINDOW: u64 = 1_000_000;

fn try_build(description: Value, receive_window: u64) -> Result<AnyWindow, ConfigError> {
    let registry = WindowRegistry::default();
    let extra = WindowSetup { receive_window, mss: MSS };
    let seed = airpath_core::Seed::new(1, 0, "window");
    AnyWindow::build(&description, Setup { seed, registry: &registry, extra })
}

fn described(change: &Value) -> Value {
    let mut description =
        json!({"kind": "clamp", "tau_bytes": 500, "average_packets": 1000, "beta": 0.001});
    description
        .as_object_mut()
        .expect("a table")
        .extend(change.as_object().expect("a table").clone());
    description
}

/// Receiver of a connection, driven by hand; times in ms.
struct Hand {
    policy: ClampWindow,
    next: u64,
    edge: u64,
}

impl Hand {
    /// Creates a receiver that sends the SYN-ACK at 0.
    fn new(change: &Value) -> Hand {
        let Ok(AnyWindow::Clamp(policy)) = try_build(described(change), RECEIVE_WINDOW) else {
            panic!("a clamp window")
        };
        let mut hand = Hand { policy: *policy, next: 0, edge: 0 };
        hand.acknowledge(0, Flags::SYN);
        hand
    }

    /// Creates a receiver in congestion avoidance with a window of `window` bytes.
    fn avoiding(window: f64) -> Hand {
        let mut hand = Hand::new(&json!({}));
        hand.policy.rules.is_in_slow_start = false;
        hand.policy.rules.window = window;
        hand
    }

    fn acknowledge(&mut self, ms: u64, flags: Flags) {
        let before = self.edge;
        self.edge = self.edge.max(self.next + self.policy.window());
        assert!(self.edge >= before);
        let window = (self.edge - self.next) as u32;
        self.policy.on_ack_sent(&AckSent {
            now: Time::from_millis(ms),
            next: self.next,
            window,
            flags,
        });
    }

    /// Receives and acknowledges a segment of `bytes`, including headers. Returns the window.
    fn arrive(&mut self, ms: u64, bytes: u64, price: f32) -> f64 {
        self.arrive_in(true, ms, bytes, price)
    }

    fn arrive_in(&mut self, in_order: bool, ms: u64, bytes: u64, price: f32) -> f64 {
        let delivered = if in_order { bytes - 40 } else { 0 };
        self.next += delivered;
        let arrival = Arrival {
            now: Time::from_millis(ms),
            bytes,
            feedback: price,
            in_order,
            duplicate: false,
            delivered,
        };
        self.policy.on_arrival(&arrival).expect("a built-in policy does not fail");
        self.acknowledge(ms, Flags::NONE);
        self.policy.rules.window
    }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

#[test]
fn eq_14_change_is_tau_minus_price_times_rate_over_the_delay() {
    close(clamp_change(500.0, 0.001, 200_000.0, 0.05, 0.01), (500.0 - 200.0) / 0.05 * 0.01);
    assert!(clamp_change(500.0, 0.004, 200_000.0, 0.05, 0.01) < 0.0);
    // The same at the receiver: 100 ms until the first data, then 1040 bytes every 10 ms.
    let mut hand = Hand::avoiding(20_000.0);
    close(hand.arrive(100, 1040, 0.0), 20_000.0);
    let (rate, delay) = (2080.0 / 0.01, 0.999 * 0.1 + 0.001 * 20_000.0 / 208_000.0);
    close(hand.arrive(110, 1040, 0.001), 20_000.0 + (500.0 - 208.0) / delay * 0.01);
    let before = hand.policy.rules.window;
    let advertised = f64::from(hand.policy.advertised);
    let rate_now = 3120.0 / 0.02;
    assert!(rate_now < rate);
    let delay = 0.999 * delay + 0.001 * advertised / rate_now;
    close(
        hand.arrive(120, 1040, 0.002),
        before + (500.0 - 0.002f32 as f64 * rate_now) / delay * 0.01,
    );
}

#[test]
fn eq_15_rate_counts_one_packet_more_than_gaps() {
    let mut arrivals = Arrivals::default();
    arrivals.note(Time::from_millis(0), 1000, 4);
    assert_eq!(arrivals.rate(), None, "μ̂(t₁) = 0");
    arrivals.note(Time::from_millis(0), 1000, 4);
    assert_eq!(arrivals.rate(), None, "no time has passed");
    arrivals.note(Time::from_millis(10), 500, 4);
    close(arrivals.rate().expect("time has passed"), 2500.0 / 0.01);
    arrivals.note(Time::from_millis(20), 100, 4);
    // α = 3: the first packet is removed.
    arrivals.note(Time::from_millis(40), 200, 4);
    close(arrivals.rate().expect("time has passed"), 1800.0 / 0.04);
}

#[test]
fn eq_15_at_most_alpha_plus_one_packets_are_kept() {
    let mut hand = Hand::new(&json!({"average_packets": 7}));
    (0..100).for_each(|k| _ = hand.arrive(100 + k, 1040, 0.0));
    assert_eq!(hand.policy.rules.arrivals.packets.len(), 8);
    close(hand.policy.rules.arrivals.rate().expect("time has passed"), 8.0 * 1040.0 / 0.007);
}

#[test]
fn eq_16_delay_starts_with_the_time_to_the_first_data() {
    close(clamp_delay(0.1, 0.25, 3000.0, 20_000.0), 0.75 * 0.1 + 0.25 * 0.15);
    let mut hand = Hand::new(&json!({"beta": 0.5}));
    hand.arrive(80, 1040, 0.0);
    close(hand.policy.rules.delay.expect("data came"), 0.08);
    assert_eq!(hand.policy.advertised, 2000);
    hand.arrive(90, 1040, 0.0);
    close(hand.policy.rules.delay.expect("data came"), 0.04 + 0.5 * 2000.0 / 208_000.0);
}

#[test]
fn eq_16_delay_starts_with_its_first_sample_without_a_handshake() {
    let mut hand = Hand::new(&json!({}));
    hand.policy.opened = None;
    hand.arrive(80, 1040, 0.0);
    assert_eq!(hand.policy.rules.delay, None);
    hand.arrive(90, 1040, 0.0);
    close(hand.policy.rules.delay.expect("a rate"), 2000.0 / 208_000.0);
}

#[test]
fn eq_17_inner_policy_limits_the_advertised_window() {
    let inner = json!({"inner": {"kind": "drain", "rate_bps": 0}});
    let mut hand = Hand::new(&inner);
    hand.policy.rules.is_in_slow_start = false;
    hand.policy.rules.window = 500_000.0;
    assert_eq!(hand.policy.window(), 500_000);
    hand.policy.rules.window = 2e6;
    assert_eq!(hand.policy.window(), RECEIVE_WINDOW);
    hand.arrive(100, 400_040, 0.0);
    assert_eq!(hand.policy.window(), 600_000, "the reader has read nothing");
    let state = WindowState {
        now: Time::from_millis(100),
        next: 400_000,
        edge: 400_000,
        mss: MSS,
        step: 1,
    };
    assert_eq!(hand.policy.right_edge(&state), 1_000_000);
    hand.policy.rules.window = 5000.0;
    assert_eq!(hand.policy.right_edge(&state), 405_000);
    assert_eq!(hand.policy.right_edge(&WindowState { edge: 450_000, ..state }), 450_000);
}

#[test]
fn s4_2_increase_after_a_pause_is_limited_to_ten_kilobytes() {
    let mut hand = Hand::avoiding(20_000.0);
    hand.arrive(100, 1040, 0.0);
    hand.arrive(110, 1040, 0.0);
    let before = hand.policy.rules.window;
    close(hand.arrive(60_000, 1040, 0.0), before + 10_000.0);
}

#[test]
fn s4_2_decrease_is_limited_to_the_packet_size_and_zero_if_out_of_order() {
    let mut hand = Hand::avoiding(20_000.0);
    hand.arrive(100, 1040, 1.0);
    close(hand.arrive(110, 540, 1.0), 20_000.0 - 540.0);
    close(hand.arrive_in(false, 120, 1040, 1.0), 20_000.0 - 540.0);
    let before = hand.policy.rules.window;
    assert!(hand.arrive_in(false, 130, 1040, 0.0) > before, "an increase is taken");
}

#[test]
fn packets_at_the_same_time_change_the_window_once() {
    let mut hand = Hand::avoiding(20_000.0);
    hand.arrive(100, 1040, 0.0);
    let once = hand.arrive(110, 1040, 0.0);
    close(hand.arrive(110, 1040, 0.0), once);
}

#[test]
fn window_is_between_a_segment_and_the_receive_window() {
    let mut hand = Hand::avoiding(2500.0);
    (0..5).for_each(|k| _ = hand.arrive(100 + 10 * k, 1040, 10.0));
    close(hand.policy.rules.window, 1000.0);
    let mut hand = Hand::new(&json!({}));
    (0..2000).for_each(|k| _ = hand.arrive(100 + k, 1040, 0.0));
    close(hand.policy.rules.window, 1_000_000.0);
}

#[test]
fn s4_3_slow_start_begins_with_a_segment_and_adds_one_per_packet() {
    let mut hand = Hand::new(&json!({}));
    assert_eq!(hand.policy.window(), 1000);
    let windows: Vec<f64> = (0..3).map(|k| hand.arrive(100 + k, 1040, 0.0)).collect();
    assert_eq!(windows, [2000.0, 3000.0, 4000.0]);
}

#[test]
fn s4_3_high_price_ends_slow_start_and_halves_the_window() {
    let mut hand = Hand::new(&json!({}));
    // The first packet gives no rate, so no price is too high.
    assert_eq!(hand.arrive(100, 1040, 10.0), 2000.0);
    for k in 1..9 {
        hand.arrive(100 + 10 * k, 1040, 0.0);
    }
    assert_eq!(hand.policy.rules.window, 10_000.0);
    // μ̂ is 10 · 1040 B in 90 ms.
    let rate = 10.0 * 1040.0 / 0.09;
    let edge = hand.edge;
    assert_eq!(hand.arrive(190, 1040, (501.0 / rate) as f32), 5000.0);
    assert!(!hand.policy.rules.is_in_slow_start);
    // The right edge does not move until the halved window has caught up, packet by packet.
    let mut edges = vec![edge];
    for k in 0..7 {
        edges.push(hand.edge);
        hand.arrive(200 + 10 * k, 1040, (500.0 / rate) as f32);
    }
    assert!(edges.is_sorted() && edges[1] == edge && edges[4] == edge, "{edges:?}");
    assert!(hand.edge > edge && hand.policy.rules.window < 5100.0);
}

#[test]
fn s4_3_slow_start_continues_at_a_low_price() {
    let mut hand = Hand::new(&json!({}));
    hand.arrive(100, 1040, 0.0);
    hand.arrive(110, 1040, (499.0 * 0.01 / 2080.0) as f32);
    assert_eq!(hand.policy.rules.window, 3000.0);
}

#[test]
fn s4_3_three_duplicate_acks_end_slow_start_and_halve_the_window() {
    let mut hand = Hand::new(&json!({}));
    (0..7).for_each(|k| _ = hand.arrive(100 + k, 1040, 0.0));
    hand.arrive_in(false, 110, 1040, 0.0);
    hand.arrive_in(false, 111, 1040, 0.0);
    hand.acknowledge(112, Flags::WINDOW_UPDATE);
    assert_eq!((hand.policy.rules.window, hand.policy.rules.is_in_slow_start), (10_000.0, true));
    // The third duplicate ACK halves the window, and the next ACK advertises it.
    hand.arrive_in(false, 113, 1040, 0.0);
    assert_eq!((hand.policy.rules.window, hand.policy.rules.is_in_slow_start), (5500.0, false));
    // Slow start does not begin again, and further duplicate ACKs do not halve the window.
    let before = hand.policy.rules.window;
    assert!((hand.arrive_in(false, 114, 1040, 0.0) - before).abs() < 100.0);
}

#[test]
fn s4_3_non_consecutive_duplicate_acks_do_not_end_slow_start() {
    let mut hand = Hand::new(&json!({}));
    for k in 0..6 {
        hand.arrive(100 + 3 * k, 1040, 0.0);
        hand.arrive_in(false, 101 + 3 * k, 1040, 0.0);
        hand.arrive_in(false, 102 + 3 * k, 1040, 0.0);
    }
    assert!(hand.policy.rules.is_in_slow_start);
}

#[test]
fn s4_3_threshold_ends_slow_start_without_halving() {
    let mut hand = Hand::new(&json!({"ssthresh_bytes": 4000}));
    (0..3).for_each(|k| _ = hand.arrive(100 + 10 * k, 1040, 0.0));
    assert_eq!((hand.policy.rules.window, hand.policy.rules.is_in_slow_start), (4000.0, false));
}

#[test]
fn out_of_range_values_are_rejected_by_name() {
    for (change, field) in [
        (json!({"tau_bytes": 0}), "tau_bytes"),
        (json!({"average_packets": 0}), "average_packets"),
        (json!({"beta": 0.0}), "beta"),
        (json!({"beta": 1.0}), "beta"),
        (json!({"ssthresh_bytes": 999}), "ssthresh_bytes"),
        (json!({"inner": described(&json!({}))}), "inner.kind"),
        (json!({"inner": {"kind": "other", "inner": {"kind": "clamp"}}}), "inner.kind"),
        (json!({"inner": {"kind": "fixed", "rate": 1}}), "inner"),
    ] {
        let Err(error) = try_build(described(&change), RECEIVE_WINDOW) else {
            panic!("{change} was accepted")
        };
        assert!(error.to_string().contains(field), "{change}: {error}");
    }
    let Err(error) = try_build(described(&json!({})), 1999) else { panic!("too small") };
    assert!(error.to_string().contains("receive_window"), "{error}");
}
