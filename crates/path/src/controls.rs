//! Changes at given times: their description and their checks.

use crate::scenario::{Direction, Scenario};
use airpath_core::{
    Checks, ConfigError, Control, Duration, Interruption, Rate, UserChange, UserId, above, at_least,
};
use airpath_link::AnyLink;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// A change at a given time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlSpec {
    /// Event time, ns since the start of the run.
    pub at_ns: u64,
    /// Name of the hop that changes. Default: the bottleneck.
    #[serde(default)]
    pub hop: Option<String>,
    /// Change that the event makes.
    pub action: Action,
}

/// Change that an event makes.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Action {
    /// Sets the rate of the hop's link.
    Rate {
        /// New rate, bit/s; 0 stops it.
        rate_bps: u64,
        /// Direction whose link changes; default: the link of the direction from the servers to the
        /// users, and its copy in the opposite direction.
        #[serde(default)]
        direction: Option<Direction>,
    },
    /// Sets the loss probability of the hop's link.
    Loss {
        /// New probability that a packet is lost, in [0, 1].
        loss: f64,
        /// Direction whose link changes; default as for a rate.
        #[serde(default)]
        direction: Option<Direction>,
    },
    /// Sets the MCS of one user of the hop's link.
    Mcs {
        /// User number.
        user: u32,
        /// New MCS of the user's downlink; default: unchanged.
        #[serde(default)]
        downlink: Option<String>,
        /// New MCS of the user's uplink; default: unchanged.
        #[serde(default)]
        uplink: Option<String>,
    },
    /// Sets the propagation delay of a hop.
    Delay {
        /// New one-way propagation delay, ns.
        delay_ns: u64,
        /// Direction whose delay changes; default: both.
        #[serde(default)]
        direction: Option<Direction>,
    },
    /// Sets the propagation delay of a hop many times. The changes do not start phases of the
    /// statistics.
    Schedule {
        /// Times of the changes, ns since the event time, in ascending order, and the one-way
        /// propagation delay from each time on, ns.
        points: Vec<(u64, u64)>,
        /// Name of the file with the points, for results.
        #[serde(default)]
        trace: IgnoredAny,
        /// Direction whose delay changes; default: both.
        #[serde(default)]
        direction: Option<Direction>,
    },
    /// Sets the mean SNR of one user of the hop's link.
    Snr {
        /// User number.
        user: u32,
        /// Offset from the mean SNR in the user's description, dB.
        moved_db: f64,
    },
    /// Interrupts the hop: it transmits nothing for a time.
    Interruption {
        /// Length of the interruption, ns.
        duration_ns: u64,
        /// Treatment of the packets that wait at the start or arrive before the end.
        packets: InterruptedPackets,
        /// Time between the departure of a packet from the source cell and its arrival at the
        /// target cell, ns. Only for forwarded packets.
        #[serde(default)]
        forward_delay_ns: u64,
        /// Direction that is interrupted; default: all directions that the hop serves.
        #[serde(default)]
        direction: Option<Direction>,
    },
}

/// Treatment of packets during an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InterruptedPackets {
    /// Packets wait until the end.
    Keep,
    /// Packets enter the queue after the forwarding delay.
    Forward,
    /// Packets are lost.
    Lose,
}

impl InterruptedPackets {
    /// Returns the interruption with a forwarding delay, ns.
    pub(crate) fn interruption(self, forward_delay_ns: u64) -> Interruption {
        match self {
            InterruptedPackets::Keep => Interruption::Keep,
            InterruptedPackets::Forward => {
                Interruption::Forward(Duration::from_nanos(forward_delay_ns))
            }
            InterruptedPackets::Lose => Interruption::Lose,
        }
    }
}

impl Action {
    /// Returns the control events for a link. A change of a delay and an interruption have none.
    pub fn controls(&self) -> Vec<Control> {
        match self {
            Action::Rate { rate_bps, .. } => vec![Control::Rate(Rate(*rate_bps))],
            Action::Loss { loss, .. } => vec![Control::Loss(*loss)],
            Action::Delay { .. } | Action::Schedule { .. } | Action::Interruption { .. } => {
                Vec::new()
            }
            Action::Mcs { user, downlink, uplink } => {
                let scheme = |(is_reverse, name): (bool, &Option<String>)| {
                    let name = name.clone()?;
                    Some(Control::User(UserId(*user), UserChange::Scheme { is_reverse, name }))
                };
                [(false, downlink), (true, uplink)].into_iter().filter_map(scheme).collect()
            }
            Action::Snr { user, moved_db } => {
                vec![Control::User(UserId(*user), UserChange::SnrMoved(*moved_db))]
            }
        }
    }

    /// Returns the direction that changes; `None` for the default of the action.
    pub(crate) fn direction(&self) -> Option<Direction> {
        match self {
            Action::Rate { direction, .. }
            | Action::Loss { direction, .. }
            | Action::Delay { direction, .. }
            | Action::Schedule { direction, .. }
            | Action::Interruption { direction, .. } => *direction,
            Action::Mcs { .. } | Action::Snr { .. } => None,
        }
    }

    /// Returns the times of the changes of a delay, ns, and the delays, ns. Empty for other
    /// actions.
    pub(crate) fn delays(&self, at_ns: u64) -> Vec<(u64, u64)> {
        match self {
            Action::Delay { delay_ns, .. } => vec![(at_ns, *delay_ns)],
            Action::Schedule { points, .. } => {
                points.iter().map(|(after, delay)| (at_ns.saturating_add(*after), *delay)).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(crate) fn changes_a_delay(&self) -> bool {
        matches!(self, Action::Delay { .. } | Action::Schedule { .. })
    }
}

impl Scenario {
    /// Returns the position of the hop of a control. Default: the hop called `bottleneck`, or else
    /// the hop with a link that is nearest to the users.
    pub(crate) fn controlled_hop(&self, control: &ControlSpec) -> Option<usize> {
        let named = |name: &str| self.hops.iter().position(|hop| hop.name == name);
        match control.hop.as_deref() {
            Some(name) => named(name),
            None => named("bottleneck")
                .or_else(|| self.hops.iter().rposition(|hop| hop.wire.is_none()))
                .or((self.hops.len() == 1).then_some(0)),
        }
    }

    /// Rejects controls of hops and directions that do not exist, values outside their ranges, and
    /// interruptions of one direction that overlap.
    pub(crate) fn check_controls(&self, checks: &mut Checks) {
        for (number, control) in self.controls.iter().enumerate() {
            checks.nested(&format!("controls.{number}"), self.check_control(control));
        }
        let overlaps: BTreeMap<usize, _> =
            Direction::BOTH.into_iter().flat_map(|direction| self.overlaps(direction)).collect();
        for (number, (began, ended)) in overlaps {
            let problem = "before the end of the interruption before it";
            checks.related(&format!("controls.{number}.at"), began, at_least(ended), problem);
        }
    }

    /// Returns the interruptions of a direction that start before an earlier one ends: the number of
    /// the control, its start and the end of the earlier one, ns.
    fn overlaps(&self, direction: Direction) -> Vec<(usize, (u64, u64))> {
        let mut spans: Vec<_> = self
            .controls
            .iter()
            .enumerate()
            .filter_map(|(number, control)| {
                let Action::Interruption { duration_ns, direction: wanted, .. } = control.action
                else {
                    return None;
                };
                let ends = control.at_ns.saturating_add(duration_ns);
                let position = self.controlled_hop(control)?;
                wanted.is_none_or(|wanted| wanted == direction).then_some((
                    position,
                    control.at_ns,
                    ends,
                    number,
                ))
            })
            .collect();
        spans.sort_unstable();
        let pairs = spans.windows(2).map(|pair| (pair[0], pair[1]));
        let overlapping = pairs.filter(|(before, after)| before.0 == after.0 && after.1 < before.2);
        overlapping.map(|(before, after)| (after.3, (after.1, before.2))).collect()
    }

    fn check_control(&self, control: &ControlSpec) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        let Some(position) = self.controlled_hop(control) else {
            let known: Vec<&str> = self.hops.iter().map(|hop| hop.name.as_str()).collect();
            let advice = format!("Expected one of: {}", known.join(", "));
            let name = control.hop.as_deref().unwrap_or("bottleneck");
            checks.reject("hop", name, "unknown hop", &advice);
            return checks.finish();
        };
        let hop = &self.hops[position];
        if let Some(direction) = control.action.direction()
            && !hop.serves(direction)
        {
            let problem = "the hop does not serve this direction";
            checks.reject("action.direction", direction.name(), problem, "Use the other direction");
        }
        match &control.action {
            Action::Loss { loss, direction } => {
                checks.within("action.loss", *loss, 0.0..=1.0);
                let is_up = *direction == Some(Direction::Reverse) || hop.down.is_none();
                let spec = if is_up { hop.up() } else { hop.down() };
                if !spec.is_some_and(|spec| AnyLink::has_loss(spec.link)) {
                    let problem = "the link has no loss probability";
                    let advice = "Use a link of kind fixed, trace or rate-trace";
                    checks.reject("action.loss", *loss, problem, advice);
                }
            }
            Action::Schedule { points, .. } => {
                for (place, pair) in points.windows(2).enumerate() {
                    let field = format!("action.points.{}", place + 1);
                    checks.related(
                        &field,
                        pair[1].0,
                        above(pair[0].0),
                        "not after the time before",
                    );
                }
            }
            Action::Interruption { duration_ns, packets, forward_delay_ns, .. } => {
                checks.within("action.duration_ns", *duration_ns, at_least(1_u64));
                if *packets != InterruptedPackets::Forward && *forward_delay_ns > 0 {
                    let problem = "packets are not forwarded";
                    checks.reject(
                        "action.forward_delay_ns",
                        *forward_delay_ns,
                        problem,
                        "Remove it",
                    );
                }
            }
            _ => {}
        }
        if !control.action.changes_a_delay() && hop.wire.is_some_and(|wire| wire.limit.is_none()) {
            let advice = "Set a limit, or use a hop with a link";
            checks.reject("hop", &hop.name, "a wire without a limit has no queue", advice);
        }
        checks.finish()
    }
}
