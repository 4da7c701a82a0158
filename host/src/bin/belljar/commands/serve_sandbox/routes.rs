//! The addresses of the server, and who may ask.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::{Path, Request, State},
    http::StatusCode,
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::{delete, get, post},
};

use super::{
    answer::{Answer, Refusal},
    body::Bodies,
    calls,
    session::{Session, SessionId},
    sessions::Sessions,
};
use crate::http::Token;

#[derive(Clone)]
struct Server {
    sessions: Sessions,
    bodies: Bodies,
}

pub(super) fn routes(token: Token, sessions: Sessions, bodies: Bodies) -> Router {
    Router::new()
        .route("/v1/sessions", post(open))
        .route("/v1/sessions/{session}", get(look).delete(close))
        .route("/v1/sessions/{session}/calls", post(call))
        .route("/v1/sessions/{session}/calls/{call}", delete(cancel))
        .fallback(async || Refusal::NoSuchAddress)
        .method_not_allowed_fallback(async || Refusal::NoSuchMethod)
        // Around everything: a stranger is not told either what is where.
        .layer(middleware::from_fn_with_state(token, admit))
        .with_state(Server { sessions, bodies })
}

async fn admit(State(token): State<Token>, request: Request, next: Next) -> Response {
    match token.is_in(request.headers()) {
        true => next.run(request).await,
        false => Refusal::Unauthorized.into_response(),
    }
}

impl Server {
    fn find(&self, id: String) -> Result<Arc<Session>, Refusal> {
        self.sessions.find(&SessionId::named(id))
    }
}

async fn open(State(server): State<Server>) -> Result<Answer, Refusal> {
    let session = server.sessions.open().await?;
    Ok(Answer::value(StatusCode::CREATED, &session.told()))
}

async fn look(State(server): State<Server>, Path(id): Path<String>) -> Result<Answer, Refusal> {
    let session = server.find(id)?;
    let _in_use = session.in_use();
    Ok(Answer::value(StatusCode::OK, &session.told()))
}

async fn close(State(server): State<Server>, Path(id): Path<String>) -> Result<Answer, Refusal> {
    match server.sessions.close(&SessionId::named(id)).await? {
        Ok(()) => Ok(Answer::done()),
        Err(error) => Ok(Answer::failed(&error)),
    }
}

async fn call(
    State(server): State<Server>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Answer, Answer> {
    let session = server.find(id)?;
    let in_use = session.in_use();
    let whole = server.bodies.read(body).await?;
    calls::call(session, server.sessions.turns(), in_use, whole).await
}

async fn cancel(
    State(server): State<Server>,
    Path((id, call)): Path<(String, String)>,
) -> Result<Answer, Refusal> {
    let session = server.find(id)?;
    let _in_use = session.in_use();
    Ok(session.calls.cancel(&call).await)
}
