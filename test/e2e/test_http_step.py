"""A REST endpoint stands in for a tool: what is sent, what is taken, and every way in which it is no answer (RC-014)."""

import asyncio
import json
import time

import pytest

from harness.carriers import HttpCarrier
from harness.certificates import Authority
from harness.mcp_client import McpClient
from harness.rest_server import RestServer
from harness.scripted_http import Answer
from harness.tool_server import RpcError, ToolServer, tool
from harness.waiting import until

QUERY = tool("query", annotations={"readOnlyHint": True})
COUNTED = tool(
    "query",
    annotations={"readOnlyHint": True},
    outputSchema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
)
STATIC = {"static": {"text": "nothing else is left"}}


def said(value, status: int = 200, **fields) -> Answer:
    return Answer(status, json.dumps(value).encode(), "application/json", fields)


def always(answer: Answer | None):
    async def give(_request):
        return answer

    return give


async def broken(_call):
    raise RpcError(-32603, "the index is gone")


@pytest.fixture
def asked(gateway, serve):
    """asked(answer, step, ...): a gateway whose tool up__query fails, with an http step to a server that answers so."""

    def start(answer, step: dict, *, path="/items", definition=QUERY, after=(STATIC,), tls=None, environment=None, **more):
        upstream = serve(HttpCarrier(ToolServer([definition], query=broken)))
        endpoint = serve(RestServer(answer, tls=tls))
        origin = endpoint.origin.replace("127.0.0.1", "localhost") if tls else endpoint.origin
        rule = {"deadline": "2s", "note": False, "fallback": [{"http": {"url": origin + path, **step}}, *after]}
        configuration = {"upstreams": {"up": {"url": upstream.url}}, "tools": {"up__query": {**rule, **more.pop("rule", {})}}}
        return gateway({**configuration, **more}, environment=environment), endpoint

    return start


def test_an_endpoint_gets_the_callers_values_and_its_answer_is_mapped(asked):
    step = {
        "headers": {"Authorization": "Bearer ${REST_TOKEN}", "X-Plain": "as it is"},
        "result": {"text": "{{/items/0/title}}", "structured": {"n": "{{/total}}"}},
    }
    through, endpoint = asked(
        always(said({"total": 3, "items": [{"title": "Switches"}]})),
        step,
        path="/v1/{{/filter/0/name}}/items?q={{query}}&fixed=a%20b",
        definition=COUNTED,
        environment={"REST_TOKEN": "s3cret"},
    )
    with McpClient(through.port) as client:
        reply = client.call("up__query", {"query": "ä & b/c?", "filter": [{"name": "x y"}]}, id="mine")
    assert reply.message["id"] == "mine" and not reply.is_error
    assert reply.text == "Switches"
    assert reply.result["structuredContent"] == {"n": 3}
    assert reply.marker["served_by"] == "http" and reply.marker["degraded"] is True
    assert reply.marker["steps"] == ["primary:failed", "http:hit"]
    (request,) = endpoint.requests
    assert request.verb == "GET" and request.body == b""
    assert request.path == "/v1/x%20y/items?q=%C3%A4%20%26%20b%2Fc%3F&fixed=a%20b"
    assert request.header("authorization") == "Bearer s3cret"
    assert request.header("x-plain") == "as it is"
    assert request.header("host") == f"127.0.0.1:{endpoint.port}"
    assert request.header("content-length") is None


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_body_is_made_of_the_arguments(asked, method):
    step = {"method": method, "body": {"q": "{{query}}", "limit": 5, "all": ["{{/filter/0}}", "<{{query}}>"]}}
    through, endpoint = asked(always(said({"ok": True})), step)
    with McpClient(through.port) as client:
        reply = client.call("up__query", {"query": [1, 2], "filter": [{"a": None}]})
    assert reply.text == '{"ok": true}', "an answer without `result` is the text as it came"
    (request,) = endpoint.requests
    assert request.verb == method and request.header("content-type") == "application/json"
    assert json.loads(request.body) == {"q": [1, 2], "limit": 5, "all": [{"a": None}, "<[1,2]>"]}


def test_without_a_body_template_the_arguments_are_sent(asked):
    through, endpoint = asked(always(Answer(200, "grün".encode("latin-1"), "text/plain; charset=latin-1")), {"method": "POST"})
    with McpClient(through.port) as client:
        assert client.call("up__query", {"a": 1}).text == "gr\ufffdn", "what is no UTF-8 cannot break the answer"
    assert json.loads(endpoint.requests[0].body) == {"a": 1}


def test_connections_are_kept(asked):
    through, endpoint = asked(always(said(1)), {}, threads=1)
    with McpClient(through.port) as client:
        for _ in range(5):
            assert client.call("up__query").text == "1"
    assert len(endpoint.requests) == 5 and endpoint.connections == 1


# name -> answer, how the step ends, what the error says of it, and whether the breaker counts a failure of the endpoint.
NO_ANSWERS = {
    "not found": (said({"error": "no such thing"}, 404), "failed", "HTTP 404", False),
    "server error": (Answer(500, b"boom", "text/plain"), "failed", "HTTP 500", True),
    "html": (Answer(200, b"<html>Please sign in</html>", "text/html"), "failed", "neither JSON nor text", True),
    "an image": (Answer(200, b"\x89PNG\x00", "image/png"), "failed", "neither JSON nor text", True),
    "no media type": (Answer(200, b"{}"), "failed", "neither JSON nor text", True),
    "garbage": (Answer(200, b'{"total": ', "application/json"), "failed", "JSON that cannot be read", True),
    "no bytes": (Answer(200, b"", "application/json"), "failed", "an empty answer", True),
    "no content": (Answer(204), "failed", "HTTP 204", True),
    "huge": (Answer(200, b"[" + b"1," * 50_000 + b"1]", "application/json"), "failed", "the limit is 65536", False),
    "reset": (None, "failed", "connection", False),
    "a redirect": (Answer(302, b"", None, {"Location": "http://127.0.0.1:1/"}), "failed", "HTTP 302", False),
    "throttled": (said({}, 429, **{"Retry-After": "7"}), "throttled", "HTTP 429", False),
    "unavailable": (said({}, 503, **{"Retry-After": "7"}), "throttled", "HTTP 503", False),
    "forbidden": (said({}, 403), "denied", "HTTP 403", False),
}


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_what_is_no_answer_fails_the_step_and_says_why(asked, name):
    answer, ending, detail, counts = NO_ANSWERS[name]
    through, endpoint = asked(always(answer), {}, after=(), limits={"max_answer": "64KiB"})
    with McpClient(through.port) as client:
        begin = time.monotonic()
        reply = client.call("up__query", id="mine")
        assert time.monotonic() - begin < 1.0
    assert reply.status == 200 and reply.message["id"] == "mine" and reply.is_error
    assert reply.marker["steps"] == ["primary:failed", f"http:{ending}"]
    assert reply.marker["reason"] == "exhausted"
    assert "the index is gone" in reply.text, "the primary's error is there"
    assert f"http 127.0.0.1:{endpoint.port} ({ending}" in reply.text and detail in reply.text
    assert len(reply.text) < 1000
    assert len(endpoint.requests) == 1, "it is asked once"
    circuit = until(lambda: through.circuit(f"http:GET 127.0.0.1:{endpoint.port}/items"), 3, "its breaker shows")
    if counts:
        until(lambda: through.circuit(circuit["name"])["failures"] == 1, 3, "the failure is counted")
    else:
        assert circuit["failures"] == 0


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_after_what_is_no_answer_the_next_step_comes(asked, name):
    through, _ = asked(always(NO_ANSWERS[name][0]), {}, limits={"max_answer": "64KiB"})
    with McpClient(through.port) as client:
        reply = client.call("up__query")
    assert reply.text == "nothing else is left" and reply.marker["served_by"] == "static"


def test_text_is_no_answer_where_json_is_needed(asked):
    through, _ = asked(always(Answer(200, b"plain words", "text/plain")), {"result": {"text": "{{/a}}"}}, after=())
    with McpClient(through.port) as client:
        assert "no JSON: HTTP 200 text/plain: plain words" in client.call("up__query").text


def test_an_answer_that_lacks_what_is_taken_of_it_is_unmapped(asked):
    through, _ = asked(always(said({"items": []})), {"result": {"text": "{{/items/0/title}}"}})
    with McpClient(through.port) as client:
        reply = client.call("up__query")
    assert reply.marker["steps"] == ["primary:failed", "http:unmapped", "static:hit"]


def test_an_answer_that_breaks_the_output_schema_is_unfit(asked):
    step = {"result": {"structured": {"n": "{{/n}}"}}}
    through, _ = asked(always(said({"n": "three"})), step, definition=COUNTED, after=())
    with McpClient(through.port) as client:
        reply = client.call("up__query")
    assert reply.marker["steps"] == ["primary:failed", "http:unfit"]


@pytest.mark.timing
def test_a_slow_endpoint_ends_with_the_deadline(asked):
    async def slow(_request):
        await asyncio.sleep(8)

    through, endpoint = asked(slow, {}, rule={"deadline": "1s"})
    with McpClient(through.port) as client:
        begin = time.monotonic()
        reply = client.call("up__query")
        took = time.monotonic() - begin
    assert reply.marker["steps"] == ["primary:failed", "http:timeout", "static:hit"]
    assert 0.9 <= took <= 1.1
    assert len(endpoint.requests) == 1


def test_a_call_without_a_value_that_the_url_needs_sends_nothing(asked):
    through, endpoint = asked(always(said({})), {}, path="/items/{{id}}")
    with McpClient(through.port) as client:
        for arguments in ({}, {"id": ""}, {"id": "."}, {"id": ".."}):
            reply = client.call("up__query", arguments)
            assert reply.marker["steps"] == ["primary:failed", "http:no_argument", "static:hit"], arguments
        assert endpoint.requests == []
        client.call("up__query", {"id": "../../admin?x=1#y"})
    assert endpoint.requests[0].path == "/items/..%2F..%2Fadmin%3Fx%3D1%23y"


@pytest.mark.parametrize("step, runs", [({"method": "POST"}, False), ({"method": "POST", "read_only": True}, True), ({}, True)])
def test_after_a_call_that_may_have_taken_effect_only_reading_is_safe(asked, step, runs):
    writes = tool("query", annotations={"readOnlyHint": False})
    through, endpoint = asked(always(said({})), step, definition=writes)
    with McpClient(through.port) as client:
        reply = client.call("up__query")
    assert reply.marker["steps"][1] == ("http:hit" if runs else "http:unsafe")
    assert len(endpoint.requests) == (1 if runs else 0)
    assert reply.marker["outcome"] == "unknown"


@pytest.mark.timing
def test_an_endpoint_has_a_breaker_of_its_own(asked):
    # The tool itself is asked each time; what the step's own section does not set comes from the top level.
    step = {"breaker": {"mode": "enforce", "cooldown": "60s"}}
    through, endpoint = asked(always(Answer(500)), step, breaker={"mode": "observe"}, path="/items?q={{q}}")
    name = f"http:GET 127.0.0.1:{endpoint.port}/items"
    with McpClient(through.port) as client:

        def opened() -> bool:
            client.call("up__query", {"q": 1})
            return through.state(name) == "open"

        until(opened, 10, "the endpoint's breaker opens")
        before = len(endpoint.requests)
        took = []
        for _ in range(50):
            begin = time.perf_counter()
            reply = client.call("up__query", {"q": 1})
            took.append(time.perf_counter() - begin)
            assert reply.marker["steps"] == ["primary:failed", "http:refused", "static:hit"]
        assert sorted(took)[25] < 0.02, "the tool's own time, and this client's"
    assert len(endpoint.requests) == before
    assert name in through.metrics()
    assert through.circuit(name)["upstream"] == ""
    assert through.circuit(f"http:127.0.0.1:{endpoint.port}", "server")["state"] == "closed"


def test_an_endpoint_that_only_observes_is_asked_on(asked):
    through, endpoint = asked(always(Answer(500)), {}, breaker={"mode": "observe"})
    with McpClient(through.port) as client:
        for _ in range(30):
            client.call("up__query")
    assert len(endpoint.requests) == 30


def test_an_endpoint_over_tls_is_verified(asked, tmp_path):
    authority = Authority(tmp_path)
    tls = authority.issue("localhost")
    for trusted, ending in ((True, "hit"), (False, "unreachable")):
        environment = {"SSL_CERT_FILE": str(authority.path)} if trusted else {}
        through, _ = asked(always(said({"a": 1})), {}, tls=tls, environment=environment)
        with McpClient(through.port) as client:
            assert client.call("up__query").marker["steps"][1] == f"http:{ending}"
