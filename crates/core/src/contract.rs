//! Macro `contract!`: declares the trait of a kind of component, the trait of its wrappers, and a
//! macro for delegation.

/// Declares the contract of a kind of component: a trait with default methods for components, a
/// trait without defaults for wrappers, and a macro with which a wrapper delegates unchanged
/// methods.
///
/// A component implements the first trait; methods with a default body may be omitted. A wrapper
/// contains another component of the same kind. It implements the second trait and thereby also the
/// first trait. A wrapper must implement or delegate every method; the compiler lists the missing
/// methods. Methods under `provided` have a default body that calls other methods. They exist only
/// in the first trait.
///
/// The delegation macro has four forms. `delegate!(field: method, …)` delegates the named methods
/// to the component in that field. `delegate!(field)` delegates all methods. `delegate!(match
/// each)` is for an enum of components: it delegates all methods through a macro `each!(self,
/// component => …)`. `delegate!(match each: method, …)` delegates the named methods. The types in
/// the signatures and the macro itself must be in scope. If both traits are in scope, a method call
/// on a wrapper is ambiguous. In that case import only the first trait, and write the path of the
/// second trait in `impl`.
///
/// ```
/// mod counter {
///     airpath_core::contract! { $
///         /// Counts.
///         pub trait Counter {
///             /// Returns the next number.
///             fn next(&mut self) -> u64;
///             /// Continues at `number`.
///             fn set(&mut self, _number: u64) {}
///         }
///         provided {
///             /// Returns the number after the next.
///             fn second(&mut self) -> u64 {
///                 self.next();
///                 self.next()
///             }
///         }
///         /// A counter around another.
///         pub trait CounterWrapper;
///         macro delegate_counter;
///     }
/// }
/// use counter::{Counter, delegate_counter};
///
/// struct Zeros;
/// impl Counter for Zeros {
///     fn next(&mut self) -> u64 {
///         0
///     }
/// }
///
/// struct PlusOne(Zeros);
/// impl counter::CounterWrapper for PlusOne {
///     delegate_counter!(0: set);
///
///     fn next(&mut self) -> u64 {
///         self.0.next() + 1
///     }
/// }
/// assert_eq!(PlusOne(Zeros).second(), 1);
/// ```
#[macro_export]
macro_rules! contract {
    // The first token is `$`, which the rules of the generated macro contain.
    ($d:tt
        $(#[$meta:meta])* pub trait $contract:ident { $($methods:tt)* }
        $(provided { $($provided:tt)* })?
        $(#[$wrapper_meta:meta])* pub trait $wrapper:ident;
        $(#[$delegate_meta:meta])* macro $delegate:ident;
    ) => {
        $(#[$meta])*
        pub trait $contract { $($methods)* $($($provided)*)? }

        $crate::contract! { @list [] [
            $d $contract
            [$(#[$wrapper_meta])*] $wrapper
            [$(#[$delegate_meta])*] $delegate
        ] $($methods)* }
    };

    // Converts each method into the form `{[documentation] name (arguments) [-> result]}`.
    (@list [$($done:tt)*] $names:tt
        $(#[$doc:meta])* fn $name:ident ($($given:tt)*) $(-> $result:ty)?; $($rest:tt)*
    ) => {
        $crate::contract! { @list
            [$($done)* {[$(#[$doc])*] $name ($($given)*) [$(-> $result)?]}] $names $($rest)* }
    };
    (@list [$($done:tt)*] $names:tt
        $(#[$doc:meta])* fn $name:ident ($($given:tt)*) $(-> $result:ty)? { $($body:tt)* } $($rest:tt)*
    ) => {
        $crate::contract! { @list
            [$($done)* {[$(#[$doc])*] $name ($($given)*) [$(-> $result)?]}] $names $($rest)* }
    };
    (@list [$({[$($doc:tt)*] $name:ident $given:tt [$($result:tt)*]})*] [
        $d:tt $contract:ident
        [$($wrapper_meta:tt)*] $wrapper:ident
        [$($delegate_meta:tt)*] $delegate:ident
    ]) => {
        $($wrapper_meta)*
        pub trait $wrapper {
            $($($doc)* fn $name $given $($result)*;)*
        }

        impl<W: $wrapper> $contract for W {
            $($crate::contract! { @method $name $given [$($result)*] (of $wrapper) })*
        }

        $($delegate_meta)*
        macro_rules! $delegate {
            ($d field:tt: $d($d method:ident),+) => {
                $d($delegate! { @$d method (in $d field) })+
            };
            (match $d each:ident: $d($d method:ident),+) => {
                $d($delegate! { @$d method (match $d each) })+
            };
            (match $d each:ident) => {
                $($delegate! { @$name (match $d each) })*
            };
            ($d field:tt) => {
                $($delegate! { @$name (in $d field) })*
            };
            $((@$name $d how:tt) => {
                $crate::contract! { @method $name $given [$($result)*] $d how }
            };)*
        }
        #[allow(unused_imports, clippy::single_component_path_imports)]
        pub(crate) use $delegate;
    };

    (@method $name:ident (&mut $self:ident $(, $given:ident: $type:ty)*) [$($result:tt)*] $how:tt) => {
        #[inline]
        fn $name(&mut $self $(, $given: $type)*) $($result)* {
            $crate::contract!(@body $how $self $name $($given),*)
        }
    };
    (@method $name:ident (&$self:ident $(, $given:ident: $type:ty)*) [$($result:tt)*] $how:tt) => {
        #[inline]
        fn $name(&$self $(, $given: $type)*) $($result)* {
            $crate::contract!(@body $how $self $name $($given),*)
        }
    };
    (@body (of $wrapper:ident) $self:ident $name:ident $($given:ident),*) => {
        $wrapper::$name($self $(, $given)*)
    };
    (@body (in $field:tt) $self:ident $name:ident $($given:ident),*) => {
        $self.$field.$name($($given),*)
    };
    (@body (match $each:ident) $self:ident $name:ident $($given:ident),*) => {
        $each!($self, component => component.$name($($given),*))
    };
}
