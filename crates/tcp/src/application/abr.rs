//! Rules by which a video client chooses the bitrate of the next segment.
//!
//! Source: buffer-based BBA-0, Huang et al., SIGCOMM 2014, §4 and Algorithm 1; rate-based with the
//! harmonic mean of the last throughputs, Jiang et al. (FESTIVE), CoNEXT 2012. Rates are in
//! bit/s, buffer levels in ns of video.

/// f(B), rate that a buffer level allows: `ladder`'s lowest rate up to the reservoir, its highest
/// rate from reservoir + cushion on, linear in between. `ladder` is ascending and not empty.
pub fn buffer_map(ladder: &[u64], buffer: u64, reservoir: u64, cushion: u64) -> f64 {
    let (lowest, highest) = (ladder[0] as f64, ladder[ladder.len() - 1] as f64);
    if buffer <= reservoir {
        lowest
    } else if buffer >= reservoir.saturating_add(cushion) {
        highest
    } else {
        lowest + (highest - lowest) * (buffer - reservoir) as f64 / cushion as f64
    }
}

/// BBA-0, Algorithm 1: returns the index of the next rate. `previous` is the index of the rate of
/// the previous segment.
pub fn buffer_based(
    ladder: &[u64],
    previous: usize,
    buffer: u64,
    reservoir: u64,
    cushion: u64,
) -> usize {
    let last = ladder.len() - 1;
    let (plus, minus) = ((previous + 1).min(last), previous.saturating_sub(1));
    if buffer <= reservoir {
        return 0;
    }
    if buffer >= reservoir.saturating_add(cushion) {
        return last;
    }
    let f = buffer_map(ladder, buffer, reservoir, cushion);
    if f >= ladder[plus] as f64 {
        // max{R_i : R_i < f(B)}
        ladder.iter().rposition(|rate| (*rate as f64) < f).unwrap_or(0)
    } else if f <= ladder[minus] as f64 {
        // min{R_i : R_i > f(B)}
        ladder.iter().position(|rate| *rate as f64 > f).unwrap_or(last)
    } else {
        previous
    }
}

/// Returns the harmonic mean of `rates`; `None` without rates.
pub fn harmonic_mean(rates: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = rates.len();
    (count > 0).then(|| count as f64 / rates.map(|rate| 1.0 / rate).sum::<f64>())
}

/// Returns the index of the highest rate that is at most `rate`; 0 if there is none.
pub fn highest_within(ladder: &[u64], rate: f64) -> usize {
    ladder.iter().rposition(|one| *one as f64 <= rate).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LADDER: [u64; 5] = [500, 1000, 2000, 3000, 4500];

    /// Reservoir 10, cushion 40: f(B) = 500 + 100 (B − 10).
    #[test]
    fn buffer_map_is_linear_over_the_cushion() {
        let f = |buffer| buffer_map(&LADDER, buffer, 10, 40);
        let found = [0, 10, 11, 30, 49, 50, 90].map(f);
        assert_eq!(found, [500.0, 500.0, 600.0, 2500.0, 4400.0, 4500.0, 4500.0]);
    }

    /// Cases of Algorithm 1 by hand: (index of the previous rate, buffer level, next index).
    #[test]
    fn bba_0_follows_algorithm_1() {
        for (previous, buffer, next, what) in [
            (3, 10, 0, "the reservoir: the lowest rate"),
            (1, 50, 4, "above the cushion: the highest rate"),
            (1, 24, 1, "f = 1900, below the next rate: kept"),
            (1, 26, 2, "f = 2100: the highest rate below f"),
            (1, 37, 3, "f = 3200: two steps up"),
            (1, 25, 1, "f = 2000, the next rate: the highest rate below f is the previous one"),
            (3, 26, 3, "f = 2100, above the next lower rate: kept"),
            (
                3,
                25,
                3,
                "f = 2000, the next lower rate: the lowest rate above f is the previous one",
            ),
            (3, 24, 2, "f = 1900: the lowest rate above f"),
            (3, 11, 1, "f = 600: two steps down"),
            (4, 45, 4, "f = 4000 and the highest rate: kept"),
            (0, 14, 0, "f = 900 and the lowest rate: kept"),
        ] {
            assert_eq!(buffer_based(&LADDER, previous, buffer, 10, 40), next, "{what}");
        }
    }

    #[test]
    fn ladder_of_one_rate_is_always_chosen() {
        for buffer in [0, 10, 20, 50, 60] {
            assert_eq!(buffer_based(&[700], 0, buffer, 10, 40), 0);
        }
    }

    /// 3/(1/1000 + 1/2000 + 1/4000) = 1714.29.
    #[test]
    fn harmonic_mean_is_dominated_by_the_slowest_rate() {
        let mean = harmonic_mean([1000.0, 2000.0, 4000.0].into_iter()).expect("three rates");
        assert!((mean - 12_000.0 / 7.0).abs() < 1e-9);
        assert_eq!(harmonic_mean([].into_iter()), None);
    }

    #[test]
    fn highest_rate_within_the_estimate_is_chosen() {
        let chosen =
            [400.0, 500.0, 1999.9, 2000.0, 9000.0].map(|rate| highest_within(&LADDER, rate));
        assert_eq!(chosen, [0, 0, 1, 2, 4]);
    }
}
