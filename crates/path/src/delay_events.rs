//! Events that change the propagation delay of a hop.

use crate::build::Builder;
use crate::network::{Change, Event};
use crate::passages::Passages;
use crate::scenario::{Action, Direction, Scenario};
use crate::wire::DelayChange;
use airpath_core::{ConfigError, Duration, StageId, Time};
use std::collections::{BTreeMap, BTreeSet};

/// A hop, by position, and a direction.
type Place = (usize, bool);

fn place(position: usize, direction: Direction) -> Place {
    (position, direction == Direction::Reverse)
}

/// Delays that change during the run, and the wires that contain them.
#[derive(Debug, Default)]
pub(crate) struct VariableDelays {
    variable: BTreeSet<Place>,
    /// Stages behind wires that contain the delay of a hop, and whether the delay is before the
    /// serializer of the wire.
    wires: BTreeMap<Place, Vec<(StageId, bool)>>,
}

impl VariableDelays {
    /// Returns true if the delay of a hop changes in this direction.
    pub(crate) fn contains(&self, position: usize, direction: Direction) -> bool {
        self.variable.contains(&place(position, direction))
    }

    /// Records that the wire in front of `stage` contains the delay of a hop. Ignores delays that
    /// do not change.
    pub(crate) fn add_wire(
        &mut self,
        (position, direction): (usize, Direction),
        stage: StageId,
        is_before_serializer: bool,
    ) {
        let place = place(position, direction);
        if self.variable.contains(&place) {
            self.wires.entry(place).or_default().push((stage, is_before_serializer));
        }
    }
}

impl Scenario {
    /// Returns the position of the hop of a control, by default that of the bottleneck; `None` if
    /// there is no such hop.
    fn position_of(&self, hop: Option<&str>) -> Option<usize> {
        let name = hop.unwrap_or("bottleneck");
        let found = self.hops.iter().position(|hop| hop.name == name);
        found.or((hop.is_none() && self.hops.len() == 1).then_some(0))
    }

    /// Returns the least propagation delay of a hop over the run.
    pub(crate) fn least_delay(&self, position: usize, direction: Direction) -> Duration {
        let changes = self.controls.iter().filter_map(|control| match control.action {
            Action::Delay { delay_ns, direction: of }
                if of.is_none_or(|of| of == direction)
                    && self.position_of(control.hop.as_deref()) == Some(position) =>
            {
                Some(Duration::from_nanos(delay_ns))
            }
            _ => None,
        });
        changes.fold(self.hops[position].delay(direction), Duration::min)
    }
}

impl Builder<'_> {
    /// Finds the delays that change.
    pub(crate) fn find_variable_delays(&mut self) -> Result<(), ConfigError> {
        for (number, control) in self.scenario.controls.iter().enumerate() {
            let Action::Delay { direction, .. } = &control.action else { continue };
            let position = self.changed_hop(number, control.hop.as_deref())?;
            let directions = direction.map_or(Direction::BOTH.to_vec(), |one| vec![one]);
            let places = directions.into_iter().map(|direction| place(position, direction));
            self.variable_delays.variable.extend(places);
        }
        Ok(())
    }

    /// Returns the position of the hop of a control; by default that of the bottleneck.
    fn changed_hop(&self, number: usize, hop: Option<&str>) -> Result<usize, ConfigError> {
        self.scenario.position_of(hop).ok_or_else(|| {
            let field = format!("controls.{number}.hop");
            let name = hop.unwrap_or("bottleneck");
            ConfigError::new(&field, name, "unknown. Use the name of a hop")
        })
    }

    /// Prepares the wires whose delays change, and returns the events that change them.
    pub(crate) fn delay_events(&mut self) -> Result<Vec<Event>, ConfigError> {
        let mut changes = Vec::new();
        for (number, control) in self.scenario.controls.iter().enumerate() {
            let Action::Delay { delay_ns, direction } = &control.action else { continue };
            let position = self.changed_hop(number, control.hop.as_deref())?;
            for one in Direction::BOTH {
                if direction.is_none_or(|wanted| wanted == one) {
                    let at = Time::from_nanos(control.at_ns);
                    changes.push((at, place(position, one), one, *delay_ns));
                }
            }
        }
        changes.sort_by_key(|(at, ..)| *at);
        let mut events = Vec::new();
        let (mut now_ns, mut least_ns) = (BTreeMap::new(), BTreeMap::new());
        for (at, place, direction, delay_ns) in changes {
            let initial_ns = self.scenario.hops[place.0].delay(direction).as_nanos();
            let before_ns = now_ns.insert(place, delay_ns).unwrap_or(initial_ns);
            let least = least_ns.entry(place).or_insert((initial_ns, initial_ns));
            least.1 = delay_ns.min(least.1);
            let nanos = delay_ns.cast_signed() - before_ns.cast_signed();
            let wires = self.variable_delays.wires.get(&place).into_iter().flatten();
            let change = |(stage, is_before_serializer): &(StageId, bool)| {
                (*stage, DelayChange { nanos, is_before_serializer: *is_before_serializer })
            };
            events.push(Event { at, change: Change::Wires(wires.map(change).collect()) });
        }
        for (place, wires) in &self.variable_delays.wires {
            let (initial_ns, least_ns) = least_ns.get(place).copied().unwrap_or_default();
            for (stage, _) in wires {
                let most = Duration::from_nanos(initial_ns - least_ns);
                self.wires[stage.0 as usize].make_variable(most);
            }
        }
        Ok(events)
    }

    /// Records the wires that contain the delay of the last hops of a flow.
    pub(crate) fn add_last_delay(
        &mut self,
        direction: Direction,
        position: usize,
        passages: &Passages,
        stage: StageId,
    ) {
        if !passages.at(direction, position).contains_its_delay() {
            self.variable_delays.add_wire((position, direction), stage, true);
        }
    }
}
