"""The emulator of the instance metadata service, served on 127.0.0.1 by a thread of this process."""

from nomad_csi_sandbox import guard, serving
from nomad_csi_sandbox.imds import app, documents


class Server(serving.Served):
    """Speaks for one instance; its URL belongs into AWS_EC2_METADATA_SERVICE_ENDPOINT."""

    def __init__(self, instance: documents.Instance, *, port: int = 0) -> None:
        self.instance = instance
        super().__init__(guard.Guard(app.create_app(instance)), "imds", port)
