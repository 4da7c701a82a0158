//! A loaded program: audited, compiled or taken from the cache, and linked.

use std::sync::Arc;

use wasmtime::{
    Caller, Engine, InstancePre, Linker, Module,
    component::{Component, Linker as ComponentLinker},
};
use wasmtime_wasi::{
    I32Exit,
    p1::{self, WasiP1Ctx},
    p2::{self, bindings::CommandPre},
};

use super::{
    super::{
        MAX_COMPONENT_BYTES,
        cache::{Code, EntryName},
        engine::WasmEngine,
    },
    audit::{Kind, audit},
    budget::{Instance, Preview2},
    error::ProgramError,
};

/// What programs are linked with: one for each kind.
pub(crate) struct Linkers {
    modules: Linker<Instance<WasiP1Ctx>>,
    components: ComponentLinker<Instance<Preview2>>,
}

impl Linkers {
    pub(crate) fn new(engine: &Engine) -> wasmtime::Result<Self> {
        let mut modules = Linker::new(engine);
        p1::add_to_linker_async(&mut modules, |instance: &mut Instance<WasiP1Ctx>| {
            &mut instance.wasi
        })?;
        // The library's own takes a code of 126 and above for a crash.
        modules.allow_shadowing(true);
        modules.func_wrap(
            "wasi_snapshot_preview1",
            "proc_exit",
            |_: Caller<'_, Instance<WasiP1Ctx>>, code: i32| -> wasmtime::Result<()> {
                Err(wasmtime::Error::new(I32Exit(code)))
            },
        )?;
        modules.allow_shadowing(false);
        let mut components = ComponentLinker::new(engine);
        p2::add_to_linker_async(&mut components)?;
        Ok(Self {
            modules,
            components,
        })
    }
}

/// A program that can be started.
pub(crate) struct LoadedProgram {
    pub(super) engine: Arc<WasmEngine>,
    pub(super) linked: Linked,
    imports: Vec<String>,
}

/// What is instantiated at each start.
pub(super) enum Linked {
    Module(InstancePre<Instance<WasiP1Ctx>>),
    Component(CommandPre<Instance<Preview2>>),
}

impl LoadedProgram {
    pub(crate) fn load(engine: &Arc<WasmEngine>, bytes: &[u8]) -> Result<Self, ProgramError> {
        if bytes.len() as u64 > MAX_COMPONENT_BYTES {
            return Err(ProgramError::TooLarge {
                most: MAX_COMPONENT_BYTES,
            });
        }
        let (kind, imports) = audit(bytes)?;
        let code = code(engine, kind, bytes)?;
        let linkers = &engine.programs;
        let linked = match &code {
            Code::Module(module) => linkers.modules.instantiate_pre(module).map(Linked::Module),
            Code::Component(component) => linkers
                .components
                .instantiate_pre(component)
                .and_then(CommandPre::new)
                .map(Linked::Component),
        };
        let linked = linked.map_err(|error| ProgramError::Mismatch {
            reason: format!("{error:#}"),
        })?;
        Ok(Self {
            engine: Arc::clone(engine),
            linked,
            imports,
        })
    }

    /// What it imports: interfaces of a component, functions of a module.
    pub(crate) fn imports(&self) -> &[String] {
        &self.imports
    }
}

fn code(engine: &WasmEngine, kind: Kind, bytes: &[u8]) -> Result<Code, ProgramError> {
    let base = &engine.base;
    let cache = base.cache.as_ref();
    let cache = cache.map(|cache| {
        let name = EntryName::of_program(&base.compatibility, bytes);
        (cache, name)
    });
    let cached = cache.as_ref().and_then(|(cache, name)| match kind {
        Kind::Module => cache.load_module(&base.engine, name).map(Code::Module),
        Kind::Component => {
            let cached = cache.load(&base.engine, name)?;
            Some(Code::Component(cached.component))
        }
    });
    if let Some(code) = cached {
        return Ok(code);
    }
    let compiled = match kind {
        Kind::Module => Module::from_binary(&base.engine, bytes).map(Code::Module),
        Kind::Component => Component::from_binary(&base.engine, bytes).map(Code::Component),
    };
    let compiled = compiled.map_err(|error| ProgramError::Compile {
        reason: format!("{error:#}"),
    })?;
    if let Some((cache, name)) = &cache {
        cache.store(name, &compiled, std::iter::empty());
    }
    Ok(compiled)
}
