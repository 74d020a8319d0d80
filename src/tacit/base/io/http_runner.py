"""An HTTP server that answers in the house's own form also where no request could be read.

A request line that is malformed or too long never reaches an application: the server library answers it by
itself, in plain text, and logs where it came from and how it began. Here it is answered as every other fault
and logged by the name of the fault alone.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

if TYPE_CHECKING:
    from collections.abc import Callable

    Answer = Callable[[int], web.Response]

log: Final = logging.getLogger("tacit.http")


class _Protocol(RequestHandler):
    __slots__ = ("_answer",)

    def __init__(self, manager: _Server, **settings: Any) -> None:
        super().__init__(manager, **settings)
        self._answer = manager.answer

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The answer to what could not be read; the connection ends with it."""
        del message
        log.info("a request could not be read", extra={"fault": type(exc).__name__})
        if request.writer.output_size > 0:
            raise ConnectionError("part of an answer is sent already")
        answer = self._answer(status)
        answer.force_close()
        return answer


class _Server(web.Server):
    answer: Answer

    def __call__(self) -> RequestHandler:
        return _Protocol(self, loop=self._loop, **self._kwargs)


class Runner(web.AppRunner):
    """Runs an application; `answer` makes the response to a request that could not be read, by its status."""

    __slots__ = ("_answer",)

    def __init__(self, app: web.Application, answer: Answer, **settings: Any) -> None:
        super().__init__(app, **settings)
        self._answer = answer

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        # The library has no place to say which class serves; the instance is the application's own and fresh.
        made.__class__ = _Server
        assert isinstance(made, _Server)  # noqa: S101 - for the type alone
        made.answer = self._answer
        return made
