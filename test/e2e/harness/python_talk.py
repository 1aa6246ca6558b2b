"""The official Python client, told what to do by the same deeds as the TypeScript clients (node/talk.mjs)."""

from contextlib import AsyncExitStack

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client

CALL_LIMIT = 20  # seconds
HEARING_LIMIT = 5  # seconds


def plain(model) -> dict:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def first_choice(schema: dict):
    choices = schema.get("oneOf") or schema.get("anyOf")
    return schema["enum"][0] if "enum" in schema else choices[0]["const"] if choices else None


def written(schema: dict):
    """What the client writes into a field of a form."""
    if "default" in schema:
        return schema["default"]
    if schema["type"] == "array":
        return [first_choice(schema["items"])]
    return first_choice(schema) or {"string": "grüße", "number": 12.5, "integer": 7, "boolean": True}[schema["type"]]


class Asked:
    """What the server asks of the client, noted without what belongs to the hop, and always answered the same."""

    def __init__(self):
        self.all: list[dict] = []

    def _note(self, method: str, params) -> None:
        noted = plain(params) if params else {}
        noted.pop("_meta", None)
        self.all.append({"method": method, "params": noted})

    async def sampling(self, context, params):
        self._note("sampling/createMessage", params)
        thought = f"I thought about: {params.messages[-1].content.text}"
        content = types.TextContent(type="text", text=thought)
        return types.CreateMessageResult(role="assistant", model="a-model-of-the-tests", content=content)

    async def elicitation(self, context, params):
        self._note("elicitation/create", params)
        fields = plain(params)["requestedSchema"]["properties"]
        return types.ElicitResult(action="accept", content={name: written(field) for name, field in fields.items()})

    async def roots(self, context):
        self._note("roots/list", None)
        return types.ListRootsResult(roots=[types.Root(uri="file:///srv/data", name="Data")])

    def callbacks(self, abilities: list[str]) -> dict:
        known = {
            "sampling": {"sampling_callback": self.sampling},
            "elicitation": {"elicitation_callback": self.elicitation},
            "roots": {"list_roots_callback": self.roots},
        }
        return {name: callback for ability in abilities for name, callback in known[ability].items()}


class PythonTalk:
    """One connection. `mode`: legacy, auto, or the revision to speak."""

    LISTS = {
        "tools/list": ("list_tools", "tools"),
        "prompts/list": ("list_prompts", "prompts"),
        "resources/list": ("list_resources", "resources"),
        "resources/templates/list": ("list_resource_templates", "resource_templates"),
    }

    def __init__(self, server, mode: str, abilities: list[str]):
        self.asked = Asked()
        self.heard: list[dict] = []
        self.logged: list[dict] = []
        self.news = anyio.Event()
        self.stack = AsyncExitStack()
        self.client = Client(
            server,
            mode=mode,
            read_timeout_seconds=CALL_LIMIT,
            log_level="info",
            logging_callback=self._log,
            message_handler=self._hear,
            **self.asked.callbacks(abilities),
        )

    async def _log(self, params) -> None:
        self.logged.append({key: value for key, value in plain(params).items() if key != "_meta"})

    async def _hear(self, message) -> None:
        if not isinstance(message, Exception):
            self.heard.append(plain(message))
            self.news.set()
            self.news = anyio.Event()

    async def _heard(self, start: int, is_wanted) -> int:
        """The place behind the first wanted notification from `start` on."""
        with anyio.fail_after(HEARING_LIMIT):
            while True:
                for place in range(start, len(self.heard)):
                    if is_wanted(self.heard[place]):
                        return place + 1
                await self.news.wait()

    async def whole_list(self, name: str) -> list[dict]:
        method, member = self.LISTS[name]
        entries, cursor = [], None
        while True:
            page = await getattr(self.client, method)(cursor=cursor)
            entries += [plain(entry) for entry in getattr(page, member)]
            if (cursor := page.next_cursor) is None:
                return entries

    async def call(self, deed: dict, progress: list) -> dict:
        async def step(done, total, message):
            progress.append({"progress": done, "total": total})

        callback = step if deed.get("progress") else None
        arguments = deed.get("arguments", {})
        return plain(await self.client.call_tool(deed["name"], arguments, progress_callback=callback))

    async def complete(self, deed: dict) -> dict:
        kinds = {"ref/prompt": types.PromptReference, "ref/resource": types.ResourceTemplateReference}
        ref = kinds[deed["ref"]["type"]](**deed["ref"])
        return plain(await self.client.complete(ref, deed["argument"]))

    async def listen(self, uris: list[str]) -> None:
        if self.client.protocol_version >= "2026-07-28":
            wanted = {"tools_list_changed": True, "prompts_list_changed": True, "resource_subscriptions": uris}
            await self.stack.enter_async_context(self.client.listen(**wanted))
        else:
            for uri in uris:
                await self.client.subscribe_resource(uri)

    async def change(self, deed: dict) -> dict:
        """Calls a tool that turns a part of a list on or off; once told so, lists until the part has come or gone."""

        async def is_there() -> bool:
            return any(entry["name"] == deed["name"] for entry in await self.whole_list(deed["list"]))

        before, place = await is_there(), len(self.heard)
        await self.client.call_tool(deed["by"], {})
        while True:
            place = await self._heard(place, lambda one: one["method"] == deed["method"])
            if await is_there() != before:
                return {"before": before}

    async def touch(self, deed: dict) -> dict:
        """Calls a tool that changes a watched resource, and waits to hear of it."""
        place = len(self.heard)
        await self.client.call_tool(deed["by"], {})
        updated = ("notifications/resources/updated", deed["uri"])
        await self._heard(place, lambda one: (one["method"], one.get("params", {}).get("uri")) == updated)
        return {"uri": deed["uri"]}

    async def does(self, deed: dict, progress: list):
        name = deed["do"]
        if name in self.LISTS:
            return await self.whole_list(name)
        if name == "tools/call":
            return await self.call(deed, progress)
        if name == "prompts/get":
            return plain(await self.client.get_prompt(deed["name"], deed.get("arguments")))
        if name == "resources/read":
            return plain(await self.client.read_resource(deed["uri"]))
        if name == "completion/complete":
            return await self.complete(deed)
        if name == "logging/setLevel":
            return plain(await self.client.set_logging_level(deed["level"]))
        if name == "listen":
            return await self.listen(deed["uris"])
        return await {"change": self.change, "touch": self.touch}[name](deed)

    async def perform(self, deeds: list[dict]) -> dict:
        async with self.client, self.stack:
            answers = []
            for deed in deeds:
                progress = []
                try:
                    answer = {"result": await self.does(deed, progress)}
                    answers.append({**answer, "progress": progress} if deed.get("progress") else answer)
                except MCPError as failure:
                    error = failure.error
                    answers.append({"error": {"code": error.code, "message": error.message, "data": error.data}})
                except TimeoutError:
                    answers.append({"error": {"message": f"never heard of {deed}"}})
            return {
                "version": self.client.protocol_version,
                "capabilities": plain(self.client.server_capabilities),
                "answers": answers,
                "asked": self.asked.all,
                "logged": self.logged,
            }


def peer(server: dict):
    """What the client takes for {"url"} (one that ends in /sse is of the transport of 2024) or {"command"}."""
    if "command" in server:
        command = server["command"]
        return stdio_client(StdioServerParameters(command=command[0], args=command[1:]))
    return sse_client(server["url"]) if server["url"].endswith("/sse") else server["url"]


def talk(job: dict) -> dict:
    """As node/talk.mjs, for {"mode", "server", "abilities", "deeds"}."""

    async def run() -> dict:
        return await PythonTalk(peer(job["server"]), job["mode"], job.get("abilities", [])).perform(job["deeds"])

    return anyio.run(run)
