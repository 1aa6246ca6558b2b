"""What two servers list, merged: every kind, every page, under names and URIs that tell them apart."""

import pytest

from harness.fixture import FixtureServer, fixture_command, needs_packages
from harness.mcp_client import McpClient
from harness.waiting import until

pytestmark = needs_packages

LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}

KEYS = {"tools": "name", "prompts": "name", "resources": "uri", "resourceTemplates": "uriTemplate"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = FixtureServer(tmp_path_factory.mktemp("fixture")).start()
    yield made
    made.kill()


def everything(client: McpClient) -> dict[str, list[dict]]:
    return {array: client.request(method).result[array] for method, array in LISTS.items()}


def keyed(definitions: list[dict], key: str) -> dict[str, dict]:
    assert len({each[key] for each in definitions}) == len(definitions)
    return {each[key]: each for each in definitions}


def test_one_server_without_prefixes_offers_what_it_offers_directly(gateway, server):
    through = gateway({"names": "plain", "upstreams": {"only": {"url": server.url}}})
    with McpClient(server.port) as client:
        direct = everything(client)
    with McpClient(through.port) as client:
        relayed = everything(client)
    for array, key in KEYS.items():
        assert direct[array], array
        assert keyed(relayed[array], key) == keyed(direct[array], key)


def test_two_servers_of_one_kind_are_told_apart(gateway, server):
    with McpClient(server.port) as client:
        direct = everything(client)
    through = gateway({"upstreams": {"a": {"url": server.url}, "b": {"command": fixture_command()}}})
    with McpClient(through.port) as client:
        merged = everything(client)

    for array in ("tools", "prompts"):
        expected = {
            f"{alias}__{each['name']}": {**each, "name": f"{alias}__{each['name']}"}
            for alias in "ab"
            for each in direct[array]
        }
        assert keyed(merged[array], "name") == expected
    for array in ("resources", "resourceTemplates"):
        key, expected = KEYS[array], {}
        for each in direct[array]:
            expected[each[key]] = each
            expected[f"switchgear://b/{each[key]}"] = {**each, key: f"switchgear://b/{each[key]}"}
        assert keyed(merged[array], key) == expected


@pytest.mark.seconds
def test_the_lists_of_a_server_that_has_gone_stay(gateway, tmp_path):
    server = FixtureServer(tmp_path, "mortal").start()
    through = gateway({"upstreams": {"a": {"url": server.url, "refresh": "1s"}}})
    with McpClient(through.port) as client:
        before = everything(client)
        server.kill()
        until(lambda: through.upstream("a")["state"] == "degraded", 10, "the gateway notices")
        assert everything(client) == before
    assert all(before.values())
