"""RC-013: a rejected credential is its owner's affair. It opens no breaker, and a good one works at once."""

import pytest

from harness.callers import ERAS, OPERATOR, Gatekeeper, caller, served
from harness.mcp_client import McpClient
from harness.raw_http import RawConnection
from harness.waiting import until

EAGER = {"error_rate": "15%", "minimum_calls": 5, "certainty": "none", "cooldown": "60s"}
CACHED = {"read_only": True, "fallback": [{"cache": {}}, {"static": {"text": "stand-in"}}]}
ROUNDS = 20

both_eras = pytest.mark.parametrize("era", ERAS)
wherever = pytest.mark.parametrize("calls_only", [False, True], ids=["at every request", "at calls"])


def start(gateway, serve, keeper: Gatekeeper, *, named: bool = True, **upstream):
    serve(keeper.carrier)
    configuration = {
        "upstreams": {"up": served(keeper, breaker=EAGER, **upstream)},
        "breaker": EAGER,
        "tools": {"up__*": CACHED},
    }
    if named:
        configuration["principal"] = "x-user"
    return gateway(configuration)


def three_users(era: str, calls_only: bool) -> Gatekeeper:
    return Gatekeeper(era, {"Bearer u1-bad": 401, "Bearer u2": "u2", "Bearer u3": 403}, calls_only=calls_only)


def assert_denied(reply, status: int) -> None:
    assert reply.is_error
    assert reply.marker["reason"] == "denied"
    assert reply.marker["served_by"] == "none", "nothing stands in for a caller who may not"
    assert str(status) in reply.text
    assert "outcome" not in reply.marker


def assert_well(through) -> None:
    for name, kind in (("up__whoami", "tool"), ("up", "server")):
        circuit = through.circuit(name, kind)
        assert circuit is None or (circuit["state"] == "closed" and circuit["failures"] == 0), circuit
    assert through.upstream("up")["state"] == "ready"
    assert not through.upstream("up")["credential_rejected"], "that one is the operator's"


@both_eras
@wherever
def test_a_rejected_credential_stops_nobody_else(era, calls_only, gateway, serve):
    keeper = three_users(era, calls_only)
    through = start(gateway, serve, keeper)
    u1 = caller(era, through.port, x_user="u1", authorization="Bearer u1-bad")
    u2 = caller(era, through.port, x_user="u2", authorization="Bearer u2")
    u3 = caller(era, through.port, x_user="u3", authorization="Bearer u3")
    for _ in range(ROUNDS):
        assert_denied(u1.call("up__whoami"), 401)
        assert u2.call("up__whoami").text == "you are u2"
        assert_denied(u3.call("up__whoami"), 403)
    assert_well(through)
    assert len(keeper.calls("Bearer u2")) == ROUNDS
    assert not keeper.calls(OPERATOR), "the operator's credential is for nobody's calls"

    keeper.worth["Bearer u1-good"] = "u1"
    u1.fields["authorization"] = "Bearer u1-good"
    assert u1.call("up__whoami").text == "you are u1"
    assert len(keeper.calls("Bearer u1-good")) == 1, "it went to the server, at once"
    assert_well(through)


@both_eras
def test_without_a_name_each_credential_is_a_principal(era, gateway, serve):
    keeper = three_users(era, False)
    through = start(gateway, serve, keeper, named=False)
    u1 = caller(era, through.port, authorization="Bearer u1-bad")
    u2 = caller(era, through.port, authorization="Bearer u2")
    for _ in range(ROUNDS):
        assert_denied(u1.call("up__whoami"), 401)
        assert u2.call("up__whoami").text == "you are u2"
    assert_well(through)
    keeper.worth["Bearer u1-good"] = "u1"
    again = caller(era, through.port, authorization="Bearer u1-good")
    assert again.call("up__whoami").text == "you are u1"


def test_a_session_that_is_refused_is_asked_for_again_when_somebody_calls_and_not_before(gateway, serve):
    keeper = three_users("legacy", False)
    through = start(gateway, serve, keeper)
    u1 = caller("legacy", through.port, x_user="u1", authorization="Bearer u1-bad")
    assert_denied(u1.call("up__whoami"), 401)
    assert keeper.session_count("Bearer u1-bad") == 1
    for _ in range(5):
        assert_denied(u1.call("up__whoami"), 401)
    assert keeper.session_count("Bearer u1-bad") <= 3, "a caller in a hurry is told what was just found out"
    asked = keeper.session_count("Bearer u1-bad")
    # The server changes its mind about the very same token: a second later the next call finds out.
    keeper.worth["Bearer u1-bad"] = "u1"
    until(lambda: not u1.call("up__whoami").is_error, 3, "the next call asks anew", every=0.2)
    assert keeper.session_count("Bearer u1-bad") == asked + 1


@both_eras
def test_a_caller_without_a_credential_does_not_get_the_operators(era, gateway, serve):
    keeper = three_users(era, False)
    through = start(gateway, serve, keeper)
    nobody = caller(era, through.port)
    assert_denied(nobody.call("up__whoami"), 401)
    assert not keeper.calls(OPERATOR)
    keeper.worth[None] = "everybody"
    until(lambda: not nobody.call("up__whoami").is_error, 3, "a server that asks for none", every=0.2)
    assert nobody.call("up__whoami").text == "you are everybody"


def rejected_gauge(through) -> str:
    lines = [line for line in through.metrics().splitlines() if "credential_rejected{" in line]
    assert len(lines) == 1, lines
    return lines[0].split()[-1]


@both_eras
@wherever
def test_the_operators_credential_goes_bad(era, calls_only, gateway, serve):
    keeper = Gatekeeper(era, {"Bearer u1": "u1"}, calls_only=calls_only)
    serve(keeper.carrier)
    own = {"url": keeper.carrier.url, "headers": {"Authorization": OPERATOR}, "breaker": EAGER}
    through = gateway(
        {"principal": "x-user", "upstreams": {"up": own}, "breaker": EAGER, "tools": {"up__*": CACHED}}
    )
    u1 = caller(era, through.port, x_user="u1", authorization="Bearer u1")
    u2 = caller(era, through.port, x_user="u2")
    assert rejected_gauge(through) == "0"
    for each in (u1, u2):
        assert each.call("up__whoami").text == "you are operator", "a server that gets no credentials of callers"

    keeper.worth[OPERATOR] = 401
    for _ in range(5):
        for each in (u1, u2):
            assert_denied(each.call("up__whoami"), 401)
    until(lambda: rejected_gauge(through) == "1", 5, "the metric says so")
    assert through.upstream("up")["credential_rejected"]
    assert through.upstream("up")["reason"].startswith("credential rejected")
    assert {each.header("authorization") for each in keeper.server.journal} == {OPERATOR}
    if era == "legacy":
        # The session is lost as well, and another is not to be had.
        keeper.carrier.forget_sessions()
        for _ in range(5):
            assert_denied(u1.call("up__whoami"), 401)
    for name, kind in (("up__whoami", "tool"), ("up", "server")):
        circuit = through.circuit(name, kind)
        assert circuit["state"] == "closed" and circuit["failures"] == 0, circuit

    keeper.worth[OPERATOR] = "operator"
    until(lambda: not u1.call("up__whoami").is_error, 10, "it is good again", every=0.2)
    until(lambda: rejected_gauge(through) == "0", 10, "the metric says so")
    assert not through.upstream("up")["credential_rejected"]
    assert through.process.stderr.count("credential_rejected") == 1, "one line at the change"
    assert through.process.stderr.count("credential_accepted") == 1


def test_principals_beyond_the_limit_are_refused_and_never_share(gateway, serve):
    users = {f"Bearer u{n}": f"u{n}" for n in range(1, 5)}
    keeper = Gatekeeper("legacy", {**users, "Bearer u3": 401})
    through = start(gateway, serve, keeper, own_sessions=2)

    def call(n: int):
        return caller("legacy", through.port, x_user=f"u{n}", authorization=f"Bearer u{n}").call("up__whoami")

    assert call(1).text == "you are u1"
    assert_denied(call(3), 401)
    assert call(2).text == "you are u2", "a session that the server denies makes room"
    refused = call(4)
    assert refused.marker["reason"] == "overloaded", refused.marker
    assert "you are" not in refused.text
    assert call(1).text == "you are u1"
    assert not keeper.calls("Bearer u4")
    assert_well(through)


@pytest.mark.parametrize(
    "fields, words",
    [
        (["Authorization: Bearer u1", "Authorization: Bearer u2"], "credential stands there twice"),
        (["X-User: u1", "X-User: u2"], "who calls stands there twice"),
        ([f"X-User: {'u' * 300}"], "longer than 256"),
        (["X-User: \xe9"], "no printable ASCII"),
    ],
    ids=["two credentials", "two names", "a long name", "a strange name"],
)
def test_a_request_of_whom_nobody_can_tell_who_sent_it_is_refused(fields, words, gateway, serve):
    keeper = three_users("legacy", False)
    through = start(gateway, serve, keeper)
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    head = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
    head += ["Accept: application/json, text/event-stream", f"Content-Length: {len(body)}", *fields]
    with RawConnection(through.port) as connection:
        answer = connection.exchange("\r\n".join([*head, "", ""]).encode("latin-1") + body)
    assert answer.status == 400
    assert words in answer.body.decode()
    with McpClient(through.port) as well:
        assert "up__whoami" in well.tools(), "the list is the operator's, and everybody's"
