//! Computes the terms of the model for a link: R, RTT_min, T_ct, T_pb and p_e.

use super::connection::Download;
use super::delays::{Frames, Steps, wait, wait_for};
use super::request_delay::{Instants, RequestModel};
use crate::dumbbell::DumbbellScenario;
use crate::preconditions::delay_s;
use crate::reasons::{Reason, Reasons};
use airpath_core::{Bytes, Time, registry};
use airpath_link::{Files, SingleStation, TddConfig};
use airpath_path::{FlowSpec, WireSpec};
use airpath_phy::errors::IndependentConfig;
use serde::Serialize;
use serde_json::Value;

/// Maximum failure probability of an attempt. Above it, sequences of failures are too long to be
/// computed.
const MOST_FAILING: f64 = 0.9;
/// Maximum ACK loss that the model ignores.
const ACK_LOSSES: f64 = 0.01;
/// Minimum ratio of the uplink capacity to the capacity that the ACKs of a full downlink require.
const SPARE_FOR_ACKS: f64 = 2.0;

/// Terms of the model for a link and the path to it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Terms {
    /// R: payload rate of a fully used downlink, bit/s.
    pub rate_bps: f64,
    /// RTT_min: mean round trip of a single packet without the request delay, s.
    pub base_rtt_s: f64,
    /// Components of the base RTT.
    pub base_rtt: BaseRtt,
    /// T_ct: mean delay of a contention request including collisions, s.
    pub contention_s: f64,
    /// T_pb: mean additional uplink delay in a sequence of piggyback requests, compared with an
    /// uplink that requires no requests, s.
    pub piggyback_s: f64,
    /// p_e: probability that a data packet is lost.
    pub loss: f64,
}

/// Components of RTT_min, s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BaseRtt {
    /// Propagation and transmission on wires, in both directions.
    pub wires_s: f64,
    /// Delay from the arrival at the base station until the frame is decoded.
    pub downlink_s: f64,
    /// Delay from the reception of a request by the base station until the granted burst is
    /// received.
    pub uplink_s: f64,
    /// Delay by HARQ and ARQ, in both directions.
    pub repetitions_s: f64,
}

/// Values of the link's description that the model uses.
pub(super) struct Link {
    config: TddConfig,
    request: RequestModel,
    /// Probability that the radio channel corrupts an MPDU, downlink and uplink.
    corrupted: [f64; 2],
    /// Failure probability of each HARQ attempt; the last value applies to all later attempts.
    attempts: Vec<f64>,
}

impl Link {
    /// Reads the description of a TDD link.
    pub(super) fn read(description: &Value, files: &Files, reasons: &mut Reasons) -> Option<Link> {
        let under = |reason: Reason| reason.under("link").under("bottleneck");
        reasons.keep(at_once(description).map_err(under));
        let config: TddConfig = reasons
            .keep(registry::read_description(description).map_err(|error| under(error.into())))?;
        if config.stations != 1 {
            let other = Reason::not_covered("stations", config.stations, "one station");
            reasons.keep::<()>(Err(under(other)));
        }
        if config.radio.is_some() {
            let other = Reason::not_covered("radio", "a table", "schemes that stay as they are");
            reasons.keep::<()>(Err(under(other)));
        }
        reasons.keep(uni(&config.grant).map_err(under));
        let request = reasons.keep(RequestModel::read(&config).map_err(under));
        let ways = [("errors", &config.errors), ("reverse_errors", &config.reverse_errors)];
        let corrupted =
            ways.map(|(field, errors)| reasons.keep(independent(field, errors).map_err(under)));
        let attempts = reasons.keep(attempts(&config, files).map_err(under));
        let [Some(down), Some(up)] = corrupted else { return None };
        Some(Link { request: request?, corrupted: [down, up], attempts: attempts?, config })
    }

    /// Computes the frame timing and capacity of the link for this download.
    pub(super) fn alone(&self, flow: &Download<'_>) -> Result<SingleStation, Reason> {
        let header = flow.options.whole_header();
        let sizes = [flow.options.mss + header, header].map(|bytes| Bytes(bytes.into()));
        let alone = self.config.single_station(sizes)?;
        if alone.frames[0] == 0 {
            let covered = format!("frames into which a packet of {} B fits", sizes[0].0);
            return Err(Reason::not_covered("downlink_slots", self.config.downlink_slots, covered));
        }
        if alone.frames[1] != 1 {
            let covered = format!("frames into which an ACK of {} B fits", sizes[1].0);
            return Err(Reason::not_covered("uplink_slots", self.config.uplink_slots, covered));
        }
        let [data, acks] = alone.packets_per_frame;
        if acks < SPARE_FOR_ACKS * data / f64::from(flow.options.delayed_ack_segments) {
            let covered = "an uplink for twice the ACKs of a full downlink";
            return Err(Reason::not_covered("uplink_slots", self.config.uplink_slots, covered));
        }
        Ok(alone)
    }

    /// Returns the delay by HARQ and ARQ of MPDUs that are received, ns, and the loss probability
    /// after HARQ and ARQ. `side` is 0 for the downlink and 1 for the uplink.
    fn repetitions(&self, side: usize) -> (Steps, f64) {
        let air = self.corrupted[side];
        let rescue = self.config.arq.map(|arq| arq.delay_ns as f64);
        match &self.config.harq {
            None => Steps::until_received(|_| air, 1, 0.0, rescue),
            Some(harq) => {
                let of = |made: u32| self.attempts[(made as usize).min(self.attempts.len()) - 1];
                let fails = |made: u32| 1.0 - (1.0 - of(made)) * (1.0 - air);
                Steps::until_received(fails, harq.attempts, harq.round_trip_ns as f64, rescue)
            }
        }
    }

    /// Computes the terms. `wires_s` is the part of the round trip outside the link, and `egress_s`
    /// the part of `wires_s` between the link and the receiver.
    pub(super) fn terms(
        &self,
        flow: &Download<'_>,
        alone: &SingleStation,
        (wires_s, egress_s): (f64, f64),
    ) -> Result<Terms, Reason> {
        let ns = |time: Time| time.as_nanos() as f64;
        let clock = &alone.clock;
        let frame = clock.frame().as_nanos() as f64;
        let [decoded, closed, received] =
            [clock.decoded_at(0), clock.closed_at(0), clock.received_at(0)].map(ns);
        let (down, lost) = self.repetitions(0);
        let (up, acks_lost) = self.repetitions(1);
        if acks_lost > ACK_LOSSES {
            let covered = format!("ACKs of which at most {:.0} % are lost", 100.0 * ACK_LOSSES);
            let field =
                if self.config.harq.is_some() { "harq.attempts" } else { "reverse_errors.loss" };
            let value = self
                .config
                .harq
                .as_ref()
                .map_or(self.corrupted[1], |harq| f64::from(harq.attempts));
            return Err(Reason::not_covered(field, value, covered));
        }
        // The receiver creates an ACK when the data are decoded and have passed the wires between
        // link and receiver. The data that the ACK releases arrive at the base station after the
        // delay of the other wires.
        let carried = (alone.frames[0] - 1) as f64 * frame + decoded;
        let at = Instants {
            frame,
            closed,
            received,
            relevance: alone.map_relevance as f64 * frame,
            made: carried + 1e9 * egress_s,
            back: received + 1e9 * (wires_s - egress_s),
        };
        let downlink = up.mean_of(|more| wait(at.back + more, frame)) + carried;
        let (contention, waits_for_map) = self.request.contention(&at, &down, &up);
        let uplink = waits_for_map + at.relevance + received;
        let by_piggyback = if self.request.is_per_packet() {
            contention
        } else {
            // The base station receives the request with its burst. The next map grants the next
            // burst of the sequence.
            let least = (closed / frame).floor() + 1.0;
            let more = alone.map_relevance as f64;
            let row = Frames::until(received, self.request.piggyback(), frame, least, more);
            let [data, acks_per_frame] = alone.packets_per_frame;
            let acks = data / f64::from(flow.options.delayed_ack_segments);
            let bursts = (row.mean * acks / acks_per_frame).ceil();
            let closes = down.mean_of(|more| wait_for(closed, at.made + more, frame));
            let whole = closes + frame * (row.left(bursts) + row.mean) + received - closed;
            (whole - uplink).max(0.0)
        };
        let loss = match alone.mpdus[0] {
            1 => lost,
            mpdus => 1.0 - (1.0 - lost).powf(mpdus as f64),
        };
        if loss > MOST_FAILING {
            let covered = format!("links that lose at most {MOST_FAILING} of the packets");
            return Err(Reason::not_covered("errors.loss", self.corrupted[0], covered));
        }
        let seconds = |ns: f64| ns * 1e-9;
        let base_rtt = BaseRtt {
            wires_s,
            downlink_s: seconds(downlink),
            uplink_s: seconds(uplink),
            repetitions_s: seconds(down.mean() + up.mean()),
        };
        let BaseRtt { downlink_s, uplink_s, repetitions_s, .. } = base_rtt;
        Ok(Terms {
            rate_bps: alone.packets_per_frame[0] * 8.0 * f64::from(flow.options.mss)
                / seconds(frame),
            base_rtt_s: wires_s + downlink_s + uplink_s + repetitions_s,
            base_rtt,
            contention_s: seconds(contention),
            piggyback_s: seconds(by_piggyback),
            loss,
        })
    }

    /// Returns warnings to check before trusting the terms.
    pub(super) fn warnings(&self, terms: &Terms) -> Vec<String> {
        let mut found = Vec::new();
        let repeats = self.repetitions(0).0.mean() > 0.0;
        if repeats && self.config.in_order.down {
            found.push(
                "in_order.down: packets wait for those before them that are repeated, which is no part \
                 of RTT_min"
                    .to_owned(),
            );
        }
        if self.config.fragmentation.down && (repeats || terms.loss > 0.0) {
            found.push(
                "fragmentation.down: a packet that is cut to fill a frame is several MPDUs, each of \
                 which may fail; the model takes packets as they are by themselves"
                    .to_owned(),
            );
        }
        found
    }
}

/// Returns the two-way delay between the link and the receiver, s, for data packets and ACKs of
/// these sizes, bytes.
pub(super) fn egress_s(scenario: &DumbbellScenario, packet: f64, ack: f64) -> f64 {
    let wire_s = |wire: WireSpec, bytes: f64| {
        wire.delay_ns as f64 * 1e-9 + wire.rate_bps.map_or(0.0, |rate| 8.0 * bytes / rate as f64)
    };
    let of_flow = |flow: &FlowSpec| {
        wire_s(flow.egress, packet) + wire_s(flow.ack_access.unwrap_or_default(), ack)
    };
    delay_s(scenario.forward_delay()) + scenario.flows.iter().next().map_or(0.0, of_flow)
}

/// Rejects a link that does not read a piggyback request as soon as its burst is received.
fn at_once(link: &Value) -> Result<(), Reason> {
    match link.get("piggyback_read").and_then(Value::as_str) {
        None | Some("at-once") => Ok(()),
        Some(other) => Err(Reason::not_covered("piggyback_read", other, "at-once")),
    }
}

/// Rejects a grant policy with proactive grants.
fn uni(grant: &Value) -> Result<(), Reason> {
    let kind = registry::kind_of(grant).map_err(|error| error.under("grant"))?;
    if kind == "uni" { Ok(()) } else { Err(Reason::not_covered("grant.kind", kind, "uni")) }
}

/// Returns the probability with which each MPDU is corrupted independently.
fn independent(field: &str, errors: &Option<Value>) -> Result<f64, Reason> {
    let Some(errors) = errors else { return Ok(0.0) };
    let kind = registry::kind_of(errors).map_err(|error| error.under(field))?;
    if kind != "independent" {
        return Err(Reason::not_covered(format!("{field}.kind"), kind, "independent"));
    }
    let config: IndependentConfig =
        registry::read_description(errors).map_err(|error| error.under(field))?;
    if !(0.0..=MOST_FAILING).contains(&config.loss) {
        let covered = format!("at most {MOST_FAILING}");
        return Err(Reason::not_covered(format!("{field}.loss"), config.loss, covered));
    }
    Ok(config.loss)
}

/// Returns the failure probability of each HARQ attempt; empty without HARQ.
fn attempts(config: &TddConfig, files: &Files) -> Result<Vec<f64>, Reason> {
    let Some(harq) = &config.harq else { return Ok(Vec::new()) };
    let found = harq.attempt_errors(files).map_err(|error| error.under("harq"))?;
    let most = found.iter().copied().fold(0.0, f64::max);
    if most > MOST_FAILING {
        let covered = format!("attempts of which at most {MOST_FAILING} fail");
        return Err(Reason::not_covered("harq.error", most, covered));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn piggyback_read_with_mpdu_is_not_covered() {
        assert_eq!(at_once(&json!({})), Ok(()));
        assert_eq!(at_once(&json!({"piggyback_read": "at-once"})), Ok(()));
        let refused = at_once(&json!({"piggyback_read": "with-mpdu"})).expect_err("not covered");
        let line = "piggyback_read = with-mpdu: no analytic model covers it. Covered: at-once";
        assert_eq!(refused.line(None), line);
    }
}
