//! The names of the methods of texts, lists and dicts.

/// Declares the methods, with their names.
macro_rules! methods {
    ($($variant:ident $name:literal),+ $(,)?) => {
        /// A method.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Method { $($variant),+ }

        impl Method {
            /// The method called `name`.
            pub(crate) fn find(name: &str) -> Option<Method> {
                match name {
                    $($name => Some(Method::$variant),)+
                    _ => None,
                }
            }

            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Method::$variant => $name),+
                }
            }

            /// The names of all of them.
            pub(crate) const NAMES: &[&str] = &[$($name),+];
        }
    };
}

methods![
    Append "append",
    Clear "clear",
    Count "count",
    EndsWith "endswith",
    Extend "extend",
    Find "find",
    Format "format",
    Get "get",
    Index "index",
    Insert "insert",
    IsAlnum "isalnum",
    IsAlpha "isalpha",
    IsDigit "isdigit",
    Items "items",
    Join "join",
    Keys "keys",
    Lower "lower",
    LStrip "lstrip",
    Partition "partition",
    Pop "pop",
    PopItem "popitem",
    Remove "remove",
    RemovePrefix "removeprefix",
    RemoveSuffix "removesuffix",
    Replace "replace",
    RFind "rfind",
    RPartition "rpartition",
    RStrip "rstrip",
    SetDefault "setdefault",
    Split "split",
    SplitLines "splitlines",
    StartsWith "startswith",
    Strip "strip",
    Update "update",
    Upper "upper",
    Values "values",
];
