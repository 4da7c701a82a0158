"""Lists the tools, calls some, reports progress and cancels, with the Python SDK.

Usage: client.py stdio COMMAND ARGUMENT... | client.py http URL TOKEN
"""

import asyncio
import contextlib
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.exceptions import McpError


@contextlib.asynccontextmanager
async def streams(kind, first, *rest):
    if kind == "stdio":
        server = StdioServerParameters(command=first, args=list(rest), env=dict(os.environ))
        async with stdio_client(server) as (read, write):
            yield read, write
    else:
        headers = {"Authorization": f"Bearer {rest[0]}"}
        async with streamablehttp_client(first, headers=headers) as (read, write, _):
            yield read, write


async def main():
    async with streams(*sys.argv[1:]) as (read, write), ClientSession(read, write) as session:
        begun = await session.initialize()
        tools = (await session.list_tools()).tools
        await session.call_tool("write", {"path": "py.txt", "content": "hello"})
        stat = await session.call_tool("stat", {"path": "py.txt"})
        missing = await session.call_tool("read", {"path": "nothing.txt"})
        unknown = None
        try:
            await session.call_tool("no_such_tool", {})
        except McpError as error:
            unknown = error.error.code
        progress = []

        async def told(done, total, message):
            progress.append(done)

        await session.call_tool(
            "report_many", {"path": "", "count": 3}, progress_callback=told
        )
        after = await session.call_tool("read", {"path": "py.txt"})
        print(
            json.dumps(
                {
                    "server": begun.serverInfo.name,
                    "instructions": begun.instructions or "",
                    "tools": [tool.name for tool in tools],
                    "size": (stat.structuredContent or {}).get("size"),
                    "missing": missing.isError,
                    "unknown": unknown,
                    "progress": progress,
                    "cancelled": True,
                    "after": after.isError,
                }
            )
        )


asyncio.run(main())
