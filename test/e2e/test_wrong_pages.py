"""RC-014: a good status, and no answer in it. One clear error, counted, never stored, never shown as a result."""

import time

import pytest

from harness.mcp_client import McpClient
from harness.waiting import until

# name -> behaviour, and status and media type as the text must name them.
PAGES = {
    "html with 200": ({"do": "html"}, "200", "text/html"),
    "html with 502": ({"do": "html", "status": 502}, "502", "text/html"),
    "foreign JSON": ({"do": "raw_body", "body": '{"ok":true}'}, "200", "application/json"),
    "foreign JSON array": ({"do": "raw_body", "body": "[1,2]"}, "200", "application/json"),
    "no bytes": ({"do": "raw_body", "body": ""}, "200", "application/json"),
    "cut JSON": ({"do": "raw_body", "body": '{"jsonrpc":"2.0","id":'}, "200", "application/json"),
    "wrong id": ({"do": "wrong_id"}, "200", "application/json"),
    "html as events": ({"do": "html_stream"}, "200", "text/event-stream"),
    "no events": ({"do": "empty_stream"}, "200", "text/event-stream"),
    "plain text": ({"do": "answer", "content_type": "text/plain"}, "200", "text/plain"),
    "no media type": ({"do": "answer", "content_type": None}, "200", ""),
    "accepted": ({"do": "raw_body", "body": "", "status": 202}, "202", ""),
    "redirect": (
        {"do": "raw_body", "body": "", "status": 302, "headers": {"Location": "http://127.0.0.1:1/"}},
        "302",
        "",
    ),
    "long page": ({"do": "raw_body", "type": "text/html", "body": "<p>" + "lorem " * 5000}, "200", "text/html"),
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_is_no_answer_is_one_clear_error(page, gateway, fake):
    behaviour, status, media_type = PAGES[page]
    upstream = fake({"calls": {"echo": behaviour}})
    # `observe`: the failures are counted and the breaker lets every call through.
    through = gateway({"upstreams": {"up": {"url": upstream.url}}, "breaker": {"mode": "observe"}})
    with McpClient(through.port) as client:
        begin = time.monotonic()
        reply = client.call("up__echo", id="mine")
        assert time.monotonic() - begin < 1.0
        assert reply.status == 200 and reply.message["id"] == "mine"
        assert reply.is_error
        assert reply.marker["reason"] == "upstream_error"
        assert reply.marker["served_by"] == "none"
        assert "up" in reply.text
        assert status in reply.text
        assert media_type in reply.text
        assert len(reply.text) < 1000, "at most 300 characters of the body"

        def counted() -> bool:
            tool, server = through.circuit("up__echo"), through.circuit("up", "server")
            return (tool["failures"] if tool else 0) + (server["failures"] if server else 0) >= 1

        if page != "redirect":  # the address is wrong then, which says nothing about the health of what is there
            until(counted, 2, "it is counted as a failure")
        upstream.call("echo", "answer")
        assert not client.call("up__echo").is_error, "the connection and the upstream live on"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_is_no_answer_is_never_stored(page, gateway, fake):
    upstream = fake({"calls": {"echo": PAGES[page][0]}})
    rule = {"read_only": True, "fallback": [{"cache": {"max_age": "10m"}}]}
    configuration = {
        "upstreams": {"up": {"url": upstream.url}},
        "breaker": {"mode": "observe"},
        "tools": {"up__echo": rule},
    }
    through = gateway(configuration)
    with McpClient(through.port) as client:
        for _ in range(2):
            reply = client.call("up__echo", {"q": 1})
            assert reply.is_error and "primary" not in reply.marker["served_by"]
        upstream.call("echo", "answer")
        good = client.call("up__echo", {"q": 1})
        assert not good.marker
        upstream.call("echo", **PAGES[page][0])
        stored = client.call("up__echo", {"q": 1})
        assert stored.marker["served_by"] == "cache" and stored.marker["degraded"] is True
        assert stored.result["content"][0] == good.result["content"][0]
        assert client.call("up__echo", {"q": 2}).is_error, "other arguments have no stored answer"
