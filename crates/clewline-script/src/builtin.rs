//! The names of the functions that every script has.

/// Declares the functions, with their names.
macro_rules! builtins {
    ($($variant:ident $name:literal),+ $(,)?) => {
        /// A function that every script has.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Builtin { $($variant),+ }

        impl Builtin {
            /// The names of all.
            pub(crate) const NAMES: &[&str] = &[$($name),+];

            /// The function called `name`.
            pub(crate) fn find(name: &str) -> Option<Builtin> {
                match name {
                    $($name => Some(Builtin::$variant),)+
                    _ => None,
                }
            }

            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Builtin::$variant => $name),+
                }
            }
        }
    };
}

builtins![
    Abs "abs",
    All "all",
    Any "any",
    Bool "bool",
    Dict "dict",
    Enumerate "enumerate",
    Fail "fail",
    Int "int",
    Len "len",
    List "list",
    Max "max",
    Min "min",
    Range "range",
    Repr "repr",
    Reversed "reversed",
    Sorted "sorted",
    Str "str",
    Tuple "tuple",
    Type "type",
    Zip "zip",
];
