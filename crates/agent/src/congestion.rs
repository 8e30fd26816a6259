//! The congestion control of an agent: window and pacing rate are those of the last decision.
//!
//! Neither a loss nor a mark nor a timeout changes them. At a timeout the sender deems all
//! outstanding segments lost (RFC 6298 §5), doubles the retransmission timeout, and retransmits
//! within the window and at the pacing rate of the agent.

use crate::channel::Channel;
use airpath_core::{ConfigError, Duration, Rate, Time, registry::read_config};
use airpath_path::Components;
use airpath_tcp::EcnUse;
use airpath_tcp::congestion::{AckEvent, CongestionControl, LossEvent, LostSegment, UndoEvent};
use serde::Deserialize;
use std::sync::Arc;

/// Name of the congestion control in a scenario.
pub(crate) const KIND: &str = "agent";

/// Configuration of an agent's flow.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentConfig {
    /// Index of the agent.
    agent: usize,
}

/// Congestion control of an agent.
struct AgentControl {
    channel: Arc<Channel>,
    /// True if congestion feedback counts bytes (RFC 9768).
    counts_marked_bytes: bool,
}

impl CongestionControl for AgentControl {
    fn on_ack(&mut self, event: &AckEvent) {
        let mut meter = self.channel.meter();
        meter.acks += 1;
        meter.acked_bytes += event.acked;
        meter.delivered_bytes += event.delivered;
        meter.marked_bytes += match self.counts_marked_bytes {
            true => event.marked,
            false if event.echo => event.delivered,
            false => 0,
        };
        let by_segment = event.inflight.and_then(|inflight| inflight.rtt);
        if let Some(rtt) = event.rtt.or(by_segment) {
            meter.add_rtt(rtt);
        }
        drop(meter);
        self.channel.count_ack();
    }

    fn on_loss(&mut self, _event: &LossEvent) {
        self.channel.meter().recoveries += 1;
    }

    fn on_rto(&mut self, _event: &LossEvent) {
        self.channel.meter().timeouts += 1;
    }

    fn on_recovered(&mut self, _cwnd: u64) {}

    fn on_undo(&mut self, _event: &UndoEvent) {}

    fn on_ecn(&mut self, _event: &LossEvent) {}

    fn on_segment_lost(&mut self, segment: &LostSegment) {
        let mut meter = self.channel.meter();
        meter.lost_bytes += segment.bytes;
        meter.lost_packets += 1;
    }

    fn on_open(&mut self, _now: Time, rtt: Option<Duration>) {
        self.channel.meter().opening_rtt = rtt;
    }

    fn on_negotiated(&mut self, feedback: EcnUse) -> airpath_core::Ecn {
        self.counts_marked_bytes = feedback == EcnUse::Accurate;
        airpath_core::Ecn::Ect0
    }

    fn on_sent(&mut self, _now: Time, bytes: u64) {
        self.channel.count_sent(bytes);
    }

    fn cwnd(&self) -> u64 {
        self.channel.window()
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.channel.rate()
    }

    /// Losses are counted from the samples.
    fn needs_rate_samples(&self) -> bool {
        true
    }

    fn sets_window_in_recovery(&self) -> bool {
        true
    }
}

/// Registers the congestion control of agents with the given shared states. The agents are declared
/// independent if the simulation never pauses at an ACK.
pub(crate) fn register(components: &mut Components, channels: &[Arc<Channel>], independent: bool) {
    let channels = channels.to_vec();
    components.congestion.register(KIND, move |parameters, setup| {
        let AgentConfig { agent } = read_config(parameters)?;
        let Some(channel) = channels.get(agent) else {
            return Err(ConfigError::new("agent", agent, "no such agent"));
        };
        channel.set_segment(u64::from(setup.extra.options.mss));
        Ok(Box::new(AgentControl { channel: Arc::clone(channel), counts_marked_bytes: false }))
    });
    if independent {
        components.congestion.declare_independent(KIND);
    }
}
