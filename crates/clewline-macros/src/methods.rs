//! What is said about methods and their arguments.

use syn::{
    Attribute, Error, Expr, FnArg, Ident, ImplItemFn, LitInt, LitStr, Pat, ReceiverKind, Result, ReturnType,
    Token, Type,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
    spanned::Spanned,
};

/// What a method is for, if it says so.
pub(crate) enum Part {
    Init,
    Operation(Options),
    Invariant,
}

/// What is said about an operation.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) weight: Option<LitInt>,
    pub(crate) group: Option<LitStr>,
    pub(crate) is_once: bool,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Options::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            match &*key.to_string() {
                "once" => options.is_once = true,
                "weight" => {
                    input.parse::<Token![=]>()?;
                    options.weight = Some(input.parse()?);
                }
                "group" => {
                    input.parse::<Token![=]>()?;
                    options.group = Some(input.parse()?);
                }
                "blocking" => {
                    let reason = "leave `blocking` out: every operation may block, and whether it should is found out from \
                                  what it does one call at a time";
                    return Err(Error::new(key.span(), reason));
                }
                other => {
                    let reason =
                        format!("nothing is called `{other}` here; there are weight, group and once");
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
    /// What it may be; `None` for everything its type has.
    pub(crate) values: Option<Vec<Expr>>,
}

/// Takes our attribute away from a method, and says what it is for.
pub(crate) fn take_part(method: &mut ImplItemFn) -> Result<Option<Part>> {
    let mut part = None;
    let (ours, others): (Vec<Attribute>, Vec<Attribute>) = method
        .attrs
        .drain(..)
        .partition(|it| ["init", "op", "invariant"].iter().any(|ours| it.path().is_ident(ours)));
    method.attrs = others;
    for attribute in ours {
        let found = if attribute.path().is_ident("op") {
            match &attribute.meta {
                syn::Meta::Path(_) => Part::Operation(Options::default()),
                syn::Meta::List(_) | syn::Meta::NameValue(_) => Part::Operation(attribute.parse_args()?),
            }
        } else {
            attribute.meta.require_path_only()?;
            if attribute.path().is_ident("init") { Part::Init } else { Part::Invariant }
        };
        if part.replace(found).is_some() {
            let reason = "a method is one of `#[init]`, `#[op]` and `#[invariant]`";
            return Err(Error::new(attribute.span(), reason));
        }
    }
    Ok(part)
}

/// Takes `#[values(..)]` away from the arguments of an operation, and checks that several threads can call it.
pub(crate) fn take_arguments(method: &mut ImplItemFn) -> Result<Vec<Argument>> {
    refuse_special(method)?;
    let shared = "an operation takes `&self`: several threads call it at the same time";
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
                return Err(Error::new(attribute.span(), "at least one value: `#[values(1, 2)]`"));
            }
            if values.replace(list.into_iter().collect()).is_some() {
                return Err(Error::new(attribute.span(), "one list of values is enough"));
            }
        }
        if let (Type::ImplTrait(_), Pat::Ident(_)) = (&*input.ty, &*input.pat) {
            return Err(Error::new(
                input.ty.span(),
                "an argument needs a type: values of which one are to be tried?",
            ));
        }
        arguments.push(Argument { ty: (*input.ty).clone(), values });
    }
    Ok(arguments)
}

/// Checks that a method can be called without more ado.
pub(crate) fn refuse_special(method: &ImplItemFn) -> Result<()> {
    let signature = &method.sig;
    if let Some(it) = &signature.asyncness {
        return Err(Error::new(
            it.span(),
            "not for `async` methods: block on the future in a method that is none",
        ));
    }
    if let Some(it) = signature.generics.type_params().next() {
        return Err(Error::new(
            it.span(),
            "not for generic methods: call it, with a type, in a method that is none",
        ));
    }
    if let Some(it) = signature.generics.const_params().next() {
        return Err(Error::new(
            it.span(),
            "not for generic methods: call it, with a value, in a method that is none",
        ));
    }
    if let syn::Safety::Unsafe(it) = &signature.safety {
        return Err(Error::new(
            it.span(),
            "not for `unsafe` methods: call it in a method that is safe, and say why",
        ));
    }
    Ok(())
}

/// How an invariant says that something is wrong.
pub(crate) enum Says {
    /// It panics.
    Nothing,
    /// It answers `false`.
    Whether,
}

/// Checks that a method is an invariant.
pub(crate) fn invariant(method: &ImplItemFn) -> Result<Says> {
    refuse_special(method)?;
    let takes_self = matches!(method.sig.inputs.first(), Some(FnArg::Receiver(_)));
    if !takes_self || method.sig.inputs.len() != 1 {
        return Err(Error::new(method.sig.ident.span(), "an invariant takes `&self` and nothing else"));
    }
    match &method.sig.output {
        ReturnType::Default => Ok(Says::Nothing),
        ReturnType::Type(_, ty) => match &**ty {
            Type::Path(it) if it.path.is_ident("bool") => Ok(Says::Whether),
            Type::Tuple(it) if it.elems.is_empty() => Ok(Says::Nothing),
            other => {
                let reason = "an invariant answers a `bool`, or nothing and panics if something is wrong";
                Err(Error::new(other.span(), reason))
            }
        },
    }
}
