//! Common part of the congestion control modules of Linux: a window of integer segments.
//!
//! Source: Linux `net/ipv4/tcp_cong.c`, `tcp_input.c` and `struct tcp_congestion_ops`, 6.18. A clock
//! tick (jiffy) is 1 ms (HZ = 1000). A module implements [`LinuxModule`]; [`InSegments`] is the
//! congestion control algorithm that contains it.
//!
//! Differences from Linux:
//!
//! - The state CWR after an echoed mark lasts until the next ACK. The window is reduced immediately.
//! - `ssthresh` receives FlightSize in segments (RFC 5681 eq. 4), except with `stack = "linux"`,
//!   which passes cwnd.
//! - At the end of a recovery, cwnd is at most the window that the recovery allows.
//! - There is no `snd_cwnd_clamp`.

use super::growth::is_little_used;
use super::{
    AckEvent, CongestionControl, CongestionSetup, IdleEvent, LossEvent, RecoveryPhase, UndoEvent,
};
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Time};
use serde::de::DeserializeOwned;

/// Smallest ssthresh, segments (RFC 5681 eq. 4).
pub(super) const MIN_SSTHRESH: u64 = 2;

/// Window of a connection, and the values that the modules read from `struct tcp_sock`.
#[derive(Clone, Debug)]
pub struct SegmentWindow {
    mss: u64,
    /// `snd_cwnd`, segments.
    pub(super) cwnd: u64,
    /// `snd_ssthresh`, segments; `u64::MAX` if not yet set.
    pub(super) ssthresh: u64,
    /// `snd_cwnd_cnt`: number of segments acknowledged since the last increase of the window.
    pub(super) credit: u64,
    /// `snd_nxt`: end of the sent data, a stream offset.
    pub(super) sent: u64,
    /// Time of the current event.
    pub(super) now: Time,
    /// Delivered bytes that do not yet amount to a segment.
    remainder: u64,
}

impl SegmentWindow {
    fn new(setup: &CongestionSetup) -> SegmentWindow {
        let options = &setup.options;
        let mss = u64::from(options.mss);
        SegmentWindow {
            mss,
            cwnd: (options.initial_window / mss).max(1),
            ssthresh: options
                .initial_ssthresh
                .map_or(u64::MAX, |bytes| (bytes / mss).max(MIN_SSTHRESH)),
            credit: 0,
            sent: 0,
            now: Time::ZERO,
            remainder: 0,
        }
    }

    /// Payload of a full-sized segment, bytes.
    pub(super) fn mss(&self) -> u64 {
        self.mss
    }

    /// Clock in ticks: `tcp_jiffies32`, ms.
    pub(super) fn jiffies(&self) -> u64 {
        self.now.as_nanos() / 1_000_000
    }

    /// `tcp_in_slow_start`.
    pub(super) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// `tcp_is_cwnd_limited`: returns false if the sender does not use the window. In slow start it
    /// is sufficient that half of the window is used.
    pub(super) fn is_limited(&self, event: &AckEvent) -> bool {
        let used = (event.in_flight + event.acked) / self.mss;
        !event.app_limited || !is_little_used(self.cwnd, self.ssthresh, used)
    }

    /// `tcp_slow_start`: grows the window by `acked` segments, up to ssthresh. Returns the number of
    /// segments that remain for congestion avoidance.
    pub(super) fn slow_start(&mut self, acked: u64) -> u64 {
        let grown = self.ssthresh.min(self.cwnd + acked);
        let left = acked - (grown - self.cwnd);
        self.cwnd = grown;
        left
    }

    /// `tcp_cong_avoid_ai`: grows the window by one segment per `needed` acknowledged segments.
    pub(super) fn avoid(&mut self, needed: u64, acked: u64) {
        if self.credit >= needed {
            self.credit = 0;
            self.cwnd += 1;
        }
        self.credit += acked;
        if self.credit >= needed {
            let more = self.credit / needed;
            self.credit -= more * needed;
            self.cwnd += more;
        }
    }

    /// `tcp_reno_cong_avoid`: grows the window as Reno does.
    pub(super) fn reno(&mut self, acked: u64, event: &AckEvent) {
        if !self.is_limited(event) {
            return;
        }
        let left = if self.in_slow_start() { self.slow_start(acked) } else { acked };
        if left > 0 {
            self.avoid(self.cwnd, left);
        }
    }

    /// Returns the number of complete segments in `bytes` and the remainder of earlier ACKs.
    fn whole_segments(&mut self, bytes: u64) -> u64 {
        let bytes = self.remainder + bytes;
        self.remainder = bytes % self.mss;
        bytes / self.mss
    }
}

/// `tcp_reno_ssthresh`: half of `window`, segments.
pub(super) fn reno_ssthresh(window: u64) -> u64 {
    (window / 2).max(MIN_SSTHRESH)
}

/// State of a connection: `enum tcp_ca_state` without Disorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaState {
    /// No recovery.
    Open,
    /// After an echoed mark.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a timeout.
    Loss,
}

impl From<RecoveryPhase> for CaState {
    fn from(phase: RecoveryPhase) -> CaState {
        match phase {
            RecoveryPhase::Open => CaState::Open,
            RecoveryPhase::Recovery => CaState::Recovery,
            RecoveryPhase::Loss => CaState::Loss,
        }
    }
}

/// A congestion control module of Linux: the functions of `struct tcp_congestion_ops`.
pub trait LinuxModule: Sized {
    /// Configuration set by the user.
    type Config: DeserializeOwned;

    /// Checks the configuration.
    fn check(_config: &Self::Config, _checks: &mut Checks) {}

    /// `init`: creates the state before the first segment. May change the window.
    fn init(config: Self::Config, window: &mut SegmentWindow) -> Self;

    /// The rest of `init`: handles the RTT sample of the handshake, if any. May change the window.
    fn opened(&mut self, _window: &mut SegmentWindow, _rtt: Option<Duration>) {}

    /// `pkts_acked` and `in_ack_event`: handles each ACK in each state. `acked` is the number of
    /// segments that it delivers.
    fn acked(&mut self, _window: &mut SegmentWindow, _event: &AckEvent, _acked: u64) {}

    /// `cong_avoid`: grows the window after an ACK of new data that may do so.
    fn cong_avoid(&mut self, window: &mut SegmentWindow, event: &AckEvent, acked: u64);

    /// `ssthresh`: returns ssthresh after a loss or a mark. `window` is the window before the
    /// reduction, segments.
    fn ssthresh(&mut self, state: &SegmentWindow, window: u64) -> u64;

    /// `ssthresh` and the event `CA_EVENT_LOSS`: returns ssthresh after a timeout.
    fn timeout_ssthresh(&mut self, state: &SegmentWindow, window: u64) -> u64 {
        self.ssthresh(state, window)
    }

    /// `CA_EVENT_COMPLETE_CWR`: returns ssthresh at the end of a reduction.
    fn completed(&mut self, window: &SegmentWindow) -> u64 {
        window.ssthresh
    }

    /// `set_state`: handles a change of the state. For a reduction, called after `ssthresh`.
    fn set_state(&mut self, _window: &SegmentWindow, _state: CaState) {}

    /// `CA_EVENT_TX_START`: handles a transmission without outstanding data.
    fn restart(&mut self, _window: &SegmentWindow) {}

    /// `undo_cwnd`: restores the state before a spurious reduction. The window is restored by the
    /// caller (`tcp_reno_undo_cwnd`).
    fn undo(&mut self) {}
}

/// Congestion control algorithm in the arithmetic of Linux.
#[derive(Clone, Debug)]
pub struct InSegments<M> {
    pub(super) window: SegmentWindow,
    pub(super) module: M,
    state: CaState,
}

impl<M: LinuxModule> InSegments<M> {
    /// Creates the state before the first segment.
    pub fn new(config: M::Config, setup: &CongestionSetup) -> InSegments<M> {
        let mut window = SegmentWindow::new(setup);
        let module = M::init(config, &mut window);
        InSegments { window, module, state: CaState::Open }
    }

    fn enter(&mut self, state: CaState) {
        self.state = state;
        self.module.set_state(&self.window, state);
    }

    /// Sets ssthresh for a loss or a mark.
    fn reduce(&mut self, event: &LossEvent, state: CaState) {
        self.window.now = event.now;
        let before = event.flight / self.window.mss;
        self.window.ssthresh = self.module.ssthresh(&self.window, before).max(MIN_SSTHRESH);
        self.window.credit = 0;
        self.enter(state);
    }
}

impl<T: ?Sized, M: LinuxModule> Component<T, CongestionSetup> for InSegments<M> {
    type Config = M::Config;

    fn check(config: &M::Config) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        M::check(config, &mut checks);
        checks.finish()
    }

    fn build(
        config: M::Config,
        setup: Setup<'_, T, CongestionSetup>,
    ) -> Result<InSegments<M>, ConfigError> {
        Ok(InSegments::new(config, &setup.extra))
    }
}

impl<M: LinuxModule> CongestionControl for InSegments<M> {
    fn on_ack(&mut self, event: &AckEvent) {
        (self.window.now, self.window.sent) = (event.now, event.sent);
        let state = CaState::from(event.phase);
        if state != self.state {
            self.enter(state);
        }
        let acked = self.window.whole_segments(event.delivered);
        self.module.acked(&mut self.window, event, acked);
        if event.growth.is_some() {
            self.module.cong_avoid(&mut self.window, event, acked);
        }
    }

    fn on_loss(&mut self, event: &LossEvent) {
        self.reduce(event, CaState::Recovery);
        self.window.cwnd = self.window.ssthresh;
    }

    /// `tcp_enter_loss`.
    fn on_rto(&mut self, event: &LossEvent) {
        self.window.now = event.now;
        if !event.keeps_ssthresh {
            let before = event.flight / self.window.mss;
            let ssthresh = self.module.timeout_ssthresh(&self.window, before);
            self.window.ssthresh = ssthresh.max(MIN_SSTHRESH);
        }
        (self.window.cwnd, self.window.credit) = (1, 0);
        self.enter(CaState::Loss);
    }

    fn on_ecn(&mut self, event: &LossEvent) {
        self.reduce(event, CaState::Cwr);
        self.window.ssthresh = self.module.completed(&self.window).max(MIN_SSTHRESH);
        self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
    }

    fn on_recovered(&mut self, cwnd: u64) {
        self.window.ssthresh = self.module.completed(&self.window).max(MIN_SSTHRESH);
        self.window.cwnd = self.window.ssthresh.min((cwnd / self.window.mss).max(1));
    }

    /// `tcp_undo_cwnd_reduction`.
    fn on_undo(&mut self, event: &UndoEvent) {
        let window = &mut self.window;
        window.now = event.now;
        window.cwnd = window.cwnd.max(event.cwnd / window.mss);
        window.ssthresh = match event.ssthresh {
            u64::MAX => u64::MAX,
            bytes => window.ssthresh.max(bytes / window.mss),
        };
        self.module.undo();
    }

    fn on_open(&mut self, now: Time, rtt: Option<Duration>) {
        self.window.now = now;
        self.module.opened(&mut self.window, rtt);
    }

    fn on_lost_syn(&mut self) {
        self.window.cwnd = 1;
    }

    fn on_idle(&mut self, event: &IdleEvent) {
        let window = &mut self.window;
        window.now = event.now;
        window.cwnd = window.cwnd.min((event.cwnd / window.mss).max(1));
        window.ssthresh = window.ssthresh.max(event.ssthresh / window.mss);
        self.module.restart(window);
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        self.window.cwnd * self.window.mss
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.window.ssthresh.saturating_mul(self.window.mss)
    }
}

/// Configuration of a module without parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoParameters {}

#[cfg(test)]
pub(super) mod testing {
    //! ACK sequences for the tests of the modules.

    use super::*;
    use crate::config::TcpConfig;

    /// Payload of a segment in the tests, bytes.
    pub(crate) const MSS: u64 = 1000;

    /// Returns a module with a window of `window` segments and ssthresh `ssthresh` segments.
    pub(crate) fn with_window<M: LinuxModule>(
        config: M::Config,
        window: u64,
        ssthresh: Option<u64>,
    ) -> InSegments<M> {
        let options = TcpConfig {
            mss: MSS as u32,
            initial_window: window * MSS,
            initial_ssthresh: ssthresh.map(|segments| segments * MSS),
            ..TcpConfig::rfc()
        };
        InSegments::new(config, &CongestionSetup { options: options.into() })
    }

    /// Sender with a window of data in flight: produces the ACKs of rounds of equal RTT.
    pub(crate) struct Rounds {
        pub(crate) now: Time,
        ack: u64,
    }

    impl Default for Rounds {
        fn default() -> Rounds {
            Rounds { now: Time::from_secs(1), ack: 0 }
        }
    }

    impl Rounds {
        /// Acknowledges each segment of one window, all with the same RTT.
        pub(crate) fn round<M: LinuxModule>(&mut self, cc: &mut InSegments<M>, rtt: Duration) {
            let end = self.ack + cc.cwnd();
            let acks = cc.window.cwnd;
            for number in 1..=acks {
                self.now = Time::from_nanos(self.now.as_nanos() + rtt.as_nanos() / acks);
                self.ack += MSS;
                // Each ACK releases one segment after it has been handled.
                let sent = end + (number - 1) * MSS;
                let event = AckEvent::of_new_data(self.now, MSS);
                cc.on_ack(&AckEvent { ack: self.ack, sent, rtt: Some(rtt), ..event });
            }
        }

        /// Runs several rounds and returns the window after each, segments.
        pub(crate) fn windows<M: LinuxModule>(
            &mut self,
            cc: &mut InSegments<M>,
            rtts: &[u64],
        ) -> Vec<u64> {
            rtts.iter()
                .map(|&rtt| {
                    self.round(cc, Duration::from_millis(rtt));
                    cc.window.cwnd
                })
                .collect()
        }
    }

    /// Reports a loss of a segment of a full window.
    pub(crate) fn lose<M: LinuxModule>(cc: &mut InSegments<M>, now: Time) {
        let cwnd = cc.cwnd();
        cc.on_loss(&LossEvent::new(now, cwnd, cwnd));
    }
}
