"""
HashiCorp's own Nomad agent in the sandbox: server and one client in one process, ``nomad agent -dev``.

With ``-dev`` a client registers at once; without, it may wait half a minute for the keyring. What an agent needs to
start fast, and the order in which it leaves nothing behind, was tried on Nomad 2.0.6-dev, 2026-08.
"""

import base64
import contextlib
import json
import secrets
import shutil
import signal
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from http import HTTPStatus
from pathlib import Path
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.nomad import nodes
from nomad_csi_sandbox.session import chroot, environment, folder, mounts, processes, tasks

MARK_VARIABLE = "NOMAD_CSI_SANDBOX_AGENT"
"""Holds the data directory, for the agent and all it starts: by this what a killed agent left is known as ours."""

POLL_TIMEOUT_S = 2.0

GOSSIP_KEY_BYTES = 32
"""AES-256. Source: hashicorp/nomad, ``command/agent/keyring.go`` (``initKeyring``)."""

CGROUPS = ("*/nomad", "nomad.slice/*")
"""Where below /sys/fs/cgroup a client keeps the groups of its tasks: version 1 and 2."""

NOT_LOOKED_FOR = "env_aws,env_gce,env_azure,env_digitalocean,consul,vault,cni,bridge"
"""What the client need not look for; looking for clouds takes seconds, and there is none."""


def start(
    paths: folder.Folder, data_dir: Path, instance: tuple[str, str], variables: Mapping[str, str]
) -> folder.Process:
    """
    Start the agent, wait until its client takes raw_exec tasks, and return it. Its one token is that of *paths*.

    From the first moment its ports serve no one but holders of a key of *paths*: before it has the token, whoever is
    first could give it another (``/v1/acl/bootstrap``), and run a job as the user who runs the client, root.

    *instance* is the zone and the EC2 instance id that the client plays: Nomad hands no AWS keys down to tasks, and a
    plugin learns from it whose role it has. Raises `errors.NomadCsiError` when there is no agent, or it gets not ready.
    """
    program = shutil.which("nomad", path=variables["PATH"])
    if program is None:
        raise errors.NomadCsiError(
            "this sandbox was made with nomad, which is not on PATH now; put it back, or take the sandbox down with it"
        )
    clear(data_dir)
    http, rpc, serf = _free_ports(3)
    paths.make()
    from nomad_csi_sandbox.session import certificates  # noqa: PLC0415  # most commands start no agent; it takes 0.1 s

    for name, text in certificates.make().items():
        folder.write_private(paths.certificates[name], text)
    config = paths.path / "run" / "nomad-agent.json"
    settings = configuration(data_dir, http=http, rpc=rpc, serf=serf) | {"tls": _tls(paths)}
    settings["server"] |= {"encrypt": base64.b64encode(secrets.token_bytes(GOSSIP_KEY_BYTES)).decode()}
    folder.write_private(config, json.dumps(settings, indent=2))
    zone, instance_id = instance
    own = {
        "NOMAD_CSI_SANDBOX_ZONE": zone,
        "NOMAD_CSI_SANDBOX_INSTANCE_ID": instance_id,
        "NOMAD_CSI_SANDBOX_STORAGE": str(data_dir / "storage"),
        MARK_VARIABLE: str(data_dir),
    }
    command = [program, "agent", "-dev", f"-config={config}"]
    return processes.launch(
        paths, "nomad", command, {**variables, **own}, lambda: http if _is_ready(paths, http) else 0
    )


def connect(paths: folder.Folder, port: int) -> nomad.Connection:
    """Return the connection to the agent of *paths* at *port*, with its token."""
    return nomad.Connection.from_environment(environment.of_agent(paths, port))


def stop(process: folder.Process, paths: folder.Folder) -> None:
    """
    End the agent and all it runs; `clear` does the rest. One that is gone already is no error.

    Jobs first: an agent that is stopped right behind them leaves tasks, and tasks leave mounts.
    """
    if processes.alive(process):
        # An agent that does not answer, or a task that does not end, is ended next.
        with contextlib.suppress(errors.NomadCsiError), nomad.Nomad(connect(paths, process.port)) as client:
            tasks.end_all(client)
        processes.stop(process, signal.SIGINT)


def clear(data_dir: Path) -> None:
    """End what an agent left running, unmount what it left mounted, and empty *data_dir* but for its owner's name."""
    processes.end_marked(MARK_VARIABLE, str(data_dir))
    mounts.unmount_below(data_dir)
    _remove_cgroups(data_dir)
    for path in data_dir.iterdir() if data_dir.exists() else ():
        if path.name == folder.OWNER_FILE:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _remove_cgroups(data_dir: Path) -> None:
    """Remove the groups of allocations in *data_dir*; only an agent that was killed leaves any."""
    for allocation in (data_dir / "alloc").glob("*-*-*-*-*"):
        for where in CGROUPS:
            for group in Path("/sys/fs/cgroup").glob(f"{where}/{allocation.name}.*"):
                with contextlib.suppress(OSError):  # the kernel may hold it a moment longer; it is empty, and no file
                    group.rmdir()


def configuration(data_dir: Path, *, http: int, rpc: int, serf: int) -> dict[str, Any]:
    """
    Return the agent's configuration file; Nomad takes JSON too.

    Containers that this client did not start stay: those of another client on this machine would be removed after five
    minutes (`removed untracked container`). Source: hashicorp/nomad, ``drivers/docker/reconcile_dangling.go``; tried on
    2.0.6-dev with Docker 20.10.24, 2026-11-21.
    """
    return {
        "data_dir": str(data_dir),
        "bind_addr": "127.0.0.1",
        "disable_update_check": True,
        "acl": {"enabled": True},
        "log_level": "INFO",
        "ports": {"http": http, "rpc": rpc, "serf": serf},
        "server": {"raft_multiplier": 1},
        "client": {
            "chroot_env": chroot.contents(),
            "options": {"fingerprint.denylist": NOT_LOOKED_FOR},
        },
        # A list: objects in objects alone are refused as unexpected keys (tried on 2.0.6-dev, 2026-11-21).
        "plugin": {"docker": {"config": [{"gc": {"dangling_containers": {"enabled": False}}}]}},
    }


def _tls(paths: folder.Folder) -> dict[str, Any]:
    """Return the block ``tls``: HTTP and RPC take no connection but from a holder of the key of *paths*."""
    files = paths.certificates
    return {
        "http": True,
        "rpc": True,
        "verify_https_client": True,
        "verify_server_hostname": True,
        "ca_file": str(files["ca_cert"]),
        "cert_file": str(files["client_cert"]),
        "key_file": str(files["client_key"]),
    }


def _is_ready(paths: folder.Folder, port: int) -> bool:
    """
    Return whether the client is there; give the agent the token of *paths* first.

    The agent's health is of no use: it is well before it has a client.
    """
    with nomad.Nomad(connect(paths, port), timeout_s=POLL_TIMEOUT_S) as client:
        try:
            found = nodes.list_nodes(client)
        except errors.NomadApiError as error:
            if error.status == HTTPStatus.FORBIDDEN:
                _bootstrap(client, paths.token)
            return False
    return any(node.status == "ready" and node.eligible and node.drivers.get("raw_exec") for node in found)


def _bootstrap(client: nomad.Nomad, token: str) -> None:
    """
    Make *token* the one that may do everything. A server that has no leader yet is asked again by the next poll.

    Source: hashicorp/nomad, ``command/agent/acl_endpoint.go`` (``ACLTokenBootstrap``), 2026-08-21.
    """
    with contextlib.suppress(errors.NomadApiError):
        client.request("POST", "/v1/acl/bootstrap", body={"BootstrapSecret": token})


def _free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
