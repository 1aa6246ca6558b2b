"""The LangChain adapters for Python as a filter, in the manner of node/talk.mjs.

They want another line of the SDK than the tests do, so they have an environment of their own, and nothing of the
harness is imported here.

{"server": {"url"}, "holds_session": bool, "deeds": [...]} -> {"answers": [{"result" | "error", "progress"?}]}
Without a session that is held, the adapters open one for each call.
"""

import asyncio
import json
import sys

from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.prompts import load_mcp_prompt
from langchain_mcp_adapters.resources import load_mcp_resources
from langchain_mcp_adapters.tools import load_mcp_tools

SERVER = "peer"


class Talk:
    def __init__(self, url: str):
        self.steps: list[dict] = []
        connection = {"transport": "streamable_http", "url": url}
        self.adapters = MultiServerMCPClient({SERVER: connection}, callbacks=Callbacks(on_progress=self._step))
        self.session = None

    async def _step(self, progress, total, message, context) -> None:
        self.steps.append({"progress": progress, "total": total})

    async def load(self) -> None:
        if self.session:
            tools = await load_mcp_tools(self.session, callbacks=self.adapters.callbacks, server_name=SERVER)
        else:
            tools = await self.adapters.get_tools()
        self.tools = {tool.name: tool for tool in tools}

    async def call(self, name: str, arguments: dict) -> dict:
        call = {"type": "tool_call", "id": "call", "name": name, "args": arguments}
        message = await self.tools[name].ainvoke(call)
        content = [{key: part for key, part in block.items() if key != "id"} for block in message.content]
        return {"content": content, "artifact": message.artifact, "status": message.status}

    async def prompt(self, name: str, arguments: dict) -> list[dict]:
        if self.session:
            messages = await load_mcp_prompt(self.session, name, arguments=arguments)
        else:
            messages = await self.adapters.get_prompt(SERVER, name, arguments=arguments)
        return [{"type": message.type, "content": message.content} for message in messages]

    async def read(self, uri: str) -> list[dict]:
        if self.session:
            blobs = await load_mcp_resources(self.session, uris=[uri])
        else:
            blobs = await self.adapters.get_resources(SERVER, uris=[uri])
        return [{"type": blob.mimetype, "text": blob.as_string(), "uri": str(blob.metadata["uri"])} for blob in blobs]

    async def does(self, deed: dict):
        if deed["do"] == "tools/list":
            return [
                {"name": tool.name, "description": tool.description, "schema": tool.args_schema}
                for tool in self.tools.values()
            ]
        if deed["do"] == "tools/call":
            return await self.call(deed["name"], deed.get("arguments", {}))
        if deed["do"] == "prompts/get":
            return await self.prompt(deed["name"], deed.get("arguments", {}))
        return await {"resources/read": self.read}[deed["do"]](deed["uri"])

    async def perform(self, deeds: list[dict]) -> dict:
        await self.load()
        answers = []
        for deed in deeds:
            self.steps.clear()
            try:
                answer = {"result": await self.does(deed)}
            except Exception as failure:  # whatever an agent would see of it
                answer = {"error": {"type": type(failure).__name__, "message": str(failure)}}
            if deed.get("progress"):
                answer["progress"] = list(self.steps)
            answers.append(answer)
        return {"answers": answers}


async def talk(job: dict) -> dict:
    made = Talk(job["server"]["url"])
    if not job["holds_session"]:
        return await made.perform(job["deeds"])
    async with made.adapters.session(SERVER) as made.session:
        return await made.perform(job["deeds"])


if __name__ == "__main__":
    json.dump(asyncio.run(talk(json.load(sys.stdin))), sys.stdout)
