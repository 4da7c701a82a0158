//! What stands in `#[tool(…)]`.

use proc_macro2::{Ident, Span};
use syn::{
    Error, LitStr, Result, Token, parenthesized,
    parse::{Parse, ParseStream},
};

/// The options' names, for the nearest one to a misspelt.
const OPTIONS: [&str; 5] = ["name", "read_only", "destructive", "idempotent", "needs"];

/// What can stand in `needs(…)`, and the variant of `Capability` that it is.
const CAPABILITIES: [(&str, &str); 9] = [
    ("read", "Read"),
    ("write", "Write"),
    ("run", "Run"),
    ("start", "Start"),
    ("user", "User"),
    ("modes", "Modes"),
    ("links", "Links"),
    ("raw_names", "RawNames"),
    ("out_of_memory", "OutOfMemory"),
];

/// The longest name of a tool; models' interfaces take no more.
const MAX_NAME_CHARS: usize = 64;

/// The options, read and checked.
#[derive(Default)]
pub(crate) struct Options {
    /// Another name than the function's.
    pub(crate) name: Option<LitStr>,
    pub(crate) read_only: bool,
    pub(crate) destructive: bool,
    pub(crate) idempotent: bool,
    /// Variants of `Capability`, at the place of what names them.
    pub(crate) needs: Vec<Ident>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self::default();
        let mut seen: Vec<String> = Vec::new();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            let name = key.to_string();
            if seen.contains(&name) {
                return Err(Error::new(key.span(), format!("`{name}` stands twice")));
            }
            match name.as_str() {
                "name" => {
                    input.parse::<Token![=]>()?;
                    let text: LitStr = input.parse()?;
                    check_name(&text.value(), text.span())?;
                    options.name = Some(text);
                }
                "read_only" => options.read_only = true,
                "destructive" => options.destructive = true,
                "idempotent" => options.idempotent = true,
                "needs" => options.needs = needs(input)?,
                _ => return Err(unknown("option", &key, &OPTIONS)),
            }
            if options.read_only && options.destructive {
                let message = "a tool that changes nothing is not destructive";
                return Err(Error::new(key.span(), message));
            }
            seen.push(name);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

fn needs(input: ParseStream<'_>) -> Result<Vec<Ident>> {
    let list;
    parenthesized!(list in input);
    let names = list.parse_terminated(Ident::parse, Token![,])?;
    let known = CAPABILITIES.map(|(name, _)| name);
    let mut variants: Vec<Ident> = Vec::new();
    for name in names {
        let variant = CAPABILITIES
            .iter()
            .find(|(known, _)| name == known)
            .map(|(_, variant)| Ident::new(variant, name.span()))
            .ok_or_else(|| unknown("capability", &name, &known))?;
        if variants.contains(&variant) {
            return Err(Error::new(name.span(), format!("`{name}` stands twice")));
        }
        variants.push(variant);
    }
    Ok(variants)
}

/// Says that a name is not one of a tool.
pub(crate) fn check_name(name: &str, span: Span) -> Result<()> {
    let fits = (1..=MAX_NAME_CHARS).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if fits {
        Ok(())
    } else {
        let message = format!(
            "`{name}` is not a tool's name, which is 1 to {MAX_NAME_CHARS} of a-z A-Z 0-9 _ -"
        );
        Err(Error::new(span, message))
    }
}

fn unknown(what: &str, name: &Ident, known: &[&str]) -> Error {
    let text = name.to_string();
    let nearest = known
        .iter()
        .map(|known| (strsim::damerau_levenshtein(known, &text), known))
        .min()
        .filter(|(distance, known)| *distance <= known.len() / 2);
    let hint = match nearest {
        Some((_, known)) => format!("did you mean `{known}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    Error::new(name.span(), format!("unknown {what} `{text}`; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let refused = syn::parse_str::<Options>(text).err();
        refused.expect(text).to_string()
    }

    #[test]
    fn options_are_read() {
        let options: Options =
            syn::parse_str(r#"name = "a-b", read_only, idempotent, needs(read, raw_names,),"#)
                .ok()
                .unwrap();
        assert_eq!(options.name.unwrap().value(), "a-b");
        assert!(options.read_only && options.idempotent && !options.destructive);
        assert_eq!(options.needs, ["Read", "RawNames"]);
    }

    #[test]
    fn a_misspelt_name_gets_the_nearest() {
        assert!(refused("readonly").contains("`read_only`"));
        assert!(refused("need(read)").contains("`needs`"));
        assert!(refused("needs(wirte)").contains("`write`"));
        // Nothing is near: all are named.
        assert!(refused("banana").contains("idempotent"));
    }

    #[test]
    fn what_contradicts_or_repeats_is_refused() {
        for text in [
            "read_only, destructive",
            "read_only, read_only",
            "needs(read, read)",
            "name = \"\"",
            "name = \"a b\"",
            "name",
            "needs",
            "read_only destructive",
        ] {
            refused(text);
        }
        refused(&format!("name = {:?}", "x".repeat(65)));
    }
}
