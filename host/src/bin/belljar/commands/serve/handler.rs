//! What is answered to the protocol's requests.

use std::{borrow::Cow, sync::Arc, time::Duration};

use belljar::Tool;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
        Implementation, InitializeRequestParams, InitializeResult, ListToolsResult, LoggingLevel,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
        SetLevelRequestParams,
    },
    service::{NotificationContext, RequestContext},
};
use tokio::{
    sync::{Semaphore, watch},
    time::timeout,
};

use super::{calling::Calling, loader::Shelf, session::Session};

/// How long a client waits for its list of tools while components are compiled. Many clients ask once, and know no
/// news of a changed list; some give a server ten seconds to start.
const PATIENCE: Duration = Duration::from_secs(8);
/// The requests that have answers here; with other parameters than theirs they come as unknown ones.
const METHODS: [&str; 5] = [
    "initialize",
    "ping",
    "logging/setLevel",
    "tools/list",
    "tools/call",
];

/// Answers requests. It has nothing of any session: that comes with each message.
#[derive(Clone)]
pub(super) struct Handler {
    shelf: watch::Receiver<Shelf>,
    turns: Arc<Semaphore>,
}

impl Handler {
    /// Answers with these tools, so many calls at once.
    pub(super) fn new(shelf: watch::Receiver<Shelf>, concurrent_calls: u32) -> Self {
        let turns = usize::try_from(concurrent_calls).unwrap_or(usize::MAX);
        Self {
            shelf,
            turns: Arc::new(Semaphore::new(turns)),
        }
    }

    /// What there is when all is loaded, or when waiting for that has been long enough.
    async fn shelf(&self) -> Result<Shelf, ErrorData> {
        let mut shelf = self.shelf.clone();
        let loaded = shelf.wait_for(|shelf| shelf.is_complete || shelf.failed.is_some());
        let _ = timeout(PATIENCE, loaded).await;
        let shelf = self.shelf.borrow().clone();
        match shelf.failed {
            Some(reason) => Err(ErrorData::internal_error(reason, None)),
            None => Ok(shelf),
        }
    }

    /// The component with a tool.
    async fn tool(&self, name: &str) -> Result<Tool, ErrorData> {
        let found = self.shelf.borrow().catalog.find(name).cloned();
        let found = match found {
            Some(tool) => Some(tool),
            None => self.shelf().await?.catalog.find(name).cloned(),
        };
        found.ok_or_else(|| ErrorData::invalid_params(format!("there is no tool {name:?}"), None))
    }
}

#[expect(
    deprecated,
    reason = "a revision after those that are served has no messages of logs; these have them"
)]
impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_server_info(Implementation::new("belljar", env!("CARGO_PKG_VERSION")))
    }

    /// Those with sessions: a later revision has none, and a sandbox lives as long as its session.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ProtocolVersion::known_up_to(&ProtocolVersion::LATEST_WITH_INITIALIZE).into()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let session = Session::of(&context.extensions)?;
        if !session.initialize() {
            let message = "the session is initialized already";
            return Err(ErrorData::invalid_request(message, None));
        }
        let sandbox = session.sandbox().await?;
        context.peer.set_peer_info(request.clone());
        let result = self.negotiate_initialize(&request)?;
        Ok(result.with_instructions(sandbox.describe().instructions.clone()))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Ok(session) = Session::of(&context.extensions) else {
            return;
        };
        if !session.attend() {
            return;
        }
        let (session, peer, mut shelf) = (session.clone(), context.peer, self.shelf.clone());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    changed = shelf.changed() => if changed.is_err() { return },
                    () = session.ended() => return,
                }
                let version = shelf.borrow_and_update().version;
                if session.is_outdated(version) && peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let rank = match request.level {
            LoggingLevel::Debug => 0,
            LoggingLevel::Info => 1,
            LoggingLevel::Notice => 2,
            LoggingLevel::Warning => 3,
            LoggingLevel::Error => 4,
            LoggingLevel::Critical => 5,
            LoggingLevel::Alert => 6,
            LoggingLevel::Emergency => 7,
        };
        Session::of(&context.extensions)?.set_level(rank);
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let session = Session::of(&context.extensions)?;
        if request.is_some_and(|request| request.cursor.is_some()) {
            let message = "cursor: the list of tools has one page";
            return Err(ErrorData::invalid_params(message, None));
        }
        let shelf = self.shelf().await?;
        let tools = shelf.catalog.offered(session.sandbox().await?);
        session.list(shelf.version);
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let session = Session::of(&context.extensions)?.clone();
        let tool = self.tool(&request.name).await?;
        let calling = Calling::new(session, context);
        let result = calling.call(tool, request, &self.turns).await?;
        Ok(result.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        if METHODS.contains(&method.as_str()) {
            let message = format!("these are no parameters of {method}");
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("there is no method {method:?}");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }
}
