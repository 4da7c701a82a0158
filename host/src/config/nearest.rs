//! The known name that a wrong one was probably meant to be.

/// How alike two names must be (Jaro-Winkler) before one is proposed for the other: below it,
/// proposals for short names are arbitrary.
const ALIKE: f64 = 0.75;
/// The most bytes of a name that are compared; a longer one is no slip of the finger.
const MAX_BYTES: usize = 100;

/// The one of `known` that is most like `name`.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_BYTES {
        return None;
    }
    let written = name.to_lowercase().replace('_', "-");
    known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(&written, known), known))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, known)| known)
}
