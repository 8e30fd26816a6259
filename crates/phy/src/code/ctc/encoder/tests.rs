use super::*;
use crate::code::ctc::{BLOCK_SIZES, TRELLIS};
use airpath_core::rng::Stream;
use sha2::{Digest, Sha256};
use std::fmt::Write;

fn code(couples: usize) -> Code {
    Code::new(BlockSize::of_couples(couples).unwrap())
}

/// Returns all 6N coded bits.
fn encoded(code: &Code, information: &[bool]) -> Vec<bool> {
    let mut coded = vec![false; code.size().coded_bits()];
    code.encode(information, &mut coded);
    coded
}

/// Packs bits into bytes; the first bit is the most significant.
fn packed(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8)
        .map(|byte| byte.iter().fold(0, |value, &bit| value << 1 | u8::from(bit)))
        .collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Returns the input of phy-802.16-ctc §2.6: bit i is 1 if (i² + 3i) mod 11 is 1, 3, 4, 5 or 9.
fn check_input(couples: usize) -> Vec<bool> {
    (0..2 * couples).map(|i| [1, 3, 4, 5, 9].contains(&((i * i + 3 * i) % 11))).collect()
}

#[test]
fn encoder_matches_check_vector_of_24_couples() {
    let mut information = vec![false; 48];
    information[0] = true;
    let code = code(24);
    assert_eq!(code.circulation_states(&information), [4, 4]);
    let text: String =
        encoded(&code, &information).iter().map(|&bit| if bit { '1' } else { '0' }).collect();
    assert_eq!(
        text,
        "100000000000000000000000000000000000000000000000\
         011100010011001100101111100011011111110000101100\
         010000111100011111001100010011100011101111100000"
    );
}

/// A row of the table of check vectors in phy-802.16-ctc §2.6.
struct Vector {
    couples: usize,
    ones_in: usize,
    circulation: [u8; 2],
    ones_out: usize,
    first_bytes: &'static str,
    first_parity_bytes: &'static str,
    sha_256: &'static str,
}

const VECTORS: [Vector; 3] = [
    Vector {
        couples: 192,
        ones_in: 139,
        circulation: [2, 1],
        ones_out: 536,
        first_bytes: "56048a06a4a4294b",
        first_parity_bytes: "1ec09cd463057bbc",
        sha_256: "e55c0b452a22075c",
    },
    Vector {
        couples: 216,
        ones_in: 157,
        circulation: [5, 7],
        ones_out: 575,
        first_bytes: "5b211142692a9092",
        first_parity_bytes: "3682e8e69deb3d60",
        sha_256: "8c945d104ae683ca",
    },
    Vector {
        couples: 240,
        ones_in: 173,
        circulation: [7, 4],
        ones_out: 655,
        first_bytes: "3c90448453099c44",
        first_parity_bytes: "fbad29f4857b2360",
        sha_256: "256989e8bd07cbdb",
    },
];

#[test]
fn encoder_matches_check_vectors_of_large_blocks() {
    let ones = |bits: &[bool]| bits.iter().filter(|&&bit| bit).count();
    for vector in VECTORS {
        let (code, information) = (code(vector.couples), check_input(vector.couples));
        let coded = encoded(&code, &information);
        assert_eq!(ones(&information), vector.ones_in);
        assert_eq!(code.circulation_states(&information), vector.circulation);
        assert_eq!(ones(&coded), vector.ones_out);
        assert_eq!(hexadecimal(&packed(&coded[..64])), vector.first_bytes);
        let parity = &coded[2 * vector.couples..][..64];
        assert_eq!(hexadecimal(&packed(parity)), vector.first_parity_bytes);
        assert_eq!(hexadecimal(&Sha256::digest(packed(&coded))[..8]), vector.sha_256);
    }
}

#[test]
fn punctured_block_is_a_prefix_of_the_coded_block() {
    let (code, information) = (code(216), check_input(216));
    let mut coded = vec![false; 576];
    code.encode(&information, &mut coded);
    assert_eq!(coded, encoded(&code, &information)[..576]);
}

#[test]
fn code_is_linear_at_all_17_sizes() {
    for size in BLOCK_SIZES {
        let code = Code::new(size);
        let one = check_input(size.couples);
        let other: Vec<bool> = (0..2 * size.couples).map(|i| i * i % 7 < 3).collect();
        let add =
            |a: &[bool], b: &[bool]| -> Vec<bool> { a.iter().zip(b).map(|(a, b)| a ^ b).collect() };
        let sum = add(&encoded(&code, &one), &encoded(&code, &other));
        assert_eq!(encoded(&code, &add(&one, &other)), sum);
    }
}

#[test]
fn encoder_follows_trellis_from_circulation_state() {
    for size in BLOCK_SIZES {
        let code = Code::new(size);
        let information = check_input(size.couples);
        let subblocks = code.encoded(&information).subblocks;
        let circulation = code.circulation_states(&information);
        let couple = |k: usize| (information[2 * k], information[2 * k + 1]);
        for encoder in 0..2 {
            let mut state = circulation[encoder];
            for j in 0..size.couples {
                let k = if encoder == 0 { j } else { code.interleaver[j] };
                let (a, b) = couple(k);
                let (a, b) = if encoder == 1 && k % 2 == 1 { (b, a) } else { (a, b) };
                let step = TRELLIS[usize::from(state)][2 * usize::from(a) + usize::from(b)];
                assert_eq!(step.y, subblocks[(2 + encoder) * size.couples + j]);
                assert_eq!(step.w, subblocks[(4 + encoder) * size.couples + j]);
                state = step.next;
            }
            assert_eq!(state, circulation[encoder], "the block is circular");
        }
    }
}

#[test]
fn word_encoding_equals_encoding_of_64_blocks() {
    let code = code(48);
    let mut random = Stream::new(1, 0, "words");
    let information: Vec<u64> = (0..96).map(|_| random.next_u64()).collect();
    let mut coded = vec![0; 288];
    code.encode(&information, &mut coded);
    for block in 0..64 {
        let bits = |words: &[u64]| -> Vec<bool> {
            words.iter().map(|word| word >> block & 1 == 1).collect()
        };
        assert_eq!(encoded(&code, &bits(&information)), bits(&coded));
    }
}
