"""RC-031 and RC-032: ids come back as they were sent, and nobody gets another caller's answer."""

import json
import re

import pytest

from harness.mcp_client import VERSION, McpClient, initialize_params
from harness.raw_http import RawConnection, post
from harness.servers import stdio_command
from harness.together import together
from harness.waiting import until

# As raw JSON text: what Python would make of them is not the question.
RAW_IDS = [
    '"1"',
    "1",
    "0",
    "-7",
    '""',
    '"ünï"',
    '"0f8fad5b-d9cb-469f-a165-70867728950e"',
    "2147483648",
    "9007199254740993",
    "-9007199254740993",
    '"\\u0061\\"b\\\\"',
]
EAGER = {"error_rate": "50%", "minimum_calls": 5, "certainty": "none"}


class RawCaller:
    """Writes ids as text and reads them as text."""

    def __init__(self, port: int):
        with McpClient(port) as client:
            self.fields = {"Mcp-Session-Id": client.session, "MCP-Protocol-Version": VERSION}
        self.connection = RawConnection(port)

    def ask(self, raw_id: str, method: str, params: dict) -> tuple[str, dict]:
        body = f'{{"jsonrpc":"2.0","id":{raw_id},"method":"{method}","params":{json.dumps(params)}}}'.encode()
        answer = self.connection.exchange(post(body, {} if method == "initialize" else self.fields))
        assert answer.status == 200, answer
        assert answer.media_type == "application/json", "no notification was asked for, so none is streamed"
        text = answer.body.decode()
        message = json.loads(text)
        # Results never hold a member named id here, so the only one is the response's.
        found = re.findall(r'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9.eE+-]+|null)', text)
        assert len(found) == 1, text
        return found[0], message


def same_id(sent: str, returned: str) -> bool:
    """Numbers digit by digit; strings by their value, since an escape may be written in another way."""
    return sent == returned or (sent[0] == returned[0] == '"' and json.loads(sent) == json.loads(returned))


@pytest.fixture
def caller(gateway, fake):
    tools = ["echo", "error", "stall", "down", "spare"]
    upstream = fake(
        {
            "server": {"tools": tools, "strict_ids": True},  # silent unless the gateway's own ids are small integers
            "calls": {"error": {"do": "rpc_error", "code": -32602}, "stall": {"do": "stall"}, "down": {"do": "html"},
                      "spare": {"do": "html"}},
        }
    )  # fmt: skip
    through = gateway(
        {
            "upstreams": {"up": {"url": upstream.url}},
            "tools": {
                "up__*": {"deadline": "2s"},
                "up__stall": {"deadline": "100ms"},
                "up__down": {"breaker": EAGER},
                "up__spare": {"fallback": [{"static": {"text": "spare"}}]},
            },
        }
    )
    made = RawCaller(through.port)
    made.gateway = through
    yield made
    made.connection.close()


@pytest.mark.parametrize("raw_id", RAW_IDS)
def test_an_id_comes_back_in_type_and_value_on_every_path(raw_id, caller):
    call = lambda tool: caller.ask(raw_id, "tools/call", {"name": tool, "arguments": {}})  # noqa: E731
    paths = {
        "initialize": caller.ask(raw_id, "initialize", initialize_params()),
        "ping": caller.ask(raw_id, "ping", {}),
        "tools/list": caller.ask(raw_id, "tools/list", {}),
        "result": call("up__echo"),
        "json-rpc error": call("up__error"),
        "timeout": call("up__stall"),
        "fallback": call("up__spare"),
        "unknown tool": call("up__nothing"),
        "unknown method": caller.ask(raw_id, "no/such", {}),
    }
    for _ in range(5):
        call("up__down")
    until(lambda: caller.gateway.state("up__down") == "open", 2, "the breaker opens")
    paths["open breaker"] = call("up__down")
    assert paths["open breaker"][1]["result"]["_meta"]["dev.switchgear/call"]["reason"] == "open"
    assert paths["timeout"][1]["result"]["_meta"]["dev.switchgear/call"]["reason"] == "timeout"
    assert paths["json-rpc error"][1]["error"]["code"] == -32602
    assert paths["unknown method"][1]["error"]["code"] == -32601
    for path, (returned, _) in paths.items():
        assert same_id(raw_id, returned), path


def test_a_parse_failure_is_answered_with_id_null(caller):
    answer = caller.connection.exchange(post(b'{"jsonrpc":"2.0","id":1,', caller.fields))
    assert json.loads(answer.body)["id"] is None


# ---- the same id many times in flight


@pytest.fixture
def shared(gateway, fake):
    tools = ["echo", "twice"]
    upstream = fake(
        {
            "server": {"tools": tools},
            "calls": {"echo": {"do": "answer", "delay_up_to": 0.02}, "twice": {"do": "duplicate"}},
        }
    )
    through = gateway({"upstreams": {"up": {"url": upstream.url}}})
    through.fake = upstream
    return through


def test_many_clients_with_one_id_get_their_own_answers(shared, figure):
    clients, calls = 100, 100

    def converse(number: int) -> int:
        with McpClient(shared.port) as client:
            for turn in range(calls):
                nonce = f"client-{number}-{turn}"
                reply = client.call("up__echo", {"nonce": nonce}, id=0)
                assert reply.message["id"] == 0
                assert json.loads(reply.text) == {"nonce": nonce}
        return calls

    total = sum(together([lambda number=number: converse(number) for number in range(clients)]))
    initializes = shared.fake.arrived("initialize")
    figure("same id in flight", clients=clients, calls=total, swapped=0, upstream_sessions=len(initializes))
    assert len(initializes) == 1, "one upstream session for all of them"
    ids = [entry["id"] for entry in shared.fake.arrived("tools/call")]
    assert len(set(ids)) == len(ids), "the upstream never sees an id twice"
    assert all(type(id) is int and 0 < id < 2**31 for id in ids)


def test_one_session_may_use_an_id_three_times_at_once(shared):
    with McpClient(shared.port) as client:

        def call(nonce: str):
            double = McpClient(shared.port)
            double.session, double.version = client.session, client.version
            reply = double.call("up__echo", {"nonce": nonce}, id=1)
            double.close()
            return nonce, reply

        for nonce, reply in together([lambda nonce=nonce: call(nonce) for nonce in ("a", "b", "c")]):
            assert reply.message["id"] == 1
            if "error" in reply.message:
                assert reply.error["code"] == -32600
            else:
                assert json.loads(reply.text) == {"nonce": nonce}


def test_an_id_may_be_used_again_after_its_answer(shared):
    with McpClient(shared.port) as client:
        for nonce in range(5):
            assert json.loads(client.call("up__echo", {"nonce": nonce}, id="again").text) == {"nonce": nonce}


def test_a_second_answer_to_one_id_is_dropped(shared):
    with McpClient(shared.port) as client:
        for nonce in range(20):
            reply = client.call("up__twice", {"nonce": nonce})
            assert json.loads(reply.text) == {"nonce": nonce}
            assert json.loads(client.call("up__echo", {"nonce": -nonce}).text) == {"nonce": -nonce}


def test_two_clients_may_initialize_with_one_id_at_the_same_moment(shared):
    def start() -> str:
        client = McpClient(shared.port).initialize(id=0)
        client.close()
        return client.session

    sessions = together([start] * 20)
    assert len(set(sessions)) == 20


def test_children_on_stdio_do_not_mix_callers_either(gateway):
    through = gateway({"upstreams": {"child": {"command": stdio_command()}}})

    def converse(number: int) -> None:
        with McpClient(through.port) as client:
            for turn in range(20):
                nonce = f"{number}-{turn}"
                assert json.loads(client.call("child__echo", {"nonce": nonce}, id=0).text) == {"nonce": nonce}

    together([lambda number=number: converse(number) for number in range(20)])
    until(lambda: through.circuit("child__echo")["failures"] == 0, 1, "nothing failed")
