//! Assigns the packets that the kernel sends to flows of the scenario.

use crate::classify::Ends;
use crate::packet_io::Side;
use airpath_core::{Duration, FlowId, Time};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Port of flow 0 on both sides.
pub const FIRST_PORT: u16 = 20_000;
/// Maximum number of flows; each has a separate port.
pub const MOST_FLOWS: u32 = 40_000;

/// Time without packets after which the entry of a connection may be reused.
const QUIET: Duration = Duration::from_secs(60);

/// Returns the port of a flow's sockets.
///
/// # Panics
/// Panics for flow numbers from [`MOST_FLOWS`] on.
pub fn port_of(flow: u32) -> u16 {
    assert!(flow < MOST_FLOWS, "flow {flow} has no port");
    FIRST_PORT + flow as u16
}

/// A connection, from the client's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Connection {
    /// IP protocol number.
    pub protocol: u8,
    /// Address of the client.
    pub client: Ipv4Addr,
    /// Address of the server.
    pub server: Ipv4Addr,
    /// Port of the client; 0 if the protocol has no ports.
    pub client_port: u16,
    /// Port of the server; 0 if the protocol has no ports.
    pub server_port: u16,
}

impl Connection {
    /// Returns the connection of a packet from `side`.
    pub fn of(ends: &Ends, side: Side) -> Connection {
        let (there, here) =
            ((ends.destination, ends.destination_port), (ends.source, ends.source_port));
        let (server, client) = if side == Side::Server { (here, there) } else { (there, here) };
        Connection {
            protocol: ends.protocol,
            client: client.0,
            server: server.0,
            client_port: client.1,
            server_port: server.1,
        }
    }
}

/// Entry of a connection of a command.
#[derive(Clone, Copy, Debug)]
pub struct PortEntry {
    /// Connection of the entry.
    pub connection: Connection,
    /// Arrival time of the last packet.
    last: Time,
}

/// Assignment of packets to flows.
#[derive(Debug)]
pub enum FlowTable {
    /// Assigns packets to the flows of the scenario by port.
    Ports {
        /// Number of flows.
        flows: u32,
    },
    /// Assigns packets to entries for the connections of commands. A connection receives an entry
    /// at its first packet.
    Connections(Connections),
}

impl FlowTable {
    /// Returns the flow of a packet that came from `side` at `now`; `None` if it has no flow.
    #[inline]
    pub fn flow(&mut self, ends: &Ends, side: Side, now: Time) -> Option<FlowId> {
        match self {
            FlowTable::Ports { flows } => {
                let flow = u32::from(ends.source_port.checked_sub(FIRST_PORT)?);
                (ends.source_port == ends.destination_port && flow < *flows).then_some(FlowId(flow))
            }
            FlowTable::Connections(connections) => {
                Some(connections.flow(Connection::of(ends, side), now))
            }
        }
    }

    /// Returns the number of packets for which no entry was free. They share the entry of another
    /// connection.
    pub fn crowded(&self) -> u64 {
        match self {
            FlowTable::Ports { .. } => 0,
            FlowTable::Connections(connections) => connections.crowded,
        }
    }
}

/// Entries for the connections of commands. Each user has the same number of entries.
#[derive(Debug)]
pub struct Connections {
    /// Addresses of the users, in the order of the scenario.
    users: Vec<Ipv4Addr>,
    /// Index of the user to which packets without the address of any user are assigned.
    default: usize,
    /// Number of entries per user.
    slots: usize,
    /// Entries by user, then by slot.
    places: Vec<Option<PortEntry>>,
    known: BTreeMap<Connection, u32>,
    /// Index at which the search for an idle entry starts, by user.
    next: Vec<usize>,
    /// Number of packets without a free entry.
    crowded: u64,
}

impl Connections {
    /// Creates a table with `slots` entries (at least 1) for each of `users`.
    pub fn new(users: Vec<Ipv4Addr>, default: usize, slots: usize) -> Connections {
        let places = vec![None; users.len() * slots];
        let next = vec![0; users.len()];
        Connections { users, default, slots, places, known: BTreeMap::new(), next, crowded: 0 }
    }

    /// Iterates over all used entries, as flow and connection.
    pub fn places(&self) -> impl Iterator<Item = (FlowId, Connection)> + '_ {
        let numbered = (0..).map(FlowId).zip(&self.places);
        numbered.filter_map(|(flow, place)| place.map(|place| (flow, place.connection)))
    }

    fn flow(&mut self, connection: Connection, now: Time) -> FlowId {
        if let Some(flow) = self.known.get(&connection) {
            if let Some(place) = &mut self.places[*flow as usize] {
                place.last = now;
            }
            return FlowId(*flow);
        }
        self.place(connection, now)
    }

    #[cold]
    fn place(&mut self, connection: Connection, now: Time) -> FlowId {
        let named = self.users.iter().position(|address| *address == connection.client);
        let user = named.unwrap_or(self.default);
        let first = user * self.slots;
        let from = self.next[user];
        let is_free = |slot: &usize| {
            self.places[first + slot].is_none_or(|place| now.saturating_since(place.last) >= QUIET)
        };
        let Some(slot) = (from..self.slots).chain(0..from).find(is_free) else {
            self.crowded += 1;
            let shared = usize::from(connection.client_port ^ connection.server_port) % self.slots;
            return FlowId((first + shared) as u32);
        };
        self.next[user] = (slot + 1) % self.slots;
        let flow = (first + slot) as u32;
        if let Some(before) =
            self.places[flow as usize].replace(PortEntry { connection, last: now })
        {
            self.known.remove(&before.connection);
        }
        self.known.insert(connection, flow);
        FlowId(flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addresses::{client_address, server_address};

    fn ends(source_port: u16, destination_port: u16) -> Ends {
        let (source, destination) = (server_address(0), client_address(0, 3));
        Ends { protocol: 6, source, destination, source_port, destination_port }
    }

    fn reversed(ends: Ends) -> Ends {
        Ends {
            source: ends.destination,
            destination: ends.source,
            source_port: ends.destination_port,
            destination_port: ends.source_port,
            ..ends
        }
    }

    #[test]
    fn a_flow_is_identified_by_its_port() {
        let mut table = FlowTable::Ports { flows: 3 };
        let mut flow = |port, other| table.flow(&ends(port, other), Side::Server, Time::ZERO);
        assert_eq!(flow(port_of(2), port_of(2)), Some(FlowId(2)));
        for (port, other) in [(19_999, 19_999), (20_003, 20_003), (20_001, 20_002), (0, 0)] {
            assert_eq!(flow(port, other), None, "{port} {other}");
        }
    }

    #[test]
    fn both_directions_of_a_connection_share_a_flow_and_users_have_separate_flows() {
        let users = vec![client_address(0, 0), client_address(0, 3)];
        let mut table = FlowTable::Connections(Connections::new(users, 0, 8));
        let there = ends(80, 40_000);
        let flow = table.flow(&there, Side::Server, Time::ZERO);
        assert_eq!(flow, Some(FlowId(8)));
        assert_eq!(table.flow(&reversed(there), Side::Client, Time::ZERO), flow);
        assert_eq!(table.flow(&ends(80, 40_001), Side::Server, Time::ZERO), Some(FlowId(9)));
        let stranger = Ends { destination: Ipv4Addr::new(100, 67, 0, 0), ..there };
        assert_eq!(table.flow(&stranger, Side::Server, Time::ZERO), Some(FlowId(0)));
    }

    #[test]
    fn an_entry_is_reused_after_a_minute_without_packets() {
        let users = vec![client_address(0, 3)];
        let mut table = FlowTable::Connections(Connections::new(users, 0, 2));
        let mut flow = |port, s| table.flow(&ends(80, port), Side::Server, Time::from_secs(s));
        assert_eq!((flow(1, 0), flow(2, 0)), (Some(FlowId(0)), Some(FlowId(1))));
        let crowded = flow(3, 30).expect("it shares a place");
        assert!(crowded.0 < 2);
        assert_eq!(flow(2, 59), Some(FlowId(1)));
        assert_eq!(flow(3, 60), Some(FlowId(0)));
        assert_eq!((flow(2, 61), flow(1, 62).is_some()), (Some(FlowId(1)), true));
        assert_eq!(table.crowded(), 2);
    }
}
