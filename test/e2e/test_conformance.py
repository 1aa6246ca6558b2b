"""The official conformance suite, against the fixture directly and through the gateway: every check says the same.

What the suite only remarks (INFO) is not compared. Scenarios that do not count for a revision are compared like others.
"""

import pytest

from harness.conformance import ABSENT, Run, differences, run_server_suite, told
from harness.fixture import FixtureServer, fixture_command, needs_packages

pytestmark = [needs_packages, pytest.mark.seconds, pytest.mark.slow]

REVISIONS = {
    "2025-03-26": ("--spec-version", "2025-03-26", "--suite", "all"),
    "2025-06-18": ("--spec-version", "2025-06-18", "--suite", "all"),
    "2025-11-25": ("--requirements", "2025-11-25"),
    "2026-07-28": ("--requirements", "2026-07-28"),
}
PASSED_DIRECTLY = {"2025-03-26": 3, "2025-06-18": 56, "2025-11-25": 84, "2026-07-28": 164}
# Counts every call, as in the field, and never has enough of them to judge.
PATIENT_BREAKER = {"minimum_calls": 10000, "outage_threshold": 0, "p99": "0"}

# Only a legacy server over HTTP ends a stream before its answer: a child answers on one pipe, and the modern era has no
# resumption. Without such a server there is nothing that the client could come back for.
UNPOLLED = {
    ("server-sse-polling", "server-sse-priming-event"): ("SUCCESS", "WARNING"),
    ("server-sse-polling", "server-sse-retry-field"): ("SUCCESS", "WARNING"),
    ("server-sse-polling", "server-sse-disconnect-resume"): ("SUCCESS", ABSENT),
}

# What a modern client meets when the server behind the gateway is a legacy one. The gateway declares no sampling, no
# elicitation and no roots to such a server, since a modern client cannot be asked while its call is under way. A tool
# that asks fails for want of the capability, and the suite sees its result instead of a round.
UNASKED = {
    ("input-required-result-basic-elicitation", "sep-2322-elicitation-incomplete"): ("SUCCESS", "FAILURE"),
    ("input-required-result-basic-elicitation", "sep-2322-elicitation-complete"): ("SUCCESS", ABSENT),
    ("input-required-result-basic-sampling", "sep-2322-sampling-incomplete"): ("SUCCESS", "FAILURE"),
    ("input-required-result-basic-sampling", "sep-2322-sampling-complete"): ("SUCCESS", ABSENT),
    ("input-required-result-basic-list-roots", "sep-2322-list-roots-incomplete"): ("SUCCESS", "FAILURE"),
    ("input-required-result-basic-list-roots", "sep-2322-list-roots-complete"): ("SUCCESS", ABSENT),
    ("input-required-result-request-state", "sep-2322-request-state-incomplete"): ("SUCCESS", "FAILURE"),
    ("input-required-result-request-state", "sep-2322-request-state-complete"): ("SUCCESS", ABSENT),
    ("input-required-result-multiple-input-requests", "sep-2322-multiple-inputs-incomplete"): ("SUCCESS", "FAILURE"),
    ("input-required-result-multiple-input-requests", "sep-2322-multiple-inputs-complete"): ("SUCCESS", ABSENT),
    ("input-required-result-multi-round", "sep-2322-multi-round-r1"): ("SUCCESS", "FAILURE"),
    ("input-required-result-multi-round", "sep-2322-multi-round-r2"): ("SUCCESS", ABSENT),
    ("input-required-result-multi-round", "sep-2322-multi-round-r3"): ("SUCCESS", ABSENT),
    ("input-required-result-missing-input-response", "sep-2322-missing-response-rerequests"): ("SUCCESS", "WARNING"),
    ("input-required-result-non-tool-request", "sep-2322-non-tool-incomplete"): ("SUCCESS", "FAILURE"),
    ("input-required-result-non-tool-request", "sep-2322-non-tool-complete"): ("SUCCESS", ABSENT),
    ("input-required-result-result-type", "sep-2322-result-type-included"): ("SUCCESS", "FAILURE"),
    ("input-required-result-tampered-state", "sep-2322-reject-tampered-state"): ("SUCCESS", "FAILURE"),
    ("input-required-result-capability-check", "sep-2322-respect-client-capabilities"): ("SUCCESS", "FAILURE"),
    ("input-required-result-validate-input", "sep-2322-validate-input-responses"): ("SUCCESS", "WARNING"),
    ("input-required-result-validate-input", "sep-2322-error-on-protocol-error"): ("SUCCESS", "WARNING"),
}
# A legacy server does not know -32021: the tool that lacks a capability answers with a result.
UNREFUSED = {
    ("server-stateless", "sep-2575-server-rejects-undeclared-capability"): ("SUCCESS", "FAILURE"),
    ("server-stateless", "sep-2575-missing-capability-http-400"): ("SUCCESS", "FAILURE"),
}


@pytest.fixture(scope="session")
def fixture_server(tmp_path_factory):
    """The fixture over HTTP, for all tests here."""
    server = FixtureServer(tmp_path_factory.mktemp("fixture")).start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def direct(fixture_server, tmp_path_factory):
    """direct(revision): the run without a gateway, made once."""
    runs: dict[str, Run] = {}

    def run(revision: str) -> Run:
        if revision not in runs:
            folder = tmp_path_factory.mktemp("direct") / revision
            runs[revision] = run_server_suite(fixture_server.url, folder, *REVISIONS[revision])
        return runs[revision]

    return run


@pytest.fixture
def through(gateway, tmp_path, figure):
    """through(revision, upstream, behind): the run with a gateway before one upstream, whose names it leaves alone."""

    def run(revision: str, upstream: dict, behind: str) -> Run:
        made = gateway({"names": "plain", "breaker": PATIENT_BREAKER, "upstreams": {"fixture": upstream}})
        found = run_server_suite(made.url, tmp_path / "through", *REVISIONS[revision])
        figure(f"conformance {revision}, {behind}", **counted(found))
        return found

    return run


def counted(run: Run) -> dict[str, int]:
    return {status.lower(): run.count(status) for status in ("SUCCESS", "FAILURE", "WARNING", "SKIPPED")}


def same(direct: Run, through: Run) -> None:
    found = differences(direct, through)
    assert not found, told(found, through)
    assert through.code == direct.code == 0, through.output


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_fixture_passes_without_a_gateway(direct, figure, revision):
    run = direct(revision)
    figure(f"conformance {revision}, direct", **counted(run))
    assert run.code == 0, run.output
    assert run.count("SUCCESS") == PASSED_DIRECTLY[revision]
    assert run.count("WARNING") == 0
    # The official server package does not have the extension for tasks, and no revision asks for it.
    assert all(scenario.startswith("tasks-") for scenario in run.failed_scenarios())


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_check_says_the_same_through_the_gateway(fixture_server, direct, through, revision):
    """The gateway speaks to the fixture as the suite does: each era with itself."""
    era = "modern" if revision == "2026-07-28" else "legacy"
    same(direct(revision), through(revision, {"url": fixture_server.url, "era": era}, f"http, {era}"))


def test_a_legacy_session_with_the_server_of_both_eras_lacks_only_what_the_modern_one_cannot_have(
    fixture_server, direct, through
):
    """Left to itself the gateway speaks to the fixture in the modern way: legacy clients before a modern server."""
    run = through("2025-11-25", {"url": fixture_server.url}, "http, modern")
    found = differences(direct("2025-11-25"), run)
    assert found == UNPOLLED, told(found, run)
    assert run.code == 0, "what differs does not count, and nothing else fails"


def test_every_modern_check_says_the_same_with_the_server_behind_stdio(direct, through):
    same(direct("2026-07-28"), through("2026-07-28", {"command": fixture_command()}, "stdio"))


def test_a_legacy_session_with_the_server_behind_stdio_lacks_only_what_a_pipe_cannot_have(direct, through):
    run = through("2025-11-25", {"command": fixture_command()}, "stdio")
    found = differences(direct("2025-11-25"), run)
    assert found == UNPOLLED, told(found, run)
    assert run.code == 0, "what differs does not count"


def test_a_modern_client_of_a_legacy_server_lacks_only_what_that_server_cannot_do(direct, through, tmp_path):
    server = FixtureServer(tmp_path, "legacy", legacy_only=True).start()
    try:
        run = through("2026-07-28", {"url": server.url}, "a legacy server")
    finally:
        server.kill()
    found = differences(direct("2026-07-28"), run)
    assert found == UNASKED | UNREFUSED, told(found, run)
