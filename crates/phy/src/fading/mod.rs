//! Samples the gains |h| of a fading channel for the symbols of a block, with E|h|² = 1.
//!
//! Every block has an independent channel that is constant during the block.
//! Left out: Doppler shift within a block, and interference between subcarriers (phy-802.16-ctc §6:
//! negligible).

pub mod profiles;
pub mod tapped;
pub mod tdl;

use crate::gaussian::Gaussian;
use crate::ofdm::{Mapper, Mapping, USED};
use profiles::Profile;
use tapped::Tapped;

/// A fading channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fading {
    /// No fading: |h| = 1.
    Awgn,
    /// Flat block Rayleigh fading: one complex Gaussian h for the entire block.
    Flat,
    /// A tapped delay line with OFDM; the mapping assigns the symbols to subcarriers.
    Tapped(Profile, Mapping),
}

impl Fading {
    /// Returns the channel called `name`: `awgn`, `rayleigh`, or the name of a delay profile,
    /// followed by a slash and the name of a mapping if it is not the reference mapping.
    pub fn from_name(name: &str) -> Option<Fading> {
        let (channel, mapping) = match name.split_once('/') {
            Some((channel, mapping)) => (channel, Some(mapping)),
            None => (name, None),
        };
        match (channel, mapping) {
            ("awgn", None) => Some(Fading::Awgn),
            ("rayleigh", None) => Some(Fading::Flat),
            _ => {
                let profile = Profile::from_name(channel)?;
                let mapping = mapping.map_or(Some(Mapping::Random), Mapping::from_name)?;
                Some(Fading::Tapped(profile, mapping))
            }
        }
    }

    /// Returns the name and a description of every channel; names of 3GPP profiles contain `NS` for
    /// a delay spread in ns.
    pub fn all() -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = vec![
            ("awgn".into(), "No fading: only white Gaussian noise".into()),
            (
                "rayleigh".into(),
                "Flat Rayleigh fading, with an independent gain for every block".into(),
            ),
        ];
        let itu = profiles::PROFILES.map(|profile| (profile, "ITU-R M.1225"));
        let lte = profiles::LTE_PROFILES.map(|profile| (profile, "3GPP TS 36.104"));
        all.extend(itu.into_iter().chain(lte).map(|(profile, source)| {
            let spread = profile.delay_spread_ns();
            let what = format!("Tapped delay line of {source}, rms delay spread {spread:.0} ns");
            (profile.name.into(), what)
        }));
        all.extend(tdl::TDLS.iter().map(|line| {
            let what = "Tapped delay line of 3GPP TR 38.901 with an rms delay spread of NS ns";
            (format!("{}-NS", line.name), what.into())
        }));
        all
    }

    /// Returns the name from which [`from_name`](Fading::from_name) creates this channel.
    pub fn name(&self) -> String {
        match self {
            Fading::Awgn => "awgn".into(),
            Fading::Flat => "rayleigh".into(),
            Fading::Tapped(profile, Mapping::Random) => profile.full_name(),
            Fading::Tapped(profile, mapping) => {
                format!("{}/{}", profile.full_name(), mapping.name())
            }
        }
    }
}

/// Samples the gains of blocks of one length.
#[derive(Clone, Debug)]
pub struct Gains(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Awgn,
    Flat,
    Tapped { line: Box<Tapped>, mapper: Box<Mapper>, response: Box<[f32; USED]> },
}

impl Gains {
    /// Creates the gains of `fading`.
    pub fn new(fading: &Fading) -> Gains {
        Gains(match fading {
            Fading::Awgn => Kind::Awgn,
            Fading::Flat => Kind::Flat,
            Fading::Tapped(profile, mapping) => Kind::Tapped {
                line: Box::new(Tapped::new(profile)),
                mapper: Box::new(Mapper::new(*mapping)),
                response: Box::new([0.0; USED]),
            },
        })
    }

    /// Resets the state, so that the next gains depend only on the random numbers and not on
    /// earlier blocks.
    pub fn restart(&mut self) {
        if let Kind::Tapped { mapper, .. } = &mut self.0 {
            mapper.restart();
        }
    }

    /// Samples |h| of every symbol of the next block.
    ///
    /// # Panics
    ///
    /// If the mapping has fewer subcarriers than `gains`.
    pub fn draw(&mut self, gaussian: &mut Gaussian, gains: &mut [f32]) {
        match &mut self.0 {
            Kind::Awgn => gains.fill(1.0),
            Kind::Flat => {
                let mut parts = [0.0; 2];
                gaussian.fill(&mut parts);
                gains.fill((0.5 * (parts[0] * parts[0] + parts[1] * parts[1])).sqrt());
            }
            Kind::Tapped { line, mapper, response } => {
                line.draw(gaussian, response);
                let subcarriers = mapper.draw(gaussian, gains.len());
                for (gain, &subcarrier) in gains.iter_mut().zip(subcarriers) {
                    *gain = response[usize::from(subcarrier)];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::rng::Stream;

    #[test]
    fn name_and_from_name_are_inverse() {
        for name in [
            "awgn",
            "rayleigh",
            "pedestrian-b",
            "vehicular-a",
            "etu",
            "vehicular-a/fusc",
            "tdl-b-100",
            "tdl-e-30/pusc",
        ] {
            assert_eq!(Fading::from_name(name).map(|fading| fading.name()).as_deref(), Some(name));
        }
        for name in ["", "awgn/fusc", "vehicular-c", "vehicular-a/", "vehicular-a/none"] {
            assert_eq!(Fading::from_name(name), None);
        }
    }

    #[test]
    fn all_lists_existing_channels() {
        let all = Fading::all();
        let itu_and_lte = profiles::PROFILES.len() + profiles::LTE_PROFILES.len();
        assert_eq!(all.len(), 2 + itu_and_lte + tdl::TDLS.len());
        for (name, _) in all {
            let name = name.replace("NS", "100");
            assert_eq!(Fading::from_name(&name).map(|fading| fading.name()), Some(name));
        }
    }

    #[test]
    fn flat_fading_is_constant_within_a_block() {
        let mut gaussian = Gaussian::new(&mut Stream::new(1, 0, "flat"));
        let mut flat = Gains::new(&Fading::Flat);
        let mut power = 0.0;
        let draws = 100_000;
        for _ in 0..draws {
            let mut gains = [0.0; 3];
            flat.draw(&mut gaussian, &mut gains);
            assert!(gains[0] == gains[1] && gains[1] == gains[2]);
            power += f64::from(gains[0]).powi(2) / f64::from(draws);
        }
        assert!((power - 1.0).abs() < 5.0 / f64::from(draws).sqrt(), "{power}");
    }
}
