//! A component of several tools.

/// Makes a component of tools: exports them when compiled to WebAssembly, and declares `TOOLS`, the
/// [`Tools`](crate::Tools) that tests call as a host would.
///
/// ```
/// use belljar_guest::{CallError, tool};
///
/// /// Says hello.
/// #[tool(read_only)]
/// fn hello() -> &'static str {
///     "hello"
/// }
///
/// belljar_guest::component!(hello);
///
/// assert_eq!(TOOLS.call("hello", "{}").unwrap().text(), "hello");
/// assert_eq!(TOOLS.call("bye", "{}"), Err(CallError::UnknownTool("bye".into())));
/// ```
///
/// Two tools of one name do not compile:
///
/// ```compile_fail
/// use belljar_guest::tool;
///
/// /// Says hello.
/// #[tool]
/// fn hello() -> &'static str {
///     "hello"
/// }
///
/// belljar_guest::component!(hello, hello);
/// ```
#[macro_export]
macro_rules! component {
    ($($tool:path),+ $(,)?) => {
        /// The tools of this component.
        pub const TOOLS: $crate::Tools = $crate::Tools::new(&[
            $(<$tool as $crate::IsTool>::TOOL),+
        ]);

        #[cfg(target_family = "wasm")]
        const _: () = {
            struct Component;

            impl $crate::raw::exports::belljar::sandbox::tools::Guest for Component {
                fn describe(
                ) -> ::std::vec::Vec<$crate::raw::exports::belljar::sandbox::tools::Description> {
                    $crate::raw::describe(TOOLS)
                }

                fn call(
                    name: ::std::string::String,
                    arguments: ::std::string::String,
                ) -> ::core::result::Result<
                    $crate::raw::exports::belljar::sandbox::tools::Answer,
                    $crate::raw::exports::belljar::sandbox::tools::CallError,
                > {
                    $crate::raw::call(TOOLS, &name, &arguments)
                }
            }

            $crate::raw::export!(Component with_types_in $crate::raw);
        };
    };
}
