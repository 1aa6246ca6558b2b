"""RC-034 and RC-035: requests and answers of any size. Up to a limit all of it passes; above, it says which limit."""

import contextlib
import hashlib
import json
import socket
import threading
import time
from pathlib import Path

import pytest

from harness.carriers import HttpCarrier, StdioCarrier, upstream_of
from harness.mcp_client import McpClient
from harness.raw_http import RawConnection, post
from harness.together import together
from harness.tool_server import ToolServer, text_result
from harness.waiting import until

KIB, MIB = 1024, 1024 * 1024
LIMIT = 4 * MIB
CAP = 50 * MIB
GIB = 1024 * MIB


async def digest(call) -> dict:
    text = call.arguments["text"]
    return text_result(f"{len(text)} {hashlib.sha256(text.encode()).hexdigest()}")


async def big(call) -> dict:
    return text_result("0123456789abcdef" * (call.arguments["size"] // 16) + "!" * (call.arguments["size"] % 16))


# ---- RC-034: requests


def request_of(size: int) -> tuple[bytes, str]:
    """A tools/call whose body has exactly so many bytes, and what the tool answers to it."""
    head = b'{"jsonrpc":"2.0","id":"sized","method":"tools/call","params":{"name":"up__digest","arguments":{"text":"'
    tail = b'"}}}'
    text = "x" * (size - len(head) - len(tail))
    return head + text.encode() + tail, f"{len(text)} {hashlib.sha256(text.encode()).hexdigest()}"


@pytest.fixture
def through(gateway, serve):
    server = ToolServer(["digest"], digest=digest)
    made = gateway({"upstreams": {"up": {"url": serve(HttpCarrier(server)).url}}})
    made.server = server
    with McpClient(made.port) as client:
        made.fields = {"Mcp-Session-Id": client.session, "MCP-Protocol-Version": client.version}
    return made


def send(connection: RawConnection, body: bytes, fields: dict, chunked: bool) -> None:
    """All of it, or until nobody reads any more."""
    with contextlib.suppress(OSError):
        if not chunked:
            connection.send(post(body, fields))
            return
        connection.send(post(b"", {**fields, "Content-Length": None, "Transfer-Encoding": "chunked"}))
        for start in range(0, len(body), 64 * KIB):
            piece = body[start : start + 64 * KIB]
            connection.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        connection.send(b"0\r\n\r\n")


@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "in chunks"])
@pytest.mark.parametrize("size", [90_000, 150_000, 2 * MIB + 1, LIMIT - 1, LIMIT])
def test_a_request_up_to_the_limit_arrives_whole(size, chunked, through):
    body, expected = request_of(size)
    assert len(body) == size
    with RawConnection(through.port) as connection:
        for _ in range(2):  # and the connection lives on
            send(connection, body, through.fields, chunked)
            answer = connection.receive()
            assert answer.status == 200
            message = json.loads(answer.body)
            assert message["id"] == "sized"
            assert message["result"]["content"][0]["text"] == expected


def names_the_limit(body: bytes) -> bool:
    return any(text in body for text in (b"max_request", b"4194304", b"4 MiB", b"4MiB"))


@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "in chunks"])
def test_one_byte_too_many_is_413_with_the_limit_named(chunked, through):
    body, _ = request_of(LIMIT + 1)
    with RawConnection(through.port) as connection:
        send(connection, body, through.fields, chunked)
        answer = connection.receive()
        assert answer is not None, "the answer is not lost to a reset"
        assert answer.status == 413 and answer.media_type == "application/json"
        assert "error" in json.loads(answer.body) and names_the_limit(answer.body), answer.body
        if answer.headers.get("connection") == "close":
            assert connection.closed_within(10)
    assert not through.server.arrived("tools/call")
    assert not through.circuit("up__digest") or through.circuit("up__digest")["failures"] == 0


def test_a_gigabyte_that_is_only_announced_is_refused_at_once(through):
    with RawConnection(through.port) as connection:
        begin = time.monotonic()
        connection.send(post(b"", {**through.fields, "Content-Length": str(GIB)}) + b'{"jsonrpc"')
        answer = connection.receive()
        assert answer.status == 413 and names_the_limit(answer.body)
        assert time.monotonic() - begin < 1, "before the body"


@pytest.mark.footprint
@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "in chunks"])
def test_a_gigabyte_is_not_read_into_memory(chunked, through, figure):
    """As much of it as the gateway takes before it ends the connection, or a gigabyte."""
    before = through.process.resident_bytes()
    announced = {"Content-Length": str(GIB)} if not chunked else {"Transfer-Encoding": "chunked"}
    fields = {**through.fields, "Content-Length": None, **announced}
    data = b" " * MIB
    sent, most = 0, 0
    with RawConnection(through.port) as connection:
        with contextlib.suppress(OSError):
            connection.send(post(b"", fields))
            while sent < GIB:
                connection.send(b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
                sent += len(data)
                most = max(most, through.process.resident_bytes() - before)
    figure("a gigabyte sent", taken=f"{sent / MIB:.0f} MiB", memory=f"{most / MIB:.1f} MiB", chunked=chunked)
    assert most < 3 * LIMIT
    with McpClient(through.port) as client:
        assert not client.call("up__digest", {"text": "small"}).is_error


@pytest.mark.timing
def test_big_requests_do_not_delay_small_ones(through, figure):
    body, expected = request_of(LIMIT)
    ended = threading.Event()

    def large() -> None:
        with RawConnection(through.port, timeout=30) as connection:
            send(connection, body, through.fields, chunked=False)
            assert json.loads(connection.receive().body)["result"]["content"][0]["text"] == expected

    def all_large() -> None:
        try:
            together([large] * 10)
        finally:
            ended.set()

    def small() -> list[float]:
        took = []
        with McpClient(through.port) as client:
            while not ended.is_set():
                begin = time.monotonic()
                assert client.request("ping").status == 200
                took.append(time.monotonic() - begin)
        return took

    _, took = together([all_large, small])
    took.sort()
    median, worst = took[len(took) // 2], took[-1]
    figure("pings beside ten of 4 MiB", median=f"{median * 1000:.1f} ms", worst=f"{worst * 1000:.0f} ms")
    assert median < 0.05 and worst < 1.0


def test_the_limit_is_a_setting(gateway, serve):
    server = ToolServer(["digest"], digest=digest)
    through = gateway({"upstreams": {"up": {"url": serve(HttpCarrier(server)).url}}, "limits": {"max_request": "8MiB"}})
    with McpClient(through.port) as client:
        assert client.call("up__digest", {"text": "x" * (7 * MIB)}).text.startswith(f"{7 * MIB} ")
        with contextlib.suppress(OSError):
            assert client.call("up__digest", {"text": "x" * (9 * MIB)}).status == 413


# ---- RC-035: answers

CARRIED = {"one data line": HttpCarrier, "a JSON body": HttpCarrier, "stdio": StdioCarrier}


def serving(gateway, serve, carried: str, *, piece: int = 0, **settings):
    server = ToolServer(["big", "echo"], big=big)
    carrier = CARRIED[carried](server)
    if isinstance(carrier, HttpCarrier):
        carrier.always_stream = carried == "one data line"
        carrier.piece = piece
    serve(carrier)
    made = gateway({"upstreams": {"up": upstream_of(carrier)}, "tools": {"up__*": {"deadline": "30s"}}, **settings})
    made.server, made.carrier = server, carrier
    return made


def as_expected(text: str, size: int) -> bool:
    return text == "0123456789abcdef" * (size // 16) + "!" * (size % 16)


@pytest.mark.parametrize("carried", CARRIED)
@pytest.mark.parametrize("size", [64 * KIB + 1, MIB + 1, 10 * MIB])
def test_an_answer_below_the_cap_passes_byte_by_byte(size, carried, gateway, serve):
    through = serving(gateway, serve, carried, piece=1024)
    with McpClient(through.port) as client:
        reply = client.call("up__big", {"size": size}, id="mine")
        assert reply.message["id"] == "mine" and not reply.marker
        assert as_expected(reply.text, size)


@pytest.mark.timing
@pytest.mark.parametrize("carried", CARRIED)
def test_the_time_of_an_answer_grows_with_its_size(carried, gateway, serve, figure):
    through = serving(gateway, serve, carried, piece=64 * KIB)
    took = {}
    with McpClient(through.port) as client:
        for size in (MIB, 10 * MIB, 40 * MIB):
            begin = time.monotonic()
            assert len(client.call("up__big", {"size": size}).text) == size
            took[size] = time.monotonic() - begin
    figure(f"answers as {carried}", **{f"{size // MIB} MiB": f"{time:.3f} s" for size, time in took.items()})
    assert took[10 * MIB] < 2
    assert took[40 * MIB] < 2 * 4 * took[10 * MIB] + 0.5, "in proportion"


def peak_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmHWM")


@pytest.mark.footprint
@pytest.mark.parametrize("carried", CARRIED)
def test_the_memory_for_an_answer_is_bounded_by_its_size(carried, gateway, serve, figure):
    size = 10 * MIB
    through = serving(gateway, serve, carried, piece=1024)
    with McpClient(through.port) as client:
        client.call("up__echo")
        before = through.process.resident_bytes()
        for _ in range(3):
            assert len(client.call("up__big", {"size": size}).text) == size
    grown = peak_bytes(through.pid) - before
    figure(f"10 MiB as {carried}", memory_peak=f"{grown / MIB:.1f} MiB")
    assert grown < 4 * size


@pytest.mark.seconds
@pytest.mark.parametrize("carried", CARRIED)
def test_an_answer_above_the_cap_fails_alone(carried, gateway, serve):
    """60 MiB; others who call at the same time notice nothing, and the server may stop writing."""
    through = serving(gateway, serve, carried, breaker={"mode": "observe"})

    def too_large():
        with McpClient(through.port) as client:
            return client.call("up__big", {"size": 60 * MIB}, id="large")

    def small() -> int:
        done = 0
        with McpClient(through.port) as client:
            while not ended.is_set():
                assert json.loads(client.call("up__echo", {"n": done}).text) == {"n": done}
                done += 1
        return done

    ended = threading.Event()

    def ending():
        try:
            return too_large()
        finally:
            ended.set()

    reply, done = together([ending, small])
    assert done > 0
    assert reply.message["id"] == "large" and reply.is_error
    assert any(limit in reply.text for limit in ("max_answer", str(CAP), "50 MiB", "50MiB")), reply.text
    if carried == "one data line":
        until(lambda: through.carrier.cut, 5, "the upstream's stream is closed, in the middle of it")
    with McpClient(through.port) as client:
        assert as_expected(client.call("up__big", {"size": MIB}).text, MIB), "the upstream is used as before"


@pytest.mark.timing
@pytest.mark.seconds
def test_a_slow_reader_slows_nobody_else(gateway, serve, figure):
    """Ten clients fetch 1 MiB again and again; one more takes 10 MiB at 10 kB/s."""
    through = serving(gateway, serve, "a JSON body")

    def fetch(times: int) -> list[float]:
        took = []
        with McpClient(through.port) as client:
            for _ in range(times):
                begin = time.monotonic()
                assert len(client.call("up__big", {"size": MIB}).text) == MIB
                took.append(time.monotonic() - begin)
        return took

    def median_of_all() -> float:
        took = sorted(each for taken in together([lambda: fetch(5)] * 10) for each in taken)
        return took[len(took) // 2]

    alone = median_of_all()
    with McpClient(through.port) as client:
        fields = {"Mcp-Session-Id": client.session, "MCP-Protocol-Version": client.version}
    call = {"name": "up__big", "arguments": {"size": 10 * MIB}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()
    stopping = threading.Event()
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.connect(("127.0.0.1", through.port))
    slow.sendall(post(body, fields))
    received = [0]

    def read_slowly() -> None:
        while not stopping.is_set() and (data := slow.recv(1000)):
            received[0] += len(data)
            stopping.wait(0.1)

    reader = threading.Thread(target=read_slowly)
    reader.start()
    try:
        until(lambda: received[0] > 0, 5, "the slow one gets something")
        beside = median_of_all()
    finally:
        stopping.set()
        reader.join()
        slow.close()
    figure("1 MiB beside a slow reader", alone=f"{alone * 1000:.0f} ms", beside=f"{beside * 1000:.0f} ms")
    assert received[0] < 2 * MIB, "it was slow indeed"
    assert beside < 2 * alone + 0.05
