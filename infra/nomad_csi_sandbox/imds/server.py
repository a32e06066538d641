"""The emulator of the instance metadata service, served on 127.0.0.1 by a thread of this process."""

import logging
import threading
from typing import Self

from werkzeug import serving

from nomad_csi_sandbox import guard
from nomad_csi_sandbox.imds import app, documents

HOST = "127.0.0.1"

SHUTDOWN_POLL_S = 0.05
"""How late the end may be noticed."""


class Server:
    """Speaks for one instance from construction until `close`. Also a context manager."""

    def __init__(self, instance: documents.Instance, *, port: int = 0) -> None:
        logging.getLogger("werkzeug").setLevel(logging.WARNING)  # not a line for each request
        self.instance = instance
        self._server = serving.make_server(HOST, port, guard.Guard(app.create_app(instance)), threaded=True)
        self._thread = threading.Thread(target=self._serve, name="imds", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=SHUTDOWN_POLL_S)

    @property
    def url(self) -> str:
        """What belongs into AWS_EC2_METADATA_SERVICE_ENDPOINT."""
        return f"http://{HOST}:{self._server.server_port}"

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
