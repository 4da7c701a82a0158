//! The tools of all components together, under names that are each one tool's.

use std::collections::{BTreeMap, HashMap};

use belljar::{Sandbox, Tool};

use super::describe;

/// Two components have a tool of the same name.
#[derive(Debug, thiserror::Error)]
#[error("the components {first} and {second} both have a tool {name:?}")]
pub(super) struct Duplicate {
    name: String,
    first: String,
    second: String,
}

/// What is served. It never changes: a component that is loaded anew makes another one.
#[derive(Clone, Debug, Default)]
pub(super) struct Catalog {
    /// By their places on the command line or in the configuration.
    components: BTreeMap<usize, Loaded>,
    /// Which component has a tool.
    places: HashMap<String, usize>,
}

#[derive(Clone, Debug)]
struct Loaded {
    name: String,
    tool: Tool,
}

impl Catalog {
    /// The same with a component at its place, where another may have been.
    pub(super) fn with(&self, place: usize, name: &str, tool: Tool) -> Result<Self, Duplicate> {
        let mut next = self.clone();
        next.places.retain(|_, other| *other != place);
        for description in tool.descriptions() {
            if let Some(other) = next.places.insert(description.name.clone(), place) {
                let first = next.components.get(&other);
                return Err(Duplicate {
                    name: description.name.clone(),
                    first: first.map_or_else(String::new, |loaded| loaded.name.clone()),
                    second: name.to_owned(),
                });
            }
        }
        let loaded = Loaded {
            name: name.to_owned(),
            tool,
        };
        next.components.insert(place, loaded);
        Ok(next)
    }

    /// The component that has a tool.
    pub(super) fn find(&self, name: &str) -> Option<&Tool> {
        let loaded = self.components.get(self.places.get(name)?)?;
        Some(&loaded.tool)
    }

    /// The tools that this sandbox has all for, in an order that stays.
    pub(super) fn offered(&self, sandbox: &Sandbox) -> Vec<rmcp::model::Tool> {
        let offers = self
            .components
            .values()
            .flat_map(|loaded| loaded.tool.offers(sandbox));
        offers
            .filter(|offer| offer.missing.is_empty())
            .map(|offer| describe::tool(offer.tool))
            .collect()
    }
}
