//! The arguments of the attribute.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Error, Expr, Ident, LitInt, LitStr, Path, Result, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream},
};

/// The arguments of the attribute.
pub(crate) struct Arguments {
    /// The path of the crate.
    pub(crate) krate: Path,
    /// The name of the test.
    pub(crate) name: Option<LitStr>,
    /// The expression that creates the object.
    pub(crate) init: Option<Expr>,
    /// Settings of types that are read from text: the key, the type, the text.
    pub(crate) parsed: Vec<(Ident, Ident, LitStr)>,
    /// The results that operations may return with no effect.
    pub(crate) may_fail: Option<LitStr>,
    /// Methods of the builder.
    pub(crate) settings: Vec<TokenStream>,
    /// Bounds of schedulers: the key, the value, and the error message if no scheduler has it.
    pub(crate) bounds: Vec<(Ident, TokenStream, String)>,
}

const ARGUMENT_NAMES: &str = "threads, operations, samples, auto, seed, jobs, executions, scheduler, memory_model, timeout, spurious, matrix, \
                     initial, final, sequence, may_fail, real_time, weak_failures, nondeterministic, name, init and crate";

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let krate = syn::parse_quote!(::clewline);
        let mut arguments = Arguments {
            krate,
            name: None,
            init: None,
            parsed: Vec::new(),
            may_fail: None,
            settings: Vec::new(),
            bounds: Vec::new(),
        };
        let mut seen: Vec<String> = Vec::new();
        while !input.is_empty() {
            arguments.parse_one(input, &mut seen)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

impl Arguments {
    fn parse_one(&mut self, input: ParseStream<'_>, seen: &mut Vec<String>) -> Result<()> {
        if input.peek(Token![crate]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            self.krate = input.parse()?;
            return Ok(());
        }
        // `final` is a reserved word.
        let key = input.call(Ident::parse_any)?;
        let name = key.to_string();
        if !matches!(&*name, "matrix" | "sequence") && seen.contains(&name) {
            return Err(Error::new(key.span(), format!("duplicate argument `{name}`")));
        }
        if matches!(&*name, "nondeterministic" | "real_time" | "weak_failures") {
            self.settings.push(quote!(.#key()));
            seen.push(name);
            return Ok(());
        }
        if !ARGUMENT_NAMES.split([',', ' ']).any(|it| it == name && it != "and") {
            seen.push(name);
            return self.bound(key, input);
        }
        input.parse::<Token![=]>()?;
        match &*name {
            "name" => self.name = Some(input.parse()?),
            "init" => self.init = Some(input.parse()?),
            "matrix" | "sequence" => {
                let text: LitStr = input.parse()?;
                self.settings.push(quote!(.#key(#text)));
            }
            "initial" | "final" => {
                let (text, method): (LitStr, _) = (input.parse()?, format_ident!("{name}_calls"));
                self.settings.push(quote!(.#method(#text)));
            }
            "memory_model" | "scheduler" => {
                let ty = if name == "scheduler" { "ThreadScheduler" } else { "MemoryModel" };
                self.parsed.push((key, format_ident!("{ty}"), input.parse()?));
            }
            "may_fail" => self.may_fail = Some(input.parse()?),
            "timeout" => {
                let text: LitStr = input.parse()?;
                let ms = milliseconds(&text.value()).ok_or_else(|| {
                    Error::new(text.span(), "expected a duration such as 500ms, 10s, 5m or 1h")
                })?;
                self.settings.push(quote!(.timeout(::core::time::Duration::from_millis(#ms))));
            }
            _ => {
                let number: LitInt = input.parse()?;
                // Without a suffix: it gets the type that the method takes.
                let number = LitInt::new(number.base10_digits(), number.span());
                self.settings.push(quote!(.#key(#number)));
            }
        }
        seen.push(name);
        Ok(())
    }

    /// Any other name is taken for a bound of a scheduler. This crate does not know which bounds
    /// exist: the generated code checks that.
    fn bound(&mut self, key: Ident, input: ParseStream<'_>) -> Result<()> {
        let unknown =
            format!("unknown argument `{key}`: expected {ARGUMENT_NAMES}, or a bound of a scheduler");
        let is_value = input.peek2(LitInt) || input.peek2(Ident);
        if !input.peek(Token![=]) || !is_value {
            return Err(Error::new(key.span(), unknown));
        }
        input.parse::<Token![=]>()?;
        let value = if input.peek(Ident) {
            let none: Ident = input.parse()?;
            if none != "none" {
                return Err(Error::new(none.span(), "expected a number or `none`"));
            }
            quote!(::core::option::Option::None)
        } else {
            let number: LitInt = input.parse()?;
            let number = LitInt::new(number.base10_digits(), number.span());
            quote!(#number)
        };
        self.bounds.push((key, value, unknown));
        Ok(())
    }
}

/// The milliseconds of a duration such as `10s`.
fn milliseconds(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|it: char| it.is_ascii_alphabetic())?);
    let ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let number: u64 = number.trim().parse().ok()?;
    number.checked_mul(ms).filter(|&it| it != 0)
}

/// The name of a bound, as schedulers write it.
pub(crate) fn bound_name(key: &Ident) -> String {
    key.to_string().replace('_', "-")
}
