"""Requests whose length two readers could see differently, and heads that never end: refused, connection closed."""

import contextlib
import json
import time

import pytest

from harness.gateway import Gateway
from harness.mcp_client import McpClient, initialize_params
from harness.raw_http import RawConnection, post
from harness.waiting import until

PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
HIDDEN = post(
    json.dumps({"jsonrpc": "2.0", "id": "hidden", "method": "initialize", "params": initialize_params()}).encode()
)
START = (
    b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Accept: application/json, text/event-stream\r\n"
)
LENGTH = b"Content-Length: %d\r\n" % len(PING)
CHUNKED_PING = b"%x\r\n%b\r\n0\r\n\r\n" % (len(PING), PING)

AMBIGUOUS = {
    "length and chunked": START + LENGTH + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKED_PING,
    "chunked and length": START + b"Transfer-Encoding: chunked\r\n" + LENGTH + b"\r\n" + CHUNKED_PING,
    "zero length and chunked": START + b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED_PING,
    "two lengths": START + LENGTH + b"Content-Length: 5\r\n\r\n" + PING,
    "a list of lengths": START + b"Content-Length: %d, 5\r\n\r\n" % len(PING) + PING,
    "a signed length": START + b"Content-Length: +%d\r\n\r\n" % len(PING) + PING,
    "a negative length": START + b"Content-Length: -1\r\n\r\n" + PING,
    "a hexadecimal length": START + b"Content-Length: 0x10\r\n\r\n" + PING,
    "an enormous length": START + b"Content-Length: 99999999999999999999999\r\n\r\n" + PING,
    "a length that is a word": START + b"Content-Length: all\r\n\r\n" + PING,
    "space before the colon": START + b"Content-Length : %d\r\n\r\n" % len(PING) + PING,
    "bare line feeds": (START + LENGTH + b"\r\n").replace(b"\r\n", b"\n") + PING,
    "one bare line feed": START + LENGTH.replace(b"\r\n", b"\n") + b"\r\n" + PING,
    "a bare carriage return": START + b"X: a\rContent-Length: 0\r\n" + LENGTH + b"\r\n" + PING,
    "a folded line": START + b"X: a\r\n b\r\n" + LENGTH + b"\r\n" + PING,
    "a folded length": START + b"Content-Length:\r\n %d\r\n\r\n" % len(PING) + PING,
    "a folded encoding": START + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + CHUNKED_PING,
    "gzip": START + b"Transfer-Encoding: gzip\r\n\r\n" + CHUNKED_PING,
    "gzip, chunked": START + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNKED_PING,
    "chunked, identity": START + b"Transfer-Encoding: chunked, identity\r\n\r\n" + CHUNKED_PING,
    "chunked twice": START + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED_PING,
    "xchunked": START + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNKED_PING,
    "quoted chunked": START + b'Transfer-Encoding: "chunked"\r\n\r\n' + CHUNKED_PING,
    "a vertical tab in chunked": START + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + CHUNKED_PING,
    "a NUL in a value": START + b"X: a\x00b\r\n" + LENGTH + b"\r\n" + PING,
    "a NUL in a name": START + b"X\x00: a\r\n" + LENGTH + b"\r\n" + PING,
    "a name with a space": START + b"X Y: a\r\n" + LENGTH + b"\r\n" + PING,
    "an empty name": START + b": a\r\n" + LENGTH + b"\r\n" + PING,
    "a line without a colon": START + b"nonsense\r\n" + LENGTH + b"\r\n" + PING,
    "no host": b"POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n" + LENGTH + b"\r\n" + PING,
    "two hosts": START + b"Host: evil.example\r\n" + LENGTH + b"\r\n" + PING,
    "another protocol": b"POST /mcp HTTP/2.0\r\nHost: 127.0.0.1\r\n" + LENGTH + b"\r\n" + PING,
    "no protocol": b"GET /mcp\r\n\r\n",
    "a TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200 + b"\r\n\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}

BAD_CHUNKS = {
    "size not hexadecimal": b"zz\r\n" + PING + b"\r\n0\r\n\r\n",
    "negative size": b"-5\r\n" + PING + b"\r\n0\r\n\r\n",
    "size with 0x": b"0x%x\r\n" % len(PING) + PING + b"\r\n0\r\n\r\n",
    "enormous size": b"fffffffffffffffffffff\r\n" + PING,
    "size that overflows": b"10000000000000005\r\nhello\r\n0\r\n\r\n",
    "no size": b"\r\n" + PING + b"\r\n0\r\n\r\n",
    "data longer than its size": b"3\r\n" + PING + b"\r\n0\r\n\r\n",
    "bare line feed after the size": b"%x\n" % len(PING) + PING + b"\r\n0\r\n\r\n",
    "bare line feed after the data": b"%x\r\n" % len(PING) + PING + b"\n0\r\n\r\n",
    "endless extension": b"5;" + b"x" * 100_000 + b"\r\n",
    "endless trailer": b"0\r\n" + b"X: y\r\n" * 50_000,
}


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """One gateway for all of them: each must leave it as it was."""
    through = Gateway({"upstreams": {}}, tmp_path_factory.mktemp("smuggling")).start()
    yield through.port
    through.stop()


def refused(port: int, data: bytes) -> None:
    """At most one answer, a 4xx or 5xx, then the end; what stands behind is never taken for a request."""
    with RawConnection(port, timeout=10) as connection:
        answer = None
        with contextlib.suppress(OSError):  # it may be refused before all is sent
            connection.send(data + HIDDEN)
        with contextlib.suppress(OSError):
            answer = connection.receive()
        if answer is not None:
            assert 400 <= answer.status < 600, answer
        assert connection.closed_within(5), "the connection is still open"
        assert b"hidden" not in connection.buffer and b"HTTP/1.1 200" not in connection.buffer


def alive(port: int) -> bool:
    with McpClient(port) as client:
        return client.request("ping").result == {}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_an_ambiguous_head_is_refused_and_the_connection_closed(name, port):
    refused(port, AMBIGUOUS[name])
    assert alive(port)


@pytest.mark.parametrize("name", BAD_CHUNKS)
def test_a_bad_chunk_is_refused_and_the_connection_closed(name, port):
    refused(port, START + b"Transfer-Encoding: chunked\r\n\r\n" + BAD_CHUNKS[name])
    assert alive(port)


def test_a_head_without_end_is_refused(port):
    refused(port, START + b"".join(b"X-%d: %b\r\n" % (number, b"y" * 500) for number in range(2000)))
    refused(port, START + b"X: " + b"y" * 1_000_000)
    refused(port, b"POST /" + b"m" * 1_000_000 + b" HTTP/1.1\r\n")
    assert alive(port)


def test_a_head_that_comes_byte_by_byte_is_read(port):
    data = post(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params()}).encode())
    with RawConnection(port) as connection:
        for byte in data:
            connection.send(bytes([byte]))
        assert connection.receive().status == 200


@pytest.mark.slow
def test_a_head_that_never_comes_is_given_up(port):
    """Slowloris: a connection that has begun a request may not sit there for ever."""
    connections = [RawConnection(port) for _ in range(50)]
    for connection in connections:
        connection.send(START)
    begin = time.monotonic()
    ended = 0
    for connection in connections:
        while time.monotonic() - begin < 45:
            try:
                connection.send(b"X: y\r\n")
            except OSError:
                break
            if connection.closed_within(0.2):
                break
        else:
            pytest.fail("a head was still waited for after 45 s")
        ended += 1
        connection.close()
    assert ended == 50
    assert alive(port)


def test_clients_that_vanish_in_the_middle_leave_nothing(gateway, fake):
    upstream = fake({"calls": {"echo": {"do": "answer", "delay": 0.05, "size": 300_000}}})
    through = gateway({"upstreams": {"up": {"url": upstream.url}}})
    with McpClient(through.port) as client:
        fields = {"Mcp-Session-Id": client.session}
        call = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "up__echo", "arguments": {}}}
        )
        assert not client.call("up__echo").is_error
        before = through.process.descriptors()
        for cut in (1, 20, 100, 200, -5, -1, None) * 10:
            connection = RawConnection(through.port)
            connection.send(post(call.encode(), fields)[:cut])
            connection.close()
        until(lambda: through.process.descriptors() <= before + 8, 10, "descriptors come back")
        assert not client.call("up__echo").is_error
