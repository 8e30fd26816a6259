//! Builds the endpoints of flows.

use crate::any_stage::AnyStage;
use crate::build::Builder;
use crate::open_end::{OpenEnd, OpenEnds, Traffic};
use crate::scenario::{FlowSpec, SourceSpec, StartSpec, TcpSpec};
use airpath_core::{Bytes, ConfigError, Duration, FlowId, Rate, Seed, Setup, Time};
use airpath_tcp::congestion::{AnyCongestion, CongestionSetup};
use airpath_tcp::window::{AnyWindow, WindowSetup};
use airpath_tcp::{
    Call, Client, DatagramSink, DatagramSource, OnOff, Receiver, Requests, RequestsConfig, Sender,
    SenderConfig, Spacing, TcpConfig, Video, VoiceConfig,
};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// Receive-window policy of a flow without a `window` table.
static FIXED_WINDOW: LazyLock<Value> = LazyLock::new(|| json!({"kind": "fixed"}));

impl Builder<'_> {
    /// Returns the start time of a flow.
    fn start(&mut self, spec: &FlowSpec, seed: &Seed) -> Time {
        match spec.start {
            StartSpec::At { time_ns } => Time::from_nanos(time_ns),
            StartSpec::Uniform { low_ns, high_ns } => {
                let mut stream = seed.child("start").stream();
                let low = Duration::from_nanos(low_ns);
                Time::ZERO + stream.uniform_duration(low, Duration::from_nanos(high_ns))
            }
            StartSpec::Poisson { from_ns, gap_ns, until_ns } => {
                let name = format!("arrivals {}", spec.group.unwrap_or(0));
                let (stream, last) = self.arrivals.entry(spec.group).or_insert_with(|| {
                    (self.seed.child(&name).stream(), Time::from_nanos(from_ns))
                });
                *last = *last + stream.exponential(Duration::from_nanos(gap_ns));
                let until = until_ns.map_or(Time::NEVER, Time::from_nanos);
                if *last < until { *last } else { Time::NEVER }
            }
        }
    }

    /// Builds the source of a flow; an [`OpenEnd`] if the end is open. Also returns the size of its
    /// transfer if the size is random.
    pub(crate) fn source_end(
        &mut self,
        flow: FlowId,
        spec: &FlowSpec,
        open: OpenEnds,
    ) -> Result<(AnyStage, Option<u64>), ConfigError> {
        let seed = self.flow_seed(flow);
        let stop = spec.stop_ns.map_or(Time::NEVER, Time::from_nanos);
        let start = match self.start(spec, &seed) {
            // The flow never starts, because its arrival is after the stop time.
            start if start >= stop => Time::NEVER,
            start => start,
        };
        if !open.source {
            return self.source(flow, &spec.source, [start, stop], &seed);
        }
        let drawn = match &spec.source {
            SourceSpec::Tcp(spec) => self.leave_open(flow, spec, [start, stop], &seed),
            _ => None,
        };
        Ok((AnyStage::Open(OpenEnd), drawn))
    }

    /// Builds the sink of a flow; an [`OpenEnd`] if the end is open.
    pub(crate) fn sink_end(
        &self,
        flow: FlowId,
        spec: &FlowSpec,
        open: OpenEnds,
    ) -> Result<AnyStage, ConfigError> {
        if open.sink {
            return Ok(AnyStage::Open(OpenEnd));
        }
        self.sink(flow, &spec.source, &self.flow_seed(flow))
    }

    fn flow_seed(&self, flow: FlowId) -> Seed {
        self.seed.child(&format!("flow {}", flow.0))
    }

    /// Records the traffic of a sender that is replaced by an open end. Returns the size of its
    /// transfer if the size is random.
    fn leave_open(
        &mut self,
        flow: FlowId,
        spec: &TcpSpec,
        [start, stop]: [Time; 2],
        seed: &Seed,
    ) -> Option<u64> {
        let drawn = drawn_transfer(spec, seed);
        let (transfer, on_off) = (drawn.or(spec.transfer_bytes), on_off(spec, seed));
        self.open_traffic.push(Traffic { flow, start, stop, transfer, on_off });
        drawn
    }

    /// Builds the source. Also returns the size of its transfer if the size is random.
    fn source(
        &self,
        flow: FlowId,
        spec: &SourceSpec,
        [start, stop]: [Time; 2],
        seed: &Seed,
    ) -> Result<(AnyStage, Option<u64>), ConfigError> {
        let (rate_bps, packet_bytes, spacing) = match spec {
            SourceSpec::Cbr { rate_bps, packet_bytes } => {
                (*rate_bps, *packet_bytes, Spacing::Constant)
            }
            SourceSpec::Poisson { rate_bps, packet_bytes } => {
                (*rate_bps, *packet_bytes, Spacing::Poisson(seed.child("gaps").stream()))
            }
            SourceSpec::Voice(VoiceConfig { packet_bytes, interval_ns, .. }) => {
                let (size, gap) = (Bytes(*packet_bytes), Duration::from_nanos(*interval_ns));
                let source = DatagramSource::every(flow, size, gap, start, stop);
                return Ok((AnyStage::Source(Box::new(source)), None));
            }
            SourceSpec::Tcp(spec) => {
                if let Some(requests) = spec.requests {
                    let client = self.client(flow, spec, requests, [start, stop])?;
                    return Ok((AnyStage::Client(Box::new(client)), None));
                }
                let (sender, drawn) = self.sender(flow, spec, [start, stop], seed)?;
                return Ok((AnyStage::Sender(Box::new(sender)), drawn));
            }
        };
        let (size, rate) = (Bytes(packet_bytes), Rate(rate_bps));
        let source = DatagramSource::new(flow, size, rate, spacing, start, stop);
        Ok((AnyStage::Source(Box::new(source)), None))
    }

    /// Builds a client with the senders of its connections, which are the flows from `first` on.
    fn client(
        &self,
        first: FlowId,
        spec: &TcpSpec,
        requests: RequestsConfig,
        [start, stop]: [Time; 2],
    ) -> Result<Client, ConfigError> {
        let stream = self.flow_seed(first).child("application").stream();
        let sender = |flow: FlowId| {
            // Connections after the first one start with their first request.
            let start = if flow == first { start } else { Time::NEVER };
            Ok(self.sender(flow, spec, [start, stop], &self.flow_seed(flow))?.0)
        };
        let flows = (first.0..first.0 + requests.connections).map(FlowId);
        let senders = flows.map(sender).collect::<Result<_, ConfigError>>()?;
        Ok(Client::new(Requests::new(requests, stream), first, start, senders))
    }

    fn sender(
        &self,
        flow: FlowId,
        spec: &TcpSpec,
        [start, stop]: [Time; 2],
        seed: &Seed,
    ) -> Result<(Sender, Option<u64>), ConfigError> {
        let TcpSpec { congestion, options, .. } = spec;
        let drawn_transfer = drawn_transfer(spec, seed);
        let sender = Sender::new(SenderConfig {
            flow,
            options: Arc::clone(options),
            congestion: self.congestion(seed, congestion, options)?,
            transfer: drawn_transfer.or(spec.transfer_bytes),
            start,
            stop,
        });
        let sender = if let Some(on_off) = on_off(spec, seed) {
            sender.with_application(on_off)
        } else if let Some(video) = &spec.video {
            sender.with_application(Video::new(Arc::new(video.clone())))
        } else {
            sender
        };
        Ok((sender, drawn_transfer))
    }

    /// Builds the sink.
    fn sink(&self, flow: FlowId, spec: &SourceSpec, seed: &Seed) -> Result<AnyStage, ConfigError> {
        let spec = match spec {
            SourceSpec::Tcp(spec) => spec,
            SourceSpec::Voice(voice) => {
                let sink = DatagramSink::of_call(Call::new(*voice));
                return Ok(AnyStage::Sink(Box::new(sink)));
            }
            SourceSpec::Cbr { .. } | SourceSpec::Poisson { .. } => {
                return Ok(AnyStage::Sink(Box::default()));
            }
        };
        let window = self.window(seed, spec.window.as_ref(), &spec.options)?;
        let receiver = Receiver::new(flow, &spec.options, window);
        Ok(AnyStage::Receiver(Box::new(receiver)))
    }

    fn congestion(
        &self,
        seed: &Seed,
        description: &Value,
        options: &Arc<TcpConfig>,
    ) -> Result<AnyCongestion, ConfigError> {
        let setup = Setup {
            seed: seed.child("congestion"),
            registry: &self.components.congestion,
            extra: CongestionSetup { options: Arc::clone(options) },
        };
        AnyCongestion::build(description, setup).map_err(|error| error.under("congestion"))
    }

    fn window(
        &self,
        seed: &Seed,
        description: Option<&Value>,
        options: &TcpConfig,
    ) -> Result<AnyWindow, ConfigError> {
        let setup = Setup {
            seed: seed.child("window"),
            registry: &self.components.windows,
            extra: WindowSetup {
                receive_window: options.largest_window(),
                mss: u64::from(options.mss),
            },
        };
        AnyWindow::build(description.unwrap_or(&FIXED_WINDOW), setup)
            .map_err(|error| error.under("window"))
    }
}

/// Samples the size of a flow's transfer, bytes, if the size is random.
fn drawn_transfer(spec: &TcpSpec, seed: &Seed) -> Option<u64> {
    spec.transfer.map(|size| size.draw(&mut seed.child("size").stream()))
}

/// Returns the application of a flow with its random stream, if the flow has an application.
fn on_off(spec: &TcpSpec, seed: &Seed) -> Option<OnOff> {
    let with_stream = |config| OnOff { config, stream: seed.child("application").stream() };
    spec.application.map(with_stream)
}
