//! Rates, losses and round-trip times for given queues of all hops.

use super::drop_tail::{Sawtooth, events_per_loss, hit_probability, lost_packets};
use super::early_drop::Variation;
use super::{ClassPoint, ClassSource, FlowClass, HopPoint, Network, QueueLimit};
use crate::pftk::{Tcp, unconstrained_window};

/// The sawtooth vanishes if the sum of the largest windows is below what fills path and queue. Its
/// size rises linearly until the sum exceeds this value by this share, so that it is continuous.
const WINDOW_LIMITED: f64 = 0.1;

/// State of a hop between two steps of the solver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct HopState {
    /// n_h, packets.
    pub(super) queue: f64,
    /// q_h.
    pub(super) drop: f64,
}

/// Means over the arrivals of a hop. The solver updates them after each sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mix {
    /// t̄_h: mean transmission time of a packet, s.
    pub(super) service_s: f64,
    /// Mean number of waiting packets while the queue overflows: the limit, or (D2) with drop-tail.
    pub(super) longest: f64,
    /// u_h: utilisation of a hop with a queue; 1, or (D3) with drop-tail.
    pub(super) busy: f64,
    /// Variation of the windows at a hop with early drops.
    pub(super) variation: Variation,
}

/// A TCP class at a hop.
struct Window<'a> {
    index: usize,
    class: &'a FlowClass,
    tcp: Tcp,
    /// N_c λ_c thinned by the hops before, packets/s.
    rate: f64,
    rtt_s: f64,
    service_s: f64,
    /// v: window of one flow as a share of the sum of all windows.
    share: f64,
}

impl Window<'_> {
    fn count(&self) -> f64 {
        f64::from(self.class.count)
    }
}

/// The hops and the derived rates of all classes.
pub(super) struct State<'a> {
    pub(super) network: &'a Network<'a>,
    pub(super) hops: Vec<HopState>,
    pub(super) mixes: Vec<Mix>,
    /// λ_c, packets/s.
    pub(super) rates: Vec<f64>,
    /// Indices of the classes that cross each hop.
    pub(super) classes_at: Vec<Vec<usize>>,
    /// f_ch of (D4) by class, in the order of its route: loss events per packet that the queue drops.
    pub(super) events: Vec<Vec<f64>>,
}

impl<'a> State<'a> {
    /// Creates the state with empty queues.
    pub(super) fn new(network: &'a Network<'a>) -> State<'a> {
        let hops = network.hops.len();
        let crosses = |hop| {
            let all = network.classes.iter().enumerate();
            all.filter(move |(_, class)| class.route.iter().any(|at| at.hop == hop))
        };
        let classes_at = |hop| crosses(hop).map(|(index, _)| index).collect();
        let variation = Variation::default();
        let none = Mix { service_s: 0.0, longest: 1.0, busy: 1.0, variation };
        let mut state = State {
            network,
            hops: vec![HopState::default(); hops],
            mixes: vec![none; hops],
            rates: vec![0.0; network.classes.len()],
            classes_at: (0..hops).map(classes_at).collect(),
            events: network.classes.iter().map(|class| vec![1.0; class.route.len()]).collect(),
        };
        (0..network.classes.len()).for_each(|class| state.update_rate(class));
        (0..hops).for_each(|hop| state.mixes[hop] = state.mix(hop));
        state
    }

    /// Returns the share of packets that hop `hop` passes on to the next hop.
    fn passed(&self, hop: usize) -> f64 {
        (1.0 - self.hops[hop].drop) * (1.0 - self.network.hops[hop].per)
    }

    /// Returns the share of lost packets of a class.
    fn loss(&self, class: &FlowClass) -> f64 {
        self.combined(class, std::iter::repeat(&1.0))
    }

    /// Returns p_c of (N2): the loss events of a class, per packet.
    fn loss_events(&self, index: usize) -> f64 {
        self.combined(&self.network.classes[index], self.events[index].iter())
    }

    /// Combines the losses of the hops of a route; each drop probability is multiplied by a weight.
    fn combined<'b>(&self, class: &FlowClass, weights: impl Iterator<Item = &'b f64>) -> f64 {
        // The complement is accumulated, so that small losses keep their digits.
        class.route.iter().zip(weights).fold(0.0, |loss, (at, weight)| {
            let (drop, per) = (weight * self.hops[at.hop].drop, self.network.hops[at.hop].per);
            let here = drop + per - drop * per;
            loss + here - loss * here
        })
    }

    /// Returns RTT_c of (N1); for datagrams only the delay at the hops.
    fn rtt_s(&self, class: &FlowClass) -> f64 {
        let base_s = match class.source {
            ClassSource::Tcp { base_rtt_s, .. } => base_rtt_s,
            ClassSource::Datagrams { .. } => 0.0,
        };
        let delays = class.route.iter();
        let hop_s = |hop: usize| self.hops[hop].queue * self.mixes[hop].service_s;
        base_s + delays.map(|at| hop_s(at.hop) + at.service_s).sum::<f64>()
    }

    /// Computes λ_c (N3).
    fn update_rate(&mut self, index: usize) {
        let class = &self.network.classes[index];
        self.rates[index] = match class.source {
            ClassSource::Tcp { tcp, .. } => {
                tcp.sending_rate(self.loss_events(index), self.rtt_s(class))
            }
            ClassSource::Datagrams { packets_per_s } => packets_per_s,
        };
    }

    /// Sets the state of a hop, and the rates of the classes that cross it.
    pub(super) fn set(&mut self, hop: usize, state: HopState) {
        self.hops[hop] = state;
        for at in 0..self.classes_at[hop].len() {
            self.update_rate(self.classes_at[hop][at]);
        }
    }

    /// Iterates over the classes at a hop: class, N_c λ_c thinned by the hops before (packets/s),
    /// and t_ch.
    fn arrivals(&self, hop: usize) -> impl Iterator<Item = (usize, f64, f64)> + Clone + '_ {
        self.classes_at[hop].iter().map(move |&index| {
            let class = &self.network.classes[index];
            let mut rate = f64::from(class.count) * self.rates[index];
            let mut service_s = 0.0;
            for at in &class.route {
                if at.hop == hop {
                    service_s = at.service_s;
                    break;
                }
                rate *= self.passed(at.hop);
            }
            (index, rate, service_s)
        })
    }

    /// Returns A_h of (N4).
    pub(super) fn offered(&self, hop: usize) -> f64 {
        self.arrivals(hop).map(|(_, rate, service_s)| rate * service_s).sum()
    }

    /// Returns true for a class of TCP flows.
    fn is_tcp(&self, class: usize) -> bool {
        matches!(self.network.classes[class].source, ClassSource::Tcp { .. })
    }

    /// Computes the means over the arrivals of a hop.
    pub(super) fn mix(&self, hop: usize) -> Mix {
        let packets: f64 = self.arrivals(hop).map(|(_, rate, _)| rate).sum();
        let bits: f64 = self
            .arrivals(hop)
            .map(|(class, rate, _)| rate * self.network.classes[class].packet_bits)
            .sum();
        let (service_s, limit) = match self.network.hops[hop].limit {
            _ if packets == 0.0 => (0.0, 1.0),
            QueueLimit::Packets(limit) => (self.offered(hop) / packets, limit),
            QueueLimit::Bits(limit) => (self.offered(hop) / packets, limit * packets / bits),
        };
        let (longest, busy) = self.overflowing(hop, service_s, limit);
        let variation = self.variation(hop, service_s);
        Mix { service_s, longest, busy, variation }
    }

    /// Returns the capacity that datagrams leave, as a share, and R: the mean RTT of the TCP flows
    /// without the queue of this hop, s, weighted by rate.
    fn left_and_rtt(&self, hop: usize, at: &[Window<'_>]) -> (f64, f64) {
        let datagrams = self.arrivals(hop).filter(|(class, ..)| !self.is_tcp(*class));
        let datagrams: f64 = datagrams.map(|(_, rate, service_s)| rate * service_s).sum();
        let left = 1.0 - ((1.0 - self.hops[hop].drop) * datagrams).min(1.0);
        let own_s = self.hops[hop].queue * self.mixes[hop].service_s;
        let rate: f64 = at.iter().map(|at| at.rate).sum();
        let rtts = at.iter().map(|at| at.rate * (at.rtt_s - own_s));
        (left, rtts.sum::<f64>() / rate)
    }

    /// Returns the variation (E1) of the sum of windows at a hop with early drops.
    fn variation(&self, hop: usize, service_s: f64) -> Variation {
        let at = self.windows(hop);
        let drop = self.hops[hop].drop;
        if self.network.hops[hop].early.is_none() || at.is_empty() {
            return Variation::default();
        }
        let (left, rtt_s) = self.left_and_rtt(hop, &at);
        let (mut squares, mut here) = (0.0, 0.0);
        for at in &at {
            let loss = self.loss_events(at.index).max(f64::MIN_POSITIVE);
            let growth =
                at.tcp.max_window_packets / unconstrained_window(loss, at.tcp.packets_per_ack);
            squares += at.count() * (at.share * growth.min(1.0)).powi(2);
            here += at.count() * at.share * (drop / loss).min(1.0);
        }
        let sigma = self.network.spread * (here * squares).sqrt();
        Variation { pipe: rtt_s / service_s, sigma, left }
    }

    /// Returns mean queue, packets, and utilisation of a hop while its queue overflows.
    fn overflowing(&self, hop: usize, service_s: f64, limit: f64) -> (f64, f64) {
        let at = self.windows(hop);
        if self.network.hops[hop].early.is_some() || at.is_empty() {
            return (limit, 1.0);
        }
        let (left, rtt_s) = self.left_and_rtt(hop, &at);
        let full_s = limit * service_s;
        let lost = lost_packets(at.iter().map(|at| (at.count(), at.tcp.packets_per_ack)));
        let halved = at.iter().map(|at| at.count() * at.share * hit_probability(at.share, lost));
        let halved: f64 = halved.sum();
        let largest = at.iter().map(|at| at.count() * at.tcp.max_window_packets * at.service_s);
        let excess = largest.sum::<f64>() - left * (rtt_s + full_s);
        let weight = (excess / (WINDOW_LIMITED * left * (rtt_s + full_s))).clamp(0.0, 1.0);
        let halved = weight * halved;
        let (delay_s, busy) = Sawtooth { rtt_s, full_s, halved }.means();
        (delay_s / service_s, 1.0 - left * (1.0 - busy))
    }

    /// Returns f_ch of (D4) of each TCP class at a drop-tail hop: class and value.
    pub(super) fn events_at(&self, hop: usize) -> Vec<(usize, f64)> {
        let at = self.windows(hop);
        if self.network.hops[hop].early.is_some() {
            return Vec::new();
        }
        let lost = lost_packets(at.iter().map(|at| (at.count(), at.tcp.packets_per_ack)));
        at.iter().map(|at| (at.index, events_per_loss(at.share, lost))).collect()
    }

    /// Returns the TCP classes at a hop.
    fn windows(&self, hop: usize) -> Vec<Window<'_>> {
        let windows = self.arrivals(hop).filter_map(|(index, rate, service_s)| {
            let class = &self.network.classes[index];
            let ClassSource::Tcp { tcp, .. } = class.source else { return None };
            if rate == 0.0 {
                return None;
            }
            let rtt_s = self.rtt_s(class);
            Some(Window {
                index,
                class,
                tcp,
                rate,
                rtt_s,
                service_s,
                share: self.rates[index] * rtt_s,
            })
        });
        let mut windows: Vec<Window<'_>> = windows.collect();
        let sum: f64 = windows.iter().map(|at| at.count() * at.share).sum();
        windows.iter_mut().for_each(|at| at.share /= sum);
        windows
    }

    /// Returns the results of a hop.
    pub(super) fn hop_point(&self, hop: usize) -> HopPoint {
        let HopState { queue, drop } = self.hops[hop];
        HopPoint {
            queue_packets: queue,
            queueing_delay_s: queue * self.mixes[hop].service_s,
            drop_probability: drop,
            utilisation: ((1.0 - drop) * self.offered(hop)).min(1.0),
        }
    }

    /// Returns the results of one flow of a class.
    pub(super) fn class_point(&self, index: usize) -> ClassPoint {
        let class = &self.network.classes[index];
        let (loss, rate) = (self.loss(class), self.rates[index]);
        let timeout_share = match class.source {
            ClassSource::Tcp { tcp, .. } => {
                rate * tcp.rate_terms(self.loss_events(index)).timeout_s_per_packet
            }
            ClassSource::Datagrams { .. } => 0.0,
        };
        ClassPoint {
            sending_rate: rate,
            throughput_bps: (1.0 - loss) * rate * class.packet_bits,
            rtt_s: self.rtt_s(class),
            loss,
            timeout_share,
        }
    }
}
