//! Tests of the reaction to marks, named after functions of Google's kernel.

use super::*;
use crate::congestion::CongestionControl;
use crate::congestion::bbr::testing::{Acks, MSS, ROUND, Round, setup};
use crate::congestion::bbr::v3::{BbrConfig, BbrVariant, Mode};
use airpath_core::{Seed, Time};

/// A round trip of 4 ms at 100 Mbit/s: the BDP is 50 segments.
const SHORT: Round = Round { bandwidth: 100_000_000, rtt: Duration::from_millis(4), ..ROUND };

struct Bench {
    bbr: Bbr,
    acks: Acks,
}

impl Bench {
    /// A connection with accurate feedback whose handshake took `rtt`.
    fn new(rtt: Duration) -> Bench {
        let config = BbrConfig { variant: BbrVariant::Linux, ..BbrConfig::default() };
        let mut bbr = Bbr::new(config, &setup(), Seed::new(1, 0, "bbr").stream());
        assert_eq!(bbr.on_negotiated(EcnUse::Accurate), Ecn::Ect1);
        bbr.on_open(Time::ZERO, Some(rtt));
        Bench { bbr, acks: Acks::new() }
    }

    /// A round trip with the share `share` of marks.
    fn round(&mut self, round: Round, share: f64) {
        let event = self.acks.round(round);
        let marked = (event.delivered as f64 * share) as u64;
        self.bbr.on_ack(&AckEvent { marked, ..event });
    }

    /// A connection in `mode`.
    fn at(mode: Mode) -> Bench {
        let mut bench = Bench::new(SHORT.rtt);
        for _ in 0..2000 {
            if bench.bbr.mode == mode {
                return bench;
            }
            bench.round(Round { inflight: 0, ..SHORT }, 0.0);
        }
        panic!("no {mode:?}");
    }
}

/// `bbr_can_use_ecn`: the draft's variant and RFC 3168 send ECT(0).
#[test]
fn bbr_can_use_ecn() {
    let mut draft = Bbr::new(BbrConfig::default(), &setup(), Seed::new(1, 0, "bbr").stream());
    assert_eq!(draft.on_negotiated(EcnUse::Accurate), Ecn::Ect0);
    assert_eq!(Bench::new(SHORT.rtt).bbr.on_negotiated(EcnUse::On), Ecn::Ect0);
}

/// `bbr_update_ecn_alpha`: α starts at 1 and follows the share with a gain of 1/16.
#[test]
fn bbr_update_ecn_alpha() {
    let mut bench = Bench::new(SHORT.rtt);
    for share in [0.0, 0.0, 0.4] {
        bench.round(SHORT, share);
    }
    let expected = (1.0 - GAIN) * (1.0 - GAIN) * (1.0 - GAIN) + GAIN * 0.4;
    assert!((bench.bbr.marks.alpha - expected).abs() < 1e-3, "{}", bench.bbr.marks.alpha);
}

/// `bbr_ecn_max_rtt_us`: with a minimum RTT of 40 ms marks change nothing.
#[test]
fn marks_do_not_count_on_long_paths() {
    let mut bench = Bench::new(ROUND.rtt);
    for _ in 0..20 {
        bench.round(ROUND, 1.0);
    }
    assert_eq!((bench.bbr.marks.alpha, bench.bbr.bounds.inflight_shortterm), (1.0, u64::MAX));
}

/// `bbr_check_ecn_too_high_in_startup`: two consecutive round trips with half of the data marked.
#[test]
fn bbr_check_ecn_too_high_in_startup() {
    let mut bench = Bench::new(SHORT.rtt);
    let full = |bandwidth| Round { bandwidth, inflight: 200 * MSS, ..SHORT };
    for (bandwidth, share, mode) in [
        (20_000_000, 0.6, Mode::Startup),
        (40_000_000, 0.0, Mode::Startup),
        (80_000_000, 0.6, Mode::Startup),
        (160_000_000, 0.6, Mode::Drain),
    ] {
        bench.round(full(bandwidth), share);
        assert_eq!(bench.bbr.mode, mode);
    }
    assert!(bench.bbr.bounds.inflight_longterm < u64::MAX);
}

/// `bbr_ecn_lower_bounds`: the bound becomes 1 − α/3 of the window.
#[test]
fn bbr_ecn_lower_bounds() {
    let mut bench = Bench::at(Mode::Down);
    bench.bbr.marks.alpha = 0.6;
    assert_eq!(bench.bbr.bound_by_marks(100 * MSS), 80 * MSS);
    bench.bbr.marks.in_round = true;
    let cwnd = bench.bbr.cwnd();
    bench.bbr.adapt_lower_bounds();
    assert_eq!(bench.bbr.bounds.inflight_shortterm, (cwnd as f64 * 0.8) as u64);
    assert_eq!(bench.bbr.bounds.bw_shortterm, u64::MAX);
}

/// `bbr_is_inflight_too_high`: more than half of a round trip marked ends UP.
#[test]
fn bbr_is_inflight_too_high() {
    let mut bench = Bench::at(Mode::Up);
    bench.round(SHORT, 0.4);
    assert_eq!(bench.bbr.mode, Mode::Up);
    bench.round(SHORT, 0.6);
    assert_eq!((bench.bbr.mode, bench.bbr.probe.was_too_high), (Mode::Down, true));
}

/// `bbr_check_time_to_probe_bw`: marks without a loss begin the next probe at once, with an increase
/// of half of the bound: 2⁵ of 80 segments.
#[test]
fn bbr_check_time_to_probe_bw() {
    let mut bench = Bench::at(Mode::Cruise);
    bench.bbr.bounds.inflight_longterm = 80 * MSS;
    bench.round(SHORT, 0.1);
    assert_eq!((bench.bbr.mode, bench.bbr.probe.up_rounds), (Mode::Refill, 5));
    let mut lossy = Bench::at(Mode::Cruise);
    lossy.bbr.on_segment_lost(&lossy.acks.lost_segment(0, 100 * MSS, MSS));
    lossy.round(SHORT, 0.1);
    assert_eq!(lossy.bbr.mode, Mode::Cruise);
}
