"""RC-010: how many calls it takes to judge. Eager on nothing when closed, deaf to nothing when half-open."""

import time

from harness.mcp_client import McpClient
from harness.waiting import until

WINDOW = 10.0
COOLDOWN = 1.0
TOOL = "up__echo"
BREAKER = {
    "error_rate": "50%",
    "minimum_calls": 10,
    "certainty": "none",
    "window": f"{WINDOW:.0f}s",
    "cooldown": f"{COOLDOWN:.0f}s",
    "growth": 1,
    "jitter": "0%",
    "probes_needed": 1,
    "probe_failures_allowed": 0,
    "p99": "0s",
    "ramp": "0s",
}


def start(gateway, fake):
    upstream = fake({"calls": {"echo": {"do": "rpc_error", "code": -32603}}})
    return gateway({"upstreams": {"up": {"url": upstream.url}}, "tools": {TOOL: {"breaker": BREAKER}}}), upstream


def test_few_failures_do_not_open(gateway, fake):
    through, upstream = start(gateway, fake)
    with McpClient(through.port) as client:
        assert client.call("up__echo").message.get("error", {}).get("code") == -32603
        until(lambda: through.circuit(TOOL)["failures"] == 1, 2, "the failure is counted")
        assert through.state(TOOL) == "closed"  # 1 of 1 is no 100 %

        for _ in range(8):
            client.call("up__echo")
        until(lambda: through.circuit(TOOL)["failures"] == 9, 2, "nine failures are counted")
        assert through.state(TOOL) == "closed"

        until(lambda: through.circuit(TOOL)["failures"] == 0, WINDOW + 3, "they leave the window", every=0.2)
        client.call("up__echo")
        until(lambda: through.circuit(TOOL)["failures"] == 1, 2, "the next is alone again")
        assert through.state(TOOL) == "closed"


def test_every_failing_probe_opens_again_and_a_good_one_closes(gateway, fake, figure):
    through, upstream = start(gateway, fake)
    with McpClient(through.port) as client:
        for _ in range(10):
            client.call("up__echo")
        until(lambda: through.state(TOOL) == "open", 2, "ten failures of ten open")
        reason = through.circuit(TOOL)["reason"]

        open_spans = []
        for _ in range(10):
            opened = time.monotonic()
            before = len(upstream.arrived("tools/call"))

            def probed(before=before) -> bool:
                client.call("up__echo")
                return len(upstream.arrived("tools/call")) > before

            until(probed, COOLDOWN + 2, "a probe reaches the upstream", every=0.02)
            open_spans.append(time.monotonic() - opened)
            until(lambda: through.state(TOOL) == "open", 1, "the failing probe opens again")
            assert len(upstream.arrived("tools/call")) == before + 1, "one probe a round"

        assert max(open_spans) <= COOLDOWN + 0.5
        assert min(open_spans) >= COOLDOWN - 0.1
        upstream.call("echo", "answer")
        until(lambda: client.call("up__echo").marker == {}, COOLDOWN + 2, "a good probe is answered by the primary")
        until(lambda: through.state(TOOL) == "closed", 1, "and closes")
    figure(
        "ten failing probes",
        opened_by=reason,
        open_for=f"{min(open_spans):.2f}-{max(open_spans):.2f} s (set: {COOLDOWN:.0f} s)",
    )
