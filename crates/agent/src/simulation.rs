//! A simulation that stops for decisions of its agents.

use crate::channel::{Action, Channel};
use crate::congestion;
use crate::statistics::{Memory, Statistics};
use crate::step::Step;
use airpath_core::{ConfigError, FlowId, Time};
use airpath_link::Files;
use airpath_path::{Components, ReplicationReport, Scenario, build};
use airpath_sim::{Driver, RunError, RunMonitor};
use airpath_tcp::{Sender, SenderState};
use std::sync::Arc;

/// Inputs of an episode.
#[derive(Clone)]
pub struct Experiment {
    /// Scenario in which the flow of agent k has the congestion control `{"kind": "agent", "agent":
    /// k}`.
    pub scenario: Arc<Scenario>,
    /// Traces and tables that the scenario refers to.
    pub files: Arc<Files>,
    /// Flow of each agent.
    pub flows: Vec<FlowId>,
    /// Length of the intervals.
    pub step: Step,
}

/// Error of a simulation with agents.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The network cannot be built.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A flow has no TCP sender with its own stage.
    #[error("flow {0} is not a TCP flow")]
    NotTcp(u32),
    /// A flow has another congestion control.
    #[error("flow {flow} has another congestion control than agent {agent}")]
    NotAgent {
        /// Flow ID.
        flow: u32,
        /// Index of the agent.
        agent: usize,
    },
    /// The number of actions is wrong.
    #[error("{actions} actions for {agents} agents")]
    Actions {
        /// Number of actions.
        actions: usize,
        /// Number of agents.
        agents: usize,
    },
    /// The last interval of the scenario has ended.
    #[error("the scenario has ended")]
    Ended,
}

/// An agent and its flow.
struct Agent {
    channel: Arc<Channel>,
    flow: FlowId,
    memory: Memory,
}

/// One episode: a replication of a scenario, paused at a decision.
pub struct Simulation {
    driver: Driver,
    agents: Vec<Agent>,
    step: Step,
    interval_start: Time,
    replication: u64,
}

/// Monitor that pauses a run when agent 0 has received its ACKs.
struct Pausing<'a, M> {
    channel: &'a Channel,
    monitor: &'a M,
}

impl<M: RunMonitor> RunMonitor for Pausing<'_, M> {
    fn reached(&self, now: Time) -> bool {
        self.monitor.reached(now)
    }

    #[inline]
    fn must_pause(&self) -> bool {
        self.channel.must_pause()
    }
}

impl Simulation {
    /// Builds a replication and runs it to the start of the first agent's flow. `actions` are the
    /// initial windows and rates. `components` has the plug-ins of the scenario.
    ///
    /// # Errors
    /// Fails if the network cannot be built, if a flow does not belong to its agent, or if the run
    /// fails.
    pub fn new(
        experiment: &Experiment,
        components: &Components,
        (seed, replication): (u64, u64),
        actions: &[Action],
        monitor: &impl RunMonitor,
    ) -> Result<Simulation, AgentError> {
        let Experiment { scenario, files, flows, step } = experiment;
        check_count(actions.len(), flows.len())?;
        let channels: Vec<_> =
            actions.iter().map(|action| Arc::new(Channel::new(*action))).collect();
        let mut components = components.clone();
        congestion::register(&mut components, &channels, !step.pauses());
        let network = build(scenario, &components, files, seed, replication)?;
        drop(components);
        for (agent, (channel, flow)) in channels.iter().zip(flows).enumerate() {
            // The congestion control holds a second reference.
            if Arc::strong_count(channel) != 2 {
                return Err(AgentError::NotAgent { flow: flow.0, agent });
            }
        }
        let agents = channels.into_iter().zip(flows).map(|(channel, flow)| Agent {
            channel,
            flow: *flow,
            memory: Memory::default(),
        });
        let mut simulation = Simulation {
            driver: Driver::new(network),
            agents: agents.collect(),
            step: *step,
            interval_start: Time::ZERO,
            replication,
        };
        simulation.run_to_start(monitor)?;
        Ok(simulation)
    }

    /// Runs to the earliest start of an agent's flow, or not at all if no flow has a start time.
    fn run_to_start(&mut self, monitor: &impl RunMonitor) -> Result<(), AgentError> {
        self.run_until(Time::ZERO, monitor)?;
        let starts = self.agents.iter().map(|agent| {
            self.sender(agent).ok_or(AgentError::NotTcp(agent.flow.0)).map(Sender::start)
        });
        let starts: Vec<Time> = starts.collect::<Result<_, AgentError>>()?;
        let start = starts.into_iter().min().unwrap_or(Time::ZERO);
        if start < self.driver.end() {
            self.run_until(start, monitor)?;
        }
        self.interval_start = self.driver.now();
        Ok(())
    }

    /// Applies an action for each agent, runs to the end of the next interval, and writes the
    /// statistics of each agent to `statistics`, which it clears first.
    ///
    /// # Errors
    /// Fails if the number of actions is wrong, if the scenario has ended, or if the run fails. The
    /// simulation cannot continue after a failed run.
    pub fn step(
        &mut self,
        actions: &[Action],
        monitor: &impl RunMonitor,
        statistics: &mut Vec<Statistics>,
    ) -> Result<(), AgentError> {
        check_count(actions.len(), self.agents.len())?;
        if self.has_ended() {
            return Err(AgentError::Ended);
        }
        for (agent, action) in self.agents.iter().zip(actions) {
            agent.channel.set(*action);
        }
        let mean_rtt = self.agents.first().map_or(0.0, |agent| agent.memory.mean_rtt);
        let longest = self.interval_start + self.step.duration(mean_rtt);
        let until = longest.min(self.driver.end());
        match (self.step, self.agents.first()) {
            (Step::Acks { count, .. }, Some(first)) => {
                let channel = Arc::clone(&first.channel);
                channel.pause_after(count);
                self.run_until(until, &Pausing { channel: &channel, monitor })?;
            }
            _ => self.run_until(until, monitor)?,
        }
        self.close(statistics);
        Ok(())
    }

    /// Runs to `until`, or to a pause, and starts the measurement at the end of the warm-up.
    fn run_until(&mut self, until: Time, monitor: &impl RunMonitor) -> Result<(), RunError> {
        let warmup = self.driver.warmup();
        if until >= warmup && self.driver.now() <= warmup {
            self.driver.run_until(warmup, monitor)?;
            if self.driver.now() < warmup {
                return Ok(());
            }
            self.driver.start_measurement()?;
        }
        self.driver.run_until(until, monitor)
    }

    /// Ends the current interval at the current time and writes its statistics, as [`step`](Self::step)
    /// does after a run. Before the first interval, the statistics are those of an empty interval.
    pub fn close(&mut self, statistics: &mut Vec<Statistics>) {
        let now = self.driver.now();
        let duration = now - self.interval_start;
        let stages = self.driver.stages();
        let flows = self.driver.flows();
        statistics.clear();
        statistics.extend(self.agents.iter_mut().map(|Agent { channel, flow, memory }| {
            let source = flows[flow.0 as usize].source;
            let sender = stages[source.0 as usize].sender(*flow);
            let info = sender.expect("a simulation has checked its senders").info();
            memory.close(channel, &info, now, duration)
        }));
        self.interval_start = now;
    }

    fn sender(&self, agent: &Agent) -> Option<&Sender> {
        let source = self.driver.flows().get(agent.flow.0 as usize)?.source;
        self.driver.stages()[source.0 as usize].sender(agent.flow)
    }

    /// Returns true if the simulated time has reached the end of the scenario.
    pub fn has_ended(&self) -> bool {
        self.driver.now() >= self.driver.end()
    }

    /// Returns true if the flow of the agent has no more data to send, because all its data has been
    /// acknowledged or the connection was aborted.
    pub fn is_finished(&self, agent: usize) -> bool {
        let sender = self.agents.get(agent).and_then(|agent| self.sender(agent));
        sender.is_some_and(|sender| sender.info().state == SenderState::Done)
    }

    /// Returns the simulated time.
    pub fn now(&self) -> Time {
        self.driver.now()
    }

    /// Returns the measurements since the end of the warm-up.
    pub fn report(&self) -> ReplicationReport {
        self.driver.report(self.replication)
    }
}

fn check_count(actions: usize, agents: usize) -> Result<(), AgentError> {
    if actions == agents { Ok(()) } else { Err(AgentError::Actions { actions, agents }) }
}
