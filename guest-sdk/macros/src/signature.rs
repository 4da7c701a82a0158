//! What a tool's function must look like.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{
    Attribute, Error, Expr, ExprLit, FnArg, ItemFn, Lit, Meta, Result, ReturnType, Type,
    ext::IdentExt, spanned::Spanned,
};

use crate::options::check_name;

/// A function that can be a tool.
pub(crate) struct Signature {
    pub(crate) ident: Ident,
    /// The function's name as a tool's.
    pub(crate) name: String,
    /// The doc comment's text.
    pub(crate) description: String,
    /// The argument's type; none when there is no argument.
    pub(crate) argument: Option<Type>,
    /// The type that is returned; none when there is none.
    pub(crate) returned: Option<Type>,
}

impl Signature {
    /// Reads a function; `named` says that its own name does not matter.
    pub(crate) fn of(function: &ItemFn, named: bool) -> Result<Self> {
        let signature = &function.sig;
        let mut faults = Faults::default();
        faults.refuse(&signature.asyncness, "a tool is not async: it may block");
        faults.refuse(&signature.constness, "a tool is not const");
        faults.refuse(&signature.unsafety, "a tool is not unsafe");
        faults.refuse(&signature.abi, "a tool has no ABI of its own");
        let parameters = &signature.generics.params;
        faults.refuse(
            (!parameters.is_empty()).then_some(parameters),
            "a tool is not generic: its arguments have one schema",
        );
        faults.refuse(&signature.generics.where_clause, "a tool is not generic");
        let name = signature.ident.unraw().to_string();
        if !named && let Err(fault) = check_name(&name, signature.ident.span()) {
            faults.add(fault);
        }
        let description = documentation(&function.attrs);
        if description.is_empty() {
            let message = "a tool has a doc comment: it is what a model knows of it";
            faults.add(Error::new(signature.ident.span(), message));
        }
        let argument = match argument(function) {
            Ok(argument) => argument,
            Err(fault) => {
                faults.add(fault);
                None
            }
        };
        faults.end()?;
        Ok(Self {
            ident: signature.ident.clone(),
            name,
            description,
            argument,
            returned: match &signature.output {
                ReturnType::Default => None,
                ReturnType::Type(_, returned) => Some((**returned).clone()),
            },
        })
    }
}

fn argument(function: &ItemFn) -> Result<Option<Type>> {
    let mut inputs = function.sig.inputs.iter();
    let argument = match inputs.next() {
        None => return Ok(None),
        Some(FnArg::Receiver(receiver)) => {
            let message = "a tool is a function, and not a method";
            return Err(Error::new(receiver.span(), message));
        }
        Some(FnArg::Typed(argument)) => argument,
    };
    if let Some(second) = inputs.next() {
        let message = "a tool takes one argument; put the others into its struct as fields";
        return Err(Error::new(second.span(), message));
    }
    match &*argument.ty {
        Type::Reference(reference) => Err(Error::new(
            reference.span(),
            "a tool takes its argument by value",
        )),
        Type::ImplTrait(generic) => Err(Error::new(
            generic.span(),
            "a tool is not generic: its arguments have one schema",
        )),
        named => Ok(Some(named.clone())),
    }
}

/// The text of the doc comment, without the space after the slashes.
fn documentation(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                }) => {
                    let text = text.value();
                    Some(
                        text.strip_prefix(' ')
                            .unwrap_or(&text)
                            .trim_end()
                            .to_owned(),
                    )
                }
                _ => None,
            },
            _ => None,
        })
        .collect();
    lines.join("\n").trim().to_owned()
}

/// Everything that is wrong with a function.
#[derive(Default)]
struct Faults(Option<Error>);

impl Faults {
    fn add(&mut self, fault: Error) {
        match &mut self.0 {
            Some(faults) => faults.combine(fault),
            None => self.0 = Some(fault),
        }
    }

    fn refuse(&mut self, tokens: impl IntoFault, message: &str) {
        if let Some(fault) = tokens.fault(message) {
            self.add(fault);
        }
    }

    fn end(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

/// What may stand in a signature and must not.
trait IntoFault {
    fn fault(self, message: &str) -> Option<Error>;
}

impl<T: ToTokens> IntoFault for &Option<T> {
    fn fault(self, message: &str) -> Option<Error> {
        self.as_ref()
            .map(|tokens| Error::new_spanned(tokens, message))
    }
}

impl<T: ToTokens> IntoFault for Option<&T> {
    fn fault(self, message: &str) -> Option<Error> {
        self.map(|tokens| Error::new_spanned(tokens, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Signature> {
        Signature::of(&syn::parse_str(text).unwrap(), false)
    }

    #[test]
    fn a_function_is_read() {
        let signature = read("/// Counts.\n///\n///   All of it.\nfn r#match(args: Count) {}")
            .ok()
            .unwrap();
        assert_eq!(signature.name, "match");
        assert_eq!(signature.description, "Counts.\n\n  All of it.");
        assert!(signature.argument.is_some() && signature.returned.is_none());
    }

    #[test]
    fn each_misuse_is_refused() {
        for text in [
            "fn undocumented(args: A) {}",
            "#[doc = \" \"] fn blank(args: A) {}",
            "/// D.\nasync fn f(args: A) {}",
            "/// D.\nconst fn f(args: A) {}",
            "/// D.\nunsafe fn f(args: A) {}",
            "/// D.\nextern \"C\" fn f(args: A) {}",
            "/// D.\nfn f<T>(args: T) {}",
            "/// D.\nfn f(args: A) where A: Copy {}",
            "/// D.\nfn f(args: impl Copy) {}",
            "/// D.\nfn f(args: &A) {}",
            "/// D.\nfn f(&self) {}",
            "/// D.\nfn f(a: A, b: B) {}",
            "/// D.\nfn größe(a: A) {}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let faults = read("async fn f<T>(a: A, b: B) {}").err().unwrap();
        assert_eq!(faults.into_iter().count(), 4);
    }
}
