//! Blocks over additive white Gaussian noise, for tests and examples of the codec.

use airpath_core::rng::Stream;
use airpath_phy::code::Llr;
use airpath_phy::code::ctc::{Blocks, Code, Decoded, Decoder, DecoderConfig};
use airpath_phy::modulation::Modulation;
use std::f32::consts::TAU;

/// A transmission over additive white Gaussian noise.
pub(crate) struct Awgn {
    pub(crate) code: Code,
    pub(crate) coded_bits: usize,
    pub(crate) modulation: Modulation,
    /// Es/N0, linear.
    pub(crate) snr: f32,
    /// True for the exact demapper, false for max-log.
    pub(crate) exact: bool,
}

impl Awgn {
    /// Returns the frame error rate of `count` random blocks.
    pub(crate) fn frame_error_rate(&self, config: DecoderConfig, count: u64) -> f64 {
        let mut decoder = Decoder::new(&self.code, self.coded_bits, config);
        let mut sent = Sent::new(self, count);
        decoder.decode(&mut sent);
        sent.errors as f64 / count as f64
    }
}

/// Random blocks, generated on demand of the decoder.
pub(crate) struct Sent<'a> {
    awgn: &'a Awgn,
    random: Stream,
    left: u64,
    coded: Vec<bool>,
    axes: Vec<f32>,
    pub(crate) errors: u64,
}

impl<'a> Sent<'a> {
    pub(crate) fn new(awgn: &'a Awgn, count: u64) -> Sent<'a> {
        Sent {
            awgn,
            random: Stream::new(1, 0, "awgn"),
            left: count,
            coded: vec![false; awgn.coded_bits],
            axes: vec![0.0; awgn.coded_bits / awgn.modulation.axis_bits()],
            errors: 0,
        }
    }

    /// Returns two independent normally distributed numbers (Box and Muller).
    fn normal(&mut self) -> [f32; 2] {
        let bits = self.random.next_u64();
        let unit = |bits: u64| (bits & 0xffff_ffff) as f32 / (1u64 << 32) as f32;
        let radius = (-2.0 * (1.0 - unit(bits >> 32)).max(1e-10).ln()).sqrt();
        let (sin, cos) = (TAU * unit(bits)).sin_cos();
        [radius * cos, radius * sin]
    }
}

impl Blocks for Sent<'_> {
    fn next(&mut self, llrs: &mut [Llr], sent: &mut [bool]) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        for word in sent.chunks_mut(64) {
            let bits = self.random.next_u64();
            for (place, bit) in word.iter_mut().enumerate() {
                *bit = bits >> place & 1 == 1;
            }
        }
        let Awgn { code, modulation, snr, exact, .. } = self.awgn;
        code.encode(sent, &mut self.coded);
        modulation.map(&self.coded, &mut self.axes);
        let deviation = (0.5 / snr).sqrt();
        for first in (0..self.axes.len()).step_by(2) {
            let noise = self.normal();
            self.axes[first] += deviation * noise[0];
            self.axes[first + 1] += deviation * noise[1];
        }
        for (&received, llrs) in self.axes.iter().zip(llrs.chunks_mut(modulation.axis_bits())) {
            if *exact {
                modulation.demap_exact(received, 1.0, *snr, llrs);
            } else {
                modulation.demap(received, 1.0, *snr, llrs);
            }
        }
        true
    }

    fn decoded(&mut self, block: Decoded<'_>) {
        self.errors += u64::from(!block.is_stopped);
    }
}
