//! Captures the packets at both devices into one pcapng file per side.
//!
//! ```text
//!   data thread: packet ─► chunk ──(full, or old)──► queue ──► writer thread ─► files
//!                            ▲                                     │
//!                            └────────────── empty chunks ◄────────┘
//! ```
//!
//! The data thread copies each packet into a chunk and passes full chunks to the writer thread, so
//! that a packet requires no system call, allocation or lock. All chunks are allocated at the
//! start. While all chunks wait for the disk, packets are only counted, not captured.

use crate::packet_io::Side;
use airpath_capture::{Direction, Interface, PcapngWriter, Section};
use airpath_core::{Duration, Time};
use nix::sys::signal::SigSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Size of a chunk, bytes; larger than the largest packet.
const CHUNK_BYTES: usize = 256 * 1024;
/// Maximum number of packets in a chunk.
const CHUNK_PACKETS: usize = 4096;
/// Number of chunks; in total 32 MiB.
const CHUNKS: usize = 128;
/// Age at which a chunk that is not full is passed to the writer. The age is checked when the next
/// packet is captured.
const OLD: Duration = Duration::from_millis(100);
/// Size of the write buffer of a file, bytes.
const BUFFER_BYTES: usize = 256 * 1024;

/// A packet in a chunk. Its bytes are `start .. start + length`.
struct Record {
    at: Time,
    side: Side,
    outbound: bool,
    start: usize,
    length: usize,
}

/// Packets in the order of capture.
struct Chunk {
    bytes: Vec<u8>,
    records: Vec<Record>,
}

impl Chunk {
    fn new() -> Chunk {
        Chunk { bytes: Vec::with_capacity(CHUNK_BYTES), records: Vec::with_capacity(CHUNK_PACKETS) }
    }

    fn has_space(&self, length: usize) -> bool {
        self.bytes.len() + length <= CHUNK_BYTES && self.records.len() < CHUNK_PACKETS
    }

    fn is_old(&self, now: Time) -> bool {
        self.records.first().is_some_and(|first| now.saturating_since(first.at) >= OLD)
    }

    /// Sorts the packets by time, because a packet may be recorded after packets with a later time.
    fn sort(&mut self) {
        self.records.sort_by_key(|record| record.at);
    }

    /// Iterates over the packets with their bytes.
    fn packets(&self) -> impl Iterator<Item = (&Record, &[u8])> {
        self.records.iter().map(|record| (record, &self.bytes[record.start..][..record.length]))
    }
}

/// Captures the packets that pass both devices.
pub struct Capture {
    /// The chunk that the data thread fills.
    chunk: Option<Chunk>,
    full: SyncSender<Chunk>,
    empty: Receiver<Chunk>,
    writer: JoinHandle<io::Result<()>>,
    uncaptured: u64,
}

impl Capture {
    /// Starts the thread that writes `files`, two empty files in the order of the sides. `comment`
    /// is written to the header of the files. `zero_realtime_ns` is the time of `CLOCK_REALTIME` at
    /// the scenario's time zero, ns.
    ///
    /// # Errors
    /// Fails if a file cannot be written, or the thread does not start.
    pub fn start(files: [File; 2], comment: &str, zero_realtime_ns: u64) -> io::Result<Capture> {
        let buffered = files.map(|file| BufWriter::with_capacity(BUFFER_BYTES, file));
        Capture::over(buffered, comment, zero_realtime_ns)
    }

    fn over<W: Write + Send + 'static>(
        sinks: [W; 2],
        comment: &str,
        zero_realtime_ns: u64,
    ) -> io::Result<Capture> {
        let [server, client] = sinks;
        let [server, client] =
            [head(server, Side::Server, comment)?, head(client, Side::Client, comment)?];
        let (full, to_write) = sync_channel(CHUNKS);
        let (give_back, empty) = sync_channel(CHUNKS);
        for _ in 0..CHUNKS {
            give_back.try_send(Chunk::new()).expect("the channel has capacity for all chunks");
        }
        let thread = thread::Builder::new().name("capture".to_owned());
        let writer = thread.spawn(move || {
            // Another thread handles signals.
            SigSet::all().thread_block()?;
            write(&mut [server, client], zero_realtime_ns, &to_write, &give_back)
        })?;
        Ok(Capture { chunk: None, full, empty, writer, uncaptured: 0 })
    }

    /// Records a packet that passes the device of `side` at `now`. `outbound` is true if the kernel
    /// on this side sends the packet. Never blocks.
    pub fn packet(&mut self, now: Time, side: Side, outbound: bool, packet: &[u8]) {
        let is_over = |chunk: &Chunk| !chunk.has_space(packet.len()) || chunk.is_old(now);
        if self.chunk.as_ref().is_some_and(is_over) {
            self.flush();
        }
        if self.chunk.is_none() {
            self.chunk = self.empty.try_recv().ok();
        }
        match &mut self.chunk {
            Some(chunk) if chunk.has_space(packet.len()) => {
                let (start, length) = (chunk.bytes.len(), packet.len());
                chunk.bytes.extend_from_slice(packet);
                chunk.records.push(Record { at: now, side, outbound, start, length });
            }
            _ => self.uncaptured += 1,
        }
    }

    /// Passes the packets captured so far to the writer, so that another program can read them in
    /// the files during the run.
    pub fn flush(&mut self) {
        if let Some(chunk) = self.chunk.take_if(|chunk| !chunk.records.is_empty()) {
            // The channel has capacity for all chunks. If the writer has ended, `finish` reports
            // its error.
            let _ = self.full.try_send(chunk);
        }
    }

    /// Returns the number of packets that could not be captured so far.
    pub fn uncaptured(&self) -> u64 {
        self.uncaptured
    }

    /// Completes both files. Returns the number of packets that could not be captured.
    ///
    /// # Errors
    /// Fails if a file could not be written. Earlier data remain in the file.
    pub fn finish(mut self) -> io::Result<u64> {
        self.flush();
        let Capture { full, writer, uncaptured, .. } = self;
        drop(full);
        writer.join().map_err(|_| io::Error::other("the thread that writes captures failed"))??;
        Ok(uncaptured)
    }
}

/// Writes the pcapng header of the file of `side`.
fn head<W: Write>(sink: W, side: Side, comment: &str) -> io::Result<PcapngWriter<W>> {
    let section = Section {
        application: format!("airpath {}", env!("CARGO_PKG_VERSION")),
        comment: comment.to_owned(),
    };
    let interface = Interface {
        name: side.name().to_owned(),
        description: format!("The device of the {}'s side of the path.", side.name()),
        comment: String::new(),
        snap_length: 0,
    };
    PcapngWriter::new(sink, &section, &[interface])
}

/// Writes chunks until the channel is closed. Flushes the files when no chunk waits.
fn write<W: Write>(
    writers: &mut [PcapngWriter<W>; 2],
    zero_realtime_ns: u64,
    full: &Receiver<Chunk>,
    empty: &SyncSender<Chunk>,
) -> io::Result<()> {
    while let Ok(first) = full.recv() {
        let mut next = Some(first);
        while let Some(mut chunk) = next {
            chunk.sort();
            for (record, packet) in chunk.packets() {
                let direction =
                    if record.outbound { Direction::Outbound } else { Direction::Inbound };
                let at = Time::from_nanos(zero_realtime_ns.saturating_add(record.at.as_nanos()));
                writers[record.side as usize].whole_packet(0, at, packet, direction)?;
            }
            chunk.bytes.clear();
            chunk.records.clear();
            // If the other end is closed, the chunk is no longer needed.
            let _ = empty.try_send(chunk);
            next = full.try_recv().ok();
        }
        writers.iter_mut().try_for_each(PcapngWriter::flush)?;
    }
    writers.iter_mut().try_for_each(PcapngWriter::flush)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Condvar, Mutex};

    /// State of the gate (true for open), and the bytes that have passed it.
    type Passed = (bool, Vec<u8>);

    /// A sink that blocks writes while its gate is closed.
    #[derive(Clone, Default)]
    struct Gate(Arc<(Mutex<Passed>, Condvar)>);

    impl Gate {
        fn set_open(&self, open: bool) {
            self.0.0.lock().expect("lock").0 = open;
            self.0.1.notify_all();
        }

        fn bytes(&self) -> Vec<u8> {
            self.0.0.lock().expect("lock").1.clone()
        }
    }

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let guard = self.0.0.lock().expect("lock");
            let mut state = self.0.1.wait_while(guard, |(open, _)| !*open).expect("lock");
            state.1.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns time stamp, flags and bytes of every packet in a file.
    fn packets(file: &[u8]) -> Vec<(u64, u32, Vec<u8>)> {
        let word = |bytes: &[u8], at: usize| {
            u32::from_le_bytes(*bytes[at..].first_chunk().expect("four bytes"))
        };
        let (mut found, mut rest) = (Vec::new(), file);
        while !rest.is_empty() {
            let length = word(rest, 4) as usize;
            assert_eq!(word(rest, length - 4) as usize, length, "both lengths agree");
            if word(rest, 0) == 6 {
                let nanos = u64::from(word(rest, 12)) << 32 | u64::from(word(rest, 16));
                let stored = word(rest, 20) as usize;
                let flags = word(rest, 28 + stored.next_multiple_of(4) + 4);
                found.push((nanos, flags, rest[28..28 + stored].to_vec()));
            }
            rest = &rest[length..];
        }
        found
    }

    fn gates() -> ([Gate; 2], Capture) {
        let gates = [Gate::default(), Gate::default()];
        gates.iter().for_each(|gate| gate.set_open(true));
        let capture = Capture::over(gates.clone(), "seed 7", 1_000_000_000).expect("start");
        (gates, capture)
    }

    #[test]
    fn every_packet_is_in_the_file_of_its_side_with_its_time_and_direction() {
        let ([server, client], mut capture) = gates();
        capture.packet(Time::from_nanos(5), Side::Server, true, &[1; 40]);
        capture.packet(Time::from_nanos(7), Side::Client, false, &[1; 40]);
        capture.packet(Time::from_secs(3), Side::Client, true, &[2; 1501]);
        // This packet was read before the previous packet was written.
        capture.packet(Time::from_secs(2), Side::Client, false, &[3; 41]);
        assert_eq!(capture.finish().expect("finish"), 0);
        assert_eq!(packets(&server.bytes()), [(1_000_000_005, 2, vec![1; 40])]);
        let expected = [
            (1_000_000_007, 1, vec![1; 40]),
            (3_000_000_000, 1, vec![3; 41]),
            (4_000_000_000, 2, vec![2; 1501]),
        ];
        assert_eq!(packets(&client.bytes()), expected);
        let comment = |file: &[u8]| file.windows(6).any(|window| window == b"seed 7");
        assert!(comment(&server.bytes()) && comment(&client.bytes()));
    }

    #[test]
    fn packets_without_a_chunk_are_counted_and_the_rest_is_in_order() {
        let ([server, client], mut capture) = gates();
        server.set_open(false);
        let per_chunk = CHUNK_BYTES / 1500;
        let offered = (CHUNKS + 3) * per_chunk;
        for number in 0..offered {
            let mut packet = [0; 1500];
            packet[..8].copy_from_slice(&number.to_le_bytes());
            capture.packet(Time::ZERO, Side::Server, true, &packet);
        }
        let uncaptured = capture.uncaptured();
        assert_eq!(uncaptured, 3 * per_chunk as u64);
        server.set_open(true);
        assert_eq!(capture.finish().expect("finish"), uncaptured);
        assert!(packets(&client.bytes()).is_empty());
        let captured = packets(&server.bytes());
        assert_eq!(captured.len() as u64, offered as u64 - uncaptured);
        for (number, (_, _, packet)) in captured.iter().enumerate() {
            assert_eq!(packet[..8], number.to_le_bytes());
        }
    }

    #[test]
    fn an_old_chunk_is_passed_to_the_writer_with_the_next_packet() {
        let ([server, _], mut capture) = gates();
        capture.packet(Time::ZERO, Side::Server, true, &[1; 40]);
        assert!(capture.chunk.as_ref().is_some_and(|chunk| chunk.records.len() == 1));
        capture.packet(Time::from_millis(100), Side::Server, true, &[2; 40]);
        assert!(capture.chunk.as_ref().is_some_and(|chunk| chunk.records.len() == 1));
        // The writer has the first packet as soon as its thread runs.
        while packets(&server.bytes()).is_empty() {
            thread::yield_now();
        }
        assert_eq!(capture.finish().expect("finish"), 0);
        assert_eq!(packets(&server.bytes()).len(), 2);
    }

    #[test]
    fn disk_error_does_not_stop_the_run_and_is_reported_at_the_end() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                if self.0 == 0 {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                let taken = bytes.len().min(self.0);
                self.0 -= taken;
                Ok(taken)
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut capture = Capture::over([Full(4000), Full(4000)], "", 0).expect("start");
        for _ in 0..50_000 {
            capture.packet(Time::ZERO, Side::Client, false, &[0; 1500]);
        }
        let failure = capture.finish().expect_err("full").kind();
        assert_eq!(failure, io::ErrorKind::StorageFull);
    }

    #[test]
    fn both_files_have_a_header() {
        use nix::fcntl::{OFlag, open};
        use nix::sys::stat::Mode;
        use std::io::{Read, Seek};
        let anonymous = || -> File {
            let flags = OFlag::O_TMPFILE | OFlag::O_RDWR;
            open(&std::env::temp_dir(), flags, Mode::S_IRWXU).expect("a file").into()
        };
        let files = [anonymous(), anonymous()];
        let copies = files.each_ref().map(|file| file.try_clone().expect("a copy"));
        let capture = Capture::start(copies, "", 0).expect("start");
        assert_eq!(capture.finish().expect("finish"), 0);
        for mut file in files {
            let mut head = [0; 4];
            file.rewind().expect("start");
            file.read_exact(&mut head).expect("head");
            assert_eq!(head, [0x0a, 0x0d, 0x0d, 0x0a]);
        }
    }
}
