"""RC-002: connecting, the first byte, silence and the whole try each have a timer of their own, and the error says
which one fired. Progress extends the idle timer, comments extend nothing, and the deadline ends a call whatever comes."""

import asyncio
import socket
import threading
import time

import pytest

from harness.carriers import HttpCarrier, SseCarrier, StdioCarrier, upstream_of
from harness.event_stream import call_stream
from harness.mcp_client import McpClient
from harness.modern_server import ModernServer, modern_carrier
from harness.tool_server import SILENCE, Loop, ToolServer, text_result

CARRIERS = {"HTTP": HttpCarrier, "stdio": StdioCarrier, "HTTP+SSE": SseCarrier}
LATE = 0.6  # seconds that a busy machine may add


async def work(call) -> dict:
    """Progress every `pause` seconds, `steps` times, then the result."""
    for step in range(1, call.arguments["steps"] + 1):
        await asyncio.sleep(call.arguments["pause"])
        await call.progress(step, call.arguments["steps"])
    return text_result("done")


async def silence(call) -> dict:
    await call.cancelled.wait()
    return SILENCE


@pytest.fixture(params=[*CARRIERS, "modern HTTP"])
def through(request, gateway, serve):
    """through(rule): a gateway before a server with the tools `work` and `silence`; the rule holds for both."""

    def start(rule: dict):
        if request.param == "modern HTTP":
            carrier = serve(modern_carrier(ModernServer(["work", "silence"], work=work, silence=silence)))
        else:
            carrier = serve(CARRIERS[request.param](ToolServer(["work", "silence"], work=work, silence=silence)))
        return gateway(
            {
                "upstreams": {"up": {**upstream_of(carrier), "breaker": {"mode": "observe"}}},
                "tools": {"up__*": {"breaker": {"mode": "observe", "p99": 0}, **rule}},
            }
        )

    return start


def answer_of(port: int, tool: str, arguments: dict) -> tuple[dict, float, int]:
    """The result, the seconds that it took, and how many progress notifications came before it."""
    with McpClient(port) as client:
        begin = time.monotonic()
        with call_stream(client, tool, arguments, token="t") as stream:
            result = stream.response()["result"]
        took = time.monotonic() - begin
        return result, took, sum(each.get("method") == "notifications/progress" for each in stream.messages)


def marker(result: dict) -> dict:
    return result["_meta"]["dev.switchgear/call"]


@pytest.mark.parametrize("extends", [True, False])
def test_progress_extends_the_idle_timer_where_it_may(extends, through):
    gate = through({"deadline": "10s", "timeout": {"idle": "800ms", "progress_extends": extends}})
    result, took, steps = answer_of(gate.port, "up__work", {"steps": 10, "pause": 0.2})
    if extends:
        assert not result.get("isError") and steps == 10, result
        assert took >= 2
    else:
        assert marker(result)["reason"] == "timeout" and marker(result)["timer"] == "idle", result
        assert 0.8 <= took <= 0.2 + 0.8 + LATE, f"from the first progress, or the head before it: {took:.2f} s"


def test_the_deadline_ends_a_call_whatever_comes(through):
    gate = through({"deadline": "1500ms", "timeout": {"idle": "800ms"}})
    result, took, _ = answer_of(gate.port, "up__work", {"steps": 100, "pause": 0.1})
    assert marker(result)["timer"] == "deadline"
    assert 1.5 <= took <= 1.5 + LATE


def test_the_total_timer_ends_a_try_whatever_comes(through):
    gate = through({"deadline": "10s", "timeout": {"idle": "800ms", "total": "1200ms"}})
    result, took, _ = answer_of(gate.port, "up__work", {"steps": 100, "pause": 0.1})
    assert marker(result)["timer"] == "total"
    assert 1.2 <= took <= 1.2 + LATE


def test_a_server_that_says_nothing_is_given_up_after_the_first_byte_timeout(through):
    gate = through({"deadline": "10s", "timeout": {"first_byte": "500ms"}})
    result, took, _ = answer_of(gate.port, "up__silence", {})
    # A carrier that begins its stream at once has shown a byte; then nothing but the deadline is left.
    assert result["isError"] and marker(result)["timer"] == "first_byte"
    assert 0.5 <= took <= 0.5 + LATE


@pytest.mark.parametrize("timeout, timer", [({"idle": "700ms"}, "idle"), ({}, "deadline")])
def test_comments_extend_nothing(timeout, timer, gateway, fake):
    silent = fake({"server": {"tools": ["talk"]}, "calls": {"talk": {"do": "comments"}}})
    gate = gateway({"upstreams": {"up": {"url": silent.url}}, "tools": {"up__*": {"deadline": "2s", "timeout": timeout}}})
    with McpClient(gate.port) as client:
        begin = time.monotonic()
        reply = client.call("up__talk")
        took = time.monotonic() - begin
    assert reply.marker["timer"] == timer
    limit = 0.7 if timeout else 2.0
    assert limit <= took <= limit + LATE


def test_pieces_of_a_large_answer_are_signs_of_life(gateway, serve):
    """A JSON body and an event, each in pieces a little apart, take longer than the idle timeout as a whole."""
    for streams in (False, True):
        server = ToolServer(["big"], big=lambda call: asyncio.sleep(0, text_result("x" * 40_000)))
        carrier = HttpCarrier(server)
        carrier.always_stream = streams
        slow = serve(carrier)
        gate = gateway(
            {
                "upstreams": {"up": {"url": trickling(serve, slow).url}},
                "tools": {"up__*": {"deadline": "20s", "timeout": {"idle": "600ms"}, "breaker": {"p99": 0}}},
            }
        )
        with McpClient(gate.port) as client:
            begin = time.monotonic()
            reply = client.call("up__big")
        assert not reply.is_error, reply.text
        assert time.monotonic() - begin > 0.9, "as a whole it took longer than the silence that is allowed"


class Trickle:
    """A TCP relay that hands on what the server writes in pieces, `gap` seconds apart."""

    def __init__(self, target: int, piece: int = 4096, gap: float = 0.1):
        self.target, self.piece, self.gap = target, piece, gap

    def start(self) -> "Trickle":
        async def relay(reader, writer) -> None:
            there, back = await asyncio.open_connection("127.0.0.1", self.target)

            async def upwards() -> None:
                while data := await reader.read(65536):
                    back.write(data)
                back.close()

            sending = asyncio.ensure_future(upwards())
            try:
                while data := await there.read(65536):
                    for at in range(0, len(data), self.piece):
                        writer.write(data[at : at + self.piece])
                        await writer.drain()
                        if len(data) > self.piece:
                            await asyncio.sleep(self.gap)
            except ConnectionError:
                pass
            finally:
                sending.cancel()
                writer.close()
                back.close()

        self.server = Loop.run(asyncio.start_server(relay, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}/mcp"
        return self

    def stop(self) -> None:
        async def close() -> None:
            self.server.close()

        Loop.run(close())


def trickling(serve, carrier) -> Trickle:
    return serve(Trickle(int(carrier.url.rsplit(":", 1)[1].split("/")[0])))


def test_connecting_has_a_timer_of_its_own(gateway, fake):
    """The queue of an address is full: nobody answers a SYN any more."""
    server = fake()
    door = Door(server.port)
    gate = gateway({"upstreams": {"up": {"url": door.url, "connect_timeout": "300ms"}}, "tools": {"*": {"deadline": "5s"}}})
    with McpClient(gate.port) as client:
        assert not client.call("up__echo").is_error
        door.shut()
        begin = time.monotonic()
        reply = client.call("up__echo")
        took = time.monotonic() - begin
    door.close()
    assert reply.marker["reason"] == "unreachable" and reply.marker["timer"] == "connect", reply.marker
    assert 0.3 <= took <= 0.3 + LATE


class Door:
    """A TCP relay that can stop to take connections, with a queue that is full from then on."""

    def __init__(self, target: int):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/mcp"
        self.open: list[socket.socket] = []
        self.stopped = threading.Event()
        self.listener.settimeout(0.05)
        self.taking = threading.Thread(target=self._take)
        self.taking.start()

    def _take(self) -> None:
        while not self.stopped.is_set():
            try:
                here, _ = self.listener.accept()
            except TimeoutError:
                continue
            there = socket.create_connection(("127.0.0.1", self.target))
            self.open += [here, there]
            for source, sink in ((here, there), (there, here)):
                threading.Thread(target=self._relay, args=(source, sink), daemon=True).start()

    @staticmethod
    def _relay(source: socket.socket, sink: socket.socket) -> None:
        try:
            source.settimeout(None)
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for each in (source, sink):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def shut(self) -> None:
        self.stopped.set()
        self.taking.join()
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(self.listener.getsockname())
            self.open.append(filler)
        for each in self.open[:-4]:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self) -> None:
        for each in [*self.open, self.listener]:
            each.close()


def test_a_caller_may_shorten_the_deadline(through):
    gate = through({"deadline": "10s"})
    with McpClient(gate.port) as client:
        begin = time.monotonic()
        reply = client.request(
            "tools/call",
            {"name": "up__silence", "arguments": {}, "_meta": {"dev.switchgear/timeout_ms": 400}},
        )
        took = time.monotonic() - begin
        assert reply.marker["timer"] == "deadline"
        assert 0.4 <= took <= 0.4 + LATE

        begin = time.monotonic()
        message = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "up__silence"}}
        reply = client.post(message, {**client.headers(), "X-Envoy-Expected-Rq-Timeout-Ms": "300"})
        assert reply.marker["timer"] == "deadline"
        assert 0.3 <= time.monotonic() - begin <= 0.3 + LATE

        wrong = client.request("tools/call", {"name": "up__work", "_meta": {"dev.switchgear/timeout_ms": "soon"}})
        assert wrong.error["code"] == -32602 and "timeout_ms" in wrong.error["message"]
