//! Ranges of the TCP parameters of a connection, and rules between them.

use super::{EcnUse, RecoveryKind, StackVariant, TcpConfig};
use airpath_core::{ConfigError, Duration};

fn problems(change: impl FnOnce(&mut TcpConfig)) -> Vec<String> {
    let mut config = TcpConfig::rfc();
    change(&mut config);
    let error = config.validate().err();
    let found = error.iter().flat_map(ConfigError::problems);
    found.map(ToString::to_string).collect()
}

#[test]
fn zero_values_are_all_reported() {
    let found = problems(|config| {
        (config.mss, config.header_bytes, config.initial_window) = (0, 0, 0);
        (config.initial_ssthresh, config.receive_window) = (Some(0), 0);
        (config.delayed_ack_segments, config.max_backoff) = (0, 0);
        config.delayed_ack_timeout = Duration::ZERO;
        (config.initial_rto, config.min_rto) = (Duration::ZERO, Duration::ZERO);
        (config.max_rto, config.srtt_gain, config.rttvar_gain) = (Duration::ZERO, 0.0, 1.1);
    });
    let fields: Vec<&str> = found.iter().filter_map(|line| line.split(" = ").next()).collect();
    assert_eq!(
        fields,
        [
            "mss",
            "header_bytes",
            "initial_ssthresh",
            "receive_window",
            "delayed_ack_segments",
            "delayed_ack_timeout",
            "max_backoff",
            "max_rto",
            "min_rto",
            "initial_rto",
            "srtt_gain",
            "rttvar_gain",
        ]
    );
}

#[test]
fn segment_with_headers_must_fit_into_an_ip_packet() {
    let with = |mss, header, timestamps| {
        problems(|config| {
            (config.mss, config.header_bytes, config.timestamps) = (mss, header, timestamps);
        })
    };
    assert!(with(65_495, 40, false).is_empty() && with(1, 65_522, true).is_empty());
    let mss = "larger than an IP packet with its headers. Accepted: at most";
    assert_eq!(with(65_496, 40, false), [format!("mss = 65496: {mss} 65495")]);
    assert_eq!(with(65_495, 40, true), [format!("mss = 65495: {mss} 65483")]);
    let header = "leaves no space for data in an IP packet. Accepted: at most";
    assert_eq!(with(1, 65_523, true), [format!("header_bytes = 65523: {header} 65522")]);
}

#[test]
fn receive_window_must_fit_into_32_bits() {
    let with = |bytes| problems(|config| config.receive_window = bytes);
    assert!(with(1).is_empty() && with(u64::from(u32::MAX)).is_empty());
    assert!(with(1 << 32)[0].starts_with("receive_window = 4294967296: above 4294967295."));
}

#[test]
fn timeouts_above_the_maximum_are_reported_once() {
    let seconds = |count: u64| Duration::from_nanos(1_000_000_000 * count);
    let with = |initial, min, max| {
        problems(|config| {
            (config.initial_rto, config.min_rto) = (seconds(initial), seconds(min));
            config.max_rto = seconds(max);
        })
    };
    assert!(with(2, 2, 2).is_empty());
    let above = "above max_rto. Accepted: at most 2000000000";
    assert_eq!(with(2, 3, 2), [format!("min_rto = 3000000000: {above}")]);
    assert_eq!(with(3, 2, 2), [format!("initial_rto = 3000000000: {above}")]);
    assert_eq!(with(3, 3, 2).len(), 1);
}

#[test]
fn stack_rejects_features_that_it_does_not_have() {
    let with = |stack, recovery, ecn| {
        problems(|config| {
            (config.stack, config.recovery, config.ecn) = (stack, recovery, ecn);
            config.initial_window = 1459;
        })
    };
    let (off, newreno) = (EcnUse::Off, RecoveryKind::NewReno);
    for (recovery, name) in [(RecoveryKind::Sack, "sack"), (RecoveryKind::Prr, "prr")] {
        assert_eq!(
            with(StackVariant::Ns2, recovery, off),
            [format!("recovery = {name}: stack = \"ns2\" has no SACK. Set stack = \"rfc\"")]
        );
        assert_eq!(
            with(StackVariant::Ns3, recovery, off),
            ["initial_window = 1459: below mss, and stack = \"ns3\" never sends a part of a \
              segment. Accepted: at least 1460"]
        );
    }
    assert!(with(StackVariant::Ns3, newreno, off).is_empty());
    assert_eq!(
        with(StackVariant::Ns3, newreno, EcnUse::Dctcp),
        ["stack = ns3: stack = \"ns3\" has no cc = \"dctcp\". Set stack = \"rfc\""]
    );
}
