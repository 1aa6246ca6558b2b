"""Clients with credentials, and tool servers that ask for them."""

import contextvars
from dataclasses import dataclass, field

from harness.carriers import HttpCarrier
from harness.mcp_client import McpClient
from harness.modern_client import ModernClient
from harness.modern_server import ModernServer, modern_carrier
from harness.scripted_http import Answer, Request
from harness.tool_server import Arrival, ToolServer

ERAS = ("legacy", "modern")
OPERATOR = "Bearer operator"
CHALLENGE = 'Bearer resource_metadata="https://server.example/.well-known/oauth-protected-resource"'

user: contextvars.ContextVar[str] = contextvars.ContextVar("user")  # of the request that a tool server answers


class LegacyCaller(McpClient):
    """`fields`: header fields of each request, which a test may change."""

    def __init__(self, port: int, **fields: str):
        super().__init__(port)
        self.fields = fields

    def headers(self) -> dict[str, str]:
        return {**super().headers(), **{name.replace("_", "-"): value for name, value in self.fields.items()}}


class ModernCaller(ModernClient):
    def __init__(self, port: int, **fields: str):
        super().__init__(port)
        self.fields = fields

    def headers(self) -> dict[str, str]:
        return {**super().headers(), **{name.replace("_", "-"): value for name, value in self.fields.items()}}

    def initialize(self, *_) -> "ModernCaller":
        return self


def caller(era: str, port: int, **fields: str) -> McpClient:
    """A client that is ready for calls. `fields`: x_user="ann" becomes the header x-user."""
    made = LegacyCaller if era == "legacy" else ModernCaller
    return made(port, **fields).initialize()


@dataclass
class Gatekeeper:
    """A tool server that looks at Authorization. `worth`: each value's user, or the status that it gets; others 401.
    `calls_only`: whoever begins a session is not asked."""

    era: str
    worth: dict[str | None, str | int]
    tools: tuple = ("whoami",)
    calls_only: bool = False
    broken: bool = False  # every call of a tool gets a 500 with the caller's name in it
    server: ToolServer = field(init=False)
    carrier: HttpCarrier = field(init=False)

    def __post_init__(self):
        self.worth = {OPERATOR: "operator", **self.worth}
        if self.era == "legacy":
            self.server = ToolServer(self.tools, whoami=whoami)
            self.carrier = HttpCarrier(self.server)
        else:
            self.server = ModernServer(self.tools, whoami=whoami)
            self.carrier = modern_carrier(self.server)
        self.next, self.carrier.first = self.carrier.first, self.first

    async def first(self, request: Request) -> Answer | None:
        session = request.header("mcp-session-id")
        if session is not None and session not in (self.carrier.sessions or ()):
            return self.carrier.lost
        is_call = b'"tools/call"' in request.body
        found = self.worth.get(request.header("authorization"), 401)
        if isinstance(found, int) and (is_call or not self.calls_only):
            fields = {"WWW-Authenticate": CHALLENGE} if found == 401 else {}
            return Answer(found, b'{"error":"not with that credential"}', "application/json", fields)
        user.set(str(found))
        if is_call and self.broken:
            return Answer(500, f"private notes of {found}".encode(), "text/plain")
        return await self.next(request) if self.next else None

    # ---- for the test

    def calls(self, credential: str | None = None) -> list[Arrival]:
        arrived = self.server.arrived("tools/call")
        return [each for each in arrived if credential in (None, each.header("authorization"))]

    def requests(self) -> list[Arrival]:
        """Everything but what the operator's own session says."""
        return [each for each in list(self.server.journal) if each.header("authorization") != OPERATOR]

    def session_count(self, *credentials: str) -> int:
        """Sessions that these credentials began."""
        return sum(each.header("authorization") in credentials for each in self.server.arrived("initialize"))


async def whoami(call) -> dict:
    return {"content": [{"type": "text", "text": f"you are {user.get()}"}]}


def served(keeper: Gatekeeper, **more) -> dict:
    """The configuration of an upstream that gets its callers' credentials."""
    return {"url": keeper.carrier.url, "headers": {"Authorization": OPERATOR}, "forward": ["authorization"], **more}
