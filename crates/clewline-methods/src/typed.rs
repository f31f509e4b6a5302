//! Names of types.

/// The name of a specification without a name: its type's, without the path.
pub(crate) fn name_of<S>() -> &'static str {
    let name = std::any::type_name::<S>();
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}
