"""The NFS server of the kernel, on loopback, with one folder as the root of NFS 4; and the TLS that EFS has before it."""

import os
import select
import shutil
import socket
import socketserver
import ssl
import subprocess
import threading
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

ADDRESS, TLS_ADDRESS, PORT = "127.0.0.1", "127.0.0.2", 2049
"""Both on this machine; clients of EFS know no other port."""

OPTIONS = "rw,no_root_squash,fsid=0,insecure,no_subtree_check"
SPECIAL = {"nfsd": "/proc/fs/nfsd", "rpc_pipefs": "/run/rpc_pipefs"}
_TOOLS = ("exportfs", "mount.nfs4", "rpc.mountd", "rpc.nfsd")


def missing():
    """Return what this machine lacks to serve and to mount: programs, and file systems of its kernel."""
    known = Path("/proc/filesystems").read_text().split()
    tools = [f"`{tool}` on PATH" for tool in _TOOLS if not shutil.which(tool)]
    return tools + [f"{name} in its kernel" for name in ("nfs4", "nfsd") if name not in known]


@contextmanager
def serving(folder):
    """Serve *folder* on `ADDRESS`."""
    with ExitStack() as after:
        for name, place in SPECIAL.items():
            if not os.path.ismount(place):
                Path(place).mkdir(exist_ok=True, parents=True)
                _run("mount", "-t", name, name, place)
                after.callback(_run, "umount", place)
        _run("exportfs", "-o", OPTIONS, f"{ADDRESS}:{folder}")
        after.callback(_run, "exportfs", "-u", f"{ADDRESS}:{folder}")
        checks = after.enter_context(subprocess.Popen(["rpc.mountd", "--foreground", "-N", "2", "-N", "3"]))
        after.callback(checks.terminate)
        _run("rpc.nfsd", "-H", ADDRESS, "-N", "3", "-V", "4", "-U", "2")
        after.callback(_run, "rpc.nfsd", "0")
        yield


def _run(*command):
    subprocess.run(command, check=True, timeout=120)


class _Tunnel(socketserver.BaseRequestHandler):
    """One connection: decrypted, and passed on."""

    def handle(self):
        with suppress(ssl.SSLError, ConnectionError):  # efs-utils tries the address first, without a word
            self._pass_on()

    def _pass_on(self):
        with (
            self.server.context.wrap_socket(self.request, server_side=True) as client,
            socket.create_connection((ADDRESS, PORT)) as server,
        ):
            ends = {client: server, server: client}
            while True:
                ready = [client] if client.pending() else select.select(list(ends), [], [])[0]
                for end in ready:
                    if not (data := end.recv(1 << 16)):
                        return
                    ends[end].sendall(data)


class _TunnelServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = False


@contextmanager
def encrypting(certificate, key):
    """Serve the same over TLS on `TLS_ADDRESS`."""
    with _TunnelServer((TLS_ADDRESS, PORT), _Tunnel) as server:
        server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.context.load_cert_chain(certificate, key)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield
        server.shutdown()
        thread.join()


def mounted_below(folder):
    """Return where below *folder* file systems of NFS are mounted."""
    lines = [line.split() for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
    return [place for _, place, kind, *_ in lines if kind == "nfs4" and place.startswith(f"{folder}/")]
