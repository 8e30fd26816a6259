//! Random parameters of a sender, a receiver and the channel between them.

use crate::links::rlc::receiver::ReceiverRules;
use crate::links::rlc::settings::{OnMaxDat, PollStop, Rules, WindowPoll};
use airpath_core::{Duration, Stream};

/// Length of a TTI.
pub(super) const TTI: Duration = Duration::from_millis(10);

/// Parameters of the losses of frames and reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChannelParams {
    /// Transition probabilities of the channel of forward frames: good to bad, and bad to good.
    pub(super) turns: [f64; 2],
    /// Loss probability of a frame in the good and in the bad state.
    pub(super) loss: [f64; 2],
    /// Loss probability of a report.
    pub(super) report_loss: f64,
    /// Largest additional delay of a report, TTIs; reports may overtake each other.
    pub(super) report_delay: u64,
}

impl ChannelParams {
    /// Channel without losses and additional delays.
    pub(super) const CLEAN: ChannelParams =
        ChannelParams { turns: [0.0, 1.0], loss: [0.0, 0.0], report_loss: 0.0, report_delay: 0 };
}

/// Parameters of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) rules: Rules,
    pub(super) receiver: ReceiverRules,
    pub(super) air: ChannelParams,
    /// PDUs per TTI.
    pub(super) slots: u64,
    /// Number of TTIs from the start of a frame to its arrival. It is also the smallest latency of
    /// a report.
    pub(super) latency: u64,
    /// Sizes of SDUs, bytes.
    pub(super) sizes: [u32; 2],
    /// Arrivals per TTI, as a fraction of the capacity of the TTIs.
    pub(super) load: f64,
}

/// Returns a random element of `choices`.
pub(super) fn one_of<T: Copy>(stream: &mut Stream, choices: &[T]) -> T {
    choices[(stream.uniform() * choices.len() as f64) as usize]
}

impl Settings {
    /// Returns random parameters from `stream`, with one of `windows`. The last PDUs always poll,
    /// so that the sender receives a report about them.
    pub(super) fn draw(stream: &mut Stream, windows: &[u64]) -> Settings {
        let window = one_of(stream, windows);
        let payload = one_of(stream, &[2, 3, 40, 80, 1500]);
        let timers = [10, 20, 60, 100, 300].map(Duration::from_millis);
        let latency = one_of(stream, &[1, 3, 6]);
        let poll_window: f64 = one_of(stream, &[0.01, 0.5, 0.9, 1.0]);
        let rules = Rules {
            window,
            payload,
            concatenation: stream.bernoulli(0.7),
            max_dat: one_of(stream, &[2, 3, 4, 10, 40, 255]),
            on_max_dat: OnMaxDat::Discard,
            poll_timer: one_of(stream, &timers),
            poll_stop: one_of(stream, &[PollStop::Answer, PollStop::Report]),
            poll_from: (poll_window * window as f64).ceil() as u64,
            window_poll: one_of(stream, &[WindowPoll::Every, WindowPoll::Timed]),
            last_pdu_poll: true,
            last_retransmission_poll: true,
            mrw_timer: one_of(stream, &timers),
            nacks_from: one_of(stream, &[Duration::ZERO, Duration::from_millis(20 * latency)]),
        };
        let receiver = ReceiverRules {
            window,
            status_prohibit: one_of(stream, &[Duration::ZERO, timers[1], timers[2], timers[4]]),
            missing_pdu_indicator: stream.bernoulli(0.7),
        };
        let most = one_of(stream, &[1, 40, 300, 3000]);
        Settings {
            rules,
            receiver,
            air: Settings::draw_air(stream),
            slots: one_of(stream, &[1, 2, 4, 12, 32]),
            latency,
            sizes: [one_of(stream, &[1, most]), most],
            load: one_of(stream, &[0.2, 0.8, 1.5]),
        }
    }

    fn draw_air(stream: &mut Stream) -> ChannelParams {
        let loss = one_of(stream, &[0.0, 0.02, 0.1, 0.3, 0.6]);
        let independent = ([0.0, 1.0], [loss, loss]);
        let bursts = ([0.01, 0.07], [0.0, 1.0]);
        let both = ([0.05, 0.2], [0.05, 0.9]);
        let (turns, loss) = one_of(stream, &[independent, independent, bursts, both]);
        ChannelParams {
            turns,
            loss,
            report_loss: one_of(stream, &[0.0, 0.1, 0.5, 0.8]),
            report_delay: one_of(stream, &[0, 0, 3, 20]),
        }
    }
}
