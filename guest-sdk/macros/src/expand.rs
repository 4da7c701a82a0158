//! What `#[tool]` writes.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{ItemFn, Type, parse_quote, spanned::Spanned};

use crate::{options::Options, signature::Signature};

/// The function as it was, and the tool beside it; or the faults, and the function as it was.
pub(crate) fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    let item: ItemFn = match syn::parse2(function.clone()) {
        Ok(item) => item,
        Err(_) => {
            let message =
                "a tool is a function: `fn name(args: Args) -> Result<String, ToolError>`";
            let fault = syn::Error::new_spanned(&function, message).into_compile_error();
            return quote!(#fault #function);
        }
    };
    let declared = syn::parse2(options)
        .and_then(|options: Options| {
            let signature = Signature::of(&item, options.name.is_some())?;
            Ok(declare(&item, &options, &signature))
        })
        .unwrap_or_else(syn::Error::into_compile_error);
    quote!(#item #declared)
}

fn declare(item: &ItemFn, options: &Options, signature: &Signature) -> TokenStream {
    let Signature {
        ident, description, ..
    } = signature;
    let visibility = &item.vis;
    let name = options
        .name
        .as_ref()
        .map_or_else(|| signature.name.clone(), syn::LitStr::value);
    let Options {
        read_only,
        destructive,
        idempotent,
        needs,
        ..
    } = options;
    let nothing: Type = parse_quote!(());
    let returned = signature.returned.as_ref().unwrap_or(&nothing);
    let output_schema = quote_spanned! {returned.span()=>
        <#returned as ::belljar_guest::Reply>::output_schema
    };
    // A fault in the argument's type is told at the type.
    let (input_schema, call) = match &signature.argument {
        Some(argument) => (
            quote_spanned!(argument.span()=> ::belljar_guest::glue::input_schema::<#argument>),
            quote_spanned!(argument.span()=> ::belljar_guest::glue::call::<#argument, #returned>(json, #ident)),
        ),
        None => (
            quote!(::belljar_guest::glue::input_schema::<::belljar_guest::glue::NoArguments>),
            quote!(
                ::belljar_guest::glue::call::<::belljar_guest::glue::NoArguments, #returned>(
                    json,
                    |_| #ident(),
                )
            ),
        ),
    };
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, non_camel_case_types, reason = "it stands for the function of its name")]
        #visibility struct #ident {}

        impl ::belljar_guest::IsTool for #ident {
            const TOOL: ::belljar_guest::Tool = ::belljar_guest::Tool {
                name: #name,
                description: #description,
                read_only: #read_only,
                destructive: #destructive,
                idempotent: #idempotent,
                needs: &[#(::belljar_guest::session::Capability::#needs),*],
                input_schema: #input_schema,
                output_schema: #output_schema,
                call: |json| #call,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(options: &str, function: &str) -> String {
        tool(options.parse().unwrap(), function.parse().unwrap()).to_string()
    }

    #[test]
    fn the_function_stays_whatever_is_wrong() {
        for (options, function) in [
            ("", "/// D.\nfn kept(a: A) {}"),
            ("wrong", "/// D.\nfn kept(a: A) {}"),
            ("", "async fn kept() {}"),
            ("", "struct kept;"),
        ] {
            assert!(expand(options, function).contains("kept"), "{function}");
        }
    }

    #[test]
    fn faults_are_compile_errors() {
        assert!(!expand("", "/// D.\nfn f(a: A) {}").contains("compile_error"));
        assert!(expand("wrong", "/// D.\nfn f(a: A) {}").contains("compile_error"));
        assert!(expand("", "struct S;").contains("compile_error"));
    }
}
