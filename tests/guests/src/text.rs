//! Guests as text: `;;include NAME` stands for `wat/include/NAME.wat`, and `;;include tools@VERSION` for the
//! export of that version.

const MEMORY: &str = include_str!("../wat/include/memory.wat");
const TRAP: &str = include_str!("../wat/include/trap.wat");
const TOOLS: &str = include_str!("../wat/include/tools.wat");
/// The version that `tools.wat` names.
const VERSION: &str = "@0.1.0";

/// The text with what it includes.
pub(crate) fn expand(text: &str) -> String {
    let mut expanded = String::new();
    for line in text.lines() {
        match line.trim_start().strip_prefix(";;include ") {
            Some("memory") => expanded.push_str(MEMORY),
            Some("trap") => expanded.push_str(TRAP),
            Some(tools) if tools.starts_with("tools@") => {
                let version = tools.trim_start_matches("tools");
                expanded.push_str(&TOOLS.replace(VERSION, version));
            }
            _ => expanded.push_str(line),
        }
        expanded.push('\n');
    }
    expanded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_include_is_replaced_and_its_version_set() {
        let text = expand("(component\n  ;;include trap\n  ;;include tools@9.8.7\n)");
        assert!(text.contains("$code"));
        assert!(text.contains("belljar:sandbox/tools@9.8.7"));
        assert!(!text.contains("include"));
        assert!(!text.contains(VERSION));
    }
}
