"""RC-044: the gateway passes on what it does not know. Definitions, arguments and results arrive value by value."""

import json

import pytest

from harness.carriers import HttpCarrier, StdioCarrier, upstream_of
from harness.mcp_client import McpClient
from harness.modern_client import ModernClient
from harness.modern_server import ModernServer, modern_carrier
from harness.tool_server import ToolServer, tool
from harness.waiting import until

CARRIERS = {"HTTP": HttpCarrier, "stdio": StdioCarrier, "modern HTTP": modern_carrier}
DEEP = {"type": "object", "properties": {"n": {"type": "string"}}}
for _ in range(20):
    DEEP = {"type": "object", "properties": {"n": DEEP}}

SCHEMAS = {
    "defs": {
        "type": "object",
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"point": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}},
        "properties": {"at": {"$ref": "#/$defs/point"}, "old": {"$ref": "#/definitions/p"}},
        "definitions": {"p": {"type": "string"}},
    },
    "recursion": {
        "type": "object",
        "$defs": {"tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}}},
        "properties": {"root": {"$ref": "#/$defs/tree"}, "self": {"$ref": "#"}},
    },
    "all-of-at-the-root": {
        "type": "object",
        "allOf": [{"required": ["a"]}],
        "if": {"properties": {"a": {"const": 1}}},
        "then": {"required": ["b"]},
        "else": {"not": {"required": ["b"]}},
    },
    "nullable": {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
    "no-properties": {"type": "object"},
    "boolean-inside": {"type": "object", "properties": {"any": True, "none": False}, "additionalProperties": False},
    "unknown-required": {"type": "object", "properties": {}, "required": ["ghost"]},
    "odd-numbers": {
        "type": "object",
        "properties": {
            "n": {"type": "number", "minimum": -1.5e300, "maximum": 9007199254740993, "multipleOf": 0.1},
            "one": {"type": "number", "default": 1.0, "const": 1},
        },
    },
    "odd-texts": {
        "type": "object",
        "properties": {"ключ": {"type": "string", "pattern": "^\\p{L}+\\\\\"$", "description": "a\u2028b\u0000c😀"}},
        "x-vendor": {"deep": [1, [2, [3, {"": None}]]]},
    },
    "deep": DEEP,
}
# Not what a schema may be: passed as it is or left out, by name, and the others are there.
BAD_SCHEMAS = {
    "properties-null": {"type": "object", "properties": None},
    "boolean": True,
    "text": "object",
    "null": None,
}


def full(name: str, schema) -> dict:
    """A definition with everything that the protocol knows, and more."""
    return {
        "name": name,
        "title": f"The {name}",
        "description": "with \"quotes\", tabs\tand ünï",
        "inputSchema": schema,
        "outputSchema": {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"type": "integer"}},
        },
        "annotations": {"title": "T", "readOnlyHint": True, "openWorldHint": False, "vendorHint": {"a": [1]}},
        "_meta": {"example.com/key": {"a": [1, 2.50, None]}, "plain": "x"},
        "icons": [{"src": "data:image/png;base64,AA==", "mimeType": "image/png", "sizes": ["48x48"]}],
        "execution": {"taskSupport": "forbidden"},
        "of_tomorrow": {"x": [True, {"y": None}]},
    }


def exact(value) -> str:
    """Values in a form in which 1 and 1.0 differ, and the order of members does not count."""
    return json.dumps(value, sort_keys=True)


def start(gateway, serve, carrier: str, tools: list, **calls):
    server = (ModernServer if carrier == "modern HTTP" else ToolServer)(tools, **calls)
    return gateway({"upstreams": {"up": upstream_of(serve(CARRIERS[carrier](server)))}}), server


@pytest.mark.parametrize("carrier", CARRIERS)
def test_definitions_pass_whole(carrier, gateway, serve):
    definitions = {f"up__{name}": full(name, schema) for name, schema in SCHEMAS.items()}
    through, _ = start(gateway, serve, carrier, list(definitions.values()))
    with McpClient(through.port) as client, ModernClient(through.port) as modern:
        for listed in (client.tools(), modern.tools()):
            assert set(listed) == set(definitions)
            for name, original in definitions.items():
                assert listed[name].pop("name") == name
                assert exact(listed[name]) == exact({key: original[key] for key in original if key != "name"}), name


@pytest.mark.parametrize("bad", BAD_SCHEMAS)
def test_one_bad_schema_among_twenty_harms_no_other(bad, gateway, serve):
    good = [tool(f"good-{number}") for number in range(19)]
    definition = {"name": "bad", "inputSchema": BAD_SCHEMAS[bad]}
    through, _ = start(gateway, serve, "HTTP", [*good[:7], definition, *good[7:]])
    with McpClient(through.port) as client:
        listed = client.tools()
        assert set(listed) - {"up__bad"} == {f"up__{each['name']}" for each in good}
        if "up__bad" in listed:
            assert exact(listed["up__bad"]["inputSchema"]) == exact(BAD_SCHEMAS[bad])
        else:
            until(lambda: "bad" in through.process.stderr, 2, "a warning names it")


@pytest.mark.parametrize(
    "definition",
    [{"inputSchema": {}}, {"name": ""}, {"name": 7}, {"name": None}, "no object", 5, None, [], {"name": "x\ud800"}],
    ids=repr,
)
def test_what_is_no_definition_harms_no_other(definition, gateway, serve):
    good = [tool(f"good-{number}") for number in range(19)]
    server = ToolServer()

    async def listing(call) -> dict:
        return {"tools": [*good[:7], definition, *good[7:]]}

    server.answers["tools/list"] = listing
    through = gateway({"upstreams": {"up": {"url": serve(HttpCarrier(server)).url}}})
    with McpClient(through.port) as client:
        assert {f"up__{each['name']}" for each in good} <= set(client.tools())


RESULTS = {
    "structured": {
        "content": [{"type": "text", "text": "{}"}],
        "structuredContent": {"a": [1, 1.0, {"b": None}], "": ""},
    },
    "_meta": {"content": [], "_meta": {"example.com/x": [1, {"y": 2}], "plain": 1e-7}},
    "resource links": {
        "content": [
            {"type": "resource_link", "uri": "file:///a%20b", "name": "a b", "mimeType": "text/plain", "size": 10**15},
            {"type": "resource", "resource": {"uri": "x://y", "blob": "AA==", "_meta": {"k": 1}}},
        ]
    },
    "image and audio": {
        "content": [
            {"type": "image", "data": "AA==", "mimeType": "image/png", "annotations": {"priority": 0.5}},
            {"type": "audio", "data": "AA==", "mimeType": "audio/wav"},
        ]
    },
    "unknown types": {"content": [{"type": "hologram", "depth": {"x": [1]}}], "of_tomorrow": [{"a": 1}]},
    "an error": {"content": [{"type": "text", "text": "no"}], "isError": True, "structuredContent": {"why": 7}},
    "numbers": {"content": [], "structuredContent": {"big": 2**63, "neg": -(2**63), "one": 1.0, "tiny": 5e-324}},
    "texts": {"content": [{"type": "text", "text": "\u2028\u2029\u0000\"\\/😀\ufeff"}], "": {"": ""}},
}


@pytest.mark.parametrize("carrier", CARRIERS)
def test_results_pass_whole(carrier, gateway, serve):
    async def answer(call) -> dict:
        return dict(RESULTS[call.arguments["of"]])

    through, _ = start(gateway, serve, carrier, ["it"], it=answer)
    with McpClient(through.port) as client, ModernClient(through.port) as modern:
        for name, result in RESULTS.items():
            for reply in (client.call("up__it", {"of": name}), modern.call("up__it", {"of": name})):
                passed = reply.result
                # A modern result says that it is complete, in a legacy one nothing of the kind is needed.
                passed.pop("resultType", None)
                assert exact(passed) == exact(result), name


@pytest.mark.parametrize("carrier", CARRIERS)
def test_arguments_pass_whole(carrier, gateway, serve):
    seen = []

    async def take(call) -> dict:
        seen.append(call.arguments)
        return {"content": []}

    arguments = {
        "big": 2**63,
        "one": 1.0,
        "integer": 1,
        "text": "\u2028\u0000\"\\😀",
        "": {"": [[], {}, None, True]},
        "name": "not the tool's",
        "_meta": {"progressToken": "not one"},
        "arguments": {"id": 1, "method": "x"},
    }
    through, _ = start(gateway, serve, carrier, ["it"], it=take)
    with McpClient(through.port) as client, ModernClient(through.port) as modern:
        for each in (client, modern):
            assert not each.call("up__it", arguments).is_error
    assert [exact(each) for each in seen] == [exact(arguments)] * 2


@pytest.mark.parametrize("carrier", CARRIERS)
def test_members_of_a_request_that_nobody_knows_reach_the_server(carrier, gateway, serve):
    through, server = start(gateway, serve, carrier, ["echo"])
    with McpClient(through.port) as client:
        params = {"name": "up__echo", "arguments": {}, "of_tomorrow": [1.0, {"a": None}]}
        params["_meta"] = {"example.com/trace": {"a": 1}, "traceparent": "00-" + "1" * 32 + "-" + "2" * 16 + "-01"}
        assert "result" in client.request("tools/call", params).message
    (call,) = server.arrived("tools/call")
    assert exact(call.message["params"]["of_tomorrow"]) == exact(params["of_tomorrow"])
    assert call.message["params"]["_meta"]["example.com/trace"] == {"a": 1}
    assert call.message["params"]["_meta"]["traceparent"].split("-")[1] == "1" * 32
