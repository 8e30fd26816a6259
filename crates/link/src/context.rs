//! Arguments for the construction of a link, other than its configuration.

use crate::files::Files;
use airpath_aqm::Queue;
use airpath_core::{Checks, ConfigError, Duration, FlowId, Port, Registries, Seed, Setup, UserId};
use airpath_phy::errors::AnyErrors;
use airpath_phy::snr::{AnySnr, SlottedSnr, SnrContext};
use serde_json::Value;
use std::cell::RefCell;
use std::sync::Arc;

/// Arguments for the construction of a link, other than its configuration.
pub struct LinkContext {
    /// Context of the direction that the link serves, or of the forward direction if the link
    /// serves both directions.
    pub forward: DirectionContext,
    /// Context of the reverse direction; `None` if the link serves one direction.
    pub reverse: Option<DirectionContext>,
    /// ID of the link in time series.
    pub id: u32,
    /// Assignment of flows to users.
    pub users: Users,
    /// Traces and tables of the scenario.
    pub files: Arc<Files>,
    /// Plug-ins for the components of links: error processes, SNR processes, and others.
    pub registries: Registries,
}

impl LinkContext {
    /// Creates a context for one direction and one flow with ID 0, without files and plug-ins.
    pub fn new(forward: DirectionContext) -> LinkContext {
        LinkContext {
            forward,
            reverse: None,
            id: 0,
            users: Users::new([None].into_iter()),
            files: Arc::default(),
            registries: Registries::default(),
        }
    }

    /// Creates the error process of `description`, with a random stream derived from the link's
    /// `seed`. Returns `None` if `description` is `None`.
    ///
    /// # Errors
    /// If the kind is unknown or a parameter is invalid.
    pub fn errors(
        &self,
        description: Option<&Value>,
        seed: &Seed,
    ) -> Result<Option<AnyErrors>, ConfigError> {
        let build = |description| {
            let (seed, registry) = (seed.child("channel"), &self.registries.get());
            AnyErrors::build(description, Setup { seed, registry, extra: () })
        };
        description.map(build).transpose().map_err(|error| error.under("errors"))
    }
}

impl LinkContext {
    /// Creates the SNR process of `description`, with a separate random stream.
    ///
    /// # Errors
    /// If the kind is unknown or a parameter is invalid.
    pub fn snr(&self, description: &Value, seed: &Seed) -> Result<AnySnr, ConfigError> {
        self.snr_with(description, seed.child("snr"), None, None)
    }

    /// Creates the SNR process of `description` for one user, in slots of length `slot`. Random
    /// quantities of the user come from `seed`; random quantities common to all users come from
    /// `shared`, the seed of the link.
    ///
    /// # Errors
    /// If the kind is unknown or a parameter is invalid.
    pub fn slotted_snr(
        &self,
        description: &Value,
        slot: Duration,
        seed: &Seed,
        shared: &Seed,
    ) -> Result<SlottedSnr, ConfigError> {
        let (seed, shared) = (seed.child("snr"), shared.child("snr"));
        let process = self.snr_with(description, seed, Some(slot), Some(shared))?;
        Ok(SlottedSnr::new(process, slot))
    }

    fn snr_with(
        &self,
        description: &Value,
        seed: Seed,
        slot: Option<Duration>,
        shared: Option<Seed>,
    ) -> Result<AnySnr, ConfigError> {
        let extra = SnrContext { traces: self.files.snr.clone(), slot, shared };
        AnySnr::build(description, Setup { seed, registry: &self.registries.get(), extra })
            .map_err(|error| error.under("snr"))
    }
}

/// Queue factory. `None` creates the only queue of a direction; a name creates one of several
/// queues.
type MakeQueue = dyn Fn(Option<&str>) -> Result<Queue, ConfigError>;

/// Inputs of one direction of a link.
pub struct DirectionContext {
    /// Output port of delivered packets.
    pub output: Port,
    make: Box<MakeQueue>,
}

impl DirectionContext {
    /// Creates the context of a direction whose packets leave through `output`. `make` creates the
    /// queues: `None` creates the only queue of the direction, a name creates one of several
    /// queues.
    pub fn new(
        output: Port,
        make: impl Fn(Option<&str>) -> Result<Queue, ConfigError> + 'static,
    ) -> DirectionContext {
        DirectionContext { output, make: Box::new(make) }
    }

    /// Creates the context of a direction with one existing queue. The first request for a queue
    /// returns this queue, regardless of the name; further requests fail.
    pub fn of(queue: Queue, output: Port) -> DirectionContext {
        let queue = RefCell::new(Some(queue));
        DirectionContext::new(output, move |name| {
            queue.borrow_mut().take().ok_or_else(|| {
                ConfigError::new(
                    "queue",
                    name.unwrap_or_default(),
                    "the only queue has already been created",
                )
            })
        })
    }

    /// Creates the only queue of this direction. Results list it under the name of the direction.
    ///
    /// # Errors
    /// If a parameter of the discipline is invalid, or if the queue has already been created.
    pub fn only_queue(&self) -> Result<Queue, ConfigError> {
        (self.make)(None)
    }

    /// Creates one of several queues of this direction. All queues have the same discipline; each
    /// queue has its own random stream and ID. In results the name of the queue is
    /// `<direction>/<name>`, for example `bottleneck/user 3`.
    ///
    /// # Errors
    /// If a parameter of the discipline is invalid, or if a queue of this name has already been
    /// created.
    pub fn queue(&self, name: &str) -> Result<Queue, ConfigError> {
        (self.make)(Some(name))
    }
}

/// Assignment of flows to users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Users {
    flows: u32,
    /// User of each flow, by flow ID; empty if each flow has its own user.
    of_flow: Arc<[UserId]>,
    /// Configured user of each flow; empty if no flow has a configured user.
    named: Arc<[Option<UserId>]>,
}

impl Users {
    /// Creates the assignment from the configured users of the flows, in ascending order of the
    /// flow IDs. The user ID of a flow without a configured user equals the flow ID.
    pub fn new(named: impl Iterator<Item = Option<UserId>>) -> Users {
        Users::of_crossing(named.map(Some))
    }

    /// Creates the assignment for a link that some flows do not traverse. `flows` holds the
    /// configured user of each flow that traverses the link, in ascending order of the flow IDs,
    /// and `None` for each other flow. The user ID of a flow without a configured user is its
    /// position among the flows that traverse the link, from 0.
    pub fn of_crossing(flows: impl Iterator<Item = Option<Option<UserId>>>) -> Users {
        let (mut count, mut crossing, mut of_flow, mut all) = (0, 0, Vec::new(), Vec::new());
        for flow in flows {
            let named = flow.flatten();
            all.push(named);
            if flow != Some(None) && of_flow.is_empty() {
                of_flow.extend((0..count).map(UserId));
            }
            if flow != Some(None) || !of_flow.is_empty() {
                of_flow.push(named.unwrap_or(UserId(if flow.is_some() { crossing } else { 0 })));
            }
            count += 1;
            crossing += u32::from(flow.is_some());
        }
        if of_flow.is_empty() {
            all.clear();
        }
        Users { flows: count, of_flow: of_flow.into(), named: all.into() }
    }

    /// Returns the assignment for `stations` stations. A flow without a configured user belongs to
    /// the station (its user ID modulo `stations`).
    ///
    /// # Errors
    /// If the ID of a configured user is not below `stations`.
    pub fn folded(&self, stations: u32) -> Result<Users, ConfigError> {
        let user = |flow: u32| {
            let named = self.named.get(flow as usize).copied().flatten();
            match named {
                Some(UserId(user)) if user >= stations => {
                    let problem = format!("does not exist: there are {stations} stations");
                    Err(ConfigError::new(format!("flows.{flow}.user"), user, problem))
                }
                Some(user) => Ok(user),
                None => Ok(UserId(self.of(FlowId(flow)).0 % stations)),
            }
        };
        let of_flow: Vec<UserId> = (0..self.flows).map(user).collect::<Result<_, _>>()?;
        Ok(Users { flows: self.flows, of_flow: of_flow.into(), named: Arc::clone(&self.named) })
    }

    /// Returns the user of `flow`.
    #[inline]
    pub fn of(&self, flow: FlowId) -> UserId {
        self.of_flow.get(flow.0 as usize).copied().unwrap_or(UserId(flow.0))
    }

    /// Returns the largest user ID plus one; 0 without flows.
    pub fn count(&self) -> usize {
        let largest = self.of_flow.iter().max().map_or(self.flows, |user| user.0 + 1);
        largest as usize
    }
}

/// Checks `errors`, the description of an error process in the configuration field `field`. Does
/// nothing if it is `None`.
pub(crate) fn check_errors(field: &str, errors: Option<&Value>, checks: &mut Checks) {
    if let Some(errors) = errors {
        checks.nested(field, AnyErrors::check(errors));
    }
}

/// Checks the description of a component in the configuration field `field` by creating the
/// component. Returns `None` for a plug-in, which is not created.
pub(crate) fn check_component<T>(
    description: &Value,
    built_in: &[(&str, &str)],
    field: &str,
    checks: &mut Checks,
    build: impl FnOnce() -> Result<T, ConfigError>,
) -> Option<T> {
    let kind = description.get("kind").and_then(Value::as_str)?;
    let is_built_in = built_in.iter().any(|(name, _)| *name == kind);
    if is_built_in { checks.nested(field, build()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_id_equals_flow_id_without_configured_user() {
        let users = Users::new([None; 3].into_iter());
        assert_eq!((users.count(), users.of(FlowId(2))), (3, UserId(2)));
        let users = Users::new([None, Some(UserId(7)), None, Some(UserId(0))].into_iter());
        let found: Vec<u32> = (0..4).map(|flow| users.of(FlowId(flow)).0).collect();
        assert_eq!((users.count(), found), (8, vec![0, 7, 2, 0]));
        assert_eq!(Users::default().count(), 0);
    }

    #[test]
    fn flows_that_traverse_a_link_are_its_users() {
        let crossing = [None, Some(None), None, Some(None), Some(Some(UserId(2)))];
        let users = Users::of_crossing(crossing.into_iter());
        let found = [1, 3, 4].map(|flow| users.of(FlowId(flow)).0);
        assert_eq!((users.count(), found), (3, [0, 1, 2]));
        let stations = users.folded(3).expect("three stations");
        assert_eq!([1, 3, 4].map(|flow| stations.of(FlowId(flow)).0), [0, 1, 2]);
    }

    #[test]
    fn station_is_flow_id_modulo_stations_without_configured_user() {
        let users = |named: &[Option<u32>]| Users::new(named.iter().map(|user| user.map(UserId)));
        let of = |users: &Users| -> Vec<u32> {
            (0..users.flows).map(|flow| users.of(FlowId(flow)).0).collect()
        };
        let folded = users(&[None; 5]).folded(2).expect("these stations exist");
        assert_eq!(of(&folded), [0, 1, 0, 1, 0]);
        let folded =
            users(&[None, Some(1), None, Some(0)]).folded(2).expect("these stations exist");
        assert_eq!(of(&folded), [0, 1, 0, 0]);
        let error = users(&[None, Some(2)]).folded(2).expect_err("station 2 does not exist");
        assert_eq!(error.to_string(), "flows.1.user = 2: does not exist: there are 2 stations");
    }
}
