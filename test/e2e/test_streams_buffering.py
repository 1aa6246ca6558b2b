"""RC-029: events leave when they come. Nothing on the way holds them back, and an idle stream is kept warm."""

import asyncio
import gzip
import json
import time
import zlib

import pytest

from harness.carriers import HttpCarrier
from harness.event_stream import EventStream, call_stream
from harness.holding_proxy import HoldingProxy
from harness.mcp_client import McpClient
from harness.scripted_http import Answer
from harness.tool_server import ToolServer, text_result
from harness.waiting import holds

STEPS = 10
EVERY = 0.1
LATE = 0.1


async def steps_with_their_moments(call) -> dict:
    """Ten events; the field case has them 300 ms apart, here it is 100 ms."""
    for step in range(1, STEPS + 1):
        await asyncio.sleep(EVERY)
        moment = repr(time.monotonic())
        await call.notify(
            "notifications/progress", progressToken=call.token, progress=step, total=STEPS, message=moment
        )
    await asyncio.sleep(EVERY)
    return text_result("done")


def lateness(stream: EventStream) -> list[float]:
    """Of each event, from the moment that it left the upstream."""
    late = []
    for event in stream.events:
        message = event.message
        if message is not None and message.get("method") == "notifications/progress":
            late.append(event.at - float(message["params"]["message"]))
    return late


def compressor(wbits: int):
    def make():
        packed = zlib.compressobj(wbits=wbits)
        return lambda data: packed.compress(data) + packed.flush(zlib.Z_SYNC_FLUSH)

    return make


CODINGS = {"identity": None, "gzip": 31, "deflate": 15}


@pytest.mark.timing
@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("behind", ["nothing between", "behind a proxy that holds 4 KiB"])
def test_each_event_leaves_as_it_comes(behind, coding, gateway, serve, figure):
    """The client offers gzip. A server may compress what it says, asked or not, as long as it flushes each event."""
    server = ToolServer(["steps"], steps=steps_with_their_moments)
    carrier = serve(HttpCarrier(server))
    if CODINGS[coding] is not None:
        carrier.transform = compressor(CODINGS[coding])
        carrier.stream_fields = {"Content-Encoding": coding}
    through = gateway({"upstreams": {"up": {"url": carrier.url}}})
    with McpClient(through.port) as client:
        if behind != "nothing between":
            client.port = serve(HoldingProxy(through.port)).port
        headers = {"Accept-Encoding": "gzip, deflate, br"}
        with call_stream(client, "up__steps", token="t", **headers) as stream:
            assert stream.response()["result"]["content"][0]["text"] == "done"
        late = lateness(stream)
        figure(f"event by event, {coding}", latest=f"{max(late, default=9) * 1000:.1f} ms", way=behind)
        assert len(late) == STEPS
        assert max(late) < LATE
        assert stream.headed_at <= stream.events[0].at
        assert stream.events[-1].at - stream.events[0].at > EVERY * STEPS * 0.8, "not in one lump"
        assert stream.headers["x-accel-buffering"] == "no"
        assert "no-cache" in stream.headers["cache-control"]
        assert "content-encoding" not in stream.headers


def test_events_are_asked_for_uncompressed(gateway, serve):
    server = ToolServer(["echo"])
    through = gateway({"upstreams": {"up": {"url": serve(HttpCarrier(server)).url}}})
    with McpClient(through.port) as client:
        client.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "up__echo"}})
    for arrival in server.arrived("tools/call"):
        assert arrival.header("accept-encoding") in (None, "identity")


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_whole_answer_that_was_compressed_all_the_same_is_read(coding, gateway, serve):
    """Some servers compress whatever was asked. The client, which did not offer it, gets plain text."""
    server = ToolServer(["echo"])
    carrier = serve(HttpCarrier(server))

    async def packed(request) -> Answer | None:
        if b'"tools/call"' not in request.body:
            return None
        message = json.loads(request.body)
        text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": text_result("x" * 10_000)}).encode()
        body = gzip.compress(text) if coding == "gzip" else zlib.compress(text)
        return Answer(200, body, "application/json", {"Content-Encoding": coding})

    carrier.first = packed
    through = gateway({"upstreams": {"up": {"url": carrier.url}}})
    with McpClient(through.port) as client:
        reply = client.call("up__echo")
        assert reply.text == "x" * 10_000
        assert "content-encoding" not in reply.headers


def test_a_compressed_answer_cannot_fill_the_memory(gateway, serve):
    """60 MB of nothing in 60 kB: it counts as large as it is, and fails its call with the limit named."""
    server = ToolServer(["echo"])
    carrier = serve(HttpCarrier(server))
    packed = gzip.compress(b" " * 60_000_000)

    async def bomb(request) -> Answer | None:
        if b'"tools/call"' not in request.body:
            return None
        return Answer(200, packed, "application/json", {"Content-Encoding": "gzip"})

    carrier.first = bomb
    through = gateway({"upstreams": {"up": {"url": carrier.url}}, "limits": {"max_answer": "1MiB"}})
    with McpClient(through.port) as client:
        before = through.process.resident_bytes()
        reply = client.call("up__echo", id="mine")
        assert reply.message["id"] == "mine" and reply.is_error
        assert through.process.resident_bytes() - before < 16 * 1024 * 1024
        carrier.first = None
        assert not client.call("up__echo").is_error


@pytest.mark.timing
def test_a_streams_head_is_there_before_any_event(gateway, serve):
    """A client that opens the GET stream knows at once that it is open, with no event to wait for."""
    through = gateway({"upstreams": {"up": {"url": serve(HttpCarrier(ToolServer())).url}}})
    with McpClient(through.port) as client, EventStream(client) as stream:
        stream.wait_head(1.0)
        assert stream.status == 200 and stream.is_events
        assert stream.headed_at - stream.sent_at < LATE
        assert stream.headers["x-accel-buffering"] == "no"
        assert "no-cache" in stream.headers["cache-control"]
        assert "content-encoding" not in stream.headers
        assert not stream.messages


@pytest.mark.seconds
@pytest.mark.timing
def test_an_idle_stream_is_kept_warm_with_comments_only(gateway, serve, figure):
    """RC-023, too. The field case waits for five minutes behind a proxy that drops what is silent for 60 s; here it is
    18 s behind one that drops after 17 s. Nothing of what is sent could be taken for a message."""
    through = gateway({"upstreams": {"up": {"url": serve(HttpCarrier(ToolServer())).url}}})
    proxy = serve(HoldingProxy(through.port, silence=17))
    with McpClient(through.port) as client:
        client.port = proxy.port
        with EventStream(client) as stream:
            stream.wait_head()
            assert stream.status == 200
            holds(lambda: not stream.ended.is_set(), 18, "the stream is open", every=0.2)
            moments = [stream.headed_at, *(event.at for event in stream.events), time.monotonic()]
    assert all(event.is_comment for event in stream.events), stream.body
    longest = max(after - before for before, after in zip(moments, moments[1:]))
    figure("idle GET stream", longest_silence=f"{longest:.1f} s")
    assert longest <= 16 and proxy.dropped == 0
