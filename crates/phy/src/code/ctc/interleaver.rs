//! The two interleavers of the code: one between the constituent encoders, one within each
//! subblock.

use super::BlockSize;

/// Returns π: couple j of the second encoder is couple π(j) of the first encoder.
///
/// Before this permutation, A and B are swapped in every couple with an odd index. π(j) and j are
/// never both odd or both even, so that the swapped couples are at even j of the second encoder.
///
/// Source: IEEE 802.16-2009 §8.4.9.2.3.2.
pub fn interleaver(size: BlockSize) -> Vec<usize> {
    let BlockSize { couples, p: [p0, p1, p2, p3], .. } = size;
    let offset = [0, couples / 2 + p1, p2, couples / 2 + p3];
    (0..couples).map(|j| (p0 * j + 1 + offset[j % 4]) % couples).collect()
}

/// Returns the order in which a subblock is read: element i of the output is element T_i of the
/// subblock.
///
/// Source: IEEE 802.16-2009 §8.4.9.2.3.4.2.
pub fn subblock_order(size: BlockSize) -> Vec<usize> {
    let BlockSize { couples, m, j, .. } = size;
    (0..j << m)
        .map(|k| ((k % j) << m) + reversed(k / j, m))
        .filter(|&index| index < couples)
        .collect()
}

/// Returns BRO_m: the lowest `bits` bits of `value` in reverse order.
fn reversed(value: usize, bits: u32) -> usize {
    value.reverse_bits() >> (usize::BITS - bits)
}

#[cfg(test)]
mod tests {
    use super::super::BLOCK_SIZES;
    use super::*;

    fn is_permutation(order: &[usize], count: usize) -> bool {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        sorted.into_iter().eq(0..count)
    }

    fn weighted_sum(order: &[usize]) -> usize {
        order.iter().enumerate().map(|(index, element)| index * element).sum()
    }

    #[test]
    fn interleavers_are_permutations_at_all_17_sizes() {
        for size in BLOCK_SIZES {
            assert!(is_permutation(&interleaver(size), size.couples), "{size:?}");
            assert!(is_permutation(&subblock_order(size), size.couples), "{size:?}");
        }
    }

    #[test]
    fn interleaver_swaps_even_and_odd_indices() {
        for size in BLOCK_SIZES {
            assert!(interleaver(size).iter().enumerate().all(|(j, i)| (i + j) % 2 == 1));
        }
    }

    #[test]
    fn interleaver_matches_check_vectors() {
        for (couples, first, sum) in [
            (192, [1, 12, 71, 82, 45, 56, 115, 126], 1_773_760),
            (216, [1, 14, 27, 40, 53, 66, 79, 92], 2_566_224),
            (240, [1, 14, 87, 100, 53, 66, 139, 152], 3_499_360),
        ] {
            let order = interleaver(BlockSize::of_couples(couples).unwrap());
            assert_eq!(order[..8], first);
            assert_eq!(weighted_sum(&order), sum);
        }
    }

    #[test]
    fn subblock_order_matches_check_vectors() {
        for (couples, first, sum) in [
            (192, [0, 64, 128, 32, 96, 160, 16, 80], 1_786_928),
            (216, [0, 64, 128, 192, 32, 96, 160, 16], 2_530_734),
            (240, [0, 128, 64, 192, 32, 160, 96, 224], 3_473_468),
        ] {
            let order = subblock_order(BlockSize::of_couples(couples).unwrap());
            assert_eq!(order[..8], first);
            assert_eq!(weighted_sum(&order), sum);
        }
    }
}
