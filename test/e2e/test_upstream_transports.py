"""The same calls to real servers of every HTTP transport and era, whatever the client speaks."""

import contextlib
import time

import pytest

from harness.fixture import FixtureServer, needs_packages
from harness.mcp_client import McpClient
from harness.servers import EverythingServer
from harness.waiting import until


@pytest.fixture
def everything_sse(tmp_path, node):
    server = EverythingServer(tmp_path, sse=True).start()
    yield server
    server.kill()


@pytest.fixture(params=["both eras", "legacy only"])
def fixture_server(request, tmp_path):
    server = FixtureServer(tmp_path, legacy_only=request.param == "legacy only").start()
    yield server
    server.kill()


def test_a_server_of_the_first_revision_is_found_listed_and_called(gateway, everything_sse):
    through = gateway({"upstreams": {"old": {"url": everything_sse.url}}})
    with McpClient(through.port) as client:
        assert {"old__echo", "old__get-sum"} <= set(client.tools())
        assert client.call("old__echo", {"message": "by stream"}).text == "Echo: by stream"
        arguments = {"duration": 0.2, "steps": 4}
        reply = client.call("old__trigger-long-running-operation", arguments, meta={"progressToken": "mine"})
        assert [note["params"]["progress"] for note in reply.notifications] == [1, 2, 3, 4]
        assert {note["params"]["progressToken"] for note in reply.notifications} == {"mine"}


def test_a_server_of_the_first_revision_is_found_again_after_a_restart(gateway, everything_sse):
    through = gateway({"upstreams": {"old": {"url": everything_sse.url}}, "breaker": {"mode": "observe"}})
    with McpClient(through.port) as client:
        assert not client.call("old__echo", {"message": "before"}).is_error
        everything_sse.kill()
        begin = time.monotonic()
        assert client.call("old__echo", {"message": "meanwhile"}).is_error
        assert time.monotonic() - begin < 5, "a session that is gone is no reason to wait"
        everything_sse.start()
        until(lambda: not client.call("old__echo", {"message": "after"}).is_error, 15, "it heals by itself", every=0.2)


@needs_packages
def test_servers_of_either_era_are_listed_and_called(gateway, fixture_server):
    through = gateway({"names": "plain", "upstreams": {"up": {"url": fixture_server.url}}})
    with McpClient(through.port) as client:
        assert {"test_simple_text", "test_error_handling"} <= set(client.tools())
        assert client.call("test_simple_text").result["content"][0]["type"] == "text"
        assert client.call("test_error_handling").is_error


@needs_packages
def test_a_stream_that_ends_before_its_answer_is_taken_up_again(gateway, tmp_path):
    server = FixtureServer(tmp_path, legacy_only=True).start()
    try:
        through = gateway({"names": "plain", "upstreams": {"up": {"url": server.url}}})
        # This client knows nothing of coming back for an answer, so its own stream is held until the answer is there.
        client = McpClient(through.port).initialize(version="2025-06-18")
        with contextlib.closing(client):
            reply = client.call("test_reconnection")
            assert not reply.is_error and not reply.marker
    finally:
        server.kill()
