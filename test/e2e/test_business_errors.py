"""RC-011: a tool that says "not found" is well. Its words reach the model, and its breaker stays closed."""

from harness.mcp_client import McpClient
from harness.waiting import holds, until

EAGER = {"error_rate": "15%", "minimum_calls": 5, "certainty": "none"}
NOT_FOUND = "file not found: /tmp/x"


def start(gateway, fake, edit: dict, server: dict = EAGER):
    upstream = fake({"server": {"tools": ["edit", "search"]}, "calls": {"edit": {"do": "is_error", "text": NOT_FOUND}}})
    fallback = [{"static": {"text": "stand-in"}}]
    tools = {
        "up__*": {"breaker": EAGER, "fallback": fallback},
        "up__edit": edit,
    }
    return gateway({"upstreams": {"up": {"url": upstream.url, "breaker": server}}, "tools": tools}), upstream


def test_results_with_is_error_pass_untouched_and_open_nothing(gateway, fake):
    through, upstream = start(gateway, fake, {"deadline": "5s"})
    with McpClient(through.port) as client:
        for _ in range(10):
            reply = client.call("up__edit")
            assert reply.result == {"content": [{"type": "text", "text": NOT_FOUND}], "isError": True}
        holds(lambda: through.state("up__edit") == "closed", 0.5, "the breaker of the tool is closed")
        assert through.state("up", "server") == "closed"
        assert client.call("up__search").marker == {}
    assert len(upstream.arrived("tools/call", "edit")) == 10


def test_a_text_named_by_the_operator_counts_as_failure_of_that_tool_alone(gateway, fake):
    through, upstream = start(gateway, fake, {"error_text": ["not found"]})
    with McpClient(through.port) as client:
        for _ in range(5):
            assert client.call("up__edit").result["content"][0]["text"] == NOT_FOUND, "the caller still gets the result"
        until(lambda: through.state("up__edit") == "open", 2, "the tool's breaker opens")
        assert client.call("up__edit").text.startswith("stand-in")
        assert through.state("up", "server") == "closed"
        for _ in range(10):
            assert client.call("up__search").marker == {}
    assert len(upstream.arrived("tools/call", "edit")) == 5


def test_a_completed_answer_ends_a_streak_of_server_failures(gateway, fake):
    only_streaks = {"minimum_calls": 10_000}  # the error rate never judges, so that a streak alone could open
    through, upstream = start(gateway, fake, {"deadline": "5s"}, only_streaks)
    with McpClient(through.port) as client:
        for _ in range(6):
            upstream.call("edit", "html", status=502)
            for _ in range(4):
                assert client.call("up__edit").marker["served_by"] == "static"
            upstream.call("edit", "is_error", text=NOT_FOUND)
            for _ in range(8):
                assert client.call("up__edit").is_error
        until(lambda: through.circuit("up", "server")["failures"] == 24, 2, "every failure was counted")
        assert through.state("up", "server") == "closed"
