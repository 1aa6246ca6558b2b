"""RC-067: what a tool has done is not done twice, and what was not done is tried again."""

import threading
import time

import pytest

from harness.certificates import Authority
from harness.drill import ATTEMPTS, GARBAGE, READING, WRITING, Drill
from harness.faulty_server import Fault
from harness.scripted_http import Answer
from harness.together import together

BUSY = Answer(503, b"busy", "text/plain")

# What is done, and whether the answer comes back.
LOST_ANSWERS = {
    "503": Fault("instead", answer=BUSY),
    "reset": Fault("answer", 0, "reset"),
    "closed": Fault("answer", 0, "close"),
    "half an answer": Fault("answer", 150, "reset"),
    "garbage": GARBAGE,
    "broken JSON": Fault("instead", answer=Answer(200, b'{"jsonrpc":"2.0","id":', "application/json")),
    "broken stream": Fault("answer", 140, "close", streamed=True),
}


def declined(seconds: str) -> Fault:
    answer = Answer(429, b"slow down", "text/plain", {"Retry-After": seconds})
    return Fault("instead", answer=answer, carried_out=False)


@pytest.fixture
def drill(gateway, serve):
    return lambda **options: Drill(gateway, serve, **options)


# ---- RC-067 (a) to (d): it is done, and the answer is lost


def assert_unknown(reply, run: str, drill: Drill) -> None:
    """One deed at most, nobody has tried again, and the caller is told that nobody knows."""
    assert reply.is_error
    assert reply.marker["outcome"] == "unknown"
    assert reply.marker["served_by"] == "none"
    assert "not known whether the call took effect" in reply.text
    assert reply.marker["steps"][-1] == "tool:unsafe"
    assert drill.server.arrived[run] == 1
    assert drill.tools.carried_out[run] == 1
    assert drill.second_tools.carried_out[run] == 0


@pytest.mark.parametrize("how", LOST_ANSWERS)
def test_a_tool_that_writes_is_called_once_when_its_answer_is_lost(how, drill):
    through = drill()
    through.fail(LOST_ANSWERS[how])
    with through.client() as client:
        for tool in WRITING:
            reply = client.call(f"up__{tool}", {"run": (run := through.run())})
            assert_unknown(reply, run, through)
            assert reply.marker["steps"][0] == "primary:failed"
            assert through.retries(tool) == 0


@pytest.mark.parametrize("how", LOST_ANSWERS)
def test_a_tool_that_reads_is_called_up_to_the_limit_when_its_answer_is_lost(how, drill):
    through = drill()
    with through.client() as client:
        for tool in READING:
            through.save_up()
            through.fail(LOST_ANSWERS[how])
            reply = client.call(f"up__{tool}", {"run": (run := through.run())})
            assert through.server.arrived[run] == ATTEMPTS
            assert reply.marker["served_by"] == "tool" and "outcome" not in reply.marker
            assert reply.marker["steps"] == [f"primary:failed x{ATTEMPTS}", "tool:hit"]
            assert through.second_tools.carried_out[run] == 1
            assert through.retries(tool) == ATTEMPTS - 1

            through.fail(LOST_ANSWERS[how], times=ATTEMPTS - 1)
            reply = client.call(f"up__{tool}", {"run": (run := through.run())})
            assert reply.text == f"done {run}" and reply.marker == {}, "the last try's own answer, untouched"
            assert through.server.arrived[run] == ATTEMPTS
            assert through.second_tools.carried_out[run] == 0


def test_a_tool_that_never_answers_is_not_called_again_when_it_writes(drill):
    through = drill(deadline=0.4)
    through.fail(Fault("answer", 0, "stall"))
    with through.client() as client:
        for tool in WRITING:
            reply = client.call(f"up__{tool}", {"run": (run := through.run())})
            assert_unknown(reply, run, through)
            assert reply.marker["reason"] == "exhausted" and reply.marker["steps"][0] == "primary:timeout"
        for tool in READING:
            begin = time.monotonic()
            reply = client.call(f"up__{tool}", {"run": (run := through.run())})
            assert reply.marker["served_by"] == "tool" and "outcome" not in reply.marker, "the step has the time it needs"
            assert 1 <= through.server.arrived[run] <= ATTEMPTS
            assert time.monotonic() - begin <= 0.4 * 1.2 + 0.2, "all tries within one deadline"


# ---- RC-067 (e), (f): nothing was sent


def assert_tried_and_replaced(through: Drill) -> None:
    """Nobody has done anything, so every tool may be tried again, and another may do it."""
    with through.client() as client:
        for tool in (*WRITING, *READING):
            reply = client.call(f"up__{tool}", {"run": (run := through.run())})
            assert reply.marker["steps"] == [f"primary:unreachable x{ATTEMPTS}", "tool:hit"]
            assert reply.marker["reason"] == "unreachable" and "outcome" not in reply.marker
            assert through.server.arrived[run] == 0
            assert through.second_tools.carried_out[run] == 1
            assert through.retries(tool) == ATTEMPTS - 1


def test_a_refused_connection_is_tried_again_whatever_the_tool_does(drill):
    through = drill()
    through.save_up()
    through.server.shut()
    assert_tried_and_replaced(through)


def test_a_failed_tls_handshake_is_tried_again_whatever_the_tool_does(drill, tmp_path):
    authority = Authority(tmp_path)
    through = drill(tls=authority.issue("127.0.0.1"), authority=authority)
    through.save_up()
    through.server.shut(how="reset")
    through.server.certify(*Authority(tmp_path, "a stranger").issue("127.0.0.1"))
    through.server.open_again()
    assert_tried_and_replaced(through)


@pytest.mark.parametrize("tool", ["plain", "reading"])
def test_a_server_that_comes_back_in_time_is_reached_by_a_retry(tool, drill):
    through = drill(deadline=20, retry={"attempts": 5, "backoff": "2s", "longest_pause": "4s"})
    through.server.shut()
    again = threading.Timer(0.2, through.server.open_again)
    again.start()
    with through.client() as client:
        reply = client.call(f"up__{tool}", {"run": "late"})
    again.join()
    assert reply.text == "done late" and reply.marker == {}
    assert through.tools.carried_out["late"] == 1
    assert through.retries(tool) >= 1


# ---- RC-067 (g): the server says that it did nothing


def test_a_throttled_call_is_made_again_whatever_the_tool_does(drill):
    through = drill(deadline=10)

    def throttled(tool: str) -> None:
        with through.client() as client:
            run = f"{tool}-again"
            assert client.call(f"up__{tool}", {"run": run}).text == f"done {run}"
            assert through.server.arrived[run] == 2
            assert through.tools.carried_out[run] == 1

    through.fail(declined("1"), times=1)
    together([lambda tool=tool: throttled(tool) for tool in (*WRITING, *READING)])
    assert through.second_tools.carried_out.total() == 0


def test_a_throttle_that_lasts_too_long_costs_no_deed_twice(drill):
    through = drill()
    through.fail(declined("60"))
    with through.client() as client:
        for tool in (*WRITING, *READING):
            reply = client.call(f"up__{tool}", {"run": (run := through.run())})
            assert reply.marker["steps"][0] == "primary:throttled"
            assert reply.marker["reason"] in ("throttled", "exhausted") and "outcome" not in reply.marker
            assert through.server.arrived[run] == 1 and through.tools.carried_out[run] == 0
            assert through.second_tools.carried_out[run] <= 1


# ---- RC-067 (h): cut before the request was read


def test_a_connection_that_is_cut_unread_costs_no_deed_twice(drill):
    through = drill()
    with through.client() as client:
        for tool in (*WRITING, *READING):
            through.fail(Fault("request", 1, "reset"), times=1)
            reply = client.call(f"up__{tool}", {"run": (run := through.run())})
            assert through.tools.carried_out[run] + through.second_tools.carried_out[run] <= 1
            if tool in READING:
                assert reply.text == f"done {run}" and through.server.arrived[run] == 2
            elif through.server.arrived[run] == 1:
                assert reply.marker["outcome"] == "unknown", "nobody can know that it was not read"

            # The same on a connection of which not a byte is read.
            through.fail(Fault("request", 1), times=0)
            through.server.cut_all()
            through.server.unread = 1
            reply = client.call(f"up__{tool}", {"run": (run := through.run())})
            assert through.server.unread == 0, "the connection was made"
            assert through.tools.carried_out[run] + through.second_tools.carried_out[run] <= 1
            if tool in READING:
                assert reply.text == f"done {run}"


# ---- a probe is a call like any other


@pytest.mark.parametrize("tool", ["plain", "reading"])
def test_a_probe_is_under_the_same_rules(tool, drill):
    breaker = {"minimum_calls": 5, "error_rate": "50%", "certainty": "none", "cooldown": "1s", "growth": 1,
               "jitter": "0%", "probes_needed": 2, "probe_failures_allowed": 0, "p99": "0s", "ramp": "0s"}  # fmt: skip
    through = drill(breaker=breaker)
    through.fail(LOST_ANSWERS["garbage"])
    probes = 0
    with through.client() as client:
        deadline = time.monotonic() + 20
        while probes < 3 and time.monotonic() < deadline:
            state = through.gateway.state(f"up__{tool}")
            client.call(f"up__{tool}", {"run": (run := through.run())})
            assert through.tools.carried_out[run] <= (1 if tool == "plain" else ATTEMPTS)
            both = through.tools.carried_out[run] + through.second_tools.carried_out[run]
            assert tool == "reading" or both <= 1
            probes += state != "closed" and through.server.arrived[run] > 0
            time.sleep(0.05)  # the pace of a tool that is seldom used
    assert probes == 3
    assert through.gateway.state(f"up__{tool}") != "closed"
