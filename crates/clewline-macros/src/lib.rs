//! The attribute macro of Clewline.
use proc_macro::TokenStream;
/// x
#[proc_macro_attribute]
pub fn test(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}
