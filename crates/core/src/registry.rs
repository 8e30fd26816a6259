//! Selection of components by name: tables of built-in components, and run-time registries of
//! plug-ins.
//!
//! A crate lists its built-in components in one table (see `built_in_components!`). A user adds
//! components of the same kind to a [`Registry`] under new names.

use crate::error::ConfigError;
use crate::rng::Seed;
use serde::de::{DeserializeOwned, value::MapDeserializer};
use serde_json::Value;
use std::any::{Any, TypeId};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Inputs that a component receives at construction, in addition to its configuration.
pub struct Setup<'a, T: ?Sized, X = ()> {
    /// Seed of the component's random stream.
    pub seed: Seed,
    /// Plug-ins of the same kind, for a component that wraps another component.
    pub registry: &'a Registry<T, X>,
    /// Further inputs for this kind of component. Example: the queue and the traces of a link.
    pub extra: X,
}

/// A built-in component: its configuration and its construction.
pub trait Component<T: ?Sized, X = ()>: Sized {
    /// Configuration set by the user.
    type Config: DeserializeOwned;

    /// Checks the ranges of all values, including nested components. Called before `build`.
    ///
    /// # Errors
    /// The error lists every problem of `config` that can be detected without reading files and
    /// without other components.
    fn check(config: &Self::Config) -> Result<(), ConfigError> {
        let _ = config;
        Ok(())
    }

    /// Builds a component from `config`, which `check` has accepted.
    ///
    /// # Errors
    /// Returns an error if `config` does not fit `setup`, for example if a file is missing or
    /// another component does not match.
    fn build(config: Self::Config, setup: Setup<'_, T, X>) -> Result<Self, ConfigError>;
}

/// Constructor of a plug-in from its parameters.
pub type Factory<T, X = ()> =
    dyn Fn(&Value, Setup<'_, T, X>) -> Result<Box<T>, ConfigError> + Send + Sync;

/// Implementation for boxed components. Large or rarely used components are boxed.
impl<T: ?Sized, X, P: Component<T, X>> Component<T, X> for Box<P> {
    type Config = P::Config;

    fn check(config: &P::Config) -> Result<(), ConfigError> {
        P::check(config)
    }

    fn build(config: P::Config, setup: Setup<'_, T, X>) -> Result<Box<P>, ConfigError> {
        P::build(config, setup).map(Box::new)
    }
}

/// Plug-ins of one kind, registered at run time. Clones share the constructors.
pub struct Registry<T: ?Sized, X = ()> {
    factories: BTreeMap<String, Arc<Factory<T, X>>>,
    independent: BTreeSet<String>,
}

impl<T: ?Sized, X> Clone for Registry<T, X> {
    fn clone(&self) -> Self {
        Registry { factories: self.factories.clone(), independent: self.independent.clone() }
    }
}

impl<T: ?Sized, X> Default for Registry<T, X> {
    fn default() -> Self {
        Registry { factories: BTreeMap::new(), independent: BTreeSet::new() }
    }
}

impl<T: ?Sized, X> Registry<T, X> {
    /// Adds the component called `name`. Replaces an existing component of that name.
    pub fn register(
        &mut self,
        name: impl Into<String>,
        factory: impl Fn(&Value, Setup<'_, T, X>) -> Result<Box<T>, ConfigError> + Send + Sync + 'static,
    ) {
        self.factories.insert(name.into(), Arc::new(factory));
    }

    /// Declares that components called `name` share no mutable state with each other or with other
    /// code. The driver may then call the components of different stages in any order. Without this
    /// declaration it calls them in time order, which is slower.
    pub fn declare_independent(&mut self, name: impl Into<String>) {
        self.independent.insert(name.into());
    }

    /// Returns the constructor of the component called `name`, or `None` if it is not registered.
    pub fn factory(&self, name: &str) -> Option<&Factory<T, X>> {
        let factory = self.factories.get(name)?;
        if !self.independent.contains(name) {
            DEPENDENT_COMPONENTS.with(|count| count.set(count.get() + 1));
        }
        Some(&**factory)
    }

    /// Returns the registered names in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.factories.keys().map(String::as_str)
    }
}

/// Registries of several kinds of components, indexed by registry type. A component that contains
/// components of other kinds receives this collection. Clones share the registries.
#[derive(Clone, Default)]
pub struct Registries {
    by_type: Arc<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Registries {
    /// Adds `registry`. Replaces an existing registry of the same type.
    #[must_use]
    pub fn with<R: Any + Send + Sync>(mut self, registry: R) -> Registries {
        Arc::make_mut(&mut self.by_type).insert(TypeId::of::<R>(), Arc::new(registry));
        self
    }

    /// Returns a copy of the registry of this type, or an empty registry if there is no such
    /// registry.
    pub fn get<R: Any + Clone + Default>(&self) -> R {
        let found = self.by_type.get(&TypeId::of::<R>());
        found.and_then(|registry| registry.downcast_ref::<R>()).cloned().unwrap_or_default()
    }
}

thread_local! {
    /// Number of plug-ins that this thread has looked up and that are not declared independent.
    static DEPENDENT_COMPONENTS: Cell<u64> = const { Cell::new(0) };
}

/// Returns the number of plug-ins that this thread has looked up and that are not declared
/// independent. The code that builds a stage compares the numbers before and after.
pub fn dependent_components() -> u64 {
    DEPENDENT_COMPONENTS.with(Cell::get)
}

/// Returns the value of `kind` in a description `{"kind": …, …}`.
///
/// # Errors
/// Returns an error if the description is not an object, or if `kind` is missing or not a string.
pub fn kind_of(description: &Value) -> Result<&str, ConfigError> {
    let Some(object) = description.as_object() else {
        return Err(ConfigError::new("", description, "not a table. Set kind = \"…\""));
    };
    match object.get("kind") {
        Some(Value::String(kind)) => Ok(kind),
        other => Err(ConfigError::new(
            "kind",
            other.unwrap_or(&Value::Null),
            "missing or not a text. Use the name of a component",
        )),
    }
}

/// Splits a description `{"kind": …, …}` into the kind and the other keys.
///
/// # Errors
/// Returns an error if the description is not an object, or if `kind` is missing or not a string.
pub fn split_kind(description: &Value) -> Result<(String, Value), ConfigError> {
    let kind = kind_of(description)?.to_owned();
    let mut rest = description.as_object().cloned().unwrap_or_default();
    rest.remove("kind");
    Ok((kind, Value::Object(rest)))
}

/// Deserializes the configuration of a built-in component from its description `{"kind": …, …}`.
/// Does not copy the description, because a network may have 100 000 components.
///
/// # Errors
/// Returns an error if the argument is not a description, or if a key is missing, unknown or of the
/// wrong type.
pub fn read_description<C: DeserializeOwned>(description: &Value) -> Result<C, ConfigError> {
    let parameters = description.as_object().into_iter().flatten();
    let parameters = parameters.filter(|(key, _)| *key != "kind");
    let entries = parameters.map(|(key, value)| (key.as_str(), value));
    C::deserialize(MapDeserializer::new(entries)).map_err(|error: serde_json::Error| {
        match split_kind(description) {
            Ok((_, parameters)) => ConfigError::new("", parameters, error.to_string()),
            Err(no_description) => no_description,
        }
    })
}

/// Deserializes the configuration of a built-in component.
///
/// # Errors
/// If a key is missing, unknown or of the wrong type.
pub fn read_config<C: DeserializeOwned>(parameters: &Value) -> Result<C, ConfigError> {
    serde_json::from_value(parameters.clone())
        .map_err(|error| ConfigError::new("", parameters, error.to_string()))
}

/// Reads and checks the parameters of a plug-in, then builds it.
///
/// # Errors
/// Returns an error if a key is missing, unknown or of the wrong type, if a parameter is rejected,
/// or if the parameters do not fit `setup`.
pub fn read_component<T: ?Sized, X, P: Component<T, X>>(
    parameters: &Value,
    setup: Setup<'_, T, X>,
) -> Result<P, ConfigError> {
    let config = read_config(parameters)?;
    P::check(&config)?;
    P::build(config, setup)
}

/// Evaluates `call` in a separate function, which is never inlined.
#[inline(never)]
pub fn apart<T>(call: impl FnOnce() -> T) -> T {
    call()
}

/// Calls `call` with arguments in a separate function, which is never inlined. In contrast to the
/// captured variables of [`apart`], the arguments are passed in registers.
#[inline(never)]
pub fn apart_with<A, B, C, D, T>(
    first: A,
    second: B,
    third: C,
    fourth: D,
    call: impl FnOnce(A, B, C, D) -> T,
) -> T {
    call(first, second, third, fourth)
}

/// Declares the built-in components of one kind. Generates an enum with one variant per component
/// and one variant for plug-ins, a constructor that selects the variant by name, and the list of
/// names. Each line declares one component. The first line must declare the most frequently used
/// component.
///
/// Generates two further macros. `each_component!(value, component => …)` evaluates an expression
/// with the component that the enum `value` contains. `usual_component_first!(value, component =>
/// …)` does the same: it inlines the expression for the first component, and evaluates it in a
/// separate function for all other components. It is intended for methods that are called for every
/// packet. `usual_component_first!(value, component, (a, b, c) => …)` is the form for an expression
/// that uses three local variables, which it moves.
///
/// A path after the type of the setup (`in Guard::new`) names a function that wraps each plug-in.
/// The function receives the boxed plug-in and returns a component of the same kind.
///
/// `built_in_components! { enum AnyQueue: dyn QueueDisc + Send, () { "droptail" => DropTail(DropTail): "…", … } }`
#[macro_export]
macro_rules! built_in_components {
    // Pattern of the most frequently used component.
    (@usual $any:ident, $inner:ident, $usual:ident $($other:ident)*) => { $any::$usual($inner) };
    (@guarded $component:ident) => { $component };
    (@guarded $component:ident $guard:path) => { Box::new($guard($component)) };
    ($(#[$meta:meta])* enum $any:ident: $object:ty, $extra:ty $(, in $guard:path)? {
        $($name:literal => $variant:ident($component:ty): $summary:literal,)+
    }) => {
        $(#[$meta])*
        // An explicit tag, so that one load is sufficient to find the variant, without decoding a
        // niche.
        #[repr(u32)]
        pub enum $any {
            $(#[doc = $summary] $variant($component),)+
            /// A plug-in. The function `plug_in` creates this variant.
            Dyn(Box<$object>),
        }

        impl $any {
            /// Name and one-line description of every built-in component.
            pub const BUILT_IN: &'static [(&'static str, &'static str)] =
                &[$(($name, $summary)),+];

            /// Converts a plug-in.
            pub fn plug_in(component: Box<$object>) -> $any {
                $any::Dyn($crate::built_in_components!(@guarded component $($guard)?))
            }

            /// Checks the parameters of a built-in component. Plug-ins are checked when they are
            /// built.
            ///
            /// # Errors
            /// The error lists every rejected parameter.
            pub fn check(description: &::serde_json::Value) -> Result<(), $crate::ConfigError> {
                match $crate::registry::kind_of(description)? {
                    $($name => {
                        let config = $crate::registry::read_description(description)?;
                        <$component as $crate::Component<$object, $extra>>::check(&config)
                    })+
                    _ => Ok(()),
                }
            }

            /// Builds the component of `description` (`{"kind": …, parameters}`).
            ///
            /// # Errors
            /// Returns an error if the kind is unknown or a parameter is rejected.
            pub fn build(
                description: &::serde_json::Value,
                setup: $crate::registry::Setup<'_, $object, $extra>,
            ) -> Result<Self, $crate::ConfigError> {
                let kind = $crate::registry::kind_of(description)?;
                match kind {
                    $($name => {
                        let config = $crate::registry::read_description(description)?;
                        <$component as $crate::Component<$object, $extra>>::check(&config)?;
                        <$component as $crate::Component<$object, $extra>>::build(config, setup)
                            .map($any::$variant)
                    })+
                    _ => match setup.registry.factory(kind) {
                        Some(factory) => {
                            let (_, parameters) = $crate::registry::split_kind(description)?;
                            factory(&parameters, setup).map($any::plug_in)
                        }
                        None => {
                            let known: Vec<&str> =
                                [$($name),+].into_iter().chain(setup.registry.names()).collect();
                            let problem = format!("unknown. Accepted: {}", known.join(", "));
                            Err($crate::ConfigError::new("kind", kind, problem))
                        }
                    },
                }
            }
        }

        /// Evaluates an expression in which `$type_name` is the type of the built-in component with
        /// this name. Returns `None` for other names.
        #[allow(unused_macros)]
        macro_rules! component_named {
            ($kind:expr, $type_name:ident => $call:expr) => {
                match $kind {
                    $($name => { type $type_name = $component; Some($call) })+
                    _ => None,
                }
            };
        }

        #[allow(unused_macros)]
        macro_rules! each_component {
            ($value:expr, $inner:ident => $call:expr) => {
                match $value {
                    $($any::$variant($inner) => $call,)+
                    $any::Dyn($inner) => $call,
                }
            };
        }

        #[allow(unused_macros)]
        macro_rules! usual_component_first {
            ($value:expr, $inner:ident => $call:expr) => {
                match $value {
                    $crate::built_in_components!(@usual $any, $inner, $($variant)+) => $call,
                    any => $crate::registry::apart(move || each_component!(any, $inner => $call)),
                }
            };
            ($value:expr, $inner:ident, ($a:ident, $b:ident, $c:ident) => $call:expr) => {
                match $value {
                    $crate::built_in_components!(@usual $any, $inner, $($variant)+) => $call,
                    any => $crate::registry::apart_with(any, $a, $b, $c, |any, $a, $b, $c| {
                        each_component!(any, $inner => $call)
                    }),
                }
            };
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Limits {
        packets: u64,
        #[serde(default)]
        share: Option<f64>,
    }

    #[test]
    fn read_description_agrees_with_read_config() {
        let good = json!({"kind": "x", "packets": 3, "share": 0.5});
        assert_eq!(kind_of(&good).expect("a kind"), "x");
        let limits = Limits { packets: 3, share: Some(0.5) };
        assert_eq!(read_description::<Limits>(&good).expect("limits"), limits);
        for description in [
            good,
            json!({"kind": "x"}),
            json!({"packets": -1, "kind": "x"}),
            json!({"kind": "x", "packets": 3, "other": 1}),
            json!({"kind": 7, "other": 1}),
            json!({"packets": "3"}),
            json!(["kind"]),
        ] {
            let apart = split_kind(&description)
                .and_then(|(_, parameters)| read_config::<Limits>(&parameters))
                .map_err(|error| error.to_string());
            let whole = kind_of(&description)
                .and_then(|_| read_description::<Limits>(&description))
                .map_err(|error| error.to_string());
            assert_eq!(whole, apart, "{description}");
        }
    }

    trait Number {}
    trait Word {}
    type Numbers = Registry<dyn Number>;
    type Words = Registry<dyn Word, u64>;

    #[test]
    fn registries_return_a_registry_by_type_or_an_empty_one() {
        let mut numbers = Numbers::default();
        numbers.register("one", |_, _| Err(ConfigError::new("", "", "none")));
        let all = Registries::default().with(numbers);
        assert_eq!(all.get::<Numbers>().names().collect::<Vec<_>>(), ["one"]);
        assert_eq!(all.get::<Words>().names().count(), 0);
        let (changed, before) = (all.clone().with(Numbers::default()), all);
        assert_eq!(changed.get::<Numbers>().names().count(), 0);
        assert_eq!(before.get::<Numbers>().names().count(), 1, "a copy is another's");
    }
}
