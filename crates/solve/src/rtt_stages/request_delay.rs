//! Computes the delay of the bandwidth requests of a single station for each request procedure.

use super::delays::{Span, Steps, wait, wait_for};
use crate::reasons::Reason;
use airpath_core::registry;
use airpath_link::TddConfig;
use airpath_link::request::{Per, RandomDelayConfig, RangingConfig, SchedulingRequestConfig};

/// Maximum collision probability of a request. Above it, sequences of collisions are too long to be
/// computed.
const MOST_FAILING: f64 = 0.9;
/// Maximum width of the distribution of a request delay, frames.
const MOST_FRAMES: f64 = 10_000.0;

/// Instants within a frame, and delays on the path, ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Instants {
    pub(super) frame: f64,
    pub(super) closed: f64,
    pub(super) received: f64,
    /// Delay from a map to the frame in which the map grants bandwidth.
    pub(super) relevance: f64,
    /// Delay from the start of the frame that carries data until the receiver creates the ACK.
    pub(super) made: f64,
    /// Delay from the start of the frame that carries an ACK until the data that this ACK releases
    /// arrive at the base station.
    pub(super) back: f64,
}

/// Request procedure of the station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RequestModel {
    /// A random delay.
    Drawn(RandomDelayConfig),
    /// The station sends a ranging code in one of `opportunities` opportunities, then a request
    /// header.
    Ranging { opportunities: u32 },
    /// The station has an opportunity every `frames` frames, then sends a request header.
    Scheduled { frames: f64 },
}

impl RequestModel {
    /// Reads the request procedure from the link's description.
    pub(super) fn read(config: &TddConfig) -> Result<RequestModel, Reason> {
        let under = |error: airpath_core::ConfigError| error.under("request");
        let kind = registry::kind_of(&config.request).map_err(under)?;
        match kind {
            "random-delay" => {
                drawn(config, registry::read_description(&config.request).map_err(under)?)
            }
            "ranging" => {
                let read: RangingConfig =
                    registry::read_description(&config.request).map_err(under)?;
                Ok(RequestModel::Ranging { opportunities: read.backoff[0].max(1) })
            }
            "scheduling-request" => {
                let read: SchedulingRequestConfig =
                    registry::read_description(&config.request).map_err(under)?;
                if config.frame_ns == 0 || !read.period_ns.is_multiple_of(config.frame_ns) {
                    let value = format!("{} ns", read.period_ns);
                    let covered = "a multiple of the frame";
                    return Err(Reason::not_covered("request.period", value, covered));
                }
                Ok(RequestModel::Scheduled {
                    frames: (read.period_ns / config.frame_ns).max(1) as f64,
                })
            }
            other => {
                let covered = "random-delay, ranging, scheduling-request";
                Err(Reason::not_covered("request.kind", other, covered))
            }
        }
    }

    /// Returns true if every packet has a separate request.
    pub(super) fn is_per_packet(&self) -> bool {
        matches!(self, RequestModel::Drawn(RandomDelayConfig { per: Per::Packet, .. }))
    }

    /// Returns the delay of a piggyback request.
    pub(super) fn piggyback(&self) -> Span {
        match self {
            RequestModel::Drawn(RandomDelayConfig { piggyback, .. }) => {
                Span::of(piggyback.low_ns, piggyback.high_ns)
            }
            RequestModel::Ranging { .. } | RequestModel::Scheduled { .. } => Span::of(0, 0),
        }
    }

    /// Returns two mean delays, ns: from the creation of an ACK until the base station receives a
    /// request for it, and from this time until the next map. `down` and `up` are the delays by
    /// retransmissions in the downlink and the uplink.
    pub(super) fn contention(&self, at: &Instants, down: &Steps, up: &Steps) -> (f64, f64) {
        let Instants { frame, closed, received, relevance, made, back } = *at;
        // Delay from the start of a frame to the first map after its bursts are received.
        let map = received + wait(received, frame);
        let header = map + relevance + received;
        let closes = |more: f64| wait_for(closed, made + more, frame);
        let until_heard = |skipped: f64| down.mean_of(closes) - closed + frame * skipped + header;
        match self {
            RequestModel::Drawn(RandomDelayConfig { delay, collision, timer_ns, .. }) => {
                let delay = Span::of(delay.low_ns, delay.high_ns);
                let collisions = Steps::of_failures(*collision, *timer_ns as f64);
                let waits = down.and(&collisions).mean_of(|more| delay.wait(made + more, frame));
                (delay.mean() + collisions.mean(), waits)
            }
            RequestModel::Ranging { opportunities } => {
                (until_heard(f64::from(opportunities - 1) / 2.0), map - received)
            }
            RequestModel::Scheduled { frames } => {
                // Delay from an opportunity until the next data arrive at the base station.
                let answered = 2.0 * (map + relevance) + back;
                let skipped = up.mean_of(|up| {
                    let data = answered + up + wait(answered + up, frame);
                    down.mean_of(|down| {
                        let asks = data + made + down;
                        let first = asks + wait_for(closed, asks, frame) - closed;
                        (-(first / frame).round()).rem_euclid(*frames)
                    })
                });
                (until_heard(skipped), map - received)
            }
        }
    }
}

/// Reads a request procedure with random delays.
fn drawn(config: &TddConfig, drawn: RandomDelayConfig) -> Result<RequestModel, Reason> {
    for (field, span) in [("request.delay", drawn.delay), ("request.piggyback", drawn.piggyback)] {
        let frames =
            span.high_ns.saturating_sub(span.low_ns) as f64 / config.frame_ns.max(1) as f64;
        if span.low_ns > span.high_ns || frames > MOST_FRAMES {
            let value = format!("{} … {} ns", span.low_ns, span.high_ns);
            let covered = format!("the smaller one first, at most {MOST_FRAMES} frames apart");
            return Err(Reason::not_covered(field, value, covered));
        }
    }
    if !(0.0..=MOST_FAILING).contains(&drawn.collision) {
        let covered = format!("at most {MOST_FAILING}");
        return Err(Reason::not_covered("request.collision", drawn.collision, covered));
    }
    Ok(RequestModel::Drawn(drawn))
}
