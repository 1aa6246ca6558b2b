"""Servers that people run, behind the gateway in every way of reaching them: what they offer is offered, what they
answer is answered, in both eras, and when they die and come back they are served again."""

from contextlib import ExitStack

import pytest

from harness import python_talk
from harness.fixture import needs_packages
from harness.real_servers import RealServer, behind_gateway
from harness.talks import MODERN, assert_same_answer
from harness.waiting import until

pytestmark = [needs_packages, pytest.mark.seconds, pytest.mark.slow]

RECOVERY_LIMIT = 15  # seconds
# To ask again and again whether a server is back would open a breaker, which then stays open for longer than it takes.
UNGUARDED = {"breaker": {"mode": "disabled"}}

SERVERS = [
    ("everything", "http"),
    ("everything", "sse"),
    ("everything", "stdio"),
    ("filesystem", "stdio"),
    ("filesystem", "mcp-proxy"),
    ("filesystem", "supergateway"),
    ("memory", "stdio"),
    ("memory", "mcp-proxy"),
    ("memory", "supergateway"),
    ("fastmcp", "http"),
    ("fixture", "http"),
    ("fixture", "stdio"),
    ("legacy-fixture", "http"),
    ("legacy-fixture", "stdio"),
]


@pytest.fixture(scope="module", params=SERVERS, ids="-".join)
def server_and_gateway(request, tmp_path_factory):
    """A server, and a gateway with no other."""
    server = RealServer(*request.param, tmp_path_factory.mktemp("server"))
    try:
        with behind_gateway({"peer": server.start()}, server.folder, names="plain", **UNGUARDED) as gateway:
            yield server, gateway
    finally:
        server.kill()


def seen(settings: dict, deeds: list[dict], mode: str) -> list[dict]:
    return python_talk.talk({"server": settings, "mode": mode, "deeds": deeds})["answers"]


def without_tasks(answer: dict) -> dict:
    """Tools that can only run as tasks may be held back; what a tool says of tasks, one era alone can say."""
    if not isinstance(answer.get("result"), list):
        return answer
    kept = [one for one in answer["result"] if one.get("execution", {}).get("taskSupport") != "required"]
    return {**answer, "result": [{key: one[key] for key in one if key != "execution"} for one in kept]}


@pytest.mark.parametrize("mode", ["legacy", MODERN])
def test_a_server_is_offered_and_answers_as_without_the_gateway(server_and_gateway, mode):
    server, gateway = server_and_gateway
    deeds = server.all_deeds()
    direct = seen(server.settings, deeds, "legacy")
    assert not any("error" in answer for answer in direct), "the test asks for what the server has"
    through = seen({"url": gateway.url}, deeds, mode)
    for deed, expected, answer in zip(deeds, direct, through, strict=True):
        assert_same_answer(deed, without_tasks(expected), without_tasks(answer))


def test_a_server_that_dies_and_comes_back_is_served_again(server_and_gateway):
    server, gateway = server_and_gateway

    def answers() -> bool:
        answer = seen({"url": gateway.url}, [server.program.works], "legacy")[0]
        return "result" in answer and not answer["result"].get("isError")

    assert answers()
    server.die_behind(gateway)
    server.start()
    until(answers, RECOVERY_LIMIT, f"{server.name} is served again", every=0.1)


def test_a_server_that_is_not_there_at_the_start_is_offered_when_it_comes(tmp_path):
    late, memory = RealServer("fixture", "http", tmp_path), RealServer("memory", "stdio", tmp_path)
    with behind_gateway({"late": late, "memory": memory}, tmp_path) as gateway:

        def names() -> set[str]:
            return {tool["name"] for tool in seen({"url": gateway.url}, [{"do": "tools/list"}], "legacy")[0]["result"]}

        assert "memory__read_graph" in names()
        try:
            late.start()
            until(lambda: "late__test_simple_text" in names(), RECOVERY_LIMIT, "the late server is offered", every=0.1)
        finally:
            late.kill()
        assert "memory__read_graph" in names()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A gateway with servers of several kinds behind it."""
    folder = tmp_path_factory.mktemp("many")
    kinds = {
        "files": ("filesystem", "stdio"),
        "every": ("everything", "http"),
        "fast": ("fastmcp", "http"),
        "fx": ("fixture", "http"),
    }
    with ExitStack() as stack:
        servers = {}
        for alias, (program, way) in kinds.items():
            servers[alias] = RealServer(program, way, folder).start()
            stack.callback(servers[alias].kill)
        yield stack.enter_context(behind_gateway(servers, folder))


@pytest.mark.parametrize("mode", ["legacy", MODERN])
def test_many_servers_offer_what_they_have_as_one(many, mode):
    """Tools and prompts are named after their server; a resource keeps its URI."""
    lists = [{"do": "tools/list"}, {"do": "prompts/list"}, {"do": "resources/list"}]
    tools, prompts, resources = (answer["result"] for answer in seen({"url": many.url}, lists, mode))
    wanted = {"files__read_text_file", "every__echo", "fast__greet", "fx__test_simple_text"}
    assert wanted <= {tool["name"] for tool in tools}
    wanted = {"every__simple-prompt", "fast__ask-politely", "fx__test_simple_prompt"}
    assert wanted <= {prompt["name"] for prompt in prompts}
    wanted = {"notes://today", "test://static-text", "demo://resource/static/document/features.md"}
    assert wanted <= {resource["uri"] for resource in resources}


@pytest.mark.parametrize("mode", ["legacy", MODERN])
def test_each_of_many_servers_answers_for_what_it_has(many, mode):
    expected = [
        ({"do": "tools/call", "name": "fast__greet", "arguments": {"name": "Ada"}}, "Hello, Ada!"),
        ({"do": "tools/call", "name": "fx__test_simple_text"}, "simple text response"),
        ({"do": "prompts/get", "name": "fast__ask-politely", "arguments": {"question": "Why?"}}, "Would you please"),
        ({"do": "prompts/get", "name": "fx__test_simple_prompt"}, "a simple prompt for testing"),
        ({"do": "resources/read", "uri": "notes://today"}, "Nothing happened."),
        ({"do": "resources/read", "uri": "test://template/7/data"}, "Data for ID: 7"),
        ({"do": "resources/read", "uri": "demo://resource/dynamic/text/1"}, "Resource 1"),
    ]
    answers = seen({"url": many.url}, [deed for deed, _ in expected], mode)
    for (deed, text), answer in zip(expected, answers, strict=True):
        assert text in str(answer), deed
