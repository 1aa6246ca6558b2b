"""RC-052: children that die, cling to life or leave others behind. None is started too often, and none is left."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from harness.mcp_client import McpClient, initialize_params
from harness.process import SUPPORT, children_of
from harness.together import together
from harness.waiting import holds, until


class Journal:
    """What was started, by the children's own word."""

    def __init__(self, path: Path):
        self.path = path
        path.touch()

    def command(self, *options) -> list[str]:
        return [sys.executable, str(SUPPORT / "unruly_child.py"), str(self.path), *map(str, options)]

    def lines(self, what: str) -> list[tuple[int, float]]:
        lines = [line.split() for line in self.path.read_text().splitlines()]
        return [(int(pid), float(moment)) for kind, pid, moment in lines if kind == what]

    def starts(self) -> list[tuple[int, float]]:
        return self.lines("start")

    def pids(self) -> list[int]:
        return [pid for what in ("start", "grandchild") for pid, _ in self.lines(what)]

    def alive(self) -> list[int]:
        """Those that run. Who must reap an orphan that has ended is not the gateway's business."""
        return [pid for pid in self.pids() if state_of(pid) not in (None, "Z")]


def state_of(pid: int) -> str | None:
    """R, S, Z, ...; None: there is no such process of ours. A number may belong to another one by then."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return None
    state = next(line.split()[1] for line in status.splitlines() if line.startswith("State:"))
    return state if state == "Z" or sys.executable.encode() in command else None


def zombies_of(pid: int) -> list[int]:
    return [child for child in children_of(pid) if state_of(child) == "Z"]


@pytest.fixture
def journal(tmp_path):
    made = Journal(tmp_path / "starts")
    yield made
    for pid in made.alive():  # of a test that failed
        os.kill(pid, signal.SIGKILL)


def start(gateway, journal: Journal, *options, **settings):
    upstream = {"command": journal.command(*options), **settings.pop("upstream", {})}
    return gateway({"upstreams": {"child": upstream}, **settings})


# ---- starting


@pytest.mark.seconds
def test_a_child_that_exits_at_once_is_started_with_growing_pauses(gateway, journal, figure):
    """The field case watches for 60 s and allows ten starts; here it is 8 s, with callers all the time, and a pace
    that stays below ten in 60 s."""
    through = start(gateway, journal, "--exit-at-once")
    begin = time.monotonic()
    with McpClient(through.port) as client:
        while time.monotonic() - begin < 8:
            client.call("child__echo")
            time.sleep(0.02)
    moments = [moment for _, moment in journal.starts()]
    gaps = [after - before for before, after in zip(moments, moments[1:])]
    figure("starts of a dying child", count=len(moments), gaps=" ".join(f"{gap:.2f}" for gap in gaps))
    assert 3 <= len(moments) <= 10
    # A call may bring a start forward, now and then; all other pauses grow.
    assert sum(gap < 0.3 for gap in gaps) <= 1 + 8 / 5 and max(gaps) > 1
    assert not zombies_of(through.pid)
    assert through.upstream("child")["state"] == "degraded"


@pytest.mark.seconds
def test_pauses_differ_between_children(gateway, tmp_path):
    """Ten children that die are not started in step."""
    journals = [Journal(tmp_path / f"starts-{number}") for number in range(10)]
    gateway({"upstreams": {f"c{n}": {"command": each.command("--exit-at-once")} for n, each in enumerate(journals)}})
    until(lambda: all(len(each.starts()) >= 3 for each in journals), 15, "each was started three times")
    gaps = [round(each.starts()[2][1] - each.starts()[1][1], 2) for each in journals]
    assert len(set(gaps)) >= 4 and max(gaps) - min(gaps) > 0.05, gaps


@pytest.mark.seconds
def test_many_callers_wait_for_one_slow_start(gateway, journal):
    """It needs 1.5 s to start (5 s in the field); 100 callers wait for it, and it is started once for all of them."""
    through = start(gateway, journal, "--slow", 1.5, "--slow-from", 2, tools={"child__*": {"deadline": "10s"}})
    clients = [McpClient(through.port).initialize() for _ in range(100)]
    assert clients[0].call("child__die").is_error
    replies = together([lambda client=client: client.call("child__echo", {"q": 1}) for client in clients])
    assert [reply.text for reply in replies if not reply.is_error] == ['{"q": 1}'] * 100
    assert len(journal.starts()) == 2
    for client in clients:
        client.close()


# ---- ending

HARD_TO_END = [[], ["--grandchild"], ["--cling", "--grandchild"], ["--wrapper"], ["--cling", "--wrapper"]]


def start_used(gateway, journal, *options):
    """A gateway whose child has answered."""
    through = start(gateway, journal, *options)
    with McpClient(through.port) as client:
        assert not client.call("child__echo").is_error
    assert journal.alive()
    return through


@pytest.mark.parametrize("options", HARD_TO_END, ids=" ".join)
def test_nothing_is_left_when_the_gateway_ends(options, gateway, journal):
    """By SIGTERM; children and their children that ignore it are ended all the same."""
    through = start_used(gateway, journal, *options)
    began = time.monotonic()
    through.stop()
    until(lambda: not journal.alive(), 5 - (time.monotonic() - began), "no child, no grandchild")


@pytest.mark.parametrize("options", HARD_TO_END, ids=" ".join)
def test_children_end_when_the_gateway_is_killed(options, gateway, journal):
    """By SIGKILL: nobody is there to end them, so they must have been told beforehand."""
    through = start_used(gateway, journal, *options)
    through.abandon()
    until(lambda: not journal.alive(), 5, "the children are gone")


def test_a_dead_child_leaves_no_zombie_and_no_grandchild(gateway, journal):
    through = start(gateway, journal, "--grandchild")
    with McpClient(through.port) as client:
        assert client.call("child__die").is_error
        first = journal.pids()[:1] + [pid for pid, _ in journal.lines("grandchild")][:1]
        until(lambda: not set(first) & set(journal.alive()), 5, "both are gone")
        until(lambda: not client.call("child__echo").is_error, 10, "a new one serves", every=0.1)
    assert not zombies_of(through.pid)


def test_sessions_that_come_and_go_start_no_children(gateway, journal):
    """500 of clients that declare nothing: all share the one child."""
    through = start(gateway, journal)
    descriptors = through.process.descriptors()
    for number in range(500):
        client = McpClient(through.port).initialize()
        if number % 50 == 0:
            assert not client.call("child__echo").is_error
        assert client.send("DELETE").status in (200, 202, 204)
        client.close()
    assert len(journal.starts()) == 1
    until(lambda: through.process.descriptors() <= descriptors + 8, 5, "no descriptor is kept")


@pytest.mark.seconds
def test_children_of_sessions_of_their_own_end_with_them(gateway, journal):
    """Clients that can be asked have a child each, once they call; 40 of them, four at once at most."""
    through = start(gateway, journal, "--grandchild", upstream={"own_sessions": 4})
    own = set()
    for _ in range(10):
        clients = []
        for _ in range(4):
            client = McpClient(through.port)
            params = {**initialize_params(), "capabilities": {"roots": {"listChanged": True}}}
            reply = client.request("initialize", params)
            client.session, client.version = reply.headers["mcp-session-id"], reply.result["protocolVersion"]
            client.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
            own.add(client.call("child__pid").text)
            clients.append(client)
        assert len(journal.alive()) <= 2 * (1 + 2 * 4)
        for client in clients:
            assert client.send("DELETE").status in (200, 202, 204)
            client.close()
    assert len(own) > 10, "each had a child of its own"
    until(lambda: len(journal.alive()) == 2, 10, "the shared child is left, and its grandchild")
    assert not zombies_of(through.pid)


# ---- the breaker


@pytest.mark.timing
@pytest.mark.seconds
def test_a_probe_starts_a_new_child_first(gateway, journal, figure):
    """The breaker has tripped over a child that died. Half open, the probe goes to a new one; its success closes."""
    breaker = {
        "error_rate": "50%", "minimum_calls": 5, "certainty": "none", "cooldown": "1s", "jitter": "0%",
        "probes_needed": 1, "probe_failures_allowed": 0, "ramp": "0s",
    }  # fmt: skip
    through = start(gateway, journal, breaker=breaker)
    with McpClient(through.port) as client:
        # Each call ends the child, or waits for the next one: until a breaker opens, the server's or the tool's.
        begin = time.monotonic()
        while time.monotonic() - begin < 10:
            client.call("child__die")
            if "open" in (through.state("child__die"), through.state("child", "server")):
                break
        opened = [scope for scope in (("child__die", "tool"), ("child", "server")) if through.state(*scope) == "open"]
        assert opened, "the breaker trips"
        before = len(journal.starts())
        until(lambda: not client.call("child__echo").is_error, 15, "another tool of the child is served", every=0.1)
        assert len(journal.starts()) > before or state_of(journal.starts()[-1][0]) in ("R", "S")
        if ("child", "server") in opened:
            until(lambda: through.state("child", "server") == "closed", 15, "success closes it")
        figure("probe of a dead child", healthy_after=f"{time.monotonic() - begin:.1f} s", starts=len(journal.starts()))
        holds(lambda: not client.call("child__echo").is_error, 0.3, "it serves")
