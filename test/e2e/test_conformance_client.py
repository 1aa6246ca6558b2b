"""The client leg of the official conformance suite: an official client, directly and with the gateway in between.

The suite is the server here and judges what reaches it. With the gateway in between it must see nothing that it would
not have seen of the client itself. The scenarios of auth/* are left out: they are about a client that finds its way to
an authorization server by the URL of the tool server, which a gateway hides.
"""

import sys

import pytest

from harness.conformance import differences, run_client_scenario, told
from harness.fixture import NODE, needs_packages
from harness.process import REPOSITORY
from harness.servers import NODE_FOLDER

pytestmark = [needs_packages, pytest.mark.seconds, pytest.mark.slow]

CLIENT = [NODE, NODE_FOLDER / "conformance_client.mjs"]
WRAPPER = REPOSITORY / "test" / "e2e" / "harness" / "through_gateway.py"
SCENARIOS = {
    "2025-11-25": [
        "initialize",
        "tools_call",
        "elicitation-sep1034-client-defaults",
        "sse-retry",
        "json-schema-2020-12-preservation",
    ],
    "2026-07-28": [
        "tools_call",
        "request-metadata",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "json-schema-ref-no-deref",
        "json-schema-2020-12-preservation",
        "sep-2322-client-request-state",
    ],
}


# What the gateway asks on its own account it asks in its own name: it declares nothing, and the suite takes the least
# that it sees of all requests.
UNDECLARED = {
    ("request-metadata", f"sep-2575-client-declares-{what}-capability"): ("SUCCESS", "SKIPPED")
    for what in ("elicitation", "roots", "sampling")
}
# It also asks more: every list that a server announces, so that the suite sees two methods that its client never uses.
ASKED_BESIDES = {
    ("http-standard-headers", "sep-2243-client-includes-standard-headers"): (
        "SKIPPED x2, SUCCESS x9",
        "SKIPPED x2, SUCCESS x11",
    )
}
EXPECTED = {"request-metadata": UNDECLARED, "http-standard-headers": ASKED_BESIDES}


@pytest.mark.parametrize(
    "version, scenario", [(version, scenario) for version, names in SCENARIOS.items() for scenario in names]
)
def test_the_suite_cannot_tell_the_gateway_from_the_client(tmp_path, figure, version, scenario):
    direct = run_client_scenario(CLIENT, tmp_path / "direct", scenario, version)
    assert direct.code == 0, direct.output
    assert direct.count("SUCCESS") > 0 and direct.count("FAILURE") == 0

    wrapped = [sys.executable, WRAPPER, tmp_path, *CLIENT]
    through = run_client_scenario(wrapped, tmp_path / "through", scenario, version)
    seen = f"{through.count('SUCCESS')} of {direct.count('SUCCESS')}"
    figure(f"conformance client {version}", scenario=scenario, success=seen)
    found = differences(direct, through)
    assert found == EXPECTED.get(scenario, {}), told(found, through)
    assert through.code == 0, through.output
