//! How a program gets to an engine that does not see this machine's files: in the volume of a container that is
//! made and never started, and which others borrow it from.

use super::{
    super::{ContainerOptions, container_path::OURS, labels::Labels},
    run::RESIDENT,
};

/// Makes the container that carries a program.
pub(crate) fn carrier(
    options: &ContainerOptions,
    container_name: &str,
    labels: &Labels,
) -> Vec<String> {
    let mut arguments = vec!["create".to_owned(), format!("--name={container_name}")];
    let labels = labels.pairs().into_iter();
    arguments.extend(labels.map(|(name, value)| format!("--label={name}={value}")));
    arguments.extend([
        format!("--pull={}", options.pull.as_str()),
        "--network=none".into(),
        "--log-driver=none".into(),
        format!("--volume={OURS}"),
        format!("--entrypoint={RESIDENT}"),
        options.image.clone(),
        "--version".into(),
    ]);
    arguments
}

/// What lets another container see what it carries, and not change it.
pub(super) fn borrow(carrier: &str) -> String {
    format!("--volumes-from={carrier}:ro")
}

/// Copies a program of this machine's into it.
pub(crate) fn load(program: &str, carrier: &str) -> Vec<String> {
    vec![
        "cp".to_owned(),
        program.to_owned(),
        format!("{carrier}:{}", RESIDENT),
    ]
}

/// Gives it its name, once it carries what it should.
pub(crate) fn rename(from: &str, to: &str) -> Vec<String> {
    vec!["rename".to_owned(), from.to_owned(), to.to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_loaded_and_named() {
        let options = ContainerOptions::new("debian:12");
        let labels = Labels {
            session: "5e55".into(),
            owner: None,
            name: Some("c".into()),
            hardening: String::new(),
            image: "debian:12".into(),
            lease: 1,
            stream: None,
        };
        let line = carrier(&options, "c.part", &labels).join(" ");
        let right = "create --name=c.part --label=belljar.session=5e55 --label=belljar.owner= \
            --label=belljar.hardening= --label=belljar.image=debian:12 --label=belljar.lease=1 \
            --label=belljar.name=c --pull=missing --network=none --log-driver=none \
            --volume=/.belljar --entrypoint=/.belljar/resident debian:12 --version";
        assert_eq!(line, right);
        assert_eq!(borrow("c"), "--volumes-from=c:ro");
        let line = load("/p/resident", "c.part").join(" ");
        assert_eq!(line, "cp /p/resident c.part:/.belljar/resident");
        assert_eq!(rename("c.part", "c").join(" "), "rename c.part c");
    }
}
