//! Captures packets at a point of the path into pcapng files.

use crate::observers::PacketEvent;
use crate::stage_map::{Role, StageMap};
use airpath_capture::{Direction, Interface, PcapngWriter, SNAP_LENGTH, Section};
use airpath_core::{ConfigError, Flags, PacketKind};
use std::io::{self, Write};

/// Time to live of a packet at its sending host.
const FIRST_TTL: u8 = 64;

/// A point of the path where packets can be captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The senders' hosts: data on departure, ACKs on arrival.
    Sender,
    /// Packets that arrive at the bottleneck's queue, including packets that the queue then drops.
    Ingress,
    /// Packets that the bottleneck's link has delivered, at the end of their transmission. Excludes
    /// packets that the queue dropped or the channel corrupted.
    Bottleneck,
    /// The receivers' hosts: data on arrival, ACKs on departure.
    Receiver,
    /// Packets that the link of the reverse direction has delivered: ACKs, and the data of reverse
    /// flows. On an ideal ACK path, which has no such link, ACKs are captured when they leave the
    /// receivers.
    Acks,
}

impl Point {
    /// All points with name and description.
    pub const ALL: [(Point, &'static str, &'static str); 5] = [
        (Point::Sender, "sender", "The senders' hosts: data leaving, ACKs arriving."),
        (Point::Ingress, "ingress", "Arrivals at the bottleneck's queue, before any drop."),
        (Point::Bottleneck, "bottleneck", "Packets sent by the bottleneck's link."),
        (Point::Receiver, "receiver", "The receivers' hosts: data arriving, ACKs leaving."),
        (Point::Acks, "acks", "Packets behind the link that ACKs take, if there is one."),
    ];

    /// Returns the point with this name.
    ///
    /// # Errors
    /// Fails if no point has this name.
    pub fn from_name(name: &str) -> Result<Point, ConfigError> {
        let found = Point::ALL.iter().find(|(_, known, _)| *known == name);
        found.map(|(point, _, _)| *point).ok_or_else(|| {
            let known: Vec<&str> = Point::ALL.iter().map(|(_, name, _)| *name).collect();
            let problem = format!("unknown. Accepted: {}", known.join(", "));
            ConfigError::new("capture.points", name, problem)
        })
    }

    fn interface(self, comment: String) -> Interface {
        let (_, name, description) = Point::ALL[self as usize];
        Interface {
            name: name.to_owned(),
            description: description.to_owned(),
            comment,
            snap_length: SNAP_LENGTH,
        }
    }

    /// Returns the direction in which a packet passes this point; `None` if it does not pass.
    #[inline]
    fn sees(self, stage_map: &StageMap, passage: &PacketEvent<'_>) -> Option<Direction> {
        let leaves = |role| passage.from.is_some_and(|from| stage_map.role(from.0) == role);
        let arrives = |role| passage.to.is_some_and(|to| stage_map.role(to.0) == role);
        let at_host = |role| match (leaves(role), arrives(role)) {
            (true, _) => Some(Direction::Outbound),
            (_, true) => Some(Direction::Inbound),
            _ => None,
        };
        let passes = match self {
            Point::Sender => return at_host(Role::Source),
            Point::Receiver => return at_host(Role::Sink),
            Point::Ingress => passage.to.is_some() && passage.to == stage_map.forward(),
            Point::Bottleneck => passage.from.is_some() && passage.from == stage_map.forward(),
            Point::Acks => match stage_map.ack_link {
                Some(output) => passage.from == Some(output),
                None => leaves(Role::Sink),
            },
        };
        passes.then_some(Direction::Passing)
    }

    /// Returns the time to live at this point: each shared link counts as one router.
    fn ttl(self, stage_map: &StageMap, kind: PacketKind) -> u8 {
        let is_ack = kind == PacketKind::Ack;
        let is_forwarded = match self {
            Point::Sender => is_ack && stage_map.ack_link.is_some(),
            Point::Acks => stage_map.ack_link.is_some(),
            Point::Ingress => false,
            Point::Bottleneck => true,
            Point::Receiver => !is_ack,
        };
        FIRST_TTL - u8::from(is_forwarded)
    }
}

/// Destination to which a capture file is written.
pub type Sink = Box<dyn Write + Send>;

/// A requested capture.
pub struct CaptureRequest {
    /// Capture point.
    pub point: Point,
    /// Name of the application that writes the file, for the file header.
    pub application: String,
    /// Comments on the origin of the file: a long comment for the section, and a short comment for
    /// the interface.
    pub comments: (String, String),
    /// Destination of the file.
    pub sink: Sink,
}

/// Requested captures of one replication.
pub struct CapturePlan {
    /// Index of the replication whose packets are captured, from 0.
    pub replication: u64,
    /// Requested captures.
    pub requests: Vec<CaptureRequest>,
}

/// Writer of the capture at one point.
pub(crate) struct Capture {
    point: Point,
    writer: Option<PcapngWriter<Sink>>,
    failure: Option<io::Error>,
}

impl Capture {
    /// Writes the head of the file.
    ///
    /// # Errors
    /// Fails if the sink fails.
    pub(crate) fn new(request: CaptureRequest) -> io::Result<Capture> {
        let CaptureRequest { point, application, comments: (comment, short), sink } = request;
        let interface = point.interface(short);
        let writer = PcapngWriter::new(sink, &Section { application, comment }, &[interface])?;
        Ok(Capture { point, writer: Some(writer), failure: None })
    }

    /// Writes the packet if it passes this point. After a write error, nothing more is written.
    pub(crate) fn see(&mut self, stage_map: &StageMap, passage: &PacketEvent<'_>) {
        let Some(direction) = self.point.sees(stage_map, passage) else { return };
        let Some(writer) = &mut self.writer else { return };
        let packet = passage.packet;
        let ttl = self.point.ttl(stage_map, packet.kind);
        let headers = stage_map.connection(packet.flow).headers(packet, ttl);
        let is_resent = packet.flags.contains(Flags::RETRANSMITTED);
        let comment = if is_resent { "retransmission" } else { "" };
        if let Err(error) = writer.packet(0, passage.now, &headers, direction, comment) {
            self.failure = Some(error);
            self.writer = None;
        }
    }

    /// Returns the write error, if any. Later calls return `None`.
    pub(crate) fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Returns the first error of the sink.
    pub(crate) fn finish(self) -> io::Result<()> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        self.writer.map_or(Ok(()), |writer| writer.finish().map(drop))
    }
}
