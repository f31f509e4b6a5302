//! Generates the test of an impl block.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{
    Attribute, Error, Expr, Ident, ImplItem, ImplItemFn, ItemImpl, Path, Result, Type, spanned::Spanned,
};

use crate::{
    arguments::{Arguments, bound_name},
    methods::{self, Argument, InvariantKind, MethodRole, Options},
};

/// The block without our attributes, and the test.
pub(crate) fn test(arguments: TokenStream, mut block: ItemImpl) -> Result<TokenStream> {
    let arguments: Arguments = syn::parse2(arguments)?;
    reject_unsupported(&block)?;
    let (of_block, test_attributes) = take_attributes(&mut block);
    let ty = (*block.self_ty).clone();
    let mut init = arguments.init.as_ref().map(|it| quote!(|| #it));
    let (mut calls, mut cancelled) = (Vec::new(), Vec::new());
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some(role) = methods::take_role(method)? else { continue };
        match role {
            MethodRole::Init => {
                let made = constructor(&ty, method)?;
                if init.replace(made).is_some() {
                    let reason = "duplicate constructor: expected one `#[init]` method, or `init = ..`";
                    return Err(Error::new(method.sig.ident.span(), reason));
                }
            }
            MethodRole::Operation(options) => {
                let taken = methods::take_arguments(method)?;
                if options.may_cancel.is_some() {
                    cancelled.push((plain(&method.sig.ident), conditions(&method.attrs)));
                }
                if let (Some(span), None) = (options.may_cancel, &method.sig.asyncness) {
                    return Err(Error::new(span, "only an `async` operation can be cancelled"));
                }
                calls.push(operation(&arguments.krate, &ty, method, &taken, &options));
            }
            MethodRole::Invariant => calls.push(invariant(&ty, method)?),
        }
    }
    let init = init.ok_or_else(|| {
        let reason = "no constructor: write `#[init]` before a method, or `init = ..` in the attribute";
        Error::new(ty.span(), reason)
    })?;
    if calls.is_empty() {
        return Err(Error::new(ty.span(), "no operations: write `#[op]` before methods"));
    }
    let (krate, settings) = (&arguments.krate, &arguments.settings);
    let (name, subject) = (test_name(&arguments, &ty)?, short(&ty));
    let known = arguments.bounds.iter().map(|(key, _, unknown)| {
        let bound = bound_name(key);
        quote_spanned!(key.span() =>
            const _: () = assert!(#krate::line_up::find_bound(#bound).is_some(), #unknown);)
    });
    let bounds = arguments.bounds.iter().map(|(key, value, unknown)| {
        let bound = bound_name(key);
        quote!(.bound(#krate::line_up::find_bound(#bound).expect(#unknown), #value))
    });
    let parsed = arguments.parsed.iter().map(|(key, ty, text)| {
        let parsed = quote!(<#krate::line_up::#ty as ::core::str::FromStr>::from_str(#text));
        quote!(.#key(#parsed.unwrap_or_else(|error| ::core::panic!("{error}"))))
    });
    let (may_fail, with_may_fail) = may_fail(&arguments, &cancelled).unzip();
    Ok(quote! {
        #block

        #(#of_block)*
        #[cfg(test)]
        #[::core::prelude::v1::test]
        #(#test_attributes)*
        fn #name() {
            #(#known)*
            let line_up = #krate::LineUp::new(#init).named(#subject);
            #(#calls)*
            #may_fail
            line_up #(#parsed)* #with_may_fail #(#settings)* #(#bounds)* .assert();
        }
    })
}

/// The results that operations may return with no effect, and how they are set: those that the
/// attribute names, and that of a future that was dropped, if its operation is compiled.
fn may_fail(
    arguments: &Arguments,
    cancelled: &[(String, Vec<Attribute>)],
) -> Option<(TokenStream, TokenStream)> {
    let krate = &arguments.krate;
    let ty = quote!(#krate::line_up::MayFail);
    let named = arguments.may_fail.as_ref().map(|results| {
        let parsed = quote!(<#ty as ::core::str::FromStr>::from_str(#results));
        quote!(#parsed.unwrap_or_else(|error| ::core::panic!("may_fail: {error}")))
    });
    if named.is_none() && cancelled.is_empty() {
        return None;
    }
    let named = named.unwrap_or_else(|| quote!(#ty::new()));
    let cancelled = cancelled.iter().map(|(name, conditions)| {
        let when = quote!(#krate::line_up::FailsWhen::Always);
        quote!(#(#conditions)* let may_fail = may_fail.and(#name, "cancelled", #when);)
    });
    Some((quote!(let may_fail = #named; #(#cancelled)*), quote!(.may_fail(may_fail))))
}

fn reject_unsupported(block: &ItemImpl) -> Result<()> {
    if let Some((path, _)) = &block.trait_ {
        return Err(Error::new(
            path.span(),
            "the impl of a trait is not supported: write an inherent impl with methods that call it",
        ));
    }
    if let Some(it) = block.generics.params.first() {
        let reason = "generic blocks are not supported: write the block for a concrete type, such as `impl Stack<u32>`";
        return Err(Error::new(it.span(), reason));
    }
    Ok(())
}

/// The `cfg` attributes, which also apply to the test, and the attributes for the test only.
fn take_attributes(block: &mut ItemImpl) -> (Vec<Attribute>, Vec<Attribute>) {
    let is_for_test = |it: &Attribute| ["should_panic", "ignore"].iter().any(|name| it.path().is_ident(name));
    let (test_attributes, others): (Vec<Attribute>, Vec<Attribute>) =
        block.attrs.drain(..).partition(is_for_test);
    block.attrs = others;
    (conditions(&block.attrs), test_attributes)
}

fn conditions(attributes: &[Attribute]) -> Vec<Attribute> {
    attributes.iter().filter(|it| it.path().is_ident("cfg")).cloned().collect()
}

fn constructor(ty: &Type, method: &ImplItemFn) -> Result<TokenStream> {
    methods::reject_unsupported(method)?;
    methods::reject_async(method)?;
    if let Some(it) = method.sig.inputs.first() {
        let reason =
            "the `#[init]` method takes no arguments: write `init = ..` in the attribute, with the arguments";
        return Err(Error::new(it.span(), reason));
    }
    let name = &method.sig.ident;
    Ok(quote!(|| <#ty>::#name()))
}

/// One call for each combination of arguments.
fn operation(
    krate: &Path,
    ty: &Type,
    method: &ImplItemFn,
    arguments: &[Argument],
    options: &Options,
) -> TokenStream {
    let name = &method.sig.ident;
    let text = plain(name);
    let names: Vec<Ident> = (0..arguments.len()).map(|at| format_ident!("argument_{at}")).collect();
    let label = if names.is_empty() {
        quote!(::std::string::String::from(#text))
    } else {
        let holes = vec!["{:?}"; names.len()].join(", ");
        let format = format!("{text}({holes})");
        quote!(::std::format!(#format, #(#names),*))
    };
    let weight = options.weight.as_ref().map(|it| quote!(.weight(#it)));
    let group = options.group.as_ref().map(|it| quote!(.group(#it)));
    let once = options.is_once.then(|| quote!(.once()));
    let result_span = match &method.sig.output {
        syn::ReturnType::Default => Span::call_site(),
        syn::ReturnType::Type(_, ty) => ty.span(),
    };
    let shown = quote_spanned!(result_span=> #krate::line_up::ShownResult::of(&result));
    let call = quote!(<#ty>::#name(it, #(::core::clone::Clone::clone(&#names)),*));
    let made = match (&method.sig.asyncness, options.may_cancel) {
        (None, _) => quote!(let result = #call;),
        (Some(_), None) => quote!(let result = #krate::with_async!(#krate::future::block_on(#call));),
        (Some(_), Some(_)) => quote! {
            let ::core::option::Option::Some(result) =
                #krate::with_async!(#krate::future::block_on(#krate::future::may_cancel(#call)))
            else {
                return #krate::line_up::ShownResult::of(&::core::format_args!("cancelled"));
            };
        },
    };
    let mut body = quote! {
        let line_up = {
            let label = #label;
            #(let #names = ::core::clone::Clone::clone(&#names);)*
            line_up.call(label, move |it: &#ty| {
                #made
                #shown
            }) #weight #group #once
        };
    };
    // From the last argument to the first: the first changes slowest.
    for (argument, name) in arguments.iter().zip(&names).rev() {
        let values = values(krate, argument);
        body = quote! {
            let mut line_up = line_up;
            for #name in #values {
                line_up = { #body line_up };
            }
        };
    }
    let conditions = conditions(&method.attrs);
    quote! {
        #(#conditions)*
        let line_up = { #body line_up };
    }
}

fn values(krate: &Path, argument: &Argument) -> TokenStream {
    let ty = &argument.ty;
    let Some(values) = &argument.values else {
        return quote_spanned!(ty.span()=> <#ty as #krate::line_up::Every>::every());
    };
    let pushes = values.iter().map(|it| match it {
        Expr::Range(range) => quote!(::std::iter::Extend::extend(&mut values, #range);),
        other => quote!(values.push(#other);),
    });
    quote! {{
        let mut values: ::std::vec::Vec<#ty> = ::std::vec::Vec::new();
        #(#pushes)*
        values
    }}
}

fn invariant(ty: &Type, method: &ImplItemFn) -> Result<TokenStream> {
    let (name, text, conditions) = (&method.sig.ident, plain(&method.sig.ident), conditions(&method.attrs));
    let call = match methods::invariant(method)? {
        InvariantKind::Panics => quote!(<#ty>::#name(it)),
        InvariantKind::ReturnsBool => {
            let message = format!("the invariant `{text}` does not hold");
            quote!(::core::assert!(<#ty>::#name(it), #message))
        }
    };
    Ok(quote! {
        #(#conditions)*
        let line_up = line_up.invariant(#text, |it: &#ty| #call);
    })
}

fn plain(name: &Ident) -> String {
    name.to_string().trim_start_matches("r#").to_owned()
}

/// The last segment of the path: `Stack` for `stacks::Stack<u32>`.
fn short(ty: &Type) -> String {
    match ty {
        Type::Path(it) => it.path.segments.last().map(|it| plain(&it.ident)).unwrap_or_default(),
        other => other.to_token_stream().to_string(),
    }
}

fn test_name(arguments: &Arguments, ty: &Type) -> Result<Ident> {
    if let Some(name) = &arguments.name {
        return name.parse();
    }
    let mut snake = String::new();
    for it in short(ty).chars() {
        if it.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(it.to_lowercase().filter(|it| it.is_alphanumeric() || *it == '_'));
    }
    Ok(Ident::new(&format!("{snake}_is_linearizable"), Span::call_site()))
}
