"""Start, drain, end: what a process manager relies on."""

import http.client
import os
import resource
import signal
import subprocess
import threading
import time

import pytest

from harness.gateway import BINARY
from harness.mcp_client import McpClient, Reply
from harness.process import free_port
from harness.waiting import until


def in_background(job) -> tuple[threading.Thread, list]:
    results: list = []
    thread = threading.Thread(target=lambda: results.append(job()))
    thread.start()
    return thread, results


def cut_off_or_answered(client: McpClient) -> Reply | None:
    """A call whose deadline lies far behind the end of the drain."""
    try:
        return client.call("up__echo")
    except (OSError, http.client.HTTPException):
        return None


def test_a_call_under_way_is_finished_before_the_end(gateway, fake, figure):
    upstream = fake({"calls": {"echo": {"do": "answer", "delay": 1.0}}})
    through = gateway({"upstreams": {"up": {"url": upstream.url}}})
    client = McpClient(through.port).initialize()
    thread, replies = in_background(lambda: client.call("up__echo", {"q": 1}))
    until(lambda: upstream.arrived("tools/call"), 5, "the call is with the upstream")

    took = through.stop()

    thread.join(5)
    assert replies and not replies[0].is_error and not replies[0].marker
    figure("SIGTERM with a 1 s call", ended_after=f"{took:.2f} s", exit_code=0)
    with pytest.raises(OSError):
        McpClient(through.port).initialize()


def test_a_call_that_never_ends_does_not_keep_the_process(gateway, fake):
    upstream = fake({"calls": {"echo": {"do": "stall"}}})
    through = gateway({"upstreams": {"up": {"url": upstream.url}}, "drain": "1s"})
    client = McpClient(through.port).initialize()

    thread, replies = in_background(lambda: cut_off_or_answered(client))
    until(lambda: upstream.arrived("tools/call"), 5, "the call is with the upstream")
    assert through.stop() < 4
    thread.join(5)
    assert replies and (replies[0] is None or replies[0].is_error)


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_gateway_ends_at_once_with_exit_code_0(which, gateway, fake):
    through = gateway({"upstreams": {"up": {"url": fake().url}}})
    idle = McpClient(through.port).initialize()  # an open connection is no reason to stay
    begin = time.monotonic()
    through.process.signal(which)
    assert through.process.child.wait(8) == 0
    assert time.monotonic() - begin < 3
    through.process = None
    idle.close()


def test_a_second_signal_does_not_wait_for_the_first(gateway, fake):
    upstream = fake({"calls": {"echo": {"do": "stall"}}})
    through = gateway({"upstreams": {"up": {"url": upstream.url}}, "drain": "6s"})
    client = McpClient(through.port).initialize()
    thread, _ = in_background(lambda: cut_off_or_answered(client))
    until(lambda: upstream.arrived("tools/call"), 5, "the call is with the upstream")
    through.process.signal(signal.SIGTERM)
    time.sleep(0.2)  # two signals, not one
    begin = time.monotonic()
    through.process.signal(signal.SIGTERM)
    through.process.child.wait(8)
    assert time.monotonic() - begin < 8
    through.process = None
    client.close()
    thread.join(5)


def test_it_works_with_stdin_and_stdout_closed(tmp_path, fake):
    admin = free_port()
    path = tmp_path / "gateway.yaml"
    path.write_text(f'{{"upstreams": {{"up": {{"url": "{fake().url}"}}}}}}')
    command = f'exec "$0" serve "$1" --listen 127.0.0.1:{free_port()} --admin 127.0.0.1:{admin} <&- >&- 2>&-'
    child = subprocess.Popen(["/bin/sh", "-c", command, str(BINARY), str(path)])

    def ready() -> bool:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", admin, timeout=2)
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False

    try:
        until(ready, 10, "it is ready")
        child.send_signal(signal.SIGTERM)
        assert child.wait(8) == 0
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


@pytest.mark.footprint
def test_it_survives_a_lack_of_descriptors(gateway, fake):
    """With the limit used up new clients wait; they are served once others have gone."""
    upstream = fake()
    through = gateway({"upstreams": {"up": {"url": upstream.url}}})
    with McpClient(through.port) as client:
        assert not client.call("up__echo").is_error
        used = through.process.descriptors()
        resource.prlimit(through.pid, resource.RLIMIT_NOFILE, (used + 10, used + 10))
        crowd = [McpClient(through.port, timeout=3) for _ in range(40)]
        for one in crowd:
            one.connection.connect()
        time.sleep(0.5)  # the gateway has met the limit by now
        assert client.request("ping").result == {}, "those who are in are served"
        assert os.path.exists(f"/proc/{through.pid}")
        for one in crowd:
            one.close()

        def served() -> bool:
            try:
                with McpClient(through.port, timeout=3):
                    return True
            except (OSError, http.client.HTTPException):
                return False

        until(served, 10, "a new client is served again")
