//! Tests of the VCP rules with numeric values. Windows are in packets.

use super::*;
use crate::config::TcpConfig;
use airpath_conformance::Law;
use serde_json::{Value, json};

const GROWTH: Law = Law {
    area: "Congestion avoidance",
    source: "vcp-2005 §3 and the public package: MI, AI, MD, limiters",
    allows: "rounding of doubles; digits printed",
};

const LOW: f32 = 1.0;

/// Default configuration with an exact RTT. Each test changes the relevant parameters.
fn config() -> VcpConfig {
    VcpConfig {
        kappa: 0.25,
        alpha: 1.0,
        beta: 0.875,
        interval_ns: 200_000_000,
        scaling: AiScaling::PublicCode,
        limiters: true,
        freeze: Freeze::PublicCode,
        granularity_ns: 0,
        on_loss: OnLoss::Reno,
    }
}

fn options() -> TcpConfig {
    TcpConfig { mss: 1000, receive_window: 4_000_000_000, ..TcpConfig::rfc() }
}

/// Creates a VCP state with a window of `packets` and an RTT of `rtt_ms`.
fn vcp(config: VcpConfig, packets: f64, rtt_ms: f64) -> Vcp {
    let mut cc = Vcp::new(config, &CongestionSetup { options: options().into() });
    cc.cwnd = packets;
    cc.rtt.sample(ms(rtt_ms), Time::from_secs(1));
    cc
}

fn ms(millis: f64) -> Duration {
    Duration::from_nanos((millis * 1e6) as u64)
}

/// Handles an ACK of one segment with load code `code` at `at_ms`. Returns the window after this
/// ACK.
fn ack(cc: &mut Vcp, code: f32, at_ms: f64) -> f64 {
    let event = AckEvent::of_new_data(Time::ZERO + ms(at_ms), 1000);
    cc.on_ack(&AckEvent { feedback: code, ..event });
    cc.packets()
}

/// Handles one ACK for each packet of the window, all with load code `code` at `at_ms`. Returns the
/// window after these ACKs.
fn round(cc: &mut Vcp, code: f32, at_ms: f64) -> f64 {
    let acks = cc.packets() as u64;
    (0..acks).for_each(|_| {
        ack(cc, code, at_ms);
    });
    cc.packets()
}

fn loss(cc: &Vcp) -> LossEvent {
    LossEvent::new(Time::ZERO, cc.cwnd(), cc.cwnd())
}

// --- MI ------------------------------------------------------------------------------------------

#[test]
fn mi_step_per_ack_gives_a_factor_of_1_0625_per_t_rho() {
    let mut cc = vcp(config(), 100.0, 200.0);
    let found = ack(&mut cc, LOW, 0.0);
    GROWTH.close("w of 100 after an ACK, low, RTT 200 ms", "packets", found, 100.0625, 1e-9);
}

/// Growth in 200 ms for several RTTs; each round trip has one ACK per packet of the window.
#[test]
fn mi_is_a_factor_of_1_0625_per_200_ms_for_every_rtt() {
    for rtt_ms in [5.0, 20.0, 50.0, 89.6, 100.0, 200.0, 400.0, 500.0] {
        let mut cc = vcp(VcpConfig { limiters: false, ..config() }, 1e6, rtt_ms);
        let per_rtt = vcp_mi_increase(cc.xi, cc.rtt.get(), cc.interval());
        let per_interval = libm::pow(1.0 + per_rtt, 200.0 / rtt_ms);
        let what = format!("factor in 200 ms, RTT {rtt_ms} ms");
        GROWTH.close(&what, "", per_interval, 1.0625, 1e-12);
        // One window of ACKs is one such step, except for the last fraction of a packet.
        let grown = round(&mut cc, LOW, 0.0) / 1e6;
        GROWTH.close(
            format!("w after a window of ACKs, {rtt_ms} ms"),
            "",
            grown,
            1.0 + per_rtt,
            1e-9,
        );
    }
}

#[test]
fn mi_limits_the_rtt_to_two_and_a_half_intervals() {
    let step = |rtt_ms| vcp_mi_increase(0.0625, ms(rtt_ms), ms(200.0));
    assert_eq!(step(500.0), step(5000.0));
    assert!(step(499.0) < step(500.0));
}

#[test]
fn mi_is_limited_above_ten_thousand_packets() {
    let found = [1.0, 10.0, 100.0, 1000.0, 10_000.0, 1e9].map(vcp_mi_limit);
    for (found, expected) in found.into_iter().zip([1.0, 0.5, 0.2, 0.1, 0.064, 0.024]) {
        GROWTH.close("most of ξ", "", found, expected, 1e-6);
    }
    GROWTH.close("most of ξ at √10", "", vcp_mi_limit(libm::sqrt(10.0)), 0.75, 1e-12);
    for (limiters, step) in [(true, 0.044), (false, 0.0625)] {
        let mut cc = vcp(VcpConfig { limiters, ..config() }, 100_000.0, 200.0);
        let found = ack(&mut cc, LOW, 0.0) - 100_000.0;
        GROWTH.close(format!("MI at 10⁵ packets, limiters {limiters}"), "", found, step, 1e-9);
    }
}

#[test]
fn mi_doubles_the_window_in_2_29_s() {
    let time = 0.2 * libm::log(2.0) / libm::log(1.0625);
    GROWTH.close("doubling time", "s", time, 2.29, 5e-3);
}

// --- AI ------------------------------------------------------------------------------------------

/// Expected packets per RTT at 89.6 ms: the sum over one window of ACKs, where each ACK adds the
/// step at the initial window.
#[test]
fn ai_adds_expected_packets_per_rtt_at_89_6_ms() {
    for (packets, limited, free) in [
        (1.0, 0.10, 0.803),
        (2.0, 0.171, 0.803),
        (5.0, 0.350, 0.803),
        (10.0, 0.600, 0.803),
        (20.0, 0.803, 0.803),
        (50.0, 0.803, 0.803),
    ] {
        for (limiters, expected) in [(true, limited), (false, free)] {
            let mut cc = vcp(VcpConfig { limiters, ..config() }, packets, 89.6);
            let found = packets * (ack(&mut cc, HIGH, 0.0) - packets);
            let what = format!("AI per RTT at {packets} packets, limiters {limiters}");
            GROWTH.close(&what, "packets", found, expected, 2e-3);
        }
    }
}

#[test]
fn ai_limiter_has_the_table_values_at_the_decades() {
    let found = [1.0, 10.0, 100.0, 1000.0, 1e7].map(vcp_ai_limit);
    for (found, expected) in found.into_iter().zip([0.1, 0.06, 0.04, 0.02, 0.002]) {
        GROWTH.close("most of AI per ACK", "packets", found, expected, 1e-6);
    }
    let between = vcp_ai_limit(libm::sqrt(10.0));
    GROWTH.close("most of AI per ACK at √10", "packets", between, libm::sqrt(0.006), 1e-12);
}

#[test]
fn ai_scales_with_the_rtt_in_five_variants() {
    use AiScaling::{Linear, Off, Product, PublicCode, Squared};
    let scale = |scaling, rtt_ms| vcp_ai_scale(scaling, ms(rtt_ms), ms(200.0));
    for (scaling, rtt_ms, expected) in [
        (PublicCode, 10.0, 0.02),
        (PublicCode, 20.0, 0.04),
        (PublicCode, 89.6, 0.802816),
        (PublicCode, 500.0, 25.0),
        (PublicCode, 800.0, 28.0),
        (Squared, 89.6, 0.200704),
        (Product, 89.6, 0.401408),
        (Linear, 89.6, 0.448),
        (Off, 89.6, 1.0),
    ] {
        let what = format!("AI's scale, {scaling:?}, {rtt_ms} ms");
        GROWTH.close(&what, "", scale(scaling, rtt_ms), expected, 1e-12);
    }
}

#[test]
fn alpha_and_kappa_scale_the_growth() {
    let mut cc = vcp(VcpConfig { alpha: 2.0, limiters: false, ..config() }, 50.0, 100.0);
    assert!((ack(&mut cc, HIGH, 0.0) - 50.04).abs() < 1e-12);
    let mut cc = vcp(VcpConfig { kappa: 0.5, ..config() }, 50.0, 200.0);
    assert!((ack(&mut cc, LOW, 0.0) - 50.125).abs() < 1e-12);
}

// --- MD, freeze, forced AI -----------------------------------------------------------------------

#[test]
fn overload_reduces_once_then_freezes_for_t_rho_then_adds_for_an_rtt() {
    let mut cc = vcp(config(), 100.0, 100.0);
    assert_eq!(ack(&mut cc, OVERLOAD, 1000.0), 87.5);
    for at_ms in [1000.0, 1100.0, 1199.9] {
        assert_eq!(ack(&mut cc, OVERLOAD, at_ms), 87.5, "frozen at {at_ms} ms");
    }
    let step = 1.0 / 87.5;
    assert_eq!(ack(&mut cc, OVERLOAD, 1200.0), 87.5 + step);
    let grown = ack(&mut cc, OVERLOAD, 1299.9);
    assert!(grown > 87.5 + step);
    assert_eq!(ack(&mut cc, OVERLOAD, 1300.0), grown * 0.875);
}

#[test]
fn beta_is_the_factor_at_overload_with_a_minimum_of_one_packet() {
    let mut cc = vcp(VcpConfig { beta: 0.5, ..config() }, 10.0, 100.0);
    assert_eq!(ack(&mut cc, OVERLOAD, 0.0), 5.0);
    assert_eq!(ack(&mut vcp(config(), 1.1, 100.0), OVERLOAD, 0.0), 1.0);
}

/// The public code checks its timers only when an ACK echoes overload.
#[test]
fn public_code_obeys_a_lower_code_during_the_freeze() {
    let mut cc = vcp(config(), 100.0, 100.0);
    ack(&mut cc, OVERLOAD, 0.0);
    assert_eq!(ack(&mut cc, HIGH, 50.0), 87.5 + 1.0 / 87.5);
    let before = cc.packets();
    assert!((ack(&mut cc, LOW, 60.0) - before - (libm::sqrt(1.0625) - 1.0)).abs() < 1e-12);
    // The freeze still applies to overload.
    let before = cc.packets();
    assert_eq!(ack(&mut cc, OVERLOAD, 199.0), before);
}

#[test]
fn unconditional_freeze_ignores_all_codes_and_is_followed_by_ai() {
    let freeze = Freeze::Unconditional;
    let mut cc = vcp(VcpConfig { freeze, ..config() }, 100.0, 100.0);
    for (code, at_ms) in [(OVERLOAD, 0.0), (LOW, 50.0), (HIGH, 100.0), (OVERLOAD, 199.0)] {
        assert_eq!(ack(&mut cc, code, at_ms), 87.5);
    }
    let mut before = 87.5;
    for (code, at_ms) in [(LOW, 200.0), (HIGH, 250.0), (OVERLOAD, 299.0)] {
        let after = ack(&mut cc, code, at_ms);
        assert!((after - before - 1.0 / before).abs() < 1e-12, "AI at {at_ms} ms");
        before = after;
    }
    assert_eq!(ack(&mut cc, OVERLOAD, 300.0), before * 0.875);
}

/// Without ACKs in the meantime, both timers have expired at the next ACK.
#[test]
fn timers_expire_without_acks() {
    let mut cc = vcp(config(), 100.0, 100.0);
    ack(&mut cc, OVERLOAD, 0.0);
    assert_eq!(ack(&mut cc, OVERLOAD, 10_000.0), 87.5 * 0.875);
}

/// With permanent overload and an RTT of 100 ms, the time between reductions is 300 ms.
#[test]
fn lasting_overload_reduces_once_per_t_rho_plus_rtt() {
    let mut cc = vcp(config(), 100.0, 100.0);
    let mut reductions = Vec::new();
    for tick in 0..1000 {
        let before = cc.packets();
        if ack(&mut cc, OVERLOAD, f64::from(tick)) < before {
            reductions.push(tick);
        }
    }
    assert_eq!(reductions, [0, 300, 600, 900]);
}

#[test]
fn echo_without_a_code_counts_as_low() {
    let [mut none, mut low] = [0, 1].map(|_| vcp(config(), 100.0, 100.0));
    assert_eq!(ack(&mut none, 0.0, 0.0), ack(&mut low, LOW, 0.0));
}

// --- the RTT of the scaling ------------------------------------------------------------------------

#[test]
fn rtt_is_100_ms_before_the_first_sample() {
    for tick_ns in [0, 10_000_000] {
        assert_eq!(RttInTicks::new(tick_ns, 0.125).get(), ms(100.0));
    }
}

/// An RTT of 89.6 ms gives nine ticks if the segment is sent 3 ms after a tick, and eight ticks if
/// it is sent 0.1 ms after a tick.
#[test]
fn sample_is_the_number_of_clock_ticks_between_sending_and_arrival() {
    for (sent_ms, rtt_ms) in [(1003.0, 90.0), (1000.1, 80.0)] {
        let mut rtt = RttInTicks::new(10_000_000, 0.125);
        rtt.sample(ms(89.6), Time::ZERO + ms(sent_ms + 89.6));
        assert_eq!(rtt.get(), ms(rtt_ms), "sent at {sent_ms} ms");
    }
    let mut short = RttInTicks::new(10_000_000, 0.125);
    short.sample(ms(2.0), Time::ZERO + ms(15.0));
    assert_eq!(short.get(), ms(10.0));
}

/// SRTT is stored in eighths of a tick: samples of 9, 9, 8 ticks give 72, 72, 71 eighths, and the
/// last value is used as 8 full ticks.
#[test]
fn ticks_are_smoothed_in_eighths_and_truncated() {
    let mut rtt = RttInTicks::new(10_000_000, 0.125);
    let found = [9.0, 9.0, 8.0, 9.0, 20.0, 20.0].map(|ticks| {
        rtt.sample(ms(10.0 * ticks), Time::from_secs(1));
        rtt.get().as_nanos() / 1_000_000
    });
    // SRTT after each sample: 72, 72, 71, 72, 83, 93 eighths.
    assert_eq!(found, [90, 90, 80, 90, 100, 110]);
}

#[test]
fn rtt_is_smoothed_exactly_without_ticks() {
    let mut rtt = RttInTicks::new(0, 0.125);
    rtt.sample(ms(89.6), Time::from_secs(1));
    rtt.sample(ms(97.6), Time::from_secs(1));
    assert_eq!(rtt.get(), ms(90.6));
}

#[test]
fn timers_round_up_from_a_fifth_of_a_tick() {
    for (time_ms, ticks_ms) in [(200.0, 200.0), (201.9, 200.0), (202.0, 210.0), (3.0, 10.0)] {
        assert_eq!(in_ticks(ms(time_ms), 10_000_000), ms(ticks_ms), "{time_ms} ms");
        assert_eq!(in_ticks(ms(time_ms), 0), ms(time_ms));
    }
}

// --- losses ----------------------------------------------------------------------------------------

#[test]
fn loss_halves_the_window_and_timeout_leaves_one_packet_without_slow_start() {
    let mut cc = vcp(config(), 21.0, 200.0);
    cc.on_loss(&loss(&cc));
    assert_eq!((cc.packets(), cc.cwnd(), cc.ssthresh()), (10.5, 10_500, 10_500));
    cc.on_rto(&loss(&cc));
    assert_eq!((cc.packets(), cc.ssthresh()), (1.0, 5250));
    // Slow start would double the window.
    assert_eq!(ack(&mut cc, LOW, 0.0), 1.0625);
}

#[test]
fn loss_leaves_at_least_one_packet() {
    let mut cc = vcp(config(), 1.5, 100.0);
    cc.on_loss(&loss(&cc));
    assert_eq!((cc.packets(), cc.ssthresh()), (1.0, 2000));
}

#[test]
fn losses_without_overload_are_ignored_on_request() {
    let on_loss = OnLoss::Ignore;
    let mut cc = vcp(VcpConfig { on_loss, ..config() }, 20.0, 100.0);
    cc.on_loss(&loss(&cc));
    assert_eq!((cc.packets(), cc.ssthresh()), (20.0, 20_000));
    cc.on_rto(&loss(&cc));
    assert_eq!(cc.packets(), 20.0);
    // A loss reduces the window, because the last code was overload or the reaction to overload is
    // in progress.
    ack(&mut cc, OVERLOAD, 0.0);
    cc.on_loss(&loss(&cc));
    assert_eq!(cc.packets(), 8.75);
    let grown = ack(&mut cc, LOW, 100.0);
    cc.on_loss(&loss(&cc));
    assert_eq!(cc.packets(), grown / 2.0);
    let grown = ack(&mut cc, LOW, 1000.0);
    cc.on_rto(&loss(&cc));
    assert_eq!(cc.packets(), grown);
}

// --- which ACKs count --------------------------------------------------------------------------------

#[test]
fn duplicate_acks_and_acks_in_recovery_are_ignored() {
    let mut cc = vcp(config(), 20.0, 200.0);
    let event = AckEvent { feedback: LOW, growth: None, ..AckEvent::of_new_data(Time::ZERO, 1000) };
    cc.on_ack(&AckEvent { acked: 0, duplicate: true, ..event });
    cc.on_ack(&AckEvent { phase: RecoveryPhase::Recovery, ..event });
    assert_eq!(cc.packets(), 20.0);
    cc.on_ack(&event);
    assert_eq!(cc.packets(), 20.0625);
}

#[test]
fn unused_window_shrinks_but_does_not_grow_without_grow_unused() {
    for (grow_unused, grown) in [(true, 20.0625), (false, 20.0)] {
        let options = TcpConfig { grow_unused, initial_window: 20_000, ..options() };
        let mut cc = Vcp::new(config(), &CongestionSetup { options: options.into() });
        cc.rtt.sample(ms(200.0), Time::from_secs(1));
        let event = AckEvent { app_limited: true, ..AckEvent::of_new_data(Time::ZERO, 1000) };
        cc.on_ack(&AckEvent { feedback: LOW, ..event });
        assert_eq!(cc.packets(), grown);
        cc.on_ack(&AckEvent { feedback: OVERLOAD, ..event });
        assert_eq!(cc.packets(), grown * 0.875);
    }
}

#[test]
fn window_never_exceeds_the_receive_window() {
    let options = TcpConfig { receive_window: 10_500, ..options() };
    let mut cc = Vcp::new(config(), &CongestionSetup { options: options.into() });
    (0..10_000).for_each(|at| {
        ack(&mut cc, LOW, f64::from(at));
    });
    assert_eq!(cc.packets(), 10.5);
}

#[test]
fn idle_event_reduces_the_window() {
    let mut cc = vcp(config(), 100.0, 100.0);
    cc.on_idle(&IdleEvent { now: Time::ZERO, cwnd: 10_000, ssthresh: 0 });
    assert_eq!(cc.packets(), 10.0);
}

#[test]
fn out_of_range_values_are_rejected() {
    let refused = |field: &str, value: Value| {
        let mut given = json!({
            "kappa": 0.25, "alpha": 1.0, "beta": 0.875, "interval_ns": 200_000_000,
            "limiters": true, "granularity_ns": 0});
        given[field] = value;
        let config = serde_json::from_value(given).expect("a table of numbers");
        let checked =
            <Vcp as Component<dyn CongestionControl + Send, CongestionSetup>>::check(&config);
        checked.expect_err("a bad value").to_string()
    };
    assert_eq!(refused("kappa", json!(0.0)), "kappa = 0: not above 0. Accepted: more than 0");
    assert_eq!(refused("alpha", json!(-1.0)), "alpha = -1: not above 0. Accepted: more than 0");
    assert_eq!(
        refused("beta", json!(1.0)),
        "beta = 1: not below 1. Accepted: more than 0, less than 1"
    );
    assert_eq!(refused("interval_ns", json!(0)), "interval_ns = 0: below 1. Accepted: at least 1");
}
