//! A client over a server that runs commands: `POST /exec?stdin=LENGTH`, `GET` and `PUT /files/PATH`, with a token.

#![cfg(target_family = "wasm")]

use belljar_guest::{
    Operation, Result,
    http::{HttpError, Request, Response},
    lend::{Client, Failure, Lease, Machine, Opened, Output, Traits},
    settings,
};

struct Lent {
    url: String,
    token: String,
    root: String,
}

impl Lent {
    fn send(&self, request: Request) -> std::result::Result<Response, HttpError> {
        let response = request.bearer(&self.token).send()?;
        match response.is_success() {
            true => Ok(response),
            false => Err(HttpError::BadResponse(format!(
                "{} {}",
                response.status,
                response.text()
            ))),
        }
    }

    fn file(&self, path: &str) -> String {
        format!("{}/files?{}", self.url, escaped(path))
    }
}

/// Text as it stands in a URL.
fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

impl Lease for Lent {
    fn open() -> Result<Opened> {
        let lent = Self {
            url: settings::required("url")?,
            token: settings::required("token")?,
            root: String::new(),
        };
        let opened = lent.send(Request::post(format!("{}/open", lent.url)));
        let root = opened.map_err(|error| error.during(Operation::Open))?;
        Ok(Opened::new(root.body))
    }

    fn resume(ticket: &[u8]) -> Result<Self> {
        Ok(Self {
            url: settings::required("url")?,
            token: settings::required("token")?,
            root: String::from_utf8_lossy(ticket).into_owned(),
        })
    }

    fn close(&self) -> Result<()> {
        let closed = self.send(Request::post(format!(
            "{}/close?{}",
            self.url,
            escaped(&self.root)
        )));
        closed
            .map(drop)
            .map_err(|error| error.during(Operation::Close))
    }
}

impl Client for Lent {
    fn describe(&self) -> std::result::Result<Machine, Failure> {
        let all = settings::get("traits").is_none();
        Ok(Machine::at(&self.root).with_traits(Traits {
            stdin: all,
            bytes: all,
        }))
    }

    fn read(&self, path: &str) -> std::result::Result<Vec<u8>, Failure> {
        Ok(self.send(Request::get(self.file(path)))?.body)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> std::result::Result<(), Failure> {
        self.send(Request::put(self.file(path)).body(bytes))?;
        Ok(())
    }

    fn exec(&self, command: &str, stdin: &[u8]) -> std::result::Result<Output, Failure> {
        // The command, then its input; the answer is an exit code, the length of the output, the output, and the errors.
        let url = format!("{}/exec?{}", self.url, command.len());
        let response = self.send(Request::post(url).body([command.as_bytes(), stdin].concat()))?;
        let bad = || Failure::Failed("the server's answer has another form".to_owned());
        let (head, rest) = response.body.split_at_checked(8).ok_or_else(bad)?;
        let number = |at: usize| <[u8; 4]>::try_from(&head[at..at + 4]).map_err(|_| bad());
        let length = usize::try_from(u32::from_le_bytes(number(4)?)).map_err(|_| bad())?;
        let (stdout, stderr) = rest.split_at_checked(length).ok_or_else(bad)?;
        Ok(Output {
            code: i32::from_le_bytes(number(0)?),
            stdout: stdout.to_vec(),
            stderr: stderr.to_vec(),
        })
    }
}

belljar_guest::client!(Lent);
