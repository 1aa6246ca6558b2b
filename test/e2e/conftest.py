"""Fixtures of the end-to-end tests: the gateway binary, real and scripted tool servers, figures for the report."""

import os
import shutil
import subprocess
from collections.abc import Sequence

import pytest

from harness.clock import WallClock
from harness.fleet import Fleet
from harness.gateway import BINARY, Gateway
from harness.proxy import TcpProxy
from harness.redis import RedisServer
from harness.redis_shapes import RedisCluster, SentinelSet
from harness.servers import EVERYTHING, EverythingServer, FakeUpstream

SANITIZED = os.environ.get("SWITCHGEAR_SANITIZED", "") not in ("", "0")
FIGURE = "figure"


def pytest_configure(config):
    if not BINARY.exists():
        pytest.exit(f"no gateway binary at {BINARY}: build it first, or set SWITCHGEAR_BINARY", returncode=2)


def pytest_collection_modifyitems(items):
    if not SANITIZED:
        return
    for item in items:
        if item.get_closest_marker("timing") or item.get_closest_marker("seconds"):
            item.add_marker(pytest.mark.skip(reason="measures time, and this binary is instrumented"))


def pytest_terminal_summary(terminalreporter):
    """The figures, which came with the reports: some tests run in other processes than this one."""
    properties = (
        each
        for reports in terminalreporter.stats.values()
        for report in reports
        for each in getattr(report, "user_properties", ())
    )
    lines = dict.fromkeys(text for name, text in properties if name == FIGURE)
    if lines:
        terminalreporter.section("figures")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture
def figure(record_property):
    """figure(name, value, ...): a line of measured numbers, shown at the end of the run whatever the outcome."""

    def add(name: str, **values) -> None:
        numbers = "  ".join(f"{key.replace('_', ' ')}: {value}" for key, value in values.items())
        record_property(FIGURE, f"{name:<28} {numbers}")

    return add


@pytest.fixture
def gateway(tmp_path, request):
    """gateway(configuration, ...): starts one, ready. At the end of the test each must end cleanly."""
    started: list[Gateway] = []

    def start(configuration, *, wait: bool = True, **options) -> Gateway:
        made = Gateway(configuration, tmp_path, name=f"gateway-{len(started)}", **options)
        started.append(made)
        return made.start(wait)

    yield start
    failed = getattr(request.node, "failed", False)
    for made in started:
        if failed:
            if made.process is not None:
                print(f"--- stderr of {made.name}\n{made.process.stderr[-4000:]}")
            made.abandon()
        else:
            made.stop()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if call.when != "teardown" and outcome.get_result().failed:
        item.failed = True


@pytest.fixture
def fake(tmp_path):
    """fake(script, ...): a scripted HTTP tool server."""
    started: list[FakeUpstream] = []

    def start(script: dict | None = None, **options) -> FakeUpstream:
        made = FakeUpstream(tmp_path, f"fake-{len(started)}", script, **options)
        started.append(made)
        return made.start()

    yield start
    for made in started:
        made.kill()


@pytest.fixture
def serve():
    """serve(carrier): a tool server that lives in the test, behind what carries its messages."""
    started: list = []

    def start(carrier):
        started.append(carrier)
        return carrier.start()

    yield start
    for carrier in started:
        carrier.stop()


@pytest.fixture
def redis(tmp_path):
    """redis(option="value", ...): a real Redis server; `clock` is a wall clock for it."""
    started: list[RedisServer] = []

    def start(*, clock: WallClock | None = None, **options) -> RedisServer:
        made = RedisServer(tmp_path, f"redis-{len(started)}", **options)
        made.environment = clock.environment if clock else {}
        started.append(made)
        return made.start()

    yield start
    for server in started:
        server.kill()


@pytest.fixture
def fleet(gateway):
    """fleet(count, state, upstream, breaker, ...): gateways with one configuration and one board, all sharing it.
    `clocks`: a wall clock for each."""

    def start(
        count: int, state: str, upstream, breaker: dict, *, wait: bool = True, clocks: Sequence[WallClock] = (), **more
    ) -> Fleet:
        configuration = {"state": state, "upstreams": {"up": {"url": upstream.url}}, "breaker": breaker, **more}
        environments = [clock.environment for clock in clocks] or [None] * count
        made = Fleet([gateway(configuration, wait=False, environment=each) for each in environments])
        for each in made:
            each.wait_ready()
        if wait:
            made.call_each("up__echo")
            made.wait_shared()
        return made

    yield start


@pytest.fixture
def sentinels(tmp_path):
    """A primary, its replica and a sentinel."""
    made = SentinelSet(tmp_path)
    try:
        yield made.start()
    finally:
        made.kill()


@pytest.fixture
def cluster(tmp_path):
    """A cluster of three primaries."""
    made = RedisCluster(tmp_path)
    try:
        yield made.start()
    finally:
        made.kill()


@pytest.fixture
def proxy(tmp_path):
    """proxy(port): a TCP proxy in front of a port of this machine."""
    started: list[TcpProxy] = []

    def start(port: int) -> TcpProxy:
        started.append(TcpProxy(tmp_path, port, f"proxy-{len(started)}"))
        return started[-1].start()

    yield start
    for made in started:
        made.kill()


@pytest.fixture(scope="session")
def node():
    """The node program with the official packages; without them the test cannot run."""
    if shutil.which("node") is None:
        pytest.skip("NOT TESTED against the official TypeScript SDK: no `node` on this machine")
    if not EVERYTHING.exists():
        pytest.skip("NOT TESTED against server-everything: run `npm ci` in test/e2e/node (tools/setup.sh does)")
    return "node"


@pytest.fixture
def everything(tmp_path, node):
    """server-everything over HTTP, started."""
    server = EverythingServer(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def run_switchgear():
    """run_switchgear(*arguments): the command line tool to its end, at most 20 s."""

    def run(*arguments, **options) -> subprocess.CompletedProcess:
        return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=20, **options)

    return run
