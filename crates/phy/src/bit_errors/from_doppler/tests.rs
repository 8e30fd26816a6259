//! Tests shares, durations and error rates of the states against the unconditional error rate and
//! closed forms.

use super::*;
use crate::symbol_error::{Fading, symbol_error_rate};
use airpath_conformance::Law;

const MEAN: Law = Law {
    area: "Radio channel",
    source: "Error rates above and below an SNR: their mean by shares is that over all SNRs",
    allows: "relative 1e-10",
};

const FADES: Law = Law {
    area: "Radio channel",
    source: "Mean fade of one branch, (e^ρ − 1)/(f_D √(2πρ)) (Jakes 1974 §1.3), and level crossings of N branches by their density",
    allows: "relative 1e-12, and 1e-6 by numerical differentiation",
};

fn channel(constellation: Constellation, (tx, rx): (u32, u32), snr_db: f64) -> FadingChannel {
    FadingChannel {
        constellation,
        branches: Branches::of_antennas(tx, rx, from_db(snr_db)).expect("accepted"),
        threshold_db: snr_db - 10.0,
        doppler_hz: 100.0,
        symbol_rate_hz: 1e7,
    }
}

#[test]
fn mean_over_states_equals_unconditional_error_rate() {
    let mut worst = 0.0f64;
    for constellation in [
        Constellation::Psk(2),
        Constellation::Psk(4),
        Constellation::Psk(64),
        Constellation::Qam(16),
        Constellation::Qam(64),
    ] {
        for antennas in [(1, 1), (2, 1), (1, 2), (2, 2), (1, 8)] {
            for snr_db in [-10.0, 0.0, 10.0, 20.0, 40.0] {
                for offset_db in [-10.0, -3.0, 0.0, 3.0] {
                    let mut channel = channel(constellation, antennas, snr_db);
                    channel.threshold_db = snr_db + offset_db;
                    let chain = ErrorChain::from_doppler(&channel).expect("accepted");
                    let all = symbol_error_rate(constellation, channel.branches, Fading::Rayleigh);
                    worst = worst.max((chain.error_rate() / all - 1.0).abs());
                    assert!(chain.error[1] >= chain.error[0]);
                }
            }
        }
    }
    MEAN.close("largest of 500", "1", worst, 0.0, 1e-10);
}

#[test]
fn fade_durations_match_level_crossing_rates() {
    for ratio in [0.001f64, 0.1, 1.0, 3.0] {
        let one = Fades::new(Branches { count: 1, snr: 5.0 }, 5.0 * ratio);
        let [_, fade] = one.mean_durations_s(30.0);
        let expected = libm::expm1(ratio) / (30.0 * libm::sqrt(std::f64::consts::TAU * ratio));
        FADES.close(format!("one branch, ρ {ratio}"), "s", fade / expected, 1.0, 1e-12);
        // The crossing rate is √(2π ρ) f_D times the density of the SNR in units of S.
        for count in [2, 4, 8, 16] {
            let share = |ratio: f64| Fades::new(Branches { count, snr: 1.0 }, ratio).shares()[1];
            let step = 1e-5 * ratio;
            let density = (share(ratio + step) - share(ratio - step)) / (2.0 * step);
            let expected = libm::sqrt(std::f64::consts::TAU * ratio) * 30.0 * density;
            let found = Fades::new(Branches { count, snr: 1.0 }, ratio).crossing_rate_hz(30.0);
            FADES.close(format!("{count}, ρ {ratio}"), "Hz", found / expected, 1.0, 1e-6);
        }
    }
}

/// vcp-rem §8.11: bad and good runs of 8 and 800 bits at 10 Mbit/s require a Doppler shift of 50
/// kHz with one branch, 101 kHz with two branches, and 134 kHz with four branches.
#[test]
fn bursts_of_the_paper_require_50_khz_doppler() {
    for (antennas, doppler_hz) in [((1, 1), 49_992.0), ((1, 2), 100_753.0), ((2, 2), 134_359.0)] {
        let mut paper = channel(Constellation::Psk(2), antennas, 10.0);
        // The SNR is below this threshold for 8/808 of the time.
        let (mut low, mut high) = (-30.0, 10.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            let share = Fades::new(paper.branches, from_db(middle)).shares()[1];
            if share < 8.0 / 808.0 { low = middle } else { high = middle }
        }
        let [good, bad] = Fades::new(paper.branches, from_db(low)).mean_durations_s(1.0);
        let needed = bad / 0.8e-6;
        assert!((needed / doppler_hz - 1.0).abs() < 1e-4, "{needed}");
        assert!((good / needed / 80e-6 - 1.0).abs() < 1e-9);
        paper.threshold_db = low;
        paper.doppler_hz = needed;
        let [good, bad] = ErrorChain::from_doppler(&paper).expect("accepted").mean_runs();
        assert!((good - 800.0).abs() < 1e-6 && (bad - 8.0).abs() < 1e-8, "{good} {bad}");
    }
}

#[test]
fn invalid_channel_is_rejected() {
    let usual = channel(Constellation::Psk(2), (2, 2), 10.0);
    let text = |channel: FadingChannel| {
        ErrorChain::from_doppler(&channel).err().map(|error| error.to_string())
    };
    assert_eq!(text(usual), None);
    let fast = FadingChannel { doppler_hz: 1e7, ..usual };
    assert_eq!(
        text(fast).as_deref(),
        Some("doppler_hz = 10000000: fades last 4.64e-2 symbols on average, less than one")
    );
    assert_eq!(
        text(FadingChannel { threshold_db: 22.0, ..fast }).as_deref(),
        Some(
            "doppler_hz = 10000000: times between fades last 7.80e-2 symbols on average, less than one"
        )
    );
    for doppler_hz in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let found = text(FadingChannel { doppler_hz, ..usual }).expect("refused");
        assert!(found.ends_with(": not a finite number above 0"), "{found}");
    }
    assert_eq!(
        text(FadingChannel { threshold_db: 60.0, ..usual }).as_deref(),
        Some("threshold_db = 60: the combined SNR is never above it")
    );
    assert_eq!(
        text(FadingChannel { threshold_db: -2000.0, ..usual }).as_deref(),
        Some("threshold_db = -2000: the combined SNR is never below it")
    );
}
