//! The senders' state over time and the flow monitor's statistics, for Python.

use crate::trace::{column, doubles};
use airpath_core::{DropReason, Duration, Time};
use airpath_sim::{Connection, DirectionStats, FlowStats, SsSample};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

/// One column per quantity, as bytes.
pub(crate) fn ss<'py>(py: Python<'py>, samples: &[SsSample]) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let seconds = |span: Option<Duration>| span.map_or(f64::NAN, Duration::as_secs_lossy);
    let segments = |sample: &SsSample, bytes: u64| bytes as f64 / f64::from(sample.info.mss);
    let number = |name: &str, value: &dyn Fn(&SsSample) -> f64| {
        all.set_item(name, doubles(py, samples.iter().map(value))?)
    };
    let flows = samples.iter().map(|sample| sample.flow.to_le_bytes());
    let states = samples.iter().map(|sample| [sample.info.state as u8]);
    number("time_s", &|sample| sample.time.as_secs_lossy())?;
    all.set_item("flow", column(py, flows)?)?;
    all.set_item("state", column(py, states)?)?;
    number("cwnd", &|sample| segments(sample, sample.info.cwnd))?;
    number("ssthresh", &|sample| {
        sample.info.ssthresh.map_or(f64::NAN, |bytes| segments(sample, bytes))
    })?;
    number("unacked", &|sample| segments(sample, sample.info.unacked))?;
    number("sacked", &|sample| segments(sample, sample.info.sacked))?;
    number("in_flight_bytes", &|sample| sample.info.in_flight as f64)?;
    number("rtt_s", &|sample| seconds(sample.info.srtt))?;
    number("rttvar_s", &|sample| seconds(sample.info.rttvar))?;
    number("rto_s", &|sample| sample.info.rto.as_secs_lossy())?;
    number("backoff", &|sample| f64::from(sample.info.backoff))?;
    number("retrans", &|sample| sample.info.retransmissions as f64)?;
    number("bytes_acked", &|sample| sample.info.acked as f64)?;
    number("delivery_rate_bps", &|sample| sample.delivery_rate_bps)?;
    number("pacing_rate_bps", &|sample| {
        sample.info.pacing_rate.map_or(f64::NAN, |rate| rate.0 as f64)
    })?;
    Ok(all)
}

/// One entry per flow and direction; datagrams have no ACKs.
pub(crate) fn flow_monitor(flows: Option<&[FlowStats]>, connections: &[Connection]) -> Value {
    let Some(flows) = flows else { return Value::Null };
    let directions = (0..).zip(flows.iter().zip(connections)).flat_map(|(flow, (stats, of))| {
        let [data, acks] = stats;
        let acks = of.is_tcp().then(|| direction(flow, "ack", acks, of));
        [Some(direction(flow, "data", data, of)), acks].into_iter().flatten()
    });
    directions.collect()
}

fn direction(flow: u32, name: &str, stats: &DirectionStats, connection: &Connection) -> Value {
    let ends = [connection.source, connection.sink];
    let [from, to] = if name == "ack" { [ends[1], ends[0]] } else { ends };
    let nanos = |span: Duration| span.as_nanos();
    let instant = |time: Option<Time>| time.map(Time::as_nanos);
    let delay = stats.delay;
    let by_reason = |counts: [u64; DropReason::ALL.len()]| -> Value {
        let named = DropReason::ALL.iter().zip(counts);
        named.map(|(reason, count)| (reason.name().to_owned(), Value::from(count))).collect()
    };
    json!({
        "flow": flow,
        "direction": name,
        "source_address": from.address.to_string(),
        "destination_address": to.address.to_string(),
        "protocol": connection.protocol(),
        "source_port": from.port,
        "destination_port": to.port,
        "tx_packets": stats.tx_packets,
        "tx_bytes": stats.tx_bytes,
        "rx_packets": stats.rx_packets,
        "rx_bytes": stats.rx_bytes,
        "lost_packets": stats.drops.packets.iter().sum::<u64>(),
        "times_forwarded": stats.times_forwarded,
        "delay_sum_ns": delay.map(|delay| nanos(delay.sum)),
        "jitter_sum_ns": delay.map(|delay| nanos(delay.jitter_sum)),
        "last_delay_ns": delay.map(|delay| nanos(delay.last)),
        "min_delay_ns": delay.map(|delay| nanos(delay.min)),
        "max_delay_ns": delay.map(|delay| nanos(delay.max)),
        "time_first_tx_ns": instant(stats.tx_times.map(|(first, _)| first)),
        "time_last_tx_ns": instant(stats.tx_times.map(|(_, last)| last)),
        "time_first_rx_ns": instant(stats.rx_times.map(|(first, _)| first)),
        "time_last_rx_ns": instant(stats.rx_times.map(|(_, last)| last)),
        "packets_dropped": by_reason(stats.drops.packets),
        "bytes_dropped": by_reason(stats.drops.bytes),
    })
}
