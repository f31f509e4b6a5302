//! The attributes of methods and of their arguments.

use proc_macro2::Span;
use syn::{
    Attribute, Error, Expr, FnArg, Ident, ImplItemFn, LitInt, LitStr, Pat, ReceiverKind, Result, ReturnType,
    Token, Type,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
    spanned::Spanned,
};

/// The role of a method, if it has one of our attributes.
pub(crate) enum MethodRole {
    Init,
    Operation(Options),
    Invariant,
}

/// The options of `#[op]`.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) weight: Option<LitInt>,
    pub(crate) group: Option<LitStr>,
    pub(crate) is_once: bool,
    /// The future of the operation may be dropped while it waits.
    pub(crate) may_cancel: Option<Span>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Options::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            match &*key.to_string() {
                "once" => options.is_once = true,
                "cancel" => options.may_cancel = Some(key.span()),
                "weight" => {
                    input.parse::<Token![=]>()?;
                    options.weight = Some(input.parse()?);
                }
                "group" => {
                    input.parse::<Token![=]>()?;
                    options.group = Some(input.parse()?);
                }
                "blocking" => {
                    let reason = "remove `blocking`: every operation may block, and whether it should is determined from \
                                  its serial executions";
                    return Err(Error::new(key.span(), reason));
                }
                other => {
                    let reason = format!("unknown option `{other}`: expected weight, group, once or cancel");
                    return Err(Error::new(key.span(), reason));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

/// An argument of an operation.
pub(crate) struct Argument {
    pub(crate) ty: Type,
    /// The values to try; `None` for all values of its type.
    pub(crate) values: Option<Vec<Expr>>,
}

/// Removes our attribute from a method, and returns the method's role.
pub(crate) fn take_role(method: &mut ImplItemFn) -> Result<Option<MethodRole>> {
    let mut role = None;
    let (ours, others): (Vec<Attribute>, Vec<Attribute>) = method
        .attrs
        .drain(..)
        .partition(|it| ["init", "op", "invariant"].iter().any(|ours| it.path().is_ident(ours)));
    method.attrs = others;
    for attribute in ours {
        let found = if attribute.path().is_ident("op") {
            match &attribute.meta {
                syn::Meta::Path(_) => MethodRole::Operation(Options::default()),
                syn::Meta::List(_) | syn::Meta::NameValue(_) => {
                    MethodRole::Operation(attribute.parse_args()?)
                }
            }
        } else {
            attribute.meta.require_path_only()?;
            if attribute.path().is_ident("init") { MethodRole::Init } else { MethodRole::Invariant }
        };
        if role.replace(found).is_some() {
            let reason = "a method has only one of `#[init]`, `#[op]` and `#[invariant]`";
            return Err(Error::new(attribute.span(), reason));
        }
    }
    Ok(role)
}

/// Removes `#[values(..)]` from the arguments of an operation, and checks that several threads can
/// call it.
pub(crate) fn take_arguments(method: &mut ImplItemFn) -> Result<Vec<Argument>> {
    reject_unsupported(method)?;
    let shared = "an operation takes `&self`: several threads call it concurrently";
    let Some(FnArg::Receiver(receiver)) = method.sig.inputs.first() else {
        return Err(Error::new(method.sig.ident.span(), shared));
    };
    let is_shared = matches!(&receiver.kind, ReceiverKind::Reference(_, _, None));
    if !is_shared {
        return Err(Error::new(receiver.span(), shared));
    }
    let mut arguments = Vec::new();
    for input in method.sig.inputs.iter_mut().skip(1) {
        let FnArg::Typed(input) = input else { continue };
        let mut values = None;
        for attribute in input.attrs.extract_if(.., |it| it.path().is_ident("values")) {
            let list = attribute.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated)?;
            if list.is_empty() {
                return Err(Error::new(attribute.span(), "expected at least one value: `#[values(1, 2)]`"));
            }
            if values.replace(list.into_iter().collect()).is_some() {
                return Err(Error::new(attribute.span(), "duplicate `#[values(..)]`"));
            }
        }
        if let (Type::ImplTrait(_), Pat::Ident(_)) = (&*input.ty, &*input.pat) {
            return Err(Error::new(
                input.ty.span(),
                "an argument of an operation needs a concrete type, not `impl Trait`",
            ));
        }
        arguments.push(Argument { ty: (*input.ty).clone(), values });
    }
    Ok(arguments)
}

/// Checks that a method can be called directly.
pub(crate) fn reject_unsupported(method: &ImplItemFn) -> Result<()> {
    let signature = &method.sig;
    if let Some(it) = signature.generics.type_params().next() {
        return Err(Error::new(
            it.span(),
            "a generic method is not supported: call it with a concrete type in a method that is not generic",
        ));
    }
    if let Some(it) = signature.generics.const_params().next() {
        return Err(Error::new(
            it.span(),
            "a generic method is not supported: call it with a concrete value in a method that is not generic",
        ));
    }
    if let syn::Safety::Unsafe(it) = &signature.safety {
        return Err(Error::new(
            it.span(),
            "an `unsafe` method is not supported: call it in a safe method, with a safety comment",
        ));
    }
    Ok(())
}

/// Checks that a method is not `async`.
pub(crate) fn reject_async(method: &ImplItemFn) -> Result<()> {
    match &method.sig.asyncness {
        Some(it) => Err(Error::new(it.span(), "only operations may be `async`: block on the future instead")),
        None => Ok(()),
    }
}

/// How an invariant reports a violation.
pub(crate) enum InvariantKind {
    /// It panics.
    Panics,
    /// It returns `false`.
    ReturnsBool,
}

/// Checks that a method is an invariant.
pub(crate) fn invariant(method: &ImplItemFn) -> Result<InvariantKind> {
    reject_unsupported(method)?;
    reject_async(method)?;
    let takes_self = matches!(method.sig.inputs.first(), Some(FnArg::Receiver(_)));
    if !takes_self || method.sig.inputs.len() != 1 {
        return Err(Error::new(method.sig.ident.span(), "an invariant takes `&self` and no other argument"));
    }
    match &method.sig.output {
        ReturnType::Default => Ok(InvariantKind::Panics),
        ReturnType::Type(_, ty) => match &**ty {
            Type::Path(it) if it.path.is_ident("bool") => Ok(InvariantKind::ReturnsBool),
            Type::Tuple(it) if it.elems.is_empty() => Ok(InvariantKind::Panics),
            other => {
                let reason = "an invariant returns a `bool`, or returns nothing and panics if it is violated";
                Err(Error::new(other.span(), reason))
            }
        },
    }
}
