//! `exec`: one program in a container that runs.

use super::super::ContainerUser;

/// One program to run in a container.
#[derive(Clone, Debug)]
pub(crate) struct Exec<'a> {
    /// The container's id.
    pub(crate) container: &'a str,
    /// Where it runs: a path of the container.
    pub(crate) directory: &'a str,
    /// Whose rights it has, where they are not those of the container's process 1.
    pub(crate) user: Option<&'a ContainerUser>,
    /// The names of its variables. The values stand in the environment of the engine's program, and never
    /// in its arguments, which every user of the host can read.
    pub(crate) variables: &'a [&'a str],
    /// The program and its arguments.
    pub(crate) command: &'a [&'a str],
}

/// The arguments of `exec`, with standard input attached.
pub(crate) fn exec(exec: &Exec<'_>) -> Vec<String> {
    let mut arguments = vec![
        "exec".to_owned(),
        "--interactive".into(),
        format!("--workdir={}", exec.directory),
    ];
    if let Some(ContainerUser::Named(user)) = exec.user {
        arguments.push(format!("--user={user}"));
    }
    let variables = exec.variables.iter();
    arguments.extend(variables.map(|name| format!("--env={name}")));
    arguments.push(exec.container.to_owned());
    arguments.extend(exec.command.iter().map(|&word| word.to_owned()));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_no_arguments_and_words_no_options() {
        let named = ContainerUser::Named("build".into());
        let wanted = Exec {
            container: "4f2a",
            directory: "/workspace/a b",
            user: Some(&named),
            variables: &["TOKEN", "LANG"],
            command: &["sh", "-c", "echo $TOKEN; --rm", "-x"],
        };
        assert_eq!(
            exec(&wanted),
            [
                "exec",
                "--interactive",
                "--workdir=/workspace/a b",
                "--user=build",
                "--env=TOKEN",
                "--env=LANG",
                "4f2a",
                "sh",
                "-c",
                "echo $TOKEN; --rm",
                "-x",
            ]
        );
    }
}
