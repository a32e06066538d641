"""The Nomad emulator, served on 127.0.0.1 by a thread of this process."""

import logging
import threading
from typing import Self

from werkzeug import serving

from nomad_csi_sandbox import guard
from nomad_csi_sandbox.nomad import app
from nomad_csi_sandbox.nomad import cluster as clusters

HOST = "127.0.0.1"

TOKEN_HEADER = "X-Nomad-Token"  # noqa: S105  # the name of a header

SHUTDOWN_POLL_S = 0.05
"""How late the end may be noticed."""


class Server:
    """
    Serves a cluster from construction until `close`, which ends the cluster too. Also a context manager.

    *is_guarded*: requests that a web page could have sent are refused, which a real agent does not do.
    """

    def __init__(self, cluster: clusters.Cluster, *, port: int = 0, is_guarded: bool = False) -> None:
        logging.getLogger("werkzeug").setLevel(logging.WARNING)  # not a line for each request
        self.cluster = cluster
        made: guard.Application = app.create_app(cluster)
        if is_guarded:
            made = guard.Guard(made, token_header=TOKEN_HEADER)
        self._server = serving.make_server(HOST, port, made, threaded=True)
        cluster.serve_at(f"{HOST}:{self.port}")
        self._thread = threading.Thread(target=self._serve, name="nomad-http", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=SHUTDOWN_POLL_S)

    @property
    def port(self) -> int:
        """The TCP port in use."""
        return self._server.server_port

    @property
    def url(self) -> str:
        """What belongs into NOMAD_ADDR."""
        return f"http://{HOST}:{self.port}"

    def close(self) -> None:
        """End every task, then the server."""
        self.cluster.close()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
