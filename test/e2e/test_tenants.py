"""RC-055: what was found out, stored or said for one principal reaches no other; tokens are as fresh as their request."""

import pytest

from harness.callers import ERAS, OPERATOR, Gatekeeper, caller, served, user
from harness.carriers import SseCarrier
from harness.event_stream import EventStream
from harness.piped_gateway import PipedGateway
from harness.together import together
from harness.tool_server import ToolServer, tool
from harness.waiting import until

EAGER = {"error_rate": "15%", "minimum_calls": 5, "certainty": "none", "cooldown": "60s"}
QUESTION = {"q": "mine"}

both_eras = pytest.mark.parametrize("era", ERAS)


def start(gateway, serve, keeper: Gatekeeper, *, shared: bool = False, forward: bool = True, **more):
    serve(keeper.carrier)
    whoami = {"read_only": True, "fallback": [{"cache": {"share": "all" if shared else "principal"}}]}
    up = served(keeper) if forward else {"url": keeper.carrier.url, "headers": {"Authorization": OPERATOR}}
    return gateway(
        {"principal": "x-user", "upstreams": {"up": up}, "breaker": EAGER, "tools": {"up__whoami": whoami}, **more}
    )


def two_users(era: str, **options) -> Gatekeeper:
    return Gatekeeper(era, {"Bearer u1": "u1", "Bearer u2": "u2", None: "anonymous"}, **options)


def everybody(era: str, through) -> tuple:
    return (
        caller(era, through.port, x_user="u1", authorization="Bearer u1"),
        caller(era, through.port, x_user="u2", authorization="Bearer u2"),
        caller(era, through.port),
    )


def trip(through, keeper: Gatekeeper, by) -> None:
    """Until the tool's breaker is open."""
    keeper.broken = True

    def opened() -> bool:
        by.call("up__whoami", {"q": "nobody else asks that"})
        return through.state("up__whoami") == "open"

    until(opened, 10, "the breaker opens")


@both_eras
def test_nobody_gets_what_was_stored_for_another(era, gateway, serve):
    keeper = two_users(era)
    through = start(gateway, serve, keeper)
    u1, u2, nobody = everybody(era, through)
    assert u1.call("up__whoami", QUESTION).text == "you are u1"
    trip(through, keeper, u1)

    stored = u1.call("up__whoami", QUESTION)
    assert stored.marker["served_by"] == "cache" and stored.text.startswith("you are u1")
    for other in (u2, nobody):
        reply = other.call("up__whoami", QUESTION)
        assert reply.is_error and reply.marker["served_by"] == "none"
        assert reply.marker["steps"] == ["primary:refused", "cache:miss"]
        assert b"u1" not in reply.body


@both_eras
def test_each_gets_what_was_stored_for_itself(era, gateway, serve):
    keeper = two_users(era)
    through = start(gateway, serve, keeper)
    users = everybody(era, through)
    for each, name in zip(users, ("u1", "u2", "anonymous"), strict=True):
        assert each.call("up__whoami", QUESTION).text == f"you are {name}"
    trip(through, keeper, users[0])
    for each, name in zip(users, ("u1", "u2", "anonymous"), strict=True):
        reply = each.call("up__whoami", QUESTION)
        assert reply.marker["served_by"] == "cache" and reply.text.startswith(f"you are {name}")


@both_eras
def test_a_shared_tool_is_what_the_operator_says_it_is(era, gateway, serve):
    keeper = two_users(era)
    through = start(gateway, serve, keeper, shared=True)
    u1, u2, nobody = everybody(era, through)
    assert u1.call("up__whoami", QUESTION).text == "you are u1"
    trip(through, keeper, u1)
    for other in (u2, nobody):
        reply = other.call("up__whoami", QUESTION)
        assert reply.marker["served_by"] == "cache" and reply.text.startswith("you are u1")


def test_a_server_with_one_credential_has_answers_for_each_principal_all_the_same(gateway, serve):
    keeper = two_users("legacy")
    through = start(gateway, serve, keeper, forward=False)
    u1, u2, _ = everybody("legacy", through)
    assert u1.call("up__whoami", QUESTION).text == "you are operator"
    trip(through, keeper, u1)
    assert u1.call("up__whoami", QUESTION).marker["served_by"] == "cache"
    assert u2.call("up__whoami", QUESTION).marker["served_by"] == "none"
    assert keeper.session_count(OPERATOR) == 1, "nobody's credential is forwarded: one session for all"


@both_eras
def test_calls_at_the_same_time_do_not_meet(era, gateway, serve):
    keeper = two_users(era)
    through = start(gateway, serve, keeper)
    callers = [(each, name) for _ in range(8) for each, name in zip(everybody(era, through), ("u1", "u2", "anonymous"))]
    for _ in range(5):
        replies = together([lambda each=each: each.call("up__whoami", QUESTION) for each, _ in callers])
        assert [reply.text for reply in replies] == [f"you are {name}" for _, name in callers]


def test_each_principal_has_one_session_of_its_own(gateway, serve):
    keeper = two_users("legacy")
    through = start(gateway, serve, keeper)
    for _ in range(3):
        for each in everybody("legacy", through):  # new clients, the same people
            each.call("up__whoami")
    sessions: dict = {}
    for each in keeper.server.journal:
        if session := each.header("mcp-session-id"):
            sessions.setdefault(session, set()).add(each.header("authorization"))
    assert all(len(credentials) == 1 for credentials in sessions.values()), "one principal a session"
    assert sorted(map(str, (credentials.pop() for credentials in sessions.values()))) == sorted(
        ["Bearer u1", "Bearer u2", OPERATOR, "None"]
    )


@both_eras
def test_a_token_for_each_request_is_one_principal_and_one_session(era, gateway, serve):
    keeper = Gatekeeper(era, {f"Bearer u1-{n}": "u1" for n in range(20)})
    through = start(gateway, serve, keeper)
    u1 = caller(era, through.port, x_user="u1", authorization="Bearer u1-0")
    for n in range(20):
        u1.fields["authorization"] = f"Bearer u1-{n}"
        assert u1.call("up__whoami", QUESTION).text == "you are u1"
    assert [each.header("authorization") for each in keeper.calls()] == [f"Bearer u1-{n}" for n in range(20)]
    if era == "legacy":
        assert keeper.session_count(*keeper.worth) == 2, "the operator's and this one"
        assert len({each.header("mcp-session-id") for each in keeper.calls()}) == 1
    # What was stored under an earlier token is this principal's.
    trip(through, keeper, u1)
    assert u1.call("up__whoami", QUESTION).marker["served_by"] == "cache"


def test_a_session_outlives_its_token(gateway, serve):
    keeper = Gatekeeper("legacy", {"Bearer old": "u1"})
    through = start(gateway, serve, keeper)
    u1 = caller("legacy", through.port, x_user="u1", authorization="Bearer old")
    assert u1.call("up__whoami").text == "you are u1"

    keeper.worth.update({"Bearer old": 401, "Bearer new": "u1"})
    assert u1.call("up__whoami").marker["reason"] == "denied"
    u1.fields["authorization"] = "Bearer new"
    assert u1.call("up__whoami").text == "you are u1"
    assert keeper.session_count("Bearer new") == 0, "the session is the same"

    keeper.carrier.forget_sessions()
    since = len(keeper.server.journal)
    assert u1.call("up__whoami").text == "you are u1"
    assert "Bearer old" not in {each.header("authorization") for each in keeper.server.journal[since:]}
    assert keeper.session_count("Bearer new") == 1

    through.stop()
    ended = [each for each in keeper.requests() if each.verb == "DELETE"]
    assert [each.header("authorization") for each in ended] == ["Bearer new"], "the end of it, too"


def test_a_stream_for_a_client_that_can_be_asked_goes_with_the_latest_token(gateway, serve):
    keeper = Gatekeeper("legacy", {"Bearer old": "u1"})
    through = start(gateway, serve, keeper)
    u1 = caller("legacy", through.port, x_user="u1", authorization="Bearer old")
    asked = u1.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {}})
    u1.session = asked.headers["mcp-session-id"]

    def streams() -> list[str]:
        return [each.header("authorization") for each in keeper.requests() if each.verb == "GET"]

    assert u1.call("up__whoami").text == "you are u1"
    until(lambda: streams() == ["Bearer old"], 5, "its stream is opened with its token")
    keeper.worth.update({"Bearer old": 401, "Bearer new": "u1"})
    u1.fields["authorization"] = "Bearer new"
    assert u1.call("up__whoami").text == "you are u1"
    keeper.carrier.cut_streams()
    until(lambda: streams()[1:] == ["Bearer new"], 5, "and again with the new one")


@both_eras
def test_error_texts_stay_with_their_caller(era, gateway, serve):
    keeper = two_users(era)
    through = start(gateway, serve, keeper)
    u1, u2, nobody = everybody(era, through)
    u2.call("up__whoami")
    keeper.broken = True
    assert "private notes of u1" in u1.call("up__whoami", QUESTION).text
    trip(through, keeper, u1)
    for other in (u2, nobody):
        reply = other.call("up__whoami", QUESTION)
        assert reply.is_error and reply.marker["served_by"] == "none"
        assert b"u1" not in reply.body
    assert "private notes" not in through.admin("/api/circuits")[1]
    assert "private notes" not in through.process.stderr


def test_a_session_of_the_gateway_is_its_principals_alone(gateway, serve):
    keeper = two_users("legacy")
    through = start(gateway, serve, keeper)
    u1, u2, nobody = everybody("legacy", through)
    for thief in (u2, nobody):
        thief.session = u1.session
        assert thief.call("up__whoami").status == 404
        assert thief.send("DELETE").status == 404
        with EventStream(thief) as stream:
            until(lambda stream=stream: stream.status, 5, "the stream is answered")
            assert stream.status == 404
    assert u1.call("up__whoami").text == "you are u1", "and it is still there"


def test_the_state_of_a_question_is_its_principals_alone(gateway, serve):
    async def asks(call) -> dict:
        if "requestState" in call.params:
            return {"content": [{"type": "text", "text": f"{user.get()} went on with {call.params['requestState']}"}]}
        return {
            "resultType": "input_required",
            "inputRequests": {"who": {"method": "roots/list", "params": {}}},
            "requestState": f"of {user.get()}",
        }

    keeper = two_users("modern", tools=("whoami", tool("asks")))
    keeper.server.calls["asks"] = asks
    through = start(gateway, serve, keeper)
    u1, u2, nobody = everybody("modern", through)
    for each in (u1, u2, nobody):
        each.abilities = {"roots": {}}

    def go_on(client, state: str):
        params = {"name": "up__asks", "arguments": {}, "requestState": state, "inputResponses": {"who": {"roots": []}}}
        return client.request("tools/call", params)

    state = u1.call("up__asks").result["requestState"]
    for thief in (u2, nobody):
        assert go_on(thief, state).error["code"] == -32602
    assert go_on(u1, state).text == "u1 went on with of u1"


def test_a_server_of_the_first_revision_has_a_stream_for_each_principal(gateway, serve):
    server = ToolServer(["echo"])
    carrier = serve(SseCarrier(server))
    up = {"url": carrier.url, "headers": {"Authorization": OPERATOR}, "forward": ["authorization"]}
    through = gateway({"principal": "x-user", "upstreams": {"up": up}})
    for n in (1, 2):
        user_n = caller("legacy", through.port, x_user=f"u{n}", authorization=f"Bearer u{n}")
        for _ in range(2):
            assert not user_n.call("up__echo").is_error
    streams = [each.header("authorization") for each in server.journal if each.verb == "GET"]
    assert streams == [OPERATOR, "Bearer u1", "Bearer u2"]
    sessions: dict[str, set] = {}
    for each in server.journal:
        if each.message:
            sessions.setdefault(each.path, set()).add(each.header("authorization"))
    # Before the first of its addresses is known a server is tried as one of the later revisions.
    sessions.pop("/sse", None)
    assert sorted(sessions.values(), key=str) == [{"Bearer operator"}, {"Bearer u1"}, {"Bearer u2"}]


def test_the_client_of_a_pipe_is_anonymous(tmp_path, serve):
    keeper = Gatekeeper("legacy", {None: "anonymous"})
    serve(keeper.carrier)
    with PipedGateway({"principal": "x-user", "upstreams": {"up": served(keeper)}}, tmp_path) as piped:
        piped.initialize()
        answer = piped.ask(1, "tools/call", {"name": "up__whoami", "arguments": {}})
        assert answer["result"]["content"][0]["text"] == "you are anonymous"
        piped.close_input()
        assert piped.ended() == 0
    assert not keeper.calls(OPERATOR)


def test_without_names_a_session_belongs_to_its_credential(gateway, serve):
    keeper = two_users("legacy")
    serve(keeper.carrier)
    through = gateway({"upstreams": {"up": served(keeper)}})
    u1 = caller("legacy", through.port, authorization="Bearer u1")
    assert u1.call("up__whoami").text == "you are u1"
    u1.fields["authorization"] = "Bearer u2"
    assert u1.call("up__whoami").status == 404
    # A name that looks like somebody's digest, where no header names anybody, is nothing.
    u1.fields.update({"x-user": "u1", "authorization": "Bearer u1"})
    assert u1.call("up__whoami").text == "you are u1"


@both_eras
def test_who_comes_without_a_name_is_told_apart_by_the_credential(era, gateway, serve):
    keeper = two_users(era)
    through = start(gateway, serve, keeper)
    first, second = (caller(era, through.port, authorization=f"Bearer u{n}") for n in (1, 2))
    assert first.call("up__whoami", QUESTION).text == "you are u1"
    trip(through, keeper, first)
    assert second.call("up__whoami", QUESTION).marker["served_by"] == "none"
    assert first.call("up__whoami", QUESTION).marker["served_by"] == "cache"
