//! Control events for the stages of links, from the controls of the scenario.

use crate::build::Builder;
use crate::controls::{Action, ControlSpec};
use crate::network::{Change, Event, HopPlace};
use crate::scenario::Direction;
use airpath_core::{ConfigError, Control, Port, StageId, Time};

impl Event {
    /// Returns the order of events: by time; at one time interruptions end after other changes, and
    /// the next interruptions start last.
    pub(crate) fn order(&self) -> (Time, u8) {
        let rank = match &self.change {
            Change::Stage(_, Control::Resume(_)) => 1,
            Change::Stage(_, Control::Interrupt(..)) => 2,
            _ => 0,
        };
        (self.at, rank)
    }

    fn of_stage(at_ns: u64, stage: StageId, control: Control) -> Event {
        let change = Change::Stage(stage, control);
        Event { at: Time::from_nanos(at_ns), change, starts_phase: true }
    }
}

impl Builder<'_> {
    /// Returns true if the scenario interrupts the hop at `position`.
    pub(crate) fn is_interrupted(&self, position: usize) -> bool {
        self.scenario.controls.iter().any(|control| {
            matches!(control.action, Action::Interruption { .. })
                && self.scenario.controlled_hop(control) == Some(position)
        })
    }

    /// Returns the control events for the stages of links.
    pub(crate) fn control_events(&self) -> Result<Vec<Event>, ConfigError> {
        let mut events = Vec::new();
        for (number, control) in self.scenario.controls.iter().enumerate() {
            if control.action.changes_a_delay() {
                continue;
            }
            let under = |error: ConfigError| error.under(&format!("controls.{number}"));
            let place = self.controlled_place(control).map_err(under)?;
            let ControlSpec { at_ns, action, .. } = control;
            if let Action::Interruption { duration_ns, packets, forward_delay_ns, direction } =
                *action
            {
                let interruption = packets.interruption(forward_delay_ns);
                let end_ns = at_ns.saturating_add(duration_ns);
                for (stage, port) in inputs(place, direction) {
                    let start = Control::Interrupt(port, interruption);
                    events.push(Event::of_stage(*at_ns, stage, start));
                    events.push(Event::of_stage(end_ns, stage, Control::Resume(port)));
                }
                continue;
            }
            let stages = controlled_stages(place, action.direction()).map_err(under)?;
            for change in action.controls() {
                let event = |stage: &StageId| Event::of_stage(*at_ns, *stage, change.clone());
                events.extend(stages.iter().map(event));
            }
        }
        Ok(events)
    }

    /// Returns the stages of the hop of a control.
    fn controlled_place(&self, control: &ControlSpec) -> Result<&HopPlace, ConfigError> {
        let position = self.scenario.controlled_hop(control);
        let name = position.map(|position| self.scenario.hops[position].name.as_str());
        let mut places = self.hops.iter().chain(&self.queued_wires);
        places.find(|place| Some(place.name.as_str()) == name).ok_or_else(|| {
            let name = control.hop.as_deref().unwrap_or("bottleneck");
            ConfigError::new("hop", name, "unknown. Use the name of a hop with a link")
        })
    }
}

/// Returns the inputs of a hop in a direction; in all directions that it serves if `direction` is
/// `None`.
fn inputs(
    place: &HopPlace,
    direction: Option<Direction>,
) -> impl Iterator<Item = (StageId, Port)> + use<> {
    let is_wanted = move |one: Direction| direction.is_none_or(|wanted| wanted == one);
    let forward = place.forward.filter(|_| is_wanted(Direction::Forward));
    let reverse = place.reverse.filter(|_| is_wanted(Direction::Reverse));
    forward.into_iter().chain(reverse)
}

/// Returns the stages of the link of a hop in a direction. By default they are the stage of the
/// forward direction, and that of the reverse direction if it is a copy. Fails if one link serves
/// both directions and one is given.
fn controlled_stages(
    place: &HopPlace,
    direction: Option<Direction>,
) -> Result<Vec<StageId>, ConfigError> {
    let stage = |input: Option<(StageId, Port)>| input.map(|(stage, _)| stage);
    let (forward, reverse) = (stage(place.forward), stage(place.reverse));
    if let Some(direction) = direction {
        if forward == reverse {
            let problem = "the link serves both directions. Remove direction";
            return Err(ConfigError::new("action.direction", direction.name(), problem));
        }
        return Ok(inputs(place, Some(direction)).map(|(stage, _)| stage).collect());
    }
    let copy = reverse.filter(|_| place.is_mirrored || forward.is_none());
    let mut stages: Vec<StageId> = forward.into_iter().chain(copy).collect();
    stages.dedup();
    Ok(stages)
}
