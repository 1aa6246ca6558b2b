"""Official clients of both eras, in every way of using them, through the gateway: they see what they see without it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.fixture import FixtureServer, fixture_command, needs_packages
from harness.gateway import BINARY, Gateway
from harness.talks import (
    LANGCHAIN_PYTHON,
    MODERN,
    RealClient,
    assert_same_answer,
    essence,
    in_any_order,
    inspector,
)

pytestmark = [
    needs_packages,
    pytest.mark.seconds,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning"),
]

V1 = RealClient("typescript-1", "node", "sdk_v1")
V2_LEGACY = RealClient("typescript-2-legacy", "node", "sdk_v2", "legacy")
V2_AUTO = RealClient("typescript-2-auto", "node", "sdk_v2", "auto", era="modern")
V2_PIN = RealClient("typescript-2-pin", "node", "sdk_v2", {"pin": MODERN}, era="modern")
PYTHON_LEGACY = RealClient("python-legacy", "python", mode="legacy")
PYTHON_AUTO = RealClient("python-auto", "python", mode="auto", era="modern")
PYTHON_PIN = RealClient("python-pin", "python", mode=MODERN, era="modern")
REMOTE = RealClient("mcp-remote", "node", "sdk_v1", behind_remote=True)
LANGCHAIN_JS = RealClient("langchain-js", "node", "langchain")
LANGCHAIN_CALLS = RealClient("langchain-python-session-a-call", "langchain", mode="a session a call")
LANGCHAIN_HELD = RealClient("langchain-python-session-held", "langchain", mode="held")

WATCHED = "test://watched-resource"
PROMPT = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
TEMPLATE = {"type": "ref/resource", "uri": "test://template/{id}/data"}
LOG_LEVEL = "io.modelcontextprotocol/logLevel"


def turns(kind: str) -> dict:
    by, method = f"test_trigger_{kind}_change", f"notifications/{kind}s/list_changed"
    return {"do": "change", "by": by, "list": f"{kind}s/list", "name": "test_coming_and_going", "method": method}


DEEDS = {
    "tools": [
        {"do": "tools/list"},
        {"do": "tools/call", "name": "test_simple_text"},
        {"do": "tools/call", "name": "test_multiple_content_types"},
        {"do": "tools/call", "name": "test_structured_content"},
        {"do": "tools/call", "name": "test_x_mcp_header", "arguments": {"region": "ä ö", "priority": 4}},
        {"do": "tools/call", "name": "test_error_handling"},
        {"do": "tools/call", "name": "test_tool_with_progress", "progress": True},
    ],
    "prompts": [
        {"do": "prompts/get", "name": "test_simple_prompt"},
        {"do": "prompts/get", "name": "test_prompt_with_arguments", "arguments": {"arg1": "ä", "arg2": '"b"'}},
    ],
    "resources": [
        {"do": "resources/read", "uri": "test://static-text"},
        {"do": "resources/read", "uri": "test://template/123/data"},
        {"do": "resources/read", "uri": "test://no-such-resource"},
    ],
    "more of both": [
        {"do": "prompts/list"},
        {"do": "prompts/get", "name": "test_prompt_with_image"},
        {"do": "resources/list"},
        {"do": "resources/templates/list"},
        {"do": "resources/read", "uri": "test://static-binary"},
        {"do": "completion/complete", "ref": PROMPT, "argument": {"name": "arg1", "value": "par"}},
        {"do": "completion/complete", "ref": TEMPLATE, "argument": {"name": "id", "value": "1"}},
    ],
    "log level": [{"do": "logging/setLevel", "level": "info"}],
    "logs": [{"do": "tools/call", "name": "test_tool_with_logging", "_meta": {LOG_LEVEL: "info"}}],
    # What comes goes again, so that the next client finds the server as this one did.
    "changes": [
        {"do": "listen", "uris": [WATCHED]},
        {"do": "touch", "by": "test_touch_watched_resource", "uri": WATCHED},
        *(turns(kind) for kind in ("tool", "prompt") for _ in range(2)),
    ],
    "questions": [
        {"do": "tools/call", "name": "test_sampling", "arguments": {"prompt": "the weather"}},
        {"do": "tools/call", "name": "test_elicitation", "arguments": {"message": "Who are you?"}},
        {"do": "tools/call", "name": "test_elicitation_sep1034_defaults"},
        {"do": "tools/call", "name": "test_elicitation_sep1330_enums"},
        {"do": "tools/call", "name": "test_input_required_result_list_roots"},
        {"do": "tools/call", "name": "test_input_required_result_multiple_inputs"},
        {"do": "tools/call", "name": "test_input_required_result_multi_round"},
        {"do": "prompts/get", "name": "test_input_required_result_prompt"},
    ],
    "questions in vain": [
        {"do": "tools/call", "name": "test_sampling", "arguments": {"prompt": "the weather"}},
        {"do": "tools/call", "name": "test_elicitation", "arguments": {"message": "Who are you?"}},
        {"do": "tools/call", "name": "test_simple_text"},
    ],
}
ABILITIES = ("sampling", "elicitation", "roots")
OF_AN_AGENT = ("tools", "prompts", "resources")
OF_EVERY_KIND = (*OF_AN_AGENT, "more of both")


def topics_of(client: RealClient) -> tuple[str, ...]:
    """What a client that cannot be asked does, in one go."""
    if client.runs == "langchain":
        return OF_AN_AGENT
    if client.module == "langchain":
        return OF_EVERY_KIND
    sets_level = ("log level",) if client.era == "legacy" else ()  # a modern one says it with each call
    return (*OF_EVERY_KIND, *sets_level, "logs", "changes")


class Peers:
    """A server and a gateway of each kind for all clients. What a client does with one, it does once."""

    def __init__(self, folder):
        self.folder = folder
        self.servers = {
            "direct": FixtureServer(folder, "direct"),
            "both eras": FixtureServer(folder, "both-eras"),
            "legacy only": FixtureServer(folder, "legacy-only", legacy_only=True),
        }
        self.gateways: dict[str, Gateway] = {}
        self.launched: list[str] = []
        self.seen: dict[tuple, dict | BaseException] = {}

    def start(self) -> None:
        with ThreadPoolExecutor() as pool:
            list(pool.map(FixtureServer.start, self.servers.values()))
        upstreams = {
            "both eras": {"url": self.servers["both eras"].url},
            "legacy only": {"url": self.servers["legacy only"].url},
            "over stdio": {"command": fixture_command()},
        }
        for place, upstream in upstreams.items():
            name = f"gateway-{place.replace(' ', '-')}"
            self.gateways[place] = Gateway({"names": "plain", "upstreams": {"fx": upstream}}, self.folder, name=name)
            self.gateways[place].start()
        self.launched = [str(BINARY), "stdio", str(self.gateways["both eras"].path)]

    def stop(self) -> None:
        try:
            for gateway in self.gateways.values():
                gateway.stop()
        finally:
            for gateway in self.gateways.values():
                gateway.abandon()
            for server in self.servers.values():
                server.kill()

    def server(self, place: str) -> dict:
        """What a client of `place` talks to. "launched" is a gateway that the client starts itself."""
        if place == "launched":
            return {"command": self.launched}
        return {"url": (self.gateways.get(place) or self.servers[place]).url}

    def talk(self, client: RealClient, place: str, topics: tuple[str, ...], abilities=()) -> dict:
        """What the client saw, with its answers by topic."""
        key = (client.name, place, topics, abilities)
        if key not in self.seen:
            deeds = [deed for topic in topics for deed in DEEDS[topic]]
            try:
                seen = client.talk(self.server(place), deeds, abilities, self.folder)
                answers = iter(seen["answers"])
                seen["answers"] = {topic: [next(answers) for _ in DEEDS[topic]] for topic in topics}
            except Exception as failure:  # it is the result of every test that asks
                seen = failure
            self.seen[key] = seen
        if isinstance(self.seen[key], Exception):
            raise self.seen[key]
        return self.seen[key]

    def both(self, client: RealClient, place: str, *topics: str) -> tuple[dict, dict]:
        """What the client sees of the server itself, and through the gateway: the same, of these topics."""
        everything, abilities = topics_of(client), ()
        if topics == ("questions",):
            everything, abilities = topics, ABILITIES
        direct = self.talk(client, "direct", everything, abilities)
        through = self.talk(client, place, everything, abilities)
        for topic in topics:
            for one in zip(DEEDS[topic], direct["answers"][topic], through["answers"][topic], strict=True):
                assert_same_answer(*one)
        return direct, through


def errors(answers: list[dict]) -> list[bool]:
    return ["error" in answer for answer in answers]


@pytest.fixture(scope="module")
def peers(tmp_path_factory):
    made = Peers(tmp_path_factory.mktemp("peers"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


EVERYWHERE = (V1, V2_PIN)
OTHERS = (V2_LEGACY, V2_AUTO, PYTHON_LEGACY, PYTHON_AUTO, PYTHON_PIN, REMOTE)
ADAPTERS = (LANGCHAIN_JS, LANGCHAIN_CALLS, LANGCHAIN_HELD)
PLACES = ("both eras", "legacy only", "over stdio", "launched")


def cases(*pairs: tuple[RealClient, str]):
    ids = [f"{client.name}-{place}".replace(" ", "-") for client, place in pairs]
    needs_adapters = pytest.mark.skipif(
        not LANGCHAIN_PYTHON.exists(), reason="NOT TESTED with the LangChain adapters for Python: tools/setup.sh test"
    )
    marked = [pytest.param(*pair, marks=[needs_adapters] if pair[0].runs == "langchain" else []) for pair in pairs]
    return pytest.mark.parametrize(("client", "place"), marked, ids=ids)


def everywhere(*others: RealClient) -> list[tuple[RealClient, str]]:
    """One client of each era in every place, the others before the server of both eras."""
    return [(client, place) for client in EVERYWHERE for place in PLACES] + [(one, "both eras") for one in others]


@cases(*everywhere(*OTHERS, *ADAPTERS))
def test_tools_are_listed_and_called_as_on_the_server(client, place, peers):
    direct, through = peers.both(client, place, "tools")
    assert through.get("version") == direct.get("version"), "the same revision is spoken with both"
    listed, plain, *_, progressing = through["answers"]["tools"]
    assert "test_simple_text" in [tool["name"] for tool in listed["result"]]
    assert "This is a simple text response for testing." in str(plain["result"]["content"])
    assert [step["progress"] for step in progressing["progress"]][:2] == [0, 50]


@cases(*everywhere(*OTHERS, *ADAPTERS))
def test_prompts_and_resources_are_read_as_on_the_server(client, place, peers):
    direct, _ = peers.both(client, place, "prompts", "resources")
    assert errors(direct["answers"]["prompts"] + direct["answers"]["resources"]) == [False] * 4 + [True]


@cases(*everywhere(*OTHERS, LANGCHAIN_JS))
def test_prompts_and_resources_are_listed_and_completed_as_on_the_server(client, place, peers):
    direct, through = peers.both(client, place, "more of both")
    assert not any(errors(direct["answers"]["more of both"]))
    assert through.get("capabilities") == direct.get("capabilities")


@cases(*everywhere(*OTHERS))
def test_what_a_tool_logs_arrives(client, place, peers):
    direct, through = peers.both(client, place, "logs")
    messages = ["Tool execution started", "Tool processing data", "Tool execution completed"]
    assert [message["data"] for message in through["logged"]] == messages
    assert through["logged"] == direct["logged"]


@cases(*everywhere(*OTHERS))
def test_what_changes_on_the_server_is_heard(client, place, peers):
    direct, _ = peers.both(client, place, "changes")
    assert not any(errors(direct["answers"]["changes"]))
    assert [answer["result"]["before"] for answer in direct["answers"]["changes"][2:]] == [False, True, False, True]


# A legacy server asks in the middle of a call, which a modern client cannot answer: for it nobody can be asked there.
@cases(
    *((client, "both eras") for client in (*EVERYWHERE, *OTHERS)),
    *((client, "legacy only") for client in (V1, V2_LEGACY, PYTHON_LEGACY)),
    *((client, place) for client in EVERYWHERE for place in ("over stdio", "launched")),
)
def test_a_server_asks_the_client_and_is_answered(client, place, peers):
    direct, through = peers.both(client, place, "questions")
    answers = direct["answers"]["questions"]
    assert not any(errors(answers)) and not any(answer["result"].get("isError") for answer in answers)
    assert "I thought about: the weather" in str(through["answers"]["questions"][0])
    assert in_any_order(through["asked"]) == in_any_order(direct["asked"])


@cases(*((client, place) for client in EVERYWHERE for place in PLACES))
def test_a_client_that_cannot_be_asked_is_told_so(client, place, peers):
    through = peers.talk(client, place, ("questions in vain",))
    *refused, answered = through["answers"]["questions in vain"]
    for answer in refused:
        assert "error" in answer or answer["result"]["isError"], answer
    assert "This is a simple text response for testing." in str(answered), "the session is as good as before"
    assert through["asked"] == []


INSPECTED = [
    ("tools/list",),
    ("tools/call", "--tool-name", "test_simple_text"),
    ("tools/call", "--tool-name", "test_structured_content"),
    ("tools/call", "--tool-name", "test_error_handling"),
]


@pytest.mark.parametrize("era", ["legacy", "auto", "modern"])
def test_the_inspector_prints_what_it_prints_of_the_server(era, peers):
    jobs = [(place, what) for place in ("direct", "both eras") for what in INSPECTED]
    with ThreadPoolExecutor(max_workers=2) as pool:
        done = list(pool.map(lambda job: inspector(peers.server(job[0])["url"], era, *job[1], folder=peers.folder), jobs))
    direct, through = done[: len(INSPECTED)], done[len(INSPECTED) :]
    for what, expected, seen in zip(INSPECTED, direct, through, strict=True):
        if what[0] == "tools/list":
            expected, seen = ({**said, "result": said["result"]["tools"]} for said in (expected, seen))
        assert essence(seen) == essence(expected), what
    assert direct[2]["result"]["structuredContent"] == {"grams": 12.5, "exact": True}
    assert direct[3]["result"]["isError"]
