"""A tool server of the modern era and of no other: no sessions, no GET, and headers that must mirror the body."""

import json

from harness.carriers import HttpCarrier
from harness.scripted_http import Answer, Request
from harness.tool_server import SILENCE, Call, RpcError, ToolServer

MODERN = "2026-07-28"
PREFIX = "io.modelcontextprotocol"


class ModernServer(ToolServer):
    async def _result(self, call: Call):
        method = call.message["method"]
        if method == "server/discover" and method not in self.answers:
            return {
                "resultType": "complete",
                "supportedVersions": [MODERN],
                "capabilities": self.capabilities,
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": {f"{PREFIX}/serverInfo": {"name": "modern-server", "version": "1"}},
            }
        if method == "subscriptions/listen" and method not in self.answers:
            return await self._listen(call)
        if method in ("initialize", "ping", "logging/setLevel"):
            raise RpcError(-32601, f"Method not found: {method}")
        result = await super()._result(call)
        if result is SILENCE:
            return result
        if method == "tools/list":
            result.update(ttlMs=0, cacheScope="private")
        result.setdefault("resultType", "complete")
        return result

    async def _listen(self, call: Call):
        tag = {"_meta": {f"{PREFIX}/subscriptionId": call.message["id"]}}
        wanted = call.params.get("notifications") or {}
        await call.notify("notifications/subscriptions/acknowledged", notifications=wanted, **tag)

        async def channel(message: dict) -> None:
            await call.send({**message, "params": {**message.get("params", {}), **tag}})

        self.channels.append(channel)
        try:
            await call.cancelled.wait()
            return {}
        finally:
            self.channels.remove(channel)


def modern_carrier(server: ToolServer, kind: type[HttpCarrier] = HttpCarrier, **options) -> HttpCarrier:
    """Streamable HTTP as the modern era has it, strict in everything that a server may check."""
    carrier = kind(server, sessions=False, get_stream=False, **options)

    async def first(request: Request) -> Answer | None:
        if request.verb != "POST":
            return Answer(405, fields={"Allow": "POST"})
        message = json.loads(request.body)
        id, params = message.get("id"), message.get("params") or {}
        version = request.header("mcp-protocol-version")
        if version != MODERN:
            error = {"code": -32022, "message": "Unsupported protocol version"}
            error["data"] = {"supported": [MODERN], "requested": version or ""}
            return Answer(400, json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode(), "application/json")
        meta = params.get("_meta") or {}
        if meta.get(f"{PREFIX}/protocolVersion") != version or f"{PREFIX}/clientCapabilities" not in meta:
            return Answer.rpc(400, -32602, "a member of _meta is missing", id)
        name = params.get("name") or params.get("uri")
        if request.header("mcp-method") != message["method"] or (name and request.header("mcp-name") != name):
            return Answer.rpc(400, -32020, "a header does not mirror the body", id)
        if message["method"] in ("initialize", "ping"):
            return Answer.rpc(404, -32601, "Method not found", id)
        return None

    carrier.first = first
    return carrier


