//! Writer of pcapng files.
//!
//! Source: draft-ietf-opsawg-pcapng §3 and §4. The file has one section in little-endian byte
//! order. The blocks of the interfaces come before the packets. If the file ends between two
//! blocks, it is a valid capture.

use crate::headers::Headers;
use airpath_core::Time;
use std::io::{self, Write};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const UNKNOWN_LENGTH: u64 = u64::MAX;
/// `LINKTYPE_RAW`: the packet begins with its IP header.
const LINKTYPE_RAW: u16 = 101;

const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_TSRESOL: u16 = 9;
/// Timestamp resolution of 10⁻⁹ s.
const NANOSECONDS: u8 = 9;
const EPB_FLAGS: u16 = 2;
/// Longest text of one option, below the 65 535 bytes of the format. Longer comments are split into
/// several options.
const LONGEST_TEXT: usize = 60_000;

/// Contents of the section header of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Name of the program that wrote the file.
    pub application: String,
    /// Origin of the file.
    pub comment: String,
}

/// Capture interface: the position on the path at which packets are captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Name of the interface.
    pub name: String,
    /// Description of the captured packets, one sentence.
    pub description: String,
    /// Origin of the packets.
    pub comment: String,
    /// Maximum number of stored bytes per packet; 0: no limit.
    pub snap_length: u32,
}

/// Direction of a packet, seen from the capturing host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The packet is in transit.
    Passing,
    /// The packet arrives at the host.
    Inbound,
    /// The packet leaves the host.
    Outbound,
}

/// Writer of a pcapng file.
pub struct PcapngWriter<W: Write> {
    sink: W,
    block: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Writes the start of a file: the section and its interfaces. The index in `interfaces` is the
    /// interface ID.
    ///
    /// # Errors
    /// Returns an error if writing to the sink fails.
    pub fn new(
        sink: W,
        section: &Section,
        interfaces: &[Interface],
    ) -> io::Result<PcapngWriter<W>> {
        let mut writer = PcapngWriter { sink, block: Vec::with_capacity(256) };
        writer.begin(SECTION_HEADER);
        writer.put_u32(BYTE_ORDER_MAGIC);
        writer.put_u16(1); // version 1.0
        writer.put_u16(0);
        writer.block.extend(UNKNOWN_LENGTH.to_le_bytes());
        writer.text_option(COMMENT, &section.comment);
        writer.text_option(SHB_USERAPPL, &section.application);
        writer.option(END_OF_OPTIONS, &[]);
        writer.end()?;
        for interface in interfaces {
            writer.begin(INTERFACE_DESCRIPTION);
            writer.put_u16(LINKTYPE_RAW);
            writer.put_u16(0);
            writer.put_u32(interface.snap_length);
            writer.text_option(COMMENT, &interface.comment);
            writer.text_option(IF_NAME, &interface.name);
            writer.text_option(IF_DESCRIPTION, &interface.description);
            writer.option(IF_TSRESOL, &[NANOSECONDS]);
            writer.option(END_OF_OPTIONS, &[]);
            writer.end()?;
        }
        Ok(writer)
    }

    /// Writes the headers of a packet that was captured at `at` on interface `interface`.
    ///
    /// # Errors
    /// Returns an error if writing to the sink fails.
    pub fn packet(
        &mut self,
        interface: u32,
        at: Time,
        headers: &Headers,
        direction: Direction,
        comment: &str,
    ) -> io::Result<()> {
        let original = headers.original_length();
        self.stored(interface, at, headers.stored(), original, direction, comment)
    }

    /// Writes a complete real packet that was captured at `at` on interface `interface`.
    ///
    /// # Errors
    /// Returns an error if writing to the sink fails.
    pub fn whole_packet(
        &mut self,
        interface: u32,
        at: Time,
        packet: &[u8],
        direction: Direction,
    ) -> io::Result<()> {
        self.stored(interface, at, packet, packet.len() as u32, direction, "")
    }

    fn stored(
        &mut self,
        interface: u32,
        at: Time,
        bytes: &[u8],
        original_length: u32,
        direction: Direction,
        comment: &str,
    ) -> io::Result<()> {
        self.begin(ENHANCED_PACKET);
        self.put_u32(interface);
        let nanos = at.as_nanos();
        self.put_u32((nanos >> 32) as u32);
        self.put_u32(nanos as u32);
        self.put_u32(bytes.len() as u32);
        self.put_u32(original_length);
        self.block.extend(bytes);
        self.pad();
        let flags: u32 = match direction {
            Direction::Passing => 0,
            Direction::Inbound => 1,
            Direction::Outbound => 2,
        };
        if flags != 0 || !comment.is_empty() {
            self.text_option(COMMENT, comment);
            self.option(EPB_FLAGS, &flags.to_le_bytes());
            self.option(END_OF_OPTIONS, &[]);
        }
        self.end()
    }

    /// Flushes the sink.
    ///
    /// # Errors
    /// Returns an error if writing to the sink fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }

    /// Flushes the sink and returns it.
    ///
    /// # Errors
    /// Returns an error if writing to the sink fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.sink.flush()?;
        Ok(self.sink)
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.put_u32(kind);
        self.put_u32(0); // the length follows
    }

    /// Inserts the length at the start and the end of the block, then writes the block.
    fn end(&mut self) -> io::Result<()> {
        let length = self.block.len() as u32 + 4;
        self.block[4..8].copy_from_slice(&length.to_le_bytes());
        self.put_u32(length);
        self.sink.write_all(&self.block)
    }

    fn put_u16(&mut self, value: u16) {
        self.block.extend(value.to_le_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.block.extend(value.to_le_bytes());
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.put_u16(code);
        self.put_u16(value.len() as u16);
        self.block.extend(value);
        self.pad();
    }

    /// Adds a text option, unless the text is empty. A long text is split into several options,
    /// which is valid only for comments.
    fn text_option(&mut self, code: u16, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let end =
                (0..=rest.len().min(LONGEST_TEXT)).rev().find(|at| rest.is_char_boundary(*at));
            let (head, tail) = rest.split_at(end.unwrap_or(0));
            self.option(code, head.as_bytes());
            if code != COMMENT {
                return;
            }
            rest = tail;
        }
    }
}
