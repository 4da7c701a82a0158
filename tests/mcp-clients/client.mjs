// Lists the tools, calls some, reports progress and cancels, with the TypeScript SDK.
// Usage: client.mjs stdio COMMAND ARGUMENT... | client.mjs http URL TOKEN
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [kind, first, ...rest] = process.argv.slice(2);
const transport =
  kind === "stdio"
    ? new StdioClientTransport({ command: first, args: rest, env: process.env })
    : new StreamableHTTPClientTransport(new URL(first), {
        requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } },
      });

const client = new Client({ name: "belljar-test", version: "1" });
await client.connect(transport);
const { tools } = await client.listTools();
await client.callTool({ name: "write", arguments: { path: "ts.txt", content: "hello" } });
const stat = await client.callTool({ name: "stat", arguments: { path: "ts.txt" } });
const missing = await client.callTool({ name: "read", arguments: { path: "nothing.txt" } });
let unknown = null;
await client.callTool({ name: "no_such_tool", arguments: {} }).catch((error) => {
  unknown = error.code;
});
const progress = [];
// The SDK forgets reports that come in one piece with the answer, so this call takes a while.
await client.callTool({ name: "report_many", arguments: { path: "", count: 900000 } }, undefined, {
  onprogress: (report) => progress.push(report.progress),
});
const controller = new AbortController();
const sleeping = client.callTool(
  { name: "shell", arguments: { command: "sleep 7301" } },
  undefined,
  { signal: controller.signal },
);
setTimeout(() => controller.abort("enough"), 500);
const cancelled = await sleeping.then(
  () => false,
  () => true,
);
const after = await client.callTool({ name: "read", arguments: { path: "ts.txt" } });
await client.close();
console.log(
  JSON.stringify({
    server: client.getServerVersion()?.name,
    instructions: client.getInstructions() ?? "",
    tools: tools.map((tool) => tool.name),
    size: stat.structuredContent?.size,
    missing: missing.isError,
    unknown,
    progress,
    cancelled,
    after: after.isError ?? false,
  }),
);
process.exit(0);
