"""
moto's own server in a thread of this process: the AWS emulator.

It keeps its account in memory and loads a service when that is first asked for. The account is that of the process: two
servers at a time in one process have the same.
Source: moto 5.2.5, ``moto/moto_server/werkzeug_app.py`` (``create_backend_app``, ``DomainDispatcherApplication``).
"""

import os

import urllib3

from nomad_csi_sandbox import guard, serving
from nomad_csi_sandbox.aws import moto_gaps, snapshots, throttle

SETTINGS = {
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "MOTO_DISABLE_GLOBAL_CORS": "true",
    "MOTO_EC2_LOAD_DEFAULT_AMIS": "false",
    "MOTO_IAM_LOAD_MANAGED_POLICIES": "true",
}
"""
Environment of the server: no file of the operator is read, no web page may call it, no list of public images is
loaded, and the policies that AWS manages exist, so that they can be attached as in a real account.
"""

READY_TIMEOUT_S = 30.0


class Moto(serving.Served):
    """A moto server; its URL belongs into AWS_ENDPOINT_URL."""

    def __init__(self, port: int = 0) -> None:
        os.environ.update(SETTINGS)
        from moto.moto_server import werkzeug_app  # noqa: PLC0415  # it reads SETTINGS while it is imported

        behind = werkzeug_app.DomainDispatcherApplication(werkzeug_app.create_backend_app)
        filled = snapshots.Snapshots(moto_gaps.FileSystemPolicies(behind))
        served = guard.Guard(throttle.Throttle(filled))
        super().__init__(served, "moto", port, request_handler=werkzeug_app.MotoRequestHandler)

    def wait_until_it_answers(self) -> None:
        """Ask the server for its own page. Raises `urllib3.exceptions.HTTPError` when no answer comes in 30 s."""
        with urllib3.PoolManager(retries=False) as pool:
            pool.request("GET", f"{self.url}/moto-api/", timeout=READY_TIMEOUT_S)

    def close(self) -> None:
        """End the server and forget its account."""
        with urllib3.PoolManager(retries=False) as pool:
            pool.request("POST", f"{self.url}/moto-api/reset", timeout=READY_TIMEOUT_S)
        super().close()
