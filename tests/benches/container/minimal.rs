//! The least that answers: reads a file, writes one, runs a shell. It trusts whoever asks, so it is
//! nothing but a measure.

use std::{
    env, fs,
    io::{Read as _, Write as _},
    os::unix::net::UnixStream,
    process::Command,
};

fn main() -> std::io::Result<()> {
    let path = env::args().nth(1).unwrap_or_default();
    let mut stream = UnixStream::connect(path)?;
    let mut head = [0; 5];
    while stream.read_exact(&mut head).is_ok() {
        let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
        let mut body = vec![0; length as usize];
        stream.read_exact(&mut body)?;
        let answer = match head[0] {
            b'r' => fs::read(String::from_utf8_lossy(&body).as_ref())?,
            b'w' => {
                fs::write("helper.new", &body)?;
                fs::rename("helper.new", "helper")?;
                Vec::new()
            }
            _ => Command::new("/bin/sh").args(["-c", "true"]).output()?.stdout,
        };
        let mut message = (answer.len() as u32).to_le_bytes().to_vec();
        message.extend_from_slice(&answer);
        stream.write_all(&message)?;
    }
    Ok(())
}
