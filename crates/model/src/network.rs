//! Fixed point of TCP flows and datagrams over a network of queues: the throughput formula of each
//! flow, a loss-queue relation of each hop, and one balance per hop.
//!
//! ```text
//!   network            the problem, its solution, validation
//!   network/state      rates, losses and round-trip times for given queues of all hops
//!   network/drop_tail  mean queue and utilisation of a drop-tail hop with losses
//!   network/early_drop mean queue, drops and utilisation of a hop with early drops
//!   network/solver     the balances, hop by hop
//! ```
//!
//! # Equations
//! Hop h has n_h waiting packets, drops the share q_h of its arrivals, and is busy for the share
//! u_h of the time while it has a queue. t_ch is the transmission time of a packet of class c at
//! hop h (mean over the arrivals: t̄_h), e_h the share of packets that the link corrupts, N_c the
//! number of flows of the class. f_ch is the number of loss events per packet that the queue drops, 1
//! with early drops. For a TCP class with route R_c:
//!
//! ```text
//! RTT_c = RTT0_c + Σ_{h ∈ R_c} (n_h t̄_h + t_ch)                                       (N1)
//! p_c   = 1 − Π_{h ∈ R_c} (1 − f_ch q_h)(1 − e_h)                                     (N2)
//! λ_c   = PFTK(p_c, RTT_c)                                                            (N3)
//! A_h   = Σ_{c ∋ h} N_c λ_c t_ch Π_{g before h} (1 − q_g)(1 − e_g)                    (N4)
//! (1 − q_h) A_h ≤ u_h, with equality if n_h > 0                                        (N5)
//! ```
//!
//! A datagram class has a given λ_c. (n_h, q_h) is a point of the hop's curve, including its
//! vertical segments:
//!
//! * early drops (RED): n_h, q_h and u_h are averages of the curve over the oscillation of the
//!   windows (module `early_drop`)
//! * drop-tail: q_h = 0 while n_h is below the mean queue of a hop that overflows; at this mean, q_h
//!   is the multiplier of the constraint (N5). The mean and u_h are those of the sawtooth of the
//!   flows that cross the hop (module `drop_tail`). Without TCP flows the mean is the limit, and
//!   u_h = 1
//!
//! Sources: Firoiu & Borden 2000 (the queue of RED is where its curve meets the TCP formula);
//! Misra, Gong & Towsley 2000 and Bu & Towsley 2001 (networks of such queues); Low 2003 (losses of
//! drop-tail as multipliers of the capacity constraints); Lakshman & Madhow 1997 (the sawtooth at a
//! drop-tail queue); Padhye et al. 2000 (N3, in [`crate::pftk`]).
//!
//! # Left out
//! * bursts
//! * the queue of a hop that is not a bottleneck
//! * losses and queueing of ACKs
//! * timeouts that depend on the RTT
//!
//! # Uniqueness
//! For one hop the balance is monotone. For several hops with constant RTTs, (N1) to (N5) are the
//! optimum of a concave problem (Low 2003), so that rates are unique. Queueing delays and thinned
//! flows are perturbations of this problem: the solver starts from empty queues and returns the
//! solution that it reaches. Losses of hops in series that carry the same flows at the same rate
//! are not unique; the first hop then has the queue, as in a real path.

mod drop_tail;
mod early_drop;
mod solver;
mod state;

use crate::error::{ModelError, require};
use crate::pftk::Tcp;

pub use crate::oscillation::WINDOW_SPREAD;

/// Hops, and flows that cross them.
pub struct Network<'a> {
    /// The hops, upstream hops first: the order in which routes cross them.
    pub hops: Vec<NetworkHop<'a>>,
    /// The classes of flows.
    pub classes: Vec<FlowClass>,
    /// Coefficient of variation of one window at hops with early drops, 0 or more, finite. 0: the
    /// windows are constant, and a hop is at a point of its drop curve. [`WINDOW_SPREAD`] is the
    /// value of the model.
    pub spread: f64,
}

/// A link and its queue.
#[derive(Clone, Copy)]
pub struct NetworkHop<'a> {
    /// Largest number of waiting packets.
    pub limit: QueueLimit,
    /// Drop probability as a function of the mean number of waiting packets; `None` for drop-tail.
    /// It must not decrease.
    pub early: Option<&'a dyn Fn(f64) -> f64>,
    /// e_h: share of packets that the link corrupts, in [0, 1].
    pub per: f64,
}

/// Capacity of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueLimit {
    /// Packets, above 0, finite.
    Packets(f64),
    /// Bits, above 0, finite. The limit in packets follows from the mean size of the arrivals.
    Bits(f64),
}

/// N_c equal flows.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowClass {
    /// N_c: number of flows, at least 1.
    pub count: u32,
    /// IP packet size, bits. Above 0, finite.
    pub packet_bits: f64,
    /// Hops of the route with the transmission time of a packet of this class, in the order of
    /// [`Network::hops`]. At least one.
    pub route: Vec<Crossing>,
    /// Source of each flow.
    pub source: ClassSource,
}

/// A hop of a route.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Index of the hop.
    pub hop: usize,
    /// t_ch: transmission time of one packet, s. Above 0, finite.
    pub service_s: f64,
}

/// Source of the packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClassSource {
    /// Unlimited data under Reno.
    Tcp {
        /// Parameters of the formula.
        tcp: Tcp,
        /// RTT0_c: round-trip time without queueing and transmission at the hops, s. 0 or more.
        base_rtt_s: f64,
    },
    /// Datagrams at a given mean rate.
    Datagrams {
        /// λ_c of one flow, packets/s. Above 0, finite.
        packets_per_s: f64,
    },
}

/// The fixed point of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSolution {
    /// Results by hop, in the order of [`Network::hops`].
    pub hops: Vec<HopPoint>,
    /// Results of one flow of each class, in the order of [`Network::classes`].
    pub classes: Vec<ClassPoint>,
    /// Number of sweeps over all hops.
    pub sweeps: u32,
}

/// State of a hop at the fixed point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HopPoint {
    /// n_h: mean number of waiting packets.
    pub queue_packets: f64,
    /// n_h t̄_h: mean queueing delay, s.
    pub queueing_delay_s: f64,
    /// q_h: share of arrivals that the queue drops, in [0, 1].
    pub drop_probability: f64,
    /// (1 − q_h) A_h: share of time in which the link transmits, in [0, 1].
    pub utilisation: f64,
}

/// State of one flow at the fixed point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassPoint {
    /// λ_c: sending rate, packets/s.
    pub sending_rate: f64,
    /// Rate of the IP packets that reach the receiver, bit/s.
    pub throughput_bps: f64,
    /// RTT_c, s; for datagrams the sum of queueing and transmission at the hops.
    pub rtt_s: f64,
    /// Share of packets that are dropped or corrupted, in [0, 1].
    pub loss: f64,
    /// Share of time in timeouts by the formula, in [0, 1); 0 for datagrams.
    pub timeout_share: f64,
}

impl Network<'_> {
    /// Computes the fixed point.
    ///
    /// One sweep solves the balance (N5) of each hop in turn, with the other hops as they are; this
    /// is coordinate ascent on the dual of Low's problem. If changes do not vanish, later sweeps
    /// move by a part of the distance only.
    ///
    /// # Errors
    /// [`ModelError::NoConvergence`] if queues or losses still change after the last sweep; other
    /// errors for values out of range.
    pub fn solve(&self) -> Result<NetworkSolution, ModelError> {
        self.validate()?;
        solver::solve(self)
    }

    fn validate(&self) -> Result<(), ModelError> {
        let positive = |name, value: f64| {
            require(value > 0.0 && value.is_finite(), name, value, "above 0 and finite")
        };
        for hop in &self.hops {
            match hop.limit {
                QueueLimit::Packets(packets) => positive("limit (packets)", packets)?,
                QueueLimit::Bits(bits) => positive("limit (bits)", bits)?,
            }
            require((0.0..=1.0).contains(&hop.per), "per", hop.per, "between 0 and 1")?;
        }
        let spread = self.spread;
        let ok = spread >= 0.0 && spread.is_finite();
        require(ok, "spread", spread, "0 or more and finite")?;
        if self.classes.is_empty() {
            return Err(ModelError::NoFlows);
        }
        for (index, class) in self.classes.iter().enumerate() {
            require(class.count > 0, "count", 0.0, "at least 1")?;
            positive("packet_bits", class.packet_bits)?;
            self.validate_route(index, &class.route)?;
            match class.source {
                ClassSource::Datagrams { packets_per_s } => {
                    positive("packets_per_s", packets_per_s)?;
                }
                ClassSource::Tcp { tcp, base_rtt_s } => {
                    tcp.validate()?;
                    if !(base_rtt_s >= 0.0 && base_rtt_s.is_finite()) {
                        return Err(ModelError::BaseRtt { index, base_rtt_s });
                    }
                }
            }
        }
        Ok(())
    }

    fn validate_route(&self, class: usize, route: &[Crossing]) -> Result<(), ModelError> {
        let ascends = route.windows(2).all(|pair| pair[0].hop < pair[1].hop);
        let exists = route.last().is_some_and(|last| last.hop < self.hops.len());
        if !ascends || !exists {
            return Err(ModelError::Route { class });
        }
        route.iter().try_for_each(|crossing| {
            let service = crossing.service_s;
            let ok = service > 0.0 && service.is_finite();
            require(ok, "service_s", service, "above 0 and finite")
        })
    }
}
