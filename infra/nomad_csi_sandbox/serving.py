"""An application of the sandbox, served on 127.0.0.1 by a thread of this process."""

import logging
import threading
from typing import Any, Self

import werkzeug.serving

from nomad_csi_sandbox import guard

HOST = "127.0.0.1"

SHUTDOWN_POLL_S = 0.05
"""How late the end may be noticed."""


class Served:
    """Serves from construction until `close`. Also a context manager."""

    def __init__(self, served: guard.Application, name: str, port: int, **options: Any) -> None:
        logging.getLogger("werkzeug").setLevel(logging.WARNING)  # not a line for each request
        self._server = werkzeug.serving.make_server(HOST, port, served, threaded=True, **options)
        self._bound()
        poll = {"poll_interval": SHUTDOWN_POLL_S}
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs=poll, name=name, daemon=True)
        self._thread.start()

    def _bound(self) -> None:
        """Do what is to be done before the first request, when the port is known."""

    @property
    def port(self) -> int:
        """The TCP port in use."""
        return self._server.server_port

    @property
    def url(self) -> str:
        """Where it is served: what belongs into the variable of its clients."""
        return f"http://{HOST}:{self.port}"

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
