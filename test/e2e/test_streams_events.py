"""RC-020, RC-022 and RC-023: event streams in every form that servers write them, and one form towards clients."""

import itertools
import json
import re
import statistics
import time

import pytest

from harness.carriers import HttpCarrier, SseCarrier, plain_event
from harness.event_stream import EventStream, call_stream
from harness.mcp_client import McpClient
from harness.modern_server import ModernServer, modern_carrier
from harness.tool_server import ToolServer, text_result
from harness.waiting import until

TOOLS = [f"tool-{number}" for number in range(20)]
WRITTEN = re.compile(rb"(?:(?:: ?[^\r\n]*|(?:event|id|retry): [^\r\n]*|data: [^\r\n]*)\n)+\Z")


def one_form(body: bytes) -> None:
    """Every event towards clients: LF alone, known fields, its message on a single data line."""
    assert b"\r" not in body
    assert body.endswith(b"\n\n")
    for event in body[:-2].split(b"\n\n"):
        assert WRITTEN.match(event + b"\n"), event
        data = [line for line in event.split(b"\n") if line.startswith(b"data:")]
        assert len(data) <= 1
        if data and data[0] != b"data: ":
            assert json.loads(data[0].removeprefix(b"data: "))["jsonrpc"] == "2.0"


async def one_notification(call) -> dict:
    await call.notify("notifications/message", level="info", data="a word before")
    return text_result(json.dumps(call.arguments))


def served(encode, *, preamble=(), carrier=HttpCarrier, **behaviour):
    """A server that writes everything it says as events, `encode` giving their form."""
    make = ModernServer if carrier is modern_carrier else ToolServer
    server = make(TOOLS, capabilities={"tools": {"listChanged": True}, "logging": {}})
    for name in TOOLS:
        server.calls[name] = one_notification
    made = carrier(server)
    made.encode, made.preamble = encode, list(preamble)
    for name, value in behaviour.items():
        setattr(made, name, value)
    return server, made


def in_order(client: McpClient, nonce: int) -> EventStream:
    """A call; its notification and its result arrive, once each and in this order."""
    stream = call_stream(client, "up__tool-7", {"nonce": nonce})
    response = stream.response(limit=5)
    assert json.loads(response["result"]["content"][0]["text"]) == {"nonce": nonce}
    assert [message.get("method") for message in stream.messages] == ["notifications/message", None]
    assert stream.messages[0]["params"]["data"] == "a word before"
    one_form(stream.body)
    return stream


# ---- RC-020: the ends of lines


def ends(newlines: str):
    """Lines end with these, in turn, over and over: within one event too."""

    def encode(text: str) -> bytes:
        turn = itertools.cycle(newlines.split("|"))
        return "".join(line + next(turn) for line in ("event: message", f"data: {text}", "")).encode()

    return encode


LINE_ENDS = {"LF": "\n", "CRLF": "\r\n", "CR": "\r", "mixed": "\r\n|\n|\r"}


def everything_arrives(carrier, gateway, serve) -> None:
    """A list of 20 tools, and calls with a notification before each answer."""
    serve(carrier)
    through = gateway({"upstreams": {"up": {"url": carrier.url}}})
    with McpClient(through.port) as client:
        assert len(client.tools()) == 20
        for nonce in range(5):
            in_order(client, nonce)


@pytest.mark.parametrize("end", LINE_ENDS)
def test_the_end_of_a_line_may_be_written_in_three_ways(end, gateway, serve):
    """RC-020: a handshake, a list of 20 tools, calls and a notification, on streams that stay open afterwards."""
    _, carrier = served(ends(LINE_ENDS[end]), always_stream=True, linger=True)
    everything_arrives(carrier, gateway, serve)


@pytest.mark.timing
def test_no_line_end_waits_for_the_end_of_the_stream(gateway, serve, figure):
    """RC-020: the result is there as soon with each of them, though the server leaves its stream open."""
    medians = {}
    for end, newlines in LINE_ENDS.items():
        _, carrier = served(ends(newlines), always_stream=True, linger=True)
        serve(carrier)
        through = gateway({"upstreams": {"up": {"url": carrier.url}}})
        with McpClient(through.port) as client:
            took = []
            for _ in range(20):
                begin = time.monotonic()
                assert not client.call("up__tool-0").is_error
                took.append(time.monotonic() - begin)
        medians[end] = statistics.median(took)
    figure("a result by line ends", **{end: f"{median * 1000:.1f} ms" for end, median in medians.items()})
    assert max(medians.values()) - min(medians.values()) < 0.05


# ---- RC-022: data over several lines


def over_lines(*cut_at: str, prefix: str = "data: "):
    """The JSON is cut before each of these texts."""

    def encode(text: str) -> bytes:
        for cut in cut_at:
            text = text.replace(cut, "\n" + cut, 1)
        return ("event: message\n" + "".join(f"{prefix}{line}\n" for line in text.split("\n")) + "\n").encode()

    return encode


def pretty(text: str) -> bytes:
    lines = json.dumps(json.loads(text), indent=2).split("\n")
    return ("".join(f"data: {line}\n" for line in lines) + "\n").encode()


SPREAD = {
    "inside an object": over_lines('"id"', '"method"', '"params"'),
    "between key and value": lambda text: over_lines(' "2.0"', ' "notifications/message"', " {")(text),
    "pretty-printed": pretty,
    "no space": over_lines('"id"', '"params"', prefix="data:"),
    "one space": over_lines('"id"', '"params"', prefix="data: "),
    "two spaces": over_lines('"id"', '"params"', prefix="data:  "),
    "an empty line in the middle": lambda text: over_lines('"id"', '"params"')(text).replace(
        b"\ndata: ", b"\ndata\ndata:\ndata: ", 1
    ),
}


@pytest.mark.parametrize("spread", SPREAD)
def test_a_message_over_several_lines_is_one_message(spread, gateway, serve):
    """RC-022: result and notification arrive, in order; towards the client each stands on a single line."""
    _, carrier = served(SPREAD[spread], always_stream=True)
    everything_arrives(carrier, gateway, serve)


# ---- RC-023: events that carry no message

NO_MESSAGES = [
    b"id: prime-1\ndata:\n\n",
    b"retry: 250\n\n",
    b"event: ping\ndata: 2026-11-29T12:00:00Z\n\n",
    b"event: keepalive\ndata: {}\n\n",
    b": a comment\n\n:\n\n",
    b"colour: green\ndata:\n\n",
    b"alone\n\n",
    b"data\n\n",
    b"\n\n\n",
]


def without_name(text: str) -> bytes:
    return f"data: {text}\n\n".encode()


@pytest.mark.parametrize("encode", [plain_event, without_name], ids=["named message", "no name"])
def test_events_without_a_message_are_passed_over_in_a_calls_stream(encode, gateway, serve):
    """RC-023, on the stream that answers a POST."""
    _, carrier = served(encode, preamble=NO_MESSAGES, always_stream=True)
    serve(carrier)
    through = gateway({"upstreams": {"up": {"url": carrier.url}}})
    with McpClient(through.port) as client:
        assert len(client.tools()) == 20
        for nonce in range(20):
            stream = in_order(client, nonce)
            assert b"keepalive" not in stream.body and b"2026-11-29" not in stream.body
    quiet(through)
    assert not through.circuit("up__tool-7") or through.circuit("up__tool-7")["failures"] == 0


def quiet(through) -> None:
    """Nothing about such events is logged above `debug`, which is not on."""
    said = through.process.stderr.splitlines()
    assert len(said) < 10, said
    assert not [line for line in said if " warn " in line or " error " in line], said


@pytest.mark.parametrize("transport", [HttpCarrier, SseCarrier, modern_carrier])
@pytest.mark.parametrize("encode", [plain_event, without_name], ids=["named message", "no name"])
def test_events_without_a_message_are_passed_over_outside_of_calls(transport, encode, gateway, serve):
    """RC-023, on the standalone GET stream, on the one stream of HTTP+SSE, and on a modern `subscriptions/listen`: what
    follows them is still heard."""
    server, carrier = served(encode, preamble=NO_MESSAGES, carrier=transport)
    serve(carrier)
    through = gateway({"upstreams": {"up": {"url": carrier.url}}})
    with McpClient(through.port) as client:
        assert len(client.tools()) == 20
        until(lambda: server.channels, 5, "the gateway listens outside of calls")
        server.tools.append("late")
        server.tell("notifications/tools/list_changed")
        until(lambda: "up__late" in client.tools(), 3, "the news after them is heard")
        assert json.loads(client.call("up__tool-7", {"nonce": 1}).text) == {"nonce": 1}
    quiet(through)


@pytest.mark.parametrize("retry", [50, 600])
def test_a_stream_goes_on_after_the_last_event_that_was_heard(retry, gateway, serve):
    """RC-023: `id` and `retry` are remembered, those of events without a message too."""
    server, carrier = served(plain_event, preamble=[f"retry: {retry}\n\n".encode(), b"id: seen-41\ndata:\n\n"])
    serve(carrier)
    through = gateway({"upstreams": {"up": {"url": carrier.url}}})
    with McpClient(through.port) as client:
        until(lambda: server.channels, 5, "the gateway listens outside of calls")
        gets = lambda: [arrival for arrival in server.journal if arrival.verb == "GET"]  # noqa: E731
        assert gets()[0].header("last-event-id") is None
        begin = time.monotonic()
        carrier.cut_streams()
        until(lambda: len(gets()) >= 2, retry / 1000 + 3, "it listens again")
        again = gets()[1]
        assert again.header("last-event-id") == "seen-41"
        assert again.at - begin >= retry / 1000 * 0.8, "not sooner than the server asked for"
        assert not client.call("up__tool-0").is_error
