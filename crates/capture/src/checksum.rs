//! The internet checksum.
//!
//! Source: RFC 1071 §1.

/// Returns the ones' complement of the ones' complement sum of all `parts`, read as 16-bit words.
/// All parts except the last must have an even length.
pub fn internet_checksum(parts: &[&[u8]]) -> u16 {
    let mut sum: u32 = 0;
    for part in parts {
        for word in part.chunks(2) {
            let low = word.get(1).copied().unwrap_or(0);
            sum += u32::from(u16::from_be_bytes([word[0], low]));
            sum = (sum & 0xffff) + (sum >> 16);
        }
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc1071_3_worked_example() {
        // The sum of these bytes is ddf2 in the RFC's byte-by-byte table.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(internet_checksum(&[&bytes]), !0xddf2);
        assert_eq!(internet_checksum(&[&bytes[..2], &bytes[2..]]), !0xddf2);
    }

    #[test]
    fn rfc1071_1_odd_length_is_padded_with_zero() {
        assert_eq!(internet_checksum(&[&[0x12, 0x34, 0x56]]), !(0x1234 + 0x5600));
    }
}
