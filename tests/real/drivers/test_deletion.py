"""
Storage of the real drivers: deleted with a last snapshot, restored from it, deleted again, through our own steps.

Each driver is the real program, run as a task of the emulated Nomad. Real as well: the files of csi-driver-host-path,
csi-driver-nfs (on a share that a bind mount stands for) and democratic-csi (local-hostpath). Emulated: EC2, by moto.
"""

import contextlib
import os
import shutil

import pytest

from nomad_csi.csi import presence
from nomad_csi.volumes import volume_snapshots
from nomad_csi_sandbox.aws import account
from nomad_csi_sandbox.aws import server as moto
from tests import plugin_deletion
from tests.plugin_deletion import PLUGIN_ID, VOLUME, ZONE

SOCKET = "--endpoint=${CSI_ENDPOINT}"
FOUND = "found again by its name with CreateSnapshot: ready"
FOUND_AGAIN = "found again by its name with CreateSnapshot: ready"
NOT_READ_BACK = "not read back: nfs.csi.k8s.io has no call for that; it answered an archive of "
MOUNT = """#!/bin/sh
# instead of mount(8): -t nfs -o OPTIONS SERVER:/SHARE FOLDER
for word; do source=$folder; folder=$word; done
mkdir -p "EXPORTS${source#*:}"
exec REAL --bind "EXPORTS${source#*:}" "$folder"
"""


def real(program, needs_root=False):
    """Return the path of a program, or skip."""
    found = shutil.which(program)
    if not found:
        pytest.skip(f"needs `{program}` on PATH")
    if needs_root and os.geteuid():
        pytest.skip(f"needs root, to mount for `{program}`")
    return found


def hostpath(folder):
    """Its volumes are folders below its state."""
    state = folder / "state"
    return plugin_deletion.Driver(
        command=real("hostpathplugin"),
        arguments=(SOCKET, "--nodeid=n1", f"--statedir={state}"),
        files=lambda external_id: state / external_id,
    )


def nfs(folder):
    """Its shares are folders of this machine."""
    command = real("nfsplugin", needs_root=True)
    exports, programs, working = (folder / name for name in ("exports", "bin", "work"))
    for made in (exports, programs, working):
        made.mkdir()
    mount = programs / "mount"
    mount.write_text(MOUNT.replace("EXPORTS", str(exports)).replace("REAL", real("mount")))
    mount.chmod(0o755)
    return plugin_deletion.Driver(
        command=command,
        arguments=(SOCKET, "--nodeid=n1", f"--working-mount-dir={working}"),
        path=str(programs),
        parameters={"server": "nas.example.net", "share": "/pool"},
        files=lambda external_id: exports / "pool" / external_id.split("#")[2],
    )


def democratic(folder):
    """Its volumes are folders, copied by rsync."""
    command = real("democratic-csi")
    real("rsync")
    config = folder / "config.yaml"
    config.write_text(
        "driver: local-hostpath\nlocal-hostpath:\n"
        f"  {{shareBasePath: {folder}/data, controllerBasePath: {folder}/data, dirPermissionsMode: '0777'}}\n"
    )
    names = ("--csi-version=1.5.0", f"--csi-name=org.democratic-csi.{PLUGIN_ID}", "--log-level=info")
    return plugin_deletion.Driver(
        command=command,
        arguments=(*names, f"--driver-config-file={config}", "--server-socket=${CSI_ENDPOINT}"),
        environment={"CSI_NODE_ID": "n1"},
        files=lambda external_id: folder / "data/v" / external_id,
    )


@contextlib.contextmanager
def ebs():
    """The controller of the EBS driver, with moto as EC2."""
    command = real("aws-ebs-csi-driver")
    with moto.Moto() as cloud:
        cloud.wait_until_it_answers()
        account.seed(cloud.url, "us-east-1", zones=(ZONE,))
        environment = {
            "AWS_REGION": "us-east-1",
            "AWS_EC2_ENDPOINT": cloud.url,
            "AWS_ACCESS_KEY_ID": account.CREDENTIAL,
            "AWS_SECRET_ACCESS_KEY": account.CREDENTIAL,
        }
        driver = plugin_deletion.Driver(
            command=command, arguments=("controller", SOCKET), role="controller", environment=environment
        )
        with plugin_deletion.running(lambda _folder: driver) as world:
            yield world


WORLDS = {
    "aws-ebs": ebs,
    "csi-driver-nfs": lambda: plugin_deletion.running(nfs),
    "csi-hostpath": lambda: plugin_deletion.running(hostpath),
    "democratic-csi": lambda: plugin_deletion.running(democratic),
}
EVIDENCE = {
    "aws-ebs": FOUND,
    "csi-driver-nfs": NOT_READ_BACK,
    "csi-hostpath": FOUND,
    "democratic-csi": FOUND_AGAIN,  # its folders; of ZFS it lists snapshots
}


@pytest.mark.parametrize("name", sorted(WORLDS))
def test_storage_is_deleted_restored_and_deleted_again(name):
    """
    The data comes back from the last snapshot; absence is asked as the catalogue says; again is no error.

    Asked without the catalogue, by an id that cannot exist, most drivers answer the same; what EC2 says, which the EBS
    driver repeats as INTERNAL, must be known.
    """
    with WORLDS[name]() as world:
        asked = world.make("asked", how={"skipFinalSnapshot": True})
        seen = [observed(world, asked)]
        VOLUME.delete(world.context, "default/asked", asked)
        seen.append(observed(world, asked))

        found = plugin_deletion.round_trip(world)

    is_observed = name != "csi-driver-nfs"
    unknown = {"aws-ebs", "csi-driver-nfs"}
    assert seen == (["unobservable"] * 2 if name in unknown else ["present", "absent"])
    assert found.first.snapshot_evidence.startswith(EVIDENCE[name])
    assert found.first.reason == ("" if is_observed else "absence cannot be observed with this driver")
    assert found.again.startswith("volume default/scratch was gone already: not registered, and ")


def observed(world, made):
    """Ask whether storage exists, of a driver of which nothing is known."""
    with world.connected() as connection:
        return presence.observe(connection, presence.PresenceQuestion(volume_id=made["externalId"]))


def test_old_names_of_snapshots_are_what_csi_driver_nfs_cannot_read(monkeypatch):
    """The external id in the name: the snapshot is made, and its id is refused. Now the storage is kept then."""
    with plugin_deletion.running(nfs) as world:
        made = world.make()
        monkeypatch.setattr(volume_snapshots, "name_for", lambda external_id: f"final-{external_id}-1")
        found = world.delete(made)
        is_kept = world.driver.files(made["externalId"]).is_dir()
        monkeypatch.undo()
        VOLUME.delete(world.context, "default/scratch", made)

    assert (found.status, is_kept) == ("kept", True)
    assert "cannot be read again by nfs.csi.k8s.io" in found.reason
    assert "last snapshot nas.example.net#pool#final-" in world.said[-1]
