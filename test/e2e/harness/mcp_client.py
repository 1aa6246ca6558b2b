"""A small MCP client of the legacy era that shows everything: statuses, headers, raw ids, notifications."""

import http.client
import json
from dataclasses import dataclass, field
from typing import Any

VERSION = "2025-11-25"
MARKER = "dev.switchgear/call"


@dataclass
class Reply:
    """One HTTP answer with the JSON-RPC messages in it."""

    status: int
    headers: dict[str, str]
    body: bytes
    messages: list[dict] = field(default_factory=list)

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").split(";")[0].strip().lower()

    @property
    def message(self) -> dict:
        """The response; there must be exactly one."""
        responses = [message for message in self.messages if "method" not in message]
        assert len(responses) == 1, f"{len(responses)} responses in {self.status} {self.body[:500]!r}"
        return responses[0]

    @property
    def notifications(self) -> list[dict]:
        return [message for message in self.messages if "method" in message]

    @property
    def result(self) -> dict:
        assert "result" in self.message, self.message
        return self.message["result"]

    @property
    def error(self) -> dict:
        assert "error" in self.message, self.message
        return self.message["error"]

    # ---- of a tools/call

    @property
    def is_error(self) -> bool:
        return self.result.get("isError", False)

    @property
    def text(self) -> str:
        return "\n".join(block.get("text", "") for block in self.result["content"])

    @property
    def marker(self) -> dict:
        """What the gateway says about how the call went; empty for a primary's untouched answer."""
        return (self.result.get("_meta") or {}).get(MARKER, {})


def messages_of(media_type: str, body: bytes) -> list[dict]:
    if not body:
        return []
    if media_type == "text/event-stream":
        events = body.decode().replace("\r\n", "\n").split("\n\n")
        data = [
            "\n".join(line[5:].lstrip(" ") for line in event.split("\n") if line.startswith("data:"))
            for event in events
        ]
        return [json.loads(text) for text in data if text]
    if media_type == "application/json":
        parsed = json.loads(body)
        return parsed if isinstance(parsed, list) else [parsed]
    return []


class McpClient:
    """One client session over one keep-alive connection. Not thread-safe: one client a thread."""

    def __init__(self, port: int, timeout: float = 30.0, path: str = "/mcp"):
        self.port = port
        self.path = path
        self.timeout = timeout
        self.session: str | None = None
        self.version: str | None = None
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        self.next_id = 0

    def __enter__(self) -> "McpClient":
        return self.initialize()

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.connection.close()

    def double(self) -> "McpClient":
        """Another connection of the same session."""
        double = McpClient(self.port, self.timeout, self.path)
        double.session, double.version = self.session, self.version
        return double

    def headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        if self.version:
            headers["MCP-Protocol-Version"] = self.version
        return headers

    def send(self, verb: str, body: bytes | None = None, headers: dict | None = None) -> Reply:
        """One exchange; a header given as None is left out."""
        fields = {**self.headers(), **(headers or {})}
        self.connection.request(
            verb, self.path, body, {name: value for name, value in fields.items() if value is not None}
        )
        response = self.connection.getresponse()
        names = {name.lower(): value for name, value in response.getheaders()}
        reply = Reply(response.status, names, response.read())
        reply.messages = messages_of(reply.media_type, reply.body)
        return reply

    def post(self, message: Any, headers: dict | None = None) -> Reply:
        """Sends a message, or bytes as they are."""
        body = message if isinstance(message, bytes) else json.dumps(message, ensure_ascii=False).encode()
        return self.send("POST", body, headers)

    def request(self, method: str, params: dict | None = None, id: Any = None) -> Reply:
        if id is None:
            id, self.next_id = self.next_id, self.next_id + 1
        message = {"jsonrpc": "2.0", "id": id, "method": method}
        if params is not None:
            message["params"] = params
        return self.post(message)

    def initialize(self, version: str = VERSION, id: Any = None) -> "McpClient":
        self.session = self.version = None
        self.initialized_reply = self.request("initialize", initialize_params(version), id)
        assert self.initialized_reply.status == 200, self.initialized_reply
        self.session = self.initialized_reply.headers.get("mcp-session-id")
        self.version = self.initialized_reply.result["protocolVersion"]
        assert self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202
        return self

    def call(self, tool: str, arguments: dict | None = None, id: Any = None, meta: dict | None = None) -> Reply:
        params: dict = {"name": tool, "arguments": arguments or {}}
        if meta:
            params["_meta"] = meta
        return self.request("tools/call", params, id)

    def tools(self) -> dict[str, dict]:
        return {tool["name"]: tool for tool in self.request("tools/list").result["tools"]}


def initialize_params(version: str = VERSION) -> dict:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "e2e", "version": "1"}}
