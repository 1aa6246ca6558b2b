"""An agent that makes the same failing call again and again is told so, and the tool is spared; nobody else notices."""

import time

import pytest

from harness.fleet import metric
from harness.mcp_client import McpClient
from harness.modern_client import ModernClient
from harness.piped_gateway import PipedGateway
from harness.together import together
from harness.waiting import until

TOOL = "up__echo"
WORDS = "there is no city called Atlantis"
CITY = {"city": "Atlantis"}


def failing(fake):
    return fake({"server": {"tools": ["echo", "other"]}, "calls": {"*": {"do": "is_error", "text": WORDS}}})


def configuration(upstream, failures: int = 3, window: str = "60s") -> dict:
    return {
        "upstreams": {"up": {"url": upstream.url}},
        "tools": {"up__*": {"loop": {"failures": failures, "window": window}}},
    }


def arrived(upstream) -> int:
    return len(upstream.arrived("tools/call"))


def stopped(reply) -> bool:
    return reply.marker.get("steps") == ["primary:repeated"]


def test_the_agent_is_told_what_it_does(gateway, fake):
    upstream = failing(fake)
    gate = gateway(configuration(upstream))
    with McpClient(gate.port) as client:
        for _ in range(3):
            reply = client.call(TOOL, CITY)
            assert reply.is_error and reply.text == WORDS and reply.marker == {}
        for _ in range(20):
            reply = client.call(TOOL, CITY, id="mine")
            assert reply.status == 200 and reply.message["id"] == "mine"
            assert reply.is_error and stopped(reply)
            assert reply.marker["repeated"] == 3 and reply.marker["served_by"] == "none"
            for part in (TOOL, "3 times", WORDS, "Change the arguments"):
                assert part in reply.text
            assert "retry-after" not in reply.headers and "retry_after_ms" not in reply.marker
        assert arrived(upstream) == 3
        assert metric(gate, "switchgear_loops_damped_total", tool=TOOL) == 20
        # Another question, another tool: both are asked.
        assert client.call(TOOL, {"city": "Athens"}).text == WORDS
        assert client.call("up__other", CITY).text == WORDS
        assert arrived(upstream) == 5
    assert gate.state(TOOL) == "closed"


def test_by_default_every_call_is_made(gateway, fake):
    upstream = failing(fake)
    gate = gateway({"upstreams": {"up": {"url": upstream.url}}})
    with McpClient(gate.port) as client:
        assert all(client.call(TOOL, CITY).text == WORDS for _ in range(30))
    assert arrived(upstream) == 30
    assert metric(gate, "switchgear_loops_damped_total") == 0


def test_another_session_is_another_agent(gateway, fake):
    upstream = failing(fake)
    gate = gateway(configuration(upstream))
    with McpClient(gate.port) as one, McpClient(gate.port) as other:
        assert [stopped(one.call(TOOL, CITY)) for _ in range(5)] == [False] * 3 + [True] * 2
        assert [stopped(other.call(TOOL, CITY)) for _ in range(4)] == [False] * 3 + [True]
        # On whichever connection, and so on whichever thread of the gateway.
        doubles = [one.double() for _ in range(16)]
        assert all(together([lambda double=double: stopped(double.call(TOOL, CITY)) for double in doubles]))
        for double in doubles:
            double.close()
    assert arrived(upstream) == 6


def test_a_success_is_a_new_beginning(gateway, fake):
    upstream = failing(fake)
    gate = gateway(configuration(upstream))
    with McpClient(gate.port) as client:
        for _ in range(3):
            assert not any(stopped(client.call(TOOL, CITY)) for _ in range(2))
            upstream.call("echo", "answer")
            assert not client.call(TOOL, CITY).is_error
            upstream.call("echo", "is_error", text=WORDS)
    assert arrived(upstream) == 9


@pytest.mark.seconds
def test_a_call_is_made_again_when_the_window_has_passed(gateway, fake):
    upstream = failing(fake)
    gate = gateway(configuration(upstream, failures=2, window="2s"))
    with McpClient(gate.port) as client:
        began = time.monotonic()
        for _ in range(2):
            client.call(TOOL, CITY)
        assert stopped(client.call(TOOL, CITY))
        upstream.call("echo", "answer")
        until(lambda: not client.call(TOOL, CITY).is_error, 4, "the call is made again")
        assert time.monotonic() - began >= 2
    assert arrived(upstream) == 3


def test_what_the_tool_did_not_say_is_no_loop(gateway, fake):
    """Refusals of an open breaker are the breaker's to explain; they say when to come again."""
    upstream = fake({"calls": {"echo": {"do": "rpc_error", "code": -32603}}})
    gate = gateway({**configuration(upstream, failures=20), "breaker": {"p99": "0s", "cooldown": "20s"}})
    with McpClient(gate.port) as client:
        until(lambda: client.call(TOOL, CITY).messages[0].get("result"), 5, "the breaker has opened")
        for _ in range(30):
            reply = client.call(TOOL, CITY)
            assert reply.marker["reason"] == "open" and not stopped(reply)


def test_modern_clients_that_nobody_can_tell_apart_are_never_stopped(gateway, fake):
    upstream = failing(fake)
    gate = gateway(configuration(upstream))
    with ModernClient(gate.port) as client:
        assert all(client.call(TOOL, CITY).text == WORDS for _ in range(10))
    assert arrived(upstream) == 10


def test_the_client_of_a_pipe_is_one_session(fake, tmp_path):
    upstream = failing(fake)
    with PipedGateway(configuration(upstream), tmp_path) as piped:
        piped.initialize()
        replies = [piped.ask(number, "tools/call", {"name": TOOL, "arguments": CITY}) for number in range(5)]
    assert [reply["result"]["content"][0]["text"] == WORDS for reply in replies] == [True] * 3 + [False] * 2
    assert arrived(upstream) == 3
