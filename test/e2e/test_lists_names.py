"""RC-043: whatever tools are called, each has one name that every agent takes, and each call reaches its own tool."""

import json
import re

import pytest

from harness.carriers import HttpCarrier
from harness.mcp_client import McpClient
from harness.tool_server import ToolServer, text_result
from harness.waiting import until

ALLOWED = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
LONG_ALIAS = "a" + "x" * 31
LONG = "n" * 89

TOOLS = {
    "a": ["send", "b_send", "_b__send", LONG + "1", LONG + "2", "files.read", "files/read", "files read", "files_read"],
    "a_b": ["send", "lesen-für-später", "lesen-fur-spater", "読む", "Send", "SEND", "sEND"],
    LONG_ALIAS: ["send", "x" * 29, "x" * 30, "x" * 31, LONG, "😀", "-", "_", "__", "a__b"],
}


def marked(alias: str):
    """The result names the server and the tool under which the call came in."""

    async def tell(call) -> dict:
        return text_result(json.dumps([alias, call.params["name"]]))

    return tell


@pytest.fixture
def servers(serve):
    made = {}
    for alias, tools in TOOLS.items():
        server = ToolServer(tools)
        server.calls = {name: marked(alias) for name in tools}
        server.url = serve(HttpCarrier(server)).url
        made[alias] = server
    return made


def configured(servers: dict, order=None) -> dict:
    return {"upstreams": {alias: {"url": servers[alias].url} for alias in order or servers}}


def whose(client: McpClient) -> dict[str, list]:
    """Exported name -> [alias, the tool's own name], as the servers see it."""
    found = {}
    listed = [each["name"] for each in client.request("tools/list").result["tools"]]
    assert len(listed) == len(set(listed)), "names are unique"
    for name in listed:
        found[name] = json.loads(client.call(name).text)
    return found


def test_every_name_is_unique_allowed_and_leads_to_its_tool(gateway, servers):
    through = gateway(configured(servers))
    with McpClient(through.port) as client:
        found = whose(client)
    assert all(ALLOWED.match(name) for name in found), [name for name in found if not ALLOWED.match(name)]
    expected = sorted([alias, name] for alias, tools in TOOLS.items() for name in tools)
    assert sorted(found.values()) == expected, "every tool, each once"
    for name, (alias, tool) in found.items():
        plain = f"{alias}__{tool}"
        if ALLOWED.match(plain):
            assert name == plain, "a name that fits stays as it is"


def test_names_are_the_same_after_a_restart_on_every_replica_and_in_any_order(gateway, servers):
    orders = [list(servers), list(reversed(servers)), list(servers)]
    seen = []
    for order in orders:
        through = gateway(configured(servers, order))
        with McpClient(through.port) as client:
            seen.append(whose(client))
    again = gateway(configured(servers))
    again.stop()
    again.start()
    with McpClient(again.port) as client:
        seen.append(whose(client))
    assert all(each == seen[0] for each in seen)


def test_the_order_of_a_servers_list_changes_no_name(gateway, servers):
    first = gateway(configured(servers))
    with McpClient(first.port) as client:
        before = whose(client)
    for server in servers.values():
        server.tools.reverse()
    second = gateway(configured(servers))
    with McpClient(second.port) as client:
        assert whose(client) == before


def test_a_late_collision_renames_nothing(gateway, servers):
    """Tools come later whose names look like those that are out, the exported ones included."""
    through = gateway(configured(servers))
    with McpClient(through.port) as client:
        before = whose(client)
        late = ["files:read", "files-read", *(name.removeprefix("a__") for name in before if name.startswith("a__"))]
        server = servers["a"]
        until(lambda: server.channels, 5, "the gateway listens")
        server.tools += [name for name in late if name not in server.tools]
        server.calls = {name: marked("a") for name in server.tools}
        server.tell("notifications/tools/list_changed")
        until(lambda: "a__files-read" in client.tools(), 3, "the late ones are there")
        after = whose(client)
    assert {name: after.get(name) for name in before} == before
    assert all(ALLOWED.match(name) for name in after)


def test_a_server_with_a_name_of_fifty_letters_is_taken_from_an_mcp_json(gateway, serve, tmp_path):
    """Desktop clients allow any name; an alias is made of it, and tools keep within 64 characters."""
    name = "My Very Special Tool Server For Everything And More"
    assert len(name) > 50
    server = ToolServer(TOOLS["a"])
    server.calls = {tool: marked("it") for tool in TOOLS["a"]}
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {name: {"url": serve(HttpCarrier(server)).url}}}))
    through = gateway(path)
    with McpClient(through.port) as client:
        found = whose(client)
    assert all(ALLOWED.match(each) for each in found)
    assert sorted(tool for _, tool in found.values()) == sorted(TOOLS["a"])


def test_two_servers_may_offer_the_same_prompt_too(gateway, serve):
    """Prompts are named by the same rule."""
    made = {}
    for alias in ("a", "a_b"):
        server = ToolServer(capabilities={"tools": {}, "prompts": {}})

        async def prompts(call) -> dict:
            return {"prompts": [{"name": "greet"}, {"name": "b__greet"}, {"name": "grüße"}]}

        async def get(call, alias=alias) -> dict:
            text = json.dumps([alias, call.params["name"]])
            return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}

        server.answers |= {"prompts/list": prompts, "prompts/get": get}
        server.url = serve(HttpCarrier(server)).url
        made[alias] = server
    through = gateway(configured(made))
    with McpClient(through.port) as client:
        listed = [each["name"] for each in client.request("prompts/list").result["prompts"]]
        assert len(listed) == len(set(listed)) == 6
        assert all(ALLOWED.match(name) for name in listed)
        reached = [
            json.loads(client.request("prompts/get", {"name": name}).result["messages"][0]["content"]["text"])
            for name in listed
        ]
    assert sorted(reached) == sorted([alias, name] for alias in made for name in ("greet", "b__greet", "grüße"))
