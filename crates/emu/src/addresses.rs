//! Assigns IPv4 addresses to servers and clients. A run inside another run has a higher nesting
//! level; each level has its own range in the address space of RFC 6598.

use std::net::Ipv4Addr;

/// Returns the server's address in a run at nesting level `level`, 0 … 30.
pub const fn server_address(level: u8) -> Ipv4Addr {
    Ipv4Addr::new(100, 64 + 2 * level, 0, 1)
}

/// Returns the client's address of a user in a run at nesting level `level`, 0 … 30.
pub const fn client_address(level: u8, user: u16) -> Ipv4Addr {
    let [high, low] = user.to_be_bytes();
    Ipv4Addr::new(100, 65 + 2 * level, high, low)
}

/// Returns the user whose client has this address in a run at `level`, if any.
pub const fn user_of(level: u8, address: Ipv4Addr) -> Option<u16> {
    match (client_level(address), address.octets()) {
        (Some(of), [_, _, high, low]) if of == level => Some(u16::from_be_bytes([high, low])),
        _ => None,
    }
}

/// Returns the nesting level of the run whose client has this address, if any.
pub const fn client_level(address: Ipv4Addr) -> Option<u8> {
    match address.octets() {
        [100, second @ 65..=125, _, _] if second % 2 == 1 => Some((second - 65) / 2),
        _ => None,
    }
}

#[test]
fn addresses_identify_users() {
    for (level, user) in [(0, 0), (0, 300), (30, 65_535), (7, 256)] {
        assert_eq!(user_of(level, client_address(level, user)), Some(user));
        assert_eq!(user_of(level + 1, client_address(level, user)), None);
        assert_eq!(client_level(server_address(level)), None);
    }
    assert_eq!(client_address(0, 300), Ipv4Addr::new(100, 65, 1, 44));
    assert_eq!(client_level(Ipv4Addr::new(100, 127, 0, 0)), None);
}
