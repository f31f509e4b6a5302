//! From an impl block to the block and its test.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{
    Attribute, Error, Expr, Ident, ImplItem, ImplItemFn, ItemImpl, Path, Result, Type, spanned::Spanned,
};

use crate::{
    arguments::{Arguments, bound_name},
    methods::{self, Argument, Options, Part, Says},
};

/// The block without our attributes, and the test.
pub(crate) fn test(arguments: TokenStream, mut block: ItemImpl) -> Result<TokenStream> {
    let arguments: Arguments = syn::parse2(arguments)?;
    refuse_special(&block)?;
    let (conditions, of_test) = take_attributes(&mut block);
    let ty = (*block.self_ty).clone();
    let (mut init, mut calls) = (arguments.init.as_ref().map(|it| quote!(|| #it)), Vec::new());
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some(part) = methods::take_part(method)? else { continue };
        match part {
            Part::Init => {
                let made = constructor(&ty, method)?;
                if init.replace(made).is_some() {
                    let reason = "one way to make a fresh one is enough: `#[init]`, or `init = ..`";
                    return Err(Error::new(method.sig.ident.span(), reason));
                }
            }
            Part::Operation(options) => {
                let taken = methods::take_arguments(method)?;
                calls.push(operation(&arguments.krate, &ty, method, &taken, &options));
            }
            Part::Invariant => calls.push(invariant(&ty, method)?),
        }
    }
    let init = init.ok_or_else(|| {
        let reason = "nothing says how to make a fresh one: write `#[init]` before a method, or `init = ..` in the attribute";
        Error::new(ty.span(), reason)
    })?;
    if calls.is_empty() {
        return Err(Error::new(ty.span(), "nothing can be called: write `#[op]` before methods"));
    }
    let (krate, settings) = (&arguments.krate, &arguments.settings);
    let (name, subject) = (test_name(&arguments, &ty)?, short(&ty));
    let bounds = arguments.bounds.iter().map(|(key, unknown)| {
        let bound = bound_name(key);
        quote_spanned!(key.span() => const _: () = assert!(#krate::line_up::has_bound(#bound), #unknown);)
    });
    let memory_model = arguments.memory_model.iter().map(|name| {
        let parsed = quote!(<#krate::line_up::MemoryModel as ::core::str::FromStr>::from_str(#name));
        quote!(.memory_model(#parsed.unwrap_or_else(|error| ::core::panic!("{error}"))))
    });
    Ok(quote! {
        #block

        #(#conditions)*
        #[cfg(test)]
        #[::core::prelude::v1::test]
        #(#of_test)*
        fn #name() {
            #(#bounds)*
            let line_up = #krate::LineUp::new(#init).named(#subject);
            #(#calls)*
            line_up #(#memory_model)* #(#settings)* .assert();
        }
    })
}

fn refuse_special(block: &ItemImpl) -> Result<()> {
    if let Some((path, _)) = &block.trait_ {
        return Err(Error::new(
            path.span(),
            "not for the impl of a trait: write a block with methods that call it",
        ));
    }
    if let Some(it) = block.generics.params.first() {
        let reason =
            "a test needs a type without parameters: write the block for one, such as `impl Stack<u32>`";
        return Err(Error::new(it.span(), reason));
    }
    Ok(())
}

/// Conditions, which count for the test as well, and what was meant for the test alone.
fn take_attributes(block: &mut ItemImpl) -> (Vec<Attribute>, Vec<Attribute>) {
    let is_tests = |it: &Attribute| ["should_panic", "ignore"].iter().any(|name| it.path().is_ident(name));
    let (of_test, others): (Vec<Attribute>, Vec<Attribute>) = block.attrs.drain(..).partition(is_tests);
    block.attrs = others;
    (conditions(&block.attrs), of_test)
}

fn conditions(attributes: &[Attribute]) -> Vec<Attribute> {
    attributes.iter().filter(|it| it.path().is_ident("cfg")).cloned().collect()
}

fn constructor(ty: &Type, method: &ImplItemFn) -> Result<TokenStream> {
    methods::refuse_special(method)?;
    if let Some(it) = method.sig.inputs.first() {
        let reason =
            "what makes a fresh one takes no arguments: say `init = ..` in the attribute, with these";
        return Err(Error::new(it.span(), reason));
    }
    let name = &method.sig.ident;
    Ok(quote!(|| <#ty>::#name()))
}

/// One call for each choice of arguments.
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
    let result = match &method.sig.output {
        syn::ReturnType::Default => Span::call_site(),
        syn::ReturnType::Type(_, ty) => ty.span(),
    };
    let shown = quote_spanned!(result=> #krate::line_up::ShownResult::of(&result));
    let mut body = quote! {
        let line_up = {
            let label = #label;
            #(let #names = ::core::clone::Clone::clone(&#names);)*
            line_up.call(label, move |it: &#ty| {
                let result = <#ty>::#name(it, #(::core::clone::Clone::clone(&#names)),*);
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
        Says::Nothing => quote!(<#ty>::#name(it)),
        Says::Whether => {
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

/// The last part of the path: `Stack` for `stacks::Stack<u32>`.
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
