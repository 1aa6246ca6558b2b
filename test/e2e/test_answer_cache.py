"""RC-071, RC-055: what is given from the cache is the tool's own last good answer to that very question, of this
gateway or of another replica, and nothing else; it spares calls where it may; and it stays within its bounds."""

import json
import time
from dataclasses import dataclass

import pytest

from harness.fleet import QUICK, Fleet, FleetLoad, assert_all_answered, metric
from harness.mcp_client import McpClient, Reply
from harness.modern_client import ModernClient
from harness.waiting import holds, until

pytestmark = [pytest.mark.seconds, pytest.mark.slow]

TOOL = "up__echo"
READS = {"name": "echo", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
WRITES = {"name": "echo", "inputSchema": {"type": "object"}}
BREAKER = {**QUICK, "cooldown": "1m"}
QUESTION = '{"q":"caf\u00e9","n":1,"deep":{"a":[1,2],"b":null}}'
SAME = {
    "the same bytes": QUESTION,
    "another order of members": '{"deep":{"b":null,"a":[1,2]},"n":1,"q":"caf\u00e9"}',
    "escapes": '{"q":"c\\u0061f\\u00e9","n":1,"deep":{"a":[1,2],"b":null}}',
    "white space": ' { "q" : "caf\u00e9", "n" :1 ,"deep":{"a":[1, 2],"b":null} } ',
}
OTHERS = {
    "1.0 for 1": QUESTION.replace('"n":1', '"n":1.0'),
    "a text for a number": QUESTION.replace('"n":1', '"n":"1"'),
    "another number": QUESTION.replace('"n":1', '"n":2'),
    "a decomposed letter": QUESTION.replace("\u00e9", "e\u0301"),
    "another case": QUESTION.replace("caf", "Caf"),
    "absent for null": QUESTION.replace(',"b":null', ""),
    "false for null": QUESTION.replace("null", "false"),
    "another order of elements": QUESTION.replace("[1,2]", "[2,1]"),
    "null for absent": QUESTION.replace('"n":1', '"n":1,"m":null'),
    "no arguments": "{}",
}
REDIS_BOUND = 0.05
SLACK = 0.35  # what a busy machine may add


def ask(client: McpClient, arguments: str = QUESTION, tool: str = TOOL, meta: str = "{}") -> Reply:
    """A call whose arguments go out as they are written."""
    client.next_id += 1
    text = (
        f'{{"jsonrpc":"2.0","id":{client.next_id},"method":"tools/call",'
        f'"params":{{"name":"{tool}","arguments":{arguments},"_meta":{meta}}}}}'
    )
    return client.post(text.encode())


class User(McpClient):
    """Somebody whom the proxy in front knows by name."""

    def __init__(self, port: int, name: str):
        super().__init__(port)
        self.name = name

    def headers(self) -> dict[str, str]:
        return {**super().headers(), "X-User": self.name}


def says(upstream, text: str, tool: str = "echo", **options) -> None:
    upstream.call(tool, "answer", result={"content": [{"type": "text", "text": text}]}, **options)


def fails(upstream, tool: str = "echo") -> None:
    upstream.call(tool, "rpc_error", code=-32603)


def is_stored(reply: Reply, text: str) -> None:
    assert not reply.is_error and reply.text.startswith(text), reply.text
    assert reply.marker["degraded"] is True and reply.marker["served_by"] == "cache"
    assert reply.marker["steps"][-1] == "cache:hit" and 0 <= reply.marker["age_ms"] < 60_000
    assert "cached" in reply.text


def gives(client: McpClient, text: str, arguments: str = QUESTION, meta: str = "{}") -> None:
    """A stored answer is found: sooner or later, since on a busy machine 50 ms may be too little to look for it."""

    def found() -> Reply | None:
        reply = ask(client, arguments, meta=meta)
        return None if reply.is_error else reply

    is_stored(until(found, 5, f"{text} is given"), text)


def is_missing(reply: Reply) -> None:
    assert reply.is_error and reply.marker["served_by"] == "none", reply.result
    assert reply.marker["steps"][-1] == "cache:miss"


def cancel_one(port: int) -> None:
    """A client that hangs up before its answer comes."""
    with ModernClient(port, timeout=0.15) as client, pytest.raises(TimeoutError):
        client.call(TOOL, json.loads(QUESTION))


# ---- RC-071, from one gateway's memory, and from Redis by a replica that was never asked


@dataclass
class Scene:
    """`asked` is the gateway that calls the tool; `other` gives stored answers once the tool is down."""

    asked: object
    other: object
    upstream: object
    second: object
    redis: object

    def trip(self) -> None:
        fails(self.upstream)
        fails(self.second)
        with McpClient(self.asked.port) as client:
            refused = "primary:refused"
            until(lambda: ask(client, '{"other":1}').marker["steps"][0] == refused, 5, "the breaker opens")
        for gateway in {self.asked, self.other}:
            until(lambda gateway=gateway: gateway.state(TOOL) == "open", 3, f"it is open on {gateway.name}")

    def wait_told(self, text: str) -> None:
        """What was answered last has arrived where the other one looks."""
        if self.redis is None:
            return

        def there() -> bool:
            values = [value for key in self.redis.keys("cb1:{a*}:v") for value in self.redis.ask("HVALS", key)]
            return any(text.encode() in value for value in values)

        until(there, 5, f"{text} is in Redis")


@pytest.fixture(params=["memory", "redis"])
def scene(request, gateway, fake, redis):
    """scene(tool definition, ...): a tool with a cache step, and another server with a tool of the same name."""

    def start(definition: dict = READS, step: dict | None = None, **rule) -> Scene:
        upstream, second = fake({"server": {"tools": [definition]}}), fake({"server": {"tools": [definition]}})
        server = redis() if request.param == "redis" else None
        configuration = {
            "upstreams": {
                "up": {"url": upstream.url, "refresh": "1s"},
                "second": {"url": second.url},
            },
            "breaker": BREAKER,
            "principal": "x-user",
            "limits": {"max_answer": "64KiB"},
            "tools": {"*": {"deadline": "5s", "fallback": [{"cache": step or {}}], **rule}},
        }
        if server:
            configuration["state"] = server.url
        asked = gateway(configuration)
        other = gateway(configuration) if server else asked
        if server:
            Fleet([asked, other]).wait_shared()
        return Scene(asked, other, upstream, second, server)

    return start


def bad_events(made: Scene, client: McpClient) -> None:
    """Everything that a tool may say and that may not be given again."""
    upstream = made.upstream
    upstream.call("echo", "is_error", text="S0")
    assert ask(client).is_error
    upstream.call("echo", "rpc_error", code=-32602)
    assert ask(client).error["code"] == -32602
    fails(upstream)
    is_missing(ask(client))
    upstream.call("echo", "html")
    is_missing(ask(client))
    upstream.call("echo", "raw_body", status=503, body="{}")
    is_missing(ask(client))
    upstream.call("echo", "half_body", then="close")
    is_missing(ask(client))
    says(upstream, "S0", delay=0.6)
    cancel_one(made.asked.port)
    upstream.call("echo", "answer", size=100_000)
    is_missing(ask(client))


def test_only_the_last_good_answer_to_the_same_question_is_given(scene):
    made = scene()
    with McpClient(made.asked.port) as client:
        bad_events(made, client)
        assert metric(made.asked, "switchgear_cache_answers") == 0
        for text in ("S1", "S2"):
            says(made.upstream, text)
            assert ask(client).text == text
        made.upstream.call("echo", "is_error", text="S3")
        assert ask(client).text == "S3"
    made.wait_told("S2")
    made.trip()
    with McpClient(made.other.port) as client:
        for arguments in SAME.values():
            gives(client, "S2", arguments)
        gives(client, "S2", meta='{"trace":"another"}')
        for name, arguments in OTHERS.items():
            reply = ask(client, arguments)
            assert reply.is_error, name
            is_missing(reply)
        is_missing(ask(client, tool="second__echo"))
    with ModernClient(made.other.port) as client:
        asked = json.loads(QUESTION)
        is_stored(until(lambda: (seen := client.call(TOOL, asked)) and not seen.is_error and seen, 5, "S2"), "S2")
    where = "shared" if made.redis else "memory"
    found = metric(made.other, "switchgear_cache_looks_total", tool=TOOL, found=where)
    assert found == len(SAME) + 2
    assert metric(made.other, "switchgear_cache_looks_total", tool=TOOL, found="missing") >= len(OTHERS)


def test_an_answer_is_not_given_once_it_is_too_old(scene):
    made = scene(step={"max_age": "5s"})
    says(made.upstream, "S1")
    began = time.monotonic()
    with McpClient(made.asked.port) as client:
        ask(client)
    made.wait_told("S1")
    made.trip()
    with McpClient(made.other.port) as client:
        gives(client, "S1")
        seen = until(lambda: (reply := ask(client)) and reply.is_error and reply, 8, "it is too old")
        assert time.monotonic() - began >= 5
        is_missing(seen)
        holds(lambda: ask(client).is_error, 0.3, "and stays so")


def test_an_answer_is_not_given_after_the_tool_has_changed(scene):
    made = scene()
    says(made.upstream, "S1")
    with McpClient(made.asked.port) as client:
        ask(client)
    made.wait_told("S1")
    changed = {**READS, "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}}}
    made.upstream.control(server={"tools": [changed]})
    for gateway in {made.asked, made.other}:
        with McpClient(gateway.port) as client:
            until(lambda client=client: client.tools()[TOOL]["inputSchema"] != READS["inputSchema"], 10, "it is listed")
    made.trip()
    with McpClient(made.other.port) as client:
        is_missing(ask(client))


@pytest.mark.parametrize(
    ("definition", "rule", "is_kept"),
    [(WRITES, {}, False), (READS, {"read_only": False}, False), (WRITES, {"read_only": True}, True)],
)
def test_a_tool_that_writes_is_never_answered_from_the_cache(scene, definition, rule, is_kept):
    made = scene(definition, **rule)
    says(made.upstream, "S1")
    with McpClient(made.asked.port) as client:
        ask(client)
    if is_kept:
        made.wait_told("S1")
    made.trip()
    with McpClient(made.other.port) as client:
        if is_kept:
            gives(client, "S1")
        else:
            is_missing(ask(client))
            assert metric(made.other, "switchgear_cache_answers") == 0
            assert not made.redis or not made.redis.keys("cb1:{a*}*")


# ---- RC-055: whose answers


@pytest.mark.parametrize("share", ["principal", "all"])
def test_an_answer_is_given_to_who_got_it_unless_everybody_may_have_it(scene, share):
    made = scene(step={"share": share})
    says(made.upstream, "S1")
    with User(made.asked.port, "ann") as ann:
        ask(ann)
    made.wait_told("S1")
    made.trip()
    with User(made.other.port, "ann") as ann:
        gives(ann, "S1")
    for other in (User(made.other.port, "bob"), User(made.other.port, "ANN"), McpClient(made.other.port)):
        with other as client:
            if share == "all":
                gives(client, "S1")
            else:
                is_missing(ask(client))


@pytest.mark.parametrize("share", ["principal", "all"])
def test_a_fresh_answer_is_given_to_who_got_it_unless_everybody_may_have_it(scene, share):
    made = scene(step={"share": share, "fresh_for": "1m", "max_age": "1m"})
    with User(made.asked.port, "ann") as ann, User(made.asked.port, "bob") as bob:
        says(made.upstream, "for ann")
        ask(ann)
        says(made.upstream, "for bob")
        assert ask(ann).text == "for ann"
        assert ask(bob).text == ("for ann" if share == "all" else "for bob")
    assert len(made.upstream.arrived("tools/call")) == (1 if share == "all" else 2)


# ---- fresh answers


def test_a_fresh_answer_spares_the_call(scene):
    made = scene(step={"fresh_for": "3s", "max_age": "1m"})
    with McpClient(made.asked.port) as client:
        bad_events(made, client)
        made.upstream.control(clear_journal=True)
        says(made.upstream, "S1")
        began = time.monotonic()
        assert ask(client).marker == {}
        calls = metric(made.asked, "switchgear_calls_total", tool=TOOL, served_by="cache", reason="none")
        assert calls == 0
        for number in range(20):
            reply = ask(client, SAME["another order of members"])
            assert reply.text == "S1" and reply.message["id"] == client.next_id
            marker = reply.marker
            assert set(marker) == {"degraded", "served_by", "age_ms"} and marker["degraded"] is False
            assert marker["served_by"] == "cache" and marker["age_ms"] <= (time.monotonic() - began) * 1000 + 1
        assert len(made.upstream.arrived("tools/call")) == 1
        says(made.upstream, "S2")
        until(lambda: ask(client).text == "S2", 5, "the tool is called again")
        assert time.monotonic() - began >= 3
        assert ask(client, '{"q":"another"}').marker == {}
    assert len(made.upstream.arrived("tools/call")) == 3
    assert metric(made.asked, "switchgear_calls_total", tool=TOOL, served_by="cache", reason="none") >= 20
    assert metric(made.asked, "switchgear_cache_looks_total", tool=TOOL, found="fresh") >= 20
    # It is a gateway's own: the other one calls the tool.
    if made.redis:
        made.wait_told("S2")
        with McpClient(made.other.port) as client:
            assert ask(client).marker == {}


# ---- replicas


def filled_fleet(fleet, redis_server, upstream, count: int = 2, **more) -> Fleet:
    """Replicas, the first of which was answered S1 and has told so."""
    rules = {TOOL: {"deadline": "2s", "read_only": True, "fallback": [{"cache": {"max_age": "5m"}}]}}
    gateways = fleet(count, redis_server.url, upstream, BREAKER, tools=rules, **more)
    says(upstream, "S1")
    with McpClient(gateways[0].port) as client:
        assert ask(client).text == "S1"
    Scene(gateways[0], gateways[1], upstream, upstream, redis_server).wait_told("S1")
    return gateways


def test_an_answer_outlives_the_gateway_that_got_it(fleet, gateway, fake, redis):
    upstream, server = fake(), redis()
    gateways = filled_fleet(fleet, server, upstream)
    gateways.trip(TOOL, upstream)
    gateways[0].process.kill()
    gateways[0].process = None
    upstream.kill()
    with McpClient(gateways[1].port) as client:
        for _ in range(5):
            gives(client, "S1")
    assert metric(gateways[1], "switchgear_cache_answers") == 1, "that of the fixture's own call, and no other"


def test_a_tool_that_hangs_leaves_the_time_to_look(fleet, fake, redis):
    upstream, server = fake(), redis()
    gateways = filled_fleet(fleet, server, upstream)
    upstream.call("echo", "stall")
    with McpClient(gateways[1].port) as client:
        for _ in range(3):  # a busy machine may be too slow to look
            began = time.monotonic()
            reply = ask(client)
            assert time.monotonic() - began < 2 + SLACK
            if not reply.is_error:
                break
        is_stored(reply, "S1")
        assert reply.marker["steps"] == ["primary:timeout", "cache:hit"]


def test_redis_may_be_killed_in_the_middle(fleet, fake, redis, figure):
    upstream, server = fake(), redis()
    gateways = filled_fleet(fleet, server, upstream)
    gateways.trip(TOOL, upstream)
    with FleetLoad(gateways, TOOL, 60) as load, McpClient(gateways[1].port) as client:
        gives(client, "S1")
        server.kill()
        ended = time.monotonic() + 1.5
        while time.monotonic() < ended:
            began = time.monotonic()
            reply = ask(client)
            assert reply.status == 200 and time.monotonic() - began < REDIS_BOUND + SLACK
        is_missing(reply)
        with McpClient(gateways[0].port) as first:
            gives(first, "S1")
        server.start()
        gateways.wait_shared()
        is_missing(ask(client))
    assert_all_answered(load.between())
    slowest = max(sample.took for sample in load.between())
    assert slowest < REDIS_BOUND + SLACK
    figure("Redis killed", calls=len(load.between()), slowest=f"{slowest * 1000:.0f} ms")


def test_a_redis_that_freezes_costs_a_look_no_more_than_its_bound(fleet, fake, redis, figure):
    upstream, server = fake(), redis()
    gateways = filled_fleet(fleet, server, upstream)
    gateways.trip(TOOL, upstream)
    took = []
    with McpClient(gateways[1].port) as client:
        gives(client, "S1")
        server.pause()
        for _ in range(40):
            began = time.monotonic()
            assert ask(client).status == 200
            took.append(time.monotonic() - began)
        server.resume()
        until(lambda: not ask(client).is_error, 10, "it is found again")
    assert max(took) < REDIS_BOUND + SLACK
    assert sorted(took)[20] < REDIS_BOUND, "once it is known to be away, nobody waits"
    figure("Redis frozen", slowest=f"{max(took) * 1000:.1f} ms", median=f"{sorted(took)[20] * 1000:.1f} ms")


def test_a_cluster_keeps_answers(fleet, fake, cluster):
    upstream = fake()
    rules = {TOOL: {"deadline": "2s", "read_only": True, "fallback": [{"cache": {}}]}}
    gateways = fleet(2, cluster.url, upstream, BREAKER, tools=rules)
    asked = [f'{{"n":{number}}}' for number in range(30)]  # on nearly all shelves, and so on every node
    upstream.call("echo", "answer")
    with McpClient(gateways[0].port) as client:
        for question in asked:
            assert ask(client, question).marker == {}
    told = f"{len(asked)} answers are told"
    until(lambda: metric(gateways[0], "switchgear_cache_shared_total", event="told") >= len(asked), 5, told)
    gateways.trip(TOOL, upstream)
    with McpClient(gateways[1].port) as client:
        for question in asked:
            gives(client, json.dumps(json.loads(question)), question)


def test_answers_are_not_shared_where_nobody_wants_that(fleet, fake, redis):
    upstream, server = fake(), redis()
    rules = {TOOL: {"read_only": True, "fallback": [{"cache": {}}]}}
    gateways = fleet(2, server.url, upstream, BREAKER, tools=rules, cache={"shared_memory": 0})
    says(upstream, "S1")
    with McpClient(gateways[0].port) as client:
        ask(client)
    gateways.trip(TOOL, upstream)
    with McpClient(gateways[1].port) as client:
        is_missing(ask(client))
    assert not server.keys("cb1:{a*}*")
    assert metric(gateways[0], "switchgear_cache_shared_total") == 0


# ---- bounds


def ask_many(gateway, count: int, every: float = 0.0) -> None:
    """Not more often than the gateway tells others of large answers, if it is to lose none."""
    with McpClient(gateway.port) as client:
        for number in range(count):
            assert ask(client, f'{{"n":{number}}}').marker == {}
            time.sleep(every)


def test_memory_is_bounded(gateway, fake, figure):
    upstream = fake({"server": {"tools": [READS]}})
    made = gateway(
        {
            "upstreams": {"up": {"url": upstream.url}},
            "cache": {"memory": "4MiB", "entry": "128KiB"},
            "tools": {TOOL: {"fallback": [{"cache": {}}]}},
        }
    )
    upstream.call("echo", "answer", size=100_000)
    ask_many(made, 150)
    kept = metric(made, "switchgear_cache_bytes")
    assert 2_500_000 < kept <= 4 << 20
    assert 25 <= metric(made, "switchgear_cache_answers") <= 41
    upstream.call("echo", "answer", size=140_000)
    ask_many(made, 150)
    assert metric(made, "switchgear_cache_bytes") <= kept, "larger ones are not kept, and what they replace is gone"
    figure("memory of 150 x 100 KB", bytes=int(kept))


def test_memory_in_redis_is_bounded(fleet, fake, redis, figure):
    upstream, server = fake(), redis()
    rules = {TOOL: {"read_only": True, "fallback": [{"cache": {}}]}}
    gateways = fleet(2, server.url, upstream, BREAKER, tools=rules, cache={"shared_memory": "32MiB"})
    before = int(server.info("used_memory"))
    upstream.call("echo", "answer", size=900_000)
    ask_many(gateways[0], 80, every=0.06)

    def all_told() -> bool:
        return metric(gateways[0], "switchgear_cache_shared_total") >= 80

    until(all_told, 15, "the answers are told")
    shelves = server.keys("cb1:{a*}:v")
    sizes = [int(server.ask("HSTRLEN", key, field)) for key in shelves for field in server.ask("HKEYS", key)]
    assert 16 << 20 < sum(sizes) <= 32 << 20
    assert sum(int(server.ask("GET", key)) for key in server.keys("cb1:{a*}:b")) <= 32 << 20
    assert all(0 < server.ask("PTTL", key) <= 600_000 for key in server.keys("cb1:{a*}*"))
    grown = int(server.info("used_memory")) - before
    assert grown < 64 << 20
    figure("Redis, 80 x 900 KB", answers=sum(sizes), used_memory_grew_by=grown)
