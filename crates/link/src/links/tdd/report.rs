//! Measurements of a TDD link.

use super::Tdd;
use super::station::Station;
use crate::link::{LinkReport, SideReport, StationReport};
use crate::mac::request::{Request, RequestCounts};
use airpath_core::{Delays, Histogram, Time, UserId};
use std::borrow::Cow;

/// Sums over all stations.
#[derive(Default)]
struct Sums {
    granted_bytes: u64,
    used_bytes: u64,
    contention: u64,
    piggyback: u64,
    proactive: u64,
    attempts: u64,
    collisions: u64,
}

impl Sums {
    fn add(&mut self, station: &Station, request: RequestCounts) {
        let counts = &station.counts;
        self.granted_bytes += counts.granted_bytes;
        self.used_bytes += counts.used_bytes;
        self.contention += counts.contention;
        self.piggyback += counts.piggyback;
        self.proactive += counts.proactive;
        self.attempts += request.attempts;
        self.collisions += request.collisions;
    }
}

/// Ratio of used to granted bytes; `None` without granted bytes.
fn efficiency(used: u64, granted: u64) -> Option<f64> {
    (granted > 0).then(|| used as f64 / granted as f64)
}

impl Tdd {
    pub(super) fn report(&self, side: usize, now: Time) -> SideReport {
        let meter = &self.meters[side];
        let span = now.saturating_since(meter.since());
        let frames = span.as_nanos() as f64 / self.clock.frame().as_nanos() as f64;
        // All slots of a frame are counted at the start of the frame.
        let offered = (frames * self.slots[side] as f64).max(meter.used() as f64);
        let link = meter.report(meter.used() as f64 / offered.max(1.0), offered);
        let link = LinkReport { regime_packets: vec![meter.delivered_packets()], ..link };
        let queues = self.stations.iter().map(|station| station.sides[side].queue.report(now));
        let queues = queues.collect();
        if side == 0 {
            let mut counters = vec![("frames".into(), self.frames as f64)];
            counters.extend(self.scheme_counters(side));
            let link = link.with_counters(counters);
            return SideReport::of(queues, link);
        }
        let (mut sums, mut delays, mut sum_nanos) = (Sums::default(), Histogram::default(), 0.0);
        let mut stations = Vec::with_capacity(self.stations.len());
        for (number, station) in (0..).zip(&self.stations) {
            let request = self.request.counts(number);
            sums.add(station, request);
            let count = station.delays.count();
            sum_nanos += station.delays.mean().secs().unwrap_or(0.0) * count as f64;
            if count > 0 {
                delays.merge(station.delays.histogram());
            }
            stations.push(report_of(UserId(number), station, request));
        }
        let mut counters = vec![
            ("granted_bytes", sums.granted_bytes as f64),
            ("used_bytes", sums.used_bytes as f64),
            ("requests_contention", sums.contention as f64),
            ("requests_piggyback", sums.piggyback as f64),
            ("grants_proactive", sums.proactive as f64),
            ("request_attempts", sums.attempts as f64),
            ("request_collisions", sums.collisions as f64),
            ("granted_slots", meter.used() as f64),
            ("frames", self.frames as f64),
        ];
        let count = delays.count();
        let measured = [
            ("efficiency", efficiency(sums.used_bytes, sums.granted_bytes)),
            ("mac_delay_mean_s", (count > 0).then(|| sum_nanos / count as f64)),
            ("mac_delay_p50_s", delays.quantile_s(0.5)),
            ("mac_delay_p90_s", delays.quantile_s(0.9)),
        ];
        counters.extend(measured.into_iter().filter_map(|(name, value)| Some((name, value?))));
        let counters = counters.into_iter().map(|(name, value)| (name.into(), value));
        let counters = counters.chain(self.scheme_counters(side)).collect();
        let link = link.with_counters(counters);
        let delays = (count > 0).then_some(delays);
        SideReport { stations, delays, ..SideReport::of(queues, link) }
    }
}

impl Tdd {
    /// Counters of the MPDUs sent with each MCS, for example `mpdus_qpsk_3_4`. Empty if the MCS is
    /// not adaptive.
    fn scheme_counters(&self, side: usize) -> impl Iterator<Item = (Cow<'static, str>, f64)> {
        let counts = self.radio.iter().flat_map(move |radio| radio.counts(side));
        counts.map(|(name, count)| {
            let name = name.replace(['-', '/'], "_");
            (Cow::Owned(format!("mpdus_{name}")), count as f64)
        })
    }
}

fn report_of(number: UserId, station: &Station, request: RequestCounts) -> StationReport {
    let [down, up] = station.traffic;
    let (counts, delays): (_, &Delays) = (&station.counts, &station.delays);
    let quantile = |q| if delays.count() > 0 { delays.histogram().quantile_s(q) } else { None };
    StationReport {
        station: number,
        down_bytes: down.bytes,
        down_packets: down.packets,
        down_lost: down.lost,
        up_bytes: up.bytes,
        up_packets: up.packets,
        up_lost: up.lost,
        granted_bytes: counts.granted_bytes,
        used_bytes: counts.used_bytes,
        efficiency: efficiency(counts.used_bytes, counts.granted_bytes),
        mac_delay_mean_s: delays.mean().secs(),
        mac_delay_p50_s: quantile(0.5),
        mac_delay_p90_s: quantile(0.9),
        requests_contention: counts.contention,
        requests_piggyback: counts.piggyback,
        grants_proactive: counts.proactive,
        request_attempts: request.attempts,
        request_collisions: request.collisions,
    }
}
