//! Captures packets at a point of the path into pcapng files.

use crate::observers::PacketEvent;
use crate::points::{Location, Point};
use crate::stage_map::StageMap;
use airpath_capture::{Interface, PcapngWriter, SNAP_LENGTH, Section};
use airpath_core::Flags;
use std::io::{self, Write};

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
    location: Location,
    writer: Option<PcapngWriter<Sink>>,
    failure: Option<io::Error>,
}

impl Capture {
    /// Writes the head of the file.
    ///
    /// # Errors
    /// Fails if the sink fails.
    pub(crate) fn new(request: CaptureRequest, stage_map: &StageMap) -> io::Result<Capture> {
        let CaptureRequest { point, application, comments: (comment, short), sink } = request;
        let interface = Interface {
            name: point.name().to_owned(),
            description: point.description().to_owned(),
            comment: short,
            snap_length: SNAP_LENGTH,
        };
        let writer = PcapngWriter::new(sink, &Section { application, comment }, &[interface])?;
        let location = Location::new(&point, stage_map);
        Ok(Capture { location, writer: Some(writer), failure: None })
    }

    /// Writes the packet if it passes this point. After a write error, nothing more is written.
    pub(crate) fn see(&mut self, stage_map: &StageMap, passage: &PacketEvent<'_>) {
        let Some(direction) = self.location.sees(stage_map, passage) else { return };
        let Some(writer) = &mut self.writer else { return };
        let packet = passage.packet;
        let ttl = self.location.ttl(stage_map, packet);
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
