//! Window that a recovery or ProbeRTT reduces, and its restoration.
//!
//! Source: Linux `bbr_save_cwnd`; draft-ietf-ccwg-bbr `SaveCwnd`, `RestoreCwnd`.

use crate::congestion::RecoveryPhase;

/// Phase of the loss recovery at the last event, and the window to restore.
#[derive(Clone, Copy, Debug)]
pub(super) struct PriorWindow {
    pub(super) phase: RecoveryPhase,
    /// `prior_cwnd`: latest window that neither a recovery nor ProbeRTT has reduced, bytes.
    pub(super) bytes: u64,
}

impl PriorWindow {
    pub(super) const fn new() -> PriorWindow {
        PriorWindow { phase: RecoveryPhase::Open, bytes: 0 }
    }

    /// Saves the window `cwnd` before it is reduced. In a recovery and in ProbeRTT, the window is
    /// already reduced.
    pub(super) fn save(&mut self, cwnd: u64, in_probe_rtt: bool) {
        let is_reduced = self.phase != RecoveryPhase::Open || in_probe_rtt;
        self.bytes = if is_reduced { self.bytes.max(cwnd) } else { cwnd };
    }

    /// Sets the phase. Returns the phase before.
    pub(super) fn enter(&mut self, phase: RecoveryPhase) -> RecoveryPhase {
        std::mem::replace(&mut self.phase, phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduced_window_does_not_replace_the_saved_window() {
        let mut prior = PriorWindow::new();
        prior.save(10, false);
        prior.save(4, true);
        assert_eq!(prior.bytes, 10);
        assert_eq!(prior.enter(RecoveryPhase::Loss), RecoveryPhase::Open);
        prior.save(4, false);
        assert_eq!(prior.bytes, 10);
        prior.enter(RecoveryPhase::Open);
        prior.save(4, false);
        assert_eq!(prior.bytes, 4);
    }
}
