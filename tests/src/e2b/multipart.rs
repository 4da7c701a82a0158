//! Files in a form, as `multipart/form-data` has them.

/// The text between a form's parts, when the content type is a form's.
pub(super) fn boundary(kind: &str) -> Option<&str> {
    let boundary = kind.strip_prefix("multipart/form-data; boundary=")?;
    Some(boundary.trim_matches('"'))
}

/// The names and contents of the parts called `file`; none when it is no form.
pub(super) fn files(body: &[u8], boundary: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let line = format!("\r\n--{boundary}");
    // The first boundary has no line before it.
    let mut rest = body.strip_prefix(&line.as_bytes()[2..])?;
    let mut files = Vec::new();
    while let Some(part) = rest.strip_prefix(b"\r\n") {
        let head = find(part, b"\r\n\r\n")?;
        let content = &part[head + 4..];
        let end = find(content, line.as_bytes())?;
        let head = std::str::from_utf8(&part[..head]).ok()?;
        if value(head, " name") == Some("file") {
            let name = value(head, " filename")?;
            files.push((name.to_owned(), content[..end].to_vec()));
        }
        rest = &content[end + line.len()..];
    }
    rest.starts_with(b"--").then_some(files)
}

/// A parameter of a part's disposition.
fn value<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let line = head.lines().find(|line| {
        line.to_ascii_lowercase()
            .starts_with("content-disposition:")
    })?;
    let parameter = line
        .split(';')
        .find_map(|parameter| parameter.strip_prefix(name)?.strip_prefix('='))?;
    Some(parameter.trim_matches('"'))
}

fn find(content: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(content, wanted)
}
