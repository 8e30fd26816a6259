//! Events that change the propagation delay of a hop.

use crate::build::Builder;
use crate::controls::{Action, ControlSpec};
use crate::network::{Change, Event};
use crate::passages::Passages;
use crate::scenario::{Direction, Scenario};
use crate::wire::DelayChange;
use airpath_core::{Duration, StageId, Time};
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
    /// Returns the least propagation delay of a hop over the run.
    pub(crate) fn least_delay(&self, position: usize, direction: Direction) -> Duration {
        let controls = self.controls.iter().filter(|control| {
            let is_of_direction = control.action.direction().is_none_or(|of| of == direction);
            is_of_direction && self.controlled_hop(control) == Some(position)
        });
        let delays = controls.flat_map(|control| control.action.delays(control.at_ns));
        let delays = delays.map(|(_, delay_ns)| Duration::from_nanos(delay_ns));
        delays.fold(self.hops[position].delay(direction), Duration::min)
    }
}

impl Builder<'_> {
    /// Finds the delays that change.
    pub(crate) fn find_variable_delays(&mut self) {
        let places = self.delay_controls().map(|(place, ..)| place);
        self.variable_delays.variable = places.collect();
    }

    /// Returns the hops and directions whose delays change, and the controls.
    fn delay_controls(&self) -> impl Iterator<Item = (Place, Direction, &ControlSpec)> {
        let controls = self.scenario.controls.iter();
        let controls = controls.filter(|control| control.action.changes_a_delay());
        controls.flat_map(|control| {
            let position = self.scenario.controlled_hop(control);
            let wanted = control.action.direction();
            let directions = Direction::BOTH.into_iter();
            let directions = directions.filter(move |one| wanted.is_none_or(|two| two == *one));
            directions.filter_map(move |one| Some((place(position?, one), one, control)))
        })
    }

    /// Prepares the wires whose delays change, and returns the events that change them.
    pub(crate) fn delay_events(&mut self) -> Vec<Event> {
        let mut changes = Vec::new();
        for (place, direction, control) in self.delay_controls() {
            let starts_phase = matches!(control.action, Action::Delay { .. });
            for (at_ns, delay_ns) in control.action.delays(control.at_ns) {
                changes.push((Time::from_nanos(at_ns), place, direction, delay_ns, starts_phase));
            }
        }
        changes.sort_by_key(|(at, ..)| *at);
        let mut events = Vec::new();
        let (mut now_ns, mut least_ns) = (BTreeMap::new(), BTreeMap::new());
        for (at, place, direction, delay_ns, starts_phase) in changes {
            let initial_ns = self.scenario.hops[place.0].delay(direction).as_nanos();
            let before_ns = now_ns.insert(place, delay_ns).unwrap_or(initial_ns);
            let least = least_ns.entry(place).or_insert((initial_ns, initial_ns));
            least.1 = delay_ns.min(least.1);
            let nanos = delay_ns.cast_signed() - before_ns.cast_signed();
            let wires = self.variable_delays.wires.get(&place).into_iter().flatten();
            let change = |(stage, is_before_serializer): &(StageId, bool)| {
                (*stage, DelayChange { nanos, is_before_serializer: *is_before_serializer })
            };
            let change = Change::Wires(wires.map(change).collect());
            events.push(Event { at, change, starts_phase });
        }
        for (place, wires) in &self.variable_delays.wires {
            let (initial_ns, least_ns) = least_ns.get(place).copied().unwrap_or_default();
            for (stage, _) in wires {
                let most = Duration::from_nanos(initial_ns - least_ns);
                self.wires[stage.0 as usize].make_variable(most);
            }
        }
        events
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
