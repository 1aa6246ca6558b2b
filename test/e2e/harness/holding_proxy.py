"""A reverse proxy as clients meet them: it holds an answer back until a buffer is full, unless told not to, and drops a
stream that is silent for long."""

import asyncio

from harness.scripted_http import Listening

HELD = 4096


class HoldingProxy(Listening):
    """In front of a port of this machine. `silence`: seconds after which a connection without bytes is dropped."""

    def __init__(self, to_port: int, silence: float = 60.0):
        super().__init__(None)
        self.to_port = to_port
        self.silence = silence
        self.dropped = 0

    async def converse(self, reader, writer) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self.to_port)
        up = asyncio.ensure_future(self._requests(reader, inner_writer))
        try:
            await self._answers(inner_reader, writer)
        finally:
            up.cancel()
            await asyncio.gather(up, return_exceptions=True)
            inner_writer.close()

    @staticmethod
    async def _requests(reader, writer) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def _answers(self, reader, writer) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        # An answer whose length is known is passed on when it is there, so as good as at once.
        at_once = b"x-accel-buffering: no" in head.lower() or b"content-length" in head.lower()
        held = head
        while True:
            try:
                data = await asyncio.wait_for(reader.read(65536), self.silence)
            except TimeoutError:
                self.dropped += 1
                return
            held += data
            if at_once or len(held) >= HELD or not data:
                writer.write(held)
                await writer.drain()
                held = b""
            if not data:
                return
