//! What the Rust guests share: one tool, `run`, made of one function.

/// Makes a component of a function from the arguments' JSON to the answer's text.
///
/// It uses the raw bindings: a guest that misbehaves should not be kept from it by a wrapper.
#[macro_export]
macro_rules! guest {
    ($run:expr) => {
        $crate::guest!($run, describe: || vec![$crate::description!()]);
    };
    ($run:expr, describe: $describe:expr) => {
        struct Component;

        impl belljar_guest::raw::exports::belljar::sandbox::tools::Guest for Component {
            fn describe() -> Vec<belljar_guest::raw::exports::belljar::sandbox::tools::Description>
            {
                $describe()
            }

            fn call(
                _name: String,
                arguments: String,
            ) -> Result<
                belljar_guest::raw::exports::belljar::sandbox::tools::Answer,
                belljar_guest::raw::exports::belljar::sandbox::tools::CallError,
            > {
                let run: fn(String) -> String = $run;
                Ok(belljar_guest::raw::exports::belljar::sandbox::tools::Answer {
                    content: vec![
                        belljar_guest::raw::exports::belljar::sandbox::tools::Content::Text(run(
                            arguments,
                        )),
                    ],
                    structured: None,
                })
            }
        }

        belljar_guest::raw::export!(Component with_types_in belljar_guest::raw);
    };
}

/// Describes the tool `run`, which takes any object.
#[macro_export]
macro_rules! description {
    () => {
        belljar_guest::raw::exports::belljar::sandbox::tools::Description {
            name: "run".to_owned(),
            description: "A test.".to_owned(),
            input_schema: r#"{"type":"object"}"#.to_owned(),
            output_schema: None,
            read_only: false,
            destructive: false,
            idempotent: false,
            needs: Vec::new(),
        }
    };
}
