use super::*;
use crate::config::TcpConfig;
use airpath_core::{Duration, Registry, Seed, Time};
use serde_json::json;
use std::sync::Arc;

fn try_clamp(change: serde_json::Value) -> Result<Clamp, ConfigError> {
    let mut config = json!({"tau_bytes": 500, "average_packets": 1000, "beta": 0.001});
    let table = config.as_object_mut().expect("a table");
    table.extend(change.as_object().expect("a table").clone());
    let options = TcpConfig {
        mss: 1000,
        initial_window: 2000,
        receive_window: 1_000_000,
        ..TcpConfig::rfc()
    };
    let registry = Registry::<dyn CongestionControl + Send, CongestionSetup>::default();
    let extra = CongestionSetup { options: Arc::new(options) };
    let setup = Setup { seed: Seed::new(1, 0, "congestion"), registry: &registry, extra };
    let config = serde_json::from_value(config).expect("a configuration");
    <Clamp as Component<dyn CongestionControl + Send, CongestionSetup>>::check(&config)?;
    Clamp::build(config, setup)
}

fn clamp() -> Clamp {
    try_clamp(json!({})).expect("accepted")
}

/// Acknowledges a segment of 1000 bytes with a price.
fn acknowledge(cc: &mut Clamp, ms: u64, price: f32) -> u64 {
    let rtt = Some(Duration::from_millis(50));
    let event = AckEvent::of_new_data(Time::from_millis(ms), 1000);
    cc.on_ack(&AckEvent { feedback: price, rtt, delivered: 1000, ..event });
    cc.cwnd()
}

fn loss(flight: u64) -> LossEvent {
    LossEvent::new(Time::from_secs(1), flight, flight)
}

#[test]
fn s6_clamp_without_a_price_follows_renos_slow_start() {
    let mut cc = clamp();
    let windows: Vec<u64> = (0..4).map(|k| acknowledge(&mut cc, 100 + k, 0.0)).collect();
    assert_eq!(windows, [3000, 4000, 5000, 6000]);
}

#[test]
fn s6_high_price_ends_slow_start_and_limits_renos_window() {
    let mut cc = clamp();
    (0..8).for_each(|k| _ = acknowledge(&mut cc, 100 + 10 * k, 0.0));
    assert_eq!(cc.cwnd(), 10_000);
    let after = acknowledge(&mut cc, 180, 1.0);
    assert_eq!((after, cc.rules.is_in_slow_start), (5000, false));
    assert!(cc.reno.cwnd() > 10_000, "Reno's window keeps growing");
    // From here on Eq. 14 applies: the window shrinks by at most a packet per ACK.
    assert_eq!(acknowledge(&mut cc, 190, 1.0), 5000 - 1040);
}

#[test]
fn s6_delivered_bytes_count_with_their_headers() {
    let cc = clamp();
    assert_eq!(
        [0, 1, 1000, 1001, 2000].map(|bytes| cc.with_headers(bytes)),
        [0, 41, 1040, 1081, 2080]
    );
}

#[test]
fn s6_delay_estimate_begins_with_the_first_rtt() {
    let mut cc = clamp();
    acknowledge(&mut cc, 100, 0.0);
    assert_eq!(cc.rules.delay, Some(0.05));
}

#[test]
fn s6_cwnd_is_the_smaller_of_renos_window_and_the_price_window() {
    let mut cc = clamp();
    (0..18).for_each(|k| _ = acknowledge(&mut cc, 100 + k, 0.0));
    cc.on_loss(&loss(8000));
    assert_eq!((cc.cwnd(), cc.clamped(), cc.ssthresh()), (4000, 10_000, 4000));
    cc.on_recovered(20_000);
    assert!(!cc.rules.is_in_slow_start);
    for k in 0..2000 {
        acknowledge(&mut cc, 200 + k, 10.0);
    }
    assert_eq!(cc.cwnd(), 1000, "a segment at least");
    cc.on_rto(&loss(8000));
    assert_eq!(cc.cwnd(), 1000);
}

#[test]
fn ack_of_no_new_data_changes_nothing() {
    let mut cc = clamp();
    acknowledge(&mut cc, 100, 0.0);
    let before = format!("{cc:?}");
    let event = AckEvent::of_new_data(Time::from_millis(200), 0);
    cc.on_ack(&AckEvent { growth: None, delivered: 0, duplicate: true, feedback: 1.0, ..event });
    assert_eq!(format!("{cc:?}"), before);
}

#[test]
fn out_of_range_values_are_rejected_by_name() {
    for (change, field) in [
        (json!({"tau_bytes": 0}), "tau_bytes"),
        (json!({"average_packets": 0}), "average_packets"),
        (json!({"beta": 1.5}), "beta"),
    ] {
        let error = try_clamp(change).expect_err("it is out of range");
        assert!(error.to_string().contains(field), "{error}");
    }
}

/// Airpath's addition: while Reno's window is the smaller one, the window of the price rules stays
/// close to it.
#[test]
fn headroom_limits_the_price_window_to_a_multiple_of_renos_window() {
    for (change, expected) in [(json!({}), 8000.0), (json!({"headroom": 2.0}), 4000.0)] {
        let mut cc = try_clamp(change).expect("accepted");
        (0..4).for_each(|k| _ = acknowledge(&mut cc, 100 + 10 * k, 0.0));
        cc.rules.is_in_slow_start = false;
        // Reno's window is 1000 after a timeout. Its slow start continues, and the window of the
        // price rules grows by Eq. 14.
        cc.reno.on_rto(&loss(4000));
        cc.rules.window = 8000.0;
        assert_eq!(acknowledge(&mut cc, 140, 0.0), 2000);
        assert!((cc.rules.window - expected).abs() < 200.0, "{}", cc.rules.window);
    }
    let refused =
        |value: f64| try_clamp(json!({"headroom": value})).expect_err("refused").to_string();
    assert_eq!(refused(0.9), "headroom = 0.9: below 1. Accepted: 1 to 1000000");
    assert_eq!(refused(1.1e6), "headroom = 1100000: above 1000000. Accepted: 1 to 1000000");
    assert!(try_clamp(json!({"headroom": 1e6})).is_ok());
}
