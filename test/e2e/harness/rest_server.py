"""A plain REST endpoint that lives in the test."""

from collections.abc import Awaitable, Callable

from harness.scripted_http import Answer, HttpConnection, Listening, Request, read_request
from harness.tool_server import ToolServer


class RestServer(Listening):
    """`answer`: async function of a Request that gives an Answer, or None to end the connection in the middle."""

    def __init__(self, answer: Callable[[Request], Awaitable[Answer | None]], tls=None):
        super().__init__(ToolServer(), tls=tls)
        self.answer = answer
        self.requests: list[Request] = []
        self.connections = 0

    async def converse(self, reader, writer) -> None:
        self.connections += 1
        connection = HttpConnection(reader, writer)
        while (request := await read_request(reader)) is not None:
            self.requests.append(request)
            answer = await self.answer(request)
            if answer is None:
                writer.transport.abort()
                return
            await connection.whole(answer)
