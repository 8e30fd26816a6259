//! Interpolation of a curve between its points.

use super::{PerPoint, TableMcs};
use crate::mcs::packet_error_rate;
use airpath_core::Bytes;

/// Number of errors assumed at a point without errors, if its error rate must be above 0.
const HALF_AN_ERROR: f64 = 0.5;

/// Error rates of one MCS.
///
/// Between two points, ln FER is linear in the signal-to-noise ratio in dB. If a point without
/// errors comes before a point with errors, half an error is assumed at the former. If the last
/// points have no errors, FER is 0 from the first of these points on; just below this point, the
/// curve falls to half an error. Below the first point of the curve, FER is that of the first
/// point; above the last point, FER is that of the last point.
#[derive(Clone, Debug, PartialEq)]
pub struct PerCurve {
    /// Modulation and coding scheme.
    pub mcs: TableMcs,
    /// At least one point, in ascending order of the signal-to-noise ratio.
    pub points: Vec<PerPoint>,
}

impl PerCurve {
    /// Returns the FER, the share of blocks in error at `snr_db`, which is finite.
    pub fn fer(&self, snr_db: f64) -> f64 {
        let above = self.points.partition_point(|point| point.snr_db <= snr_db);
        let at = above.saturating_sub(1);
        if at >= self.clean_from() {
            return 0.0;
        }
        let left = self.points[at];
        match self.points.get(above) {
            Some(&right) if snr_db > left.snr_db => between(left, right, snr_db),
            _ => rate(left),
        }
    }

    /// Returns the PER at `snr_db`, the share of packets of `packet` bytes that have at least one
    /// block in error: 1 − (1 − FER)^⌈L/k⌉ (qawla-2015 eq. 23).
    pub fn per(&self, snr_db: f64, packet: Bytes) -> f64 {
        packet_error_rate(self.fer(snr_db), packet.0.div_ceil(self.mcs.block_bytes))
    }

    /// Returns true if `snr_db` is between the first and the last point, or above a last point
    /// without errors.
    pub fn covers(&self, snr_db: f64) -> bool {
        let last = self.points.len() - 1;
        snr_db >= self.points[0].snr_db
            && (snr_db <= self.points[last].snr_db || self.clean_from() <= last)
    }

    /// Returns the index of the first of the final points without errors.
    fn clean_from(&self) -> usize {
        self.points.iter().rposition(|point| point.errors > 0).map_or(0, |place| place + 1)
    }
}

/// Returns the FER of a point, above 0.
fn rate(point: PerPoint) -> f64 {
    (point.errors as f64).max(HALF_AN_ERROR) / point.blocks as f64
}

fn between(left: PerPoint, right: PerPoint, snr_db: f64) -> f64 {
    let [from, to] = [left, right].map(|point| libm::log(rate(point)));
    let share = (snr_db - left.snr_db) / (right.snr_db - left.snr_db);
    libm::exp(from + share * (to - from))
}
