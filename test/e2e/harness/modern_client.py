"""A client of the modern era: no handshake, no session; each request says who speaks and what it is about."""

import json
from typing import Any

from harness.event_stream import EventStream
from harness.mcp_client import McpClient, Reply
from harness.modern_server import MODERN, PREFIX


class ModernClient(McpClient):
    """`abilities`: what it declares in each request."""

    def __init__(self, port: int, abilities: dict | None = None, **options):
        super().__init__(port, **options)
        self.abilities = abilities or {}
        self.version = MODERN

    def __enter__(self) -> "ModernClient":
        return self

    def said(self, method: str, params: dict | None, id: Any) -> tuple[dict, dict]:
        """(the message, the headers that mirror it)."""
        params = dict(params or {})
        params["_meta"] = {
            f"{PREFIX}/protocolVersion": MODERN,
            f"{PREFIX}/clientCapabilities": self.abilities,
            f"{PREFIX}/clientInfo": {"name": "e2e", "version": "1"},
            **params.get("_meta", {}),
        }
        headers = {"Mcp-Method": method}
        if method in ("tools/call", "prompts/get", "resources/read"):
            headers["Mcp-Name"] = params.get("name") or params["uri"]
        return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}, headers

    def request(self, method: str, params: dict | None = None, id: Any = None) -> Reply:
        if id is None:
            id, self.next_id = self.next_id, self.next_id + 1
        message, headers = self.said(method, params, id)
        return self.send("POST", json.dumps(message).encode(), headers)

    def stream(self, method: str, params: dict | None = None, id: Any = 1) -> EventStream:
        """The same, read as it comes. Closing it cancels the request."""
        message, headers = self.said(method, params, id)
        return EventStream(self, "POST", message, headers)
