//! Inputs of the construction of a link, apart from its own configuration.

use crate::files::Files;
use airpath_aqm::Queue;
use airpath_core::{Checks, ConfigError, Duration, FlowId, Port, Registries, Seed, Setup, UserId};
use airpath_phy::errors::AnyErrors;
use airpath_phy::snr::{AnySnr, SlottedSnr, SnrContext};
use serde_json::Value;
use std::cell::RefCell;
use std::sync::Arc;

/// Inputs of the construction of a link, apart from its own configuration.
pub struct LinkContext {
    /// The direction that it serves; of a link that serves both, the forward one.
    pub forward: DirectionContext,
    /// The reverse direction, for a link that serves both itself.
    pub reverse: Option<DirectionContext>,
    /// Number of this link in time series.
    pub id: u32,
    /// Users of the flows.
    pub users: Users,
    /// Traces and tables.
    pub files: Arc<Files>,
    /// Plug-ins of the families that links take: error processes, SNR processes and the others.
    pub registries: Registries,
}

impl LinkContext {
    /// A context for one direction and one flow, number 0, without files and plug-ins.
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

    /// The error process of `description`, with the random stream of the link from `seed`; `None`
    /// without a description.
    ///
    /// # Errors
    /// When the kind is unknown or a parameter is not accepted.
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
    /// The SNR process of `description`, with a separate random stream.
    ///
    /// # Errors
    /// When the kind is unknown or a parameter is not accepted.
    pub fn snr(&self, description: &Value, seed: &Seed) -> Result<AnySnr, ConfigError> {
        self.snr_with(description, seed.child("snr"), None, None)
    }

    /// The SNR process of `description` for a user of slots of the length `slot`, with the
    /// randomness of the user of `seed`; what all users have in common has that of the link of
    /// `shared`.
    ///
    /// # Errors
    /// When the kind is unknown or a parameter is not accepted.
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

/// Makes a queue: the only one of a direction, or the one of a name.
type MakeQueue = dyn Fn(Option<&str>) -> Result<Queue, ConfigError>;

/// Inputs of one direction of a link.
pub struct DirectionContext {
    /// The output by which delivered packets leave.
    pub output: Port,
    make: Box<MakeQueue>,
}

impl DirectionContext {
    /// A direction whose packets leave by `output` and wait in what `make` makes: without a name
    /// the direction's only queue, with one a queue among several.
    pub fn new(
        output: Port,
        make: impl Fn(Option<&str>) -> Result<Queue, ConfigError> + 'static,
    ) -> DirectionContext {
        DirectionContext { output, make: Box::new(make) }
    }

    /// A direction with one existing queue of any name.
    pub fn of(queue: Queue, output: Port) -> DirectionContext {
        let queue = RefCell::new(Some(queue));
        DirectionContext::new(output, move |name| {
            queue.borrow_mut().take().ok_or_else(|| {
                ConfigError::new("queue", name.unwrap_or_default(), "there is one queue, once")
            })
        })
    }

    /// The only queue of this direction. In results it has the direction's name.
    ///
    /// # Errors
    /// When a parameter of the discipline is not accepted. Also when it was made before.
    pub fn only_queue(&self) -> Result<Queue, ConfigError> {
        (self.make)(None)
    }

    /// One of several queues of this direction, of the same discipline, with a separate random
    /// stream and number. In results it is called by the direction's name, `/` and `name`:
    /// `bottleneck/user 3`.
    ///
    /// # Errors
    /// When a parameter of the discipline is not accepted. Also when one of this name was made
    /// before.
    pub fn queue(&self, name: &str) -> Result<Queue, ConfigError> {
        (self.make)(Some(name))
    }
}

/// The user that each flow belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Users {
    flows: u32,
    /// User of each flow; empty when each flow has a separate user.
    of_flow: Arc<[UserId]>,
    /// Those that were named; empty without such.
    named: Arc<[Option<UserId>]>,
}

impl Users {
    /// The users of the flows in order of their numbers. A flow without a named user is the user of
    /// the flow's number.
    pub fn new(named: impl Iterator<Item = Option<UserId>>) -> Users {
        let (mut flows, mut of_flow, mut all) = (0, Vec::new(), Vec::new());
        for user in named {
            all.push(user);
            if user.is_some() && of_flow.is_empty() {
                of_flow.extend((0..flows).map(UserId));
            }
            if user.is_some() || !of_flow.is_empty() {
                of_flow.push(user.unwrap_or(UserId(flows)));
            }
            flows += 1;
        }
        if of_flow.is_empty() {
            all.clear();
        }
        Users { flows, of_flow: of_flow.into(), named: all.into() }
    }

    /// The same among `stations` stations: a flow without a named user belongs to the station whose
    /// number is the flow's number modulo `stations`.
    ///
    /// # Errors
    /// When a named user is none of the stations.
    pub fn folded(&self, stations: u32) -> Result<Users, ConfigError> {
        let user = |flow: u32| {
            let named = self.named.get(flow as usize).copied().flatten();
            match named {
                Some(UserId(user)) if user >= stations => {
                    let problem = format!("does not exist: there are {stations} stations");
                    Err(ConfigError::new(format!("flows.{flow}.user"), user, problem))
                }
                Some(user) => Ok(user),
                None => Ok(UserId(flow % stations)),
            }
        };
        let of_flow: Vec<UserId> = (0..self.flows).map(user).collect::<Result<_, _>>()?;
        Ok(Users { flows: self.flows, of_flow: of_flow.into(), named: Arc::clone(&self.named) })
    }

    /// The user of `flow`.
    #[inline]
    pub fn of(&self, flow: FlowId) -> UserId {
        self.of_flow.get(flow.0 as usize).copied().unwrap_or(UserId(flow.0))
    }

    /// One more than the largest number of a user; 0 without flows.
    pub fn count(&self) -> usize {
        let largest = self.of_flow.iter().max().map_or(self.flows, |user| user.0 + 1);
        largest as usize
    }
}

/// Checks the error process of a link at `field`, where it has one.
pub(crate) fn check_errors(field: &str, errors: Option<&Value>, checks: &mut Checks) {
    if let Some(errors) = errors {
        checks.nested(field, AnyErrors::check(errors));
    }
}

/// Makes a built-in component at `field` to see whether it is accepted; of a plug-in, `None`.
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
    fn a_flow_without_a_named_user_is_the_user_of_its_number() {
        let users = Users::new([None; 3].into_iter());
        assert_eq!((users.count(), users.of(FlowId(2))), (3, UserId(2)));
        let users = Users::new([None, Some(UserId(7)), None, Some(UserId(0))].into_iter());
        let found: Vec<u32> = (0..4).map(|flow| users.of(FlowId(flow)).0).collect();
        assert_eq!((users.count(), found), (8, vec![0, 7, 2, 0]));
        assert_eq!(Users::default().count(), 0);
    }

    #[test]
    fn unnamed_flow_belongs_to_station_of_its_number_modulo_stations() {
        let users = |named: &[Option<u32>]| Users::new(named.iter().map(|user| user.map(UserId)));
        let of = |users: &Users| -> Vec<u32> {
            (0..users.flows).map(|flow| users.of(FlowId(flow)).0).collect()
        };
        let folded = users(&[None; 5]).folded(2).expect("they are there");
        assert_eq!(of(&folded), [0, 1, 0, 1, 0]);
        let folded = users(&[None, Some(1), None, Some(0)]).folded(2).expect("they are there");
        assert_eq!(of(&folded), [0, 1, 0, 0]);
        let error = users(&[None, Some(2)]).folded(2).expect_err("there is none");
        assert_eq!(error.to_string(), "flows.1.user = 2: does not exist: there are 2 stations");
    }
}
