"""The Nomad emulator, served on 127.0.0.1 by a thread of this process."""

from nomad_csi_sandbox import guard, serving
from nomad_csi_sandbox.nomad import app
from nomad_csi_sandbox.nomad import cluster as clusters

TOKEN_HEADER = "X-Nomad-Token"  # noqa: S105  # the name of a header


class Server(serving.Served):
    """
    Serves a cluster, which ends with it; its URL belongs into NOMAD_ADDR.

    *is_guarded*: requests that a web page could have sent are refused, which a real agent does not do.
    """

    def __init__(self, cluster: clusters.Cluster, *, port: int = 0, is_guarded: bool = False) -> None:
        self.cluster = cluster
        made: guard.Application = app.create_app(cluster)
        if is_guarded:
            made = guard.Guard(made, token_header=TOKEN_HEADER)
        super().__init__(made, "nomad-http", port)

    def _bound(self) -> None:
        self.cluster.serve_at(f"{serving.HOST}:{self.port}")

    def close(self) -> None:
        """End every task, then the server."""
        self.cluster.close()
        super().close()
