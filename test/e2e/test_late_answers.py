"""RC-004: an answer that comes after its call was given up is nobody's; a timeout is one call's, and no other's."""

import asyncio
import json
import threading
import time

import pytest

from harness.carriers import HttpCarrier, SseCarrier, StdioCarrier, upstream_of
from harness.load import Load
from harness.mcp_client import McpClient
from harness.process import tool_servers_of
from harness.tool_server import ToolServer, text_result
from harness.waiting import until

CARRIERS = {"stdio": StdioCarrier, "HTTP": HttpCarrier, "HTTP+SSE": SseCarrier}
DEADLINE = 1.0
WORK = 2.0
SLACK = 0.2  # of this test on a busy machine


class Workshop(ToolServer):
    """Its work cannot be stopped, unless the connection ends that waits for it. `said`: who had an answer, in order."""

    def __init__(self):
        super().__init__(["hasty", "patient", "echo"], hasty=self._work, patient=self._work)
        self.said: list[str] = []

    async def _work(self, call) -> dict:
        await asyncio.sleep(WORK)
        await call.progress(1, 1)
        self.said.append(call.arguments["who"])
        return text_result(json.dumps(call.arguments))


@pytest.mark.seconds
@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_late_answer_harms_no_other_call(carrier, gateway, serve):
    server = Workshop()
    tools = {"up__hasty": {"deadline": f"{DEADLINE:.0f}s"}, "up__patient": {"deadline": "6s"}}
    through = gateway({"upstreams": {"up": upstream_of(serve(CARRIERS[carrier](server)))}, "tools": tools})
    replies = {}

    def call(tool: str) -> None:
        with McpClient(through.port) as client:
            begin = time.monotonic()
            reply = client.call(f"up__{tool}", {"who": tool}, id=tool, meta={"progressToken": tool})
            replies[tool] = reply, time.monotonic() - begin

    with Load(through.port, "up__echo", {"q": 1}, rate=100) as load:
        until(lambda: load.samples, 5, "the other clients are at work")
        children, greeted = tool_servers_of(through.pid), len(server.arrived("initialize"))
        said = len(through.process.stderr.splitlines())
        first, second = (threading.Thread(target=call, args=(tool,)) for tool in ("hasty", "patient"))
        first.start()
        first.join()  # a third of a second later the second one begins, and the late answer falls into its time
        time.sleep(0.3)
        second.start()
        second.join()

    assert server.said == (["patient"] if carrier == "HTTP" else ["hasty", "patient"]), "there was a late answer"
    reply, took = replies["hasty"]
    assert reply.message["id"] == "hasty" and reply.marker["reason"] == "timeout"
    assert DEADLINE <= took <= DEADLINE * 1.2 + SLACK
    reply, took = replies["patient"]
    assert reply.text == '{"who": "patient"}' and reply.marker == {}
    assert [each["params"]["progressToken"] for each in reply.notifications] == ["patient"]
    assert WORK <= took <= WORK + DEADLINE
    assert all(sample.served_by == "primary" for sample in load.samples), "the others have seen nothing"
    # Nor has anything been started anew.
    assert tool_servers_of(through.pid) == children
    assert len(server.arrived("initialize")) == greeted
    assert through.upstream("up")["state"] == "ready"
    assert len(through.process.stderr.splitlines()) - said <= 1, through.process.stderr
