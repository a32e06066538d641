"""
Volumes of the real EFS driver mounted by efs-utils, from the NFS server of this machine's kernel, which stands for EFS.

Verified here: the mount as Nomad asks for it, with TLS by efs-proxy and without, and its data.
"""

import shutil

import pytest

from nomad_csi.csi import services
from tests import csi_calls
from tests.real import certificates, nfs_server
from tests.real.drivers import efs_client
from tests.real.drivers.efs_client import WRITER

CALL_S = 120
FS = "fs-0123456789abcdef0"
HOST = f"{FS}.efs.{efs_client.REGION}.amazonaws.com"
TOOLS = ("mount.efs", "amazon-efs-mount-watchdog", "efs-proxy")
LACKS = [f"`{tool}` of efs-utils" for tool in TOOLS if not shutil.which(tool)] + nfs_server.missing()

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.skipif(bool(efs_client.MISSING), reason=efs_client.MISSING),
    pytest.mark.skipif(bool(LACKS), reason=f"needs {', '.join(LACKS)}, to have something to mount"),
]


@pytest.fixture(scope="module")
def command():
    """The driver."""
    return efs_client.COMMAND


@pytest.fixture(scope="module")
def files(folder):
    """The folder that the server serves instead of a file system of EFS."""
    certificates.write_all(folder, HOST)
    root = folder / "exported"
    for made in (root, root / "sub"):
        made.mkdir()
        made.chmod(0o777)
    encrypted = nfs_server.encrypting(folder / f"{HOST}.pem", folder / f"{HOST}-key.pem")
    with nfs_server.serving(root), encrypted:
        yield root


@pytest.fixture(scope="module")
def document(folder, files):
    """One plugin; its authority signed the server's certificate."""
    assert files.is_dir()
    with efs_client.prepared(folder, folder / "ca.pem") as plugin:
        yield {"plugins": [plugin]}


WAYS = {
    "tls": ({"mounttargetip": nfs_server.TLS_ADDRESS}, ()),
    "plain": ({"mounttargetip": nfs_server.ADDRESS, "encryptInTransit": "false"}, ()),
    "direct": ({"mounttargetip": nfs_server.ADDRESS, "encryptInTransit": "false"}, ("stunnel",)),
}
"""Context and mount flags: through efs-proxy, which encrypts or does not; and, without encryption, to the server itself."""


@pytest.mark.parametrize("way", WAYS)
def test_volume_is_mounted_as_nomad_asks_for_it(stack, files, tmp_path, way):
    """What is written there the server has, and keeps when the volume is unmounted, which may be repeated."""
    context, flags = WAYS[way]
    use = services.volume_capability(**WRITER, mount_flags=flags)
    target = tmp_path / "mount"
    with efs_client.connected(stack) as connection:
        where = {"volume_id": f"{FS}:/sub", "target_path": str(target)}
        csi_calls.call(connection, "NodePublishVolume", use, volume_context=context, **where)
        places = nfs_server.mounted_below(tmp_path)
        (target / "log").write_text(way)
        for _ in range(2):
            csi_calls.call(connection, "NodeUnpublishVolume", **where)

    assert (places, nfs_server.mounted_below(tmp_path)) == ([str(target)], [])
    assert (files / "sub/log").read_text() == way
