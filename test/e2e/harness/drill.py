"""Tools that write and tools that read, each with something to fall back to, and all that may become of a call."""

import itertools

from harness.certificates import Authority
from harness.faulty_server import CountingServer, Fault, FaultyCarrier, hinted, well
from harness.fleet import metric
from harness.mcp_client import McpClient
from harness.scripted_http import Answer

ATTEMPTS = 3
DEADLINE = 2.0
OBSERVE = {"mode": "observe"}  # no breaker ends the retries
QUICK = {"attempts": ATTEMPTS, "backoff": "2ms", "longest_pause": "5ms"}

# By name: the server's hints, and what the operator says.
WRITING = {"plain": [], "destructive": ["destructiveHint"], "distrusted": ["readOnlyHint"]}
READING = {"reading": ["readOnlyHint"], "idempotent": ["idempotentHint"], "trusted": []}
OPERATOR = {"distrusted": False, "trusted": True}

PAGE = Answer(200, b"<html>gateway error</html>", "text/html")
GARBAGE = Fault("instead", answer=PAGE)


class Drill:
    """A gateway before a server with a tool of each kind; each has a second server's tool to fall back to."""

    def __init__(
        self,
        gateway,
        serve,
        *,
        tls: tuple | None = None,
        authority: Authority | None = None,
        deadline: float = DEADLINE,
        budget: str = "100%",
        breaker: dict | None = None,
        retry: dict | None = None,
    ):
        hints = {**WRITING, **READING}
        self.tools = CountingServer(*(hinted(name, *given) for name, given in hints.items()))
        self.server = serve(FaultyCarrier(self.tools, tls=tls))
        self.second_tools = CountingServer("spare")
        self.second = serve(FaultyCarrier(self.second_tools))
        up = {"url": self.server.url, "retry_budget": budget, "breaker": breaker or OBSERVE}
        if authority is not None:
            up["tls"] = {"ca": str(authority.path)}
        rule = {
            "deadline": f"{deadline * 1000:.0f}ms",
            "retry": retry or QUICK,
            "breaker": breaker or OBSERVE,
            "fallback": [{"tool": {"name": "second__spare"}}],
        }
        operator = {f"up__{name}": {"read_only": said} for name, said in OPERATOR.items()}
        self.gateway = gateway(
            {
                "upstreams": {"up": up, "second": {"url": self.second.url, "breaker": OBSERVE}},
                "tools": {"up__*": rule, **operator},
            }
        )
        self.numbers = itertools.count()

    def client(self) -> McpClient:
        return McpClient(self.gateway.port)

    def run(self) -> str:
        return f"run-{next(self.numbers)}"

    def fail(self, fault: Fault, times: int = 1_000_000) -> None:
        """What becomes of the first arrivals of each call."""
        self.server.plan = lambda run, arrival: fault if arrival < times else None

    def save_up(self) -> None:
        """Calls that go well, until the budget has all the retries that it may save."""
        self.server.plan = well
        with self.client() as client:
            for _ in range(10):
                assert client.call("up__reading", {"run": self.run()}).marker == {}

    def retries(self, tool: str) -> int:
        return int(metric(self.gateway, "switchgear_retries_total", tool=f"up__{tool}"))
