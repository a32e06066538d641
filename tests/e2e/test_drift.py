"""What has changed, in the config or by somebody's hand: a plain `preview` names it, `up` mends it."""

import shutil

import pytest

from nomad_csi.nomad import jobs, volumes

COUNTS = {"jobModifyIndex", "version", "jobs", "nonce"}
"""Properties that are others after an object was registered again."""

AS_OF_ITS_LAST_STEP = ("outputs", "protect")
"""What only a later step needs asks for no step; a test before may have left it as it was then."""


@pytest.fixture
def mysql(running):
    """Change the volume ``mysql`` in the config: ``mysql(size_gib=50)``."""

    def change(**ebs):
        running.edit(lambda storage: storage["volumes"][0]["ebs"].update(ebs))

    return change


def essence(resources):
    """Return inputs and outputs of *resources*, by resource and property."""
    return {
        name: {(part, key): value for part in ("inputs", "outputs") for key, value in item.get(part, {}).items()}
        for name, item in resources.items()
    }


def differing(one, other):
    """Return which properties differ between two essences, but for counts."""
    names = {(name, part) for name in {*one, *other} for part in {*one.get(name, {}), *other.get(name, {})}}
    return {
        (name, *part)
        for name, part in names
        if part[1] not in COUNTS
        and part != AS_OF_ITS_LAST_STEP
        and one.get(name, {}).get(part) != other.get(name, {}).get(part)
    }


def ebs_volume(sandbox):
    """Return the one EBS volume of the stack, as EC2 describes it."""
    [volume_id] = sandbox.owned()[0]
    [volume] = sandbox.aws("ec2").describe_volumes(VolumeIds=[volume_id])["Volumes"]
    return volume


def rendered(sandbox):
    """Return the text of every rendered file, by its path."""
    folder = sandbox.project / "rendered"
    return {path.relative_to(folder): path.read_text() for path in folder.rglob("*") if path.is_file()}


SMALL_CHANGE = 60
"""Lines that `up` prints at most where one volume changes: the preview, the update, the report."""


def test_what_was_changed_by_hand_is_named_and_mended(untouched):
    """A stopped plugin job, a dropped registration, an edited file: all three at once."""
    before, files = essence(untouched.resources()), rendered(untouched)
    edited = untouched.project / "rendered/jobs/aws-ebs0-controller.nomad.hcl"
    with untouched.nomad() as client:
        client.request("DELETE", "/v1/job/plugin-aws-efs0-nodes")
        client.request("DELETE", "/v1/volume/csi/mysql")
    edited.write_text(edited.read_text() + "# a note\n")

    preview = untouched.run("preview", check=True).stdout
    up = untouched.up(check=True).stdout

    assert " ~  nomad-csi:index:PluginJob aws-efs0-node update [diff: ~stopped]" in preview
    assert " ~  nomad-csi:index:VolumeRegistration mysql update [diff: ~deregistered]" in preview
    assert " ~  nomad-csi:index:RenderedFile aws-ebs0-controller update [diff: ~content]" in preview
    assert "Nothing has changed" not in up
    assert differing(essence(untouched.resources()), before) == set()
    assert rendered(untouched) == files
    with untouched.nomad() as client:
        assert not jobs.get(client, "default", "plugin-aws-efs0-nodes").stopped
        assert volumes.get(client, "default", "mysql").external_id == ebs_volume(untouched)["VolumeId"]


def test_volume_grows_in_place_and_goes_whole(running, mysql):
    """It keeps its id, and its registration is left alone; taken out of the config, all of it goes."""
    volume_id = ebs_volume(running)["VolumeId"]
    seen = len(running.requests())

    mysql(size_gib=50)
    done = running.up()
    growing = done.stdout

    assert done.returncode == 0, growing + done.stderr
    assert len(growing.splitlines()) <= SMALL_CHANGE
    assert " ~  aws:ebs:Volume mysql update [diff: ~size]" in growing
    assert "~ 1 to update\n    26 unchanged" in growing
    assert (ebs_volume(running)["VolumeId"], ebs_volume(running)["Size"]) == (volume_id, 50)
    sent = {(request["method"], request["path"]) for request in running.requests()[seen:]}
    assert not {("PUT", "/v1/volume/csi/mysql"), ("DELETE", "/v1/volume/csi/mysql")} & sent

    running.edit(lambda storage: storage["volumes"].pop(0))
    going = running.run("preview", check=True).stdout
    running.up(check=True)

    assert " -  nomad-csi:index:VolumeRegistration mysql delete" in going
    assert " -  aws:ebs:Volume mysql delete" in going
    assert " -  nomad-csi:index:RenderedFile mysql delete" in going
    assert running.owned()[0] == []
    assert not (running.project / "rendered/volumes/default/mysql.volume.hcl").exists()
    with running.nomad() as client:
        assert volumes.get(client, "default", "mysql") is None
        assert volumes.get(client, "default", "shared") is not None


def test_zone_change_says_that_it_deregisters(running, mysql):
    """An unprotected volume is made anew in the other zone, and registered there."""
    volume_id = ebs_volume(running)["VolumeId"]
    mysql(availability_zone="us-east-1b")

    preview = running.run("preview", check=True).stdout
    running.up(check=True)

    assert (
        f"warning: default/mysql is re-pointed from {volume_id} to other storage: deregistered and registered again, "
        f"refused while claimed; {volume_id} is deleted with all its data afterwards\n" in preview
    )
    assert " +- aws:ebs:Volume mysql replace [diff: ~availabilityZone]" in preview
    found = ebs_volume(running)
    assert found["VolumeId"] != volume_id
    assert found["AvailabilityZone"] == "us-east-1b"
    with running.nomad() as client:
        assert volumes.get(client, "default", "mysql").external_id == found["VolumeId"]


def test_protected_volume_is_neither_moved_nor_removed(running, mysql):
    """Both are refused in the preview, which says how to go on; nothing has been touched."""
    running.edit(lambda storage: storage.update(protect=True))
    running.up(check=True)
    volume_id = ebs_volume(running)["VolumeId"]

    mysql(availability_zone="us-east-1b")
    moved = running.run("preview")
    running.edit(lambda storage: storage["volumes"].pop(0))
    removed = running.run("preview")

    assert (moved.returncode, removed.returncode) == (1, 1)
    assert "availability_zone: expected 'us-east-1a': vol-" in moved.stdout
    assert '::mysql" cannot be deleted\n    because it is protected.' in removed.stdout
    command = "pulumi up" if shutil.which("pulumi") else "nomad-csi sandbox up"
    assert f"set protect: false, run `{command}`, and change it then" in moved.stdout
    assert f"remove the `protect` flag from the resource in your Pulumi program and run `{command}`" in removed.stdout
    assert ebs_volume(running)["VolumeId"] == volume_id


def test_preview_with_nomad_down_says_what_it_could_not_compare(running, mysql):
    """It does not fail, and compares what it can."""
    address = running.variables()["NOMAD_ADDR"]
    running.kill("nomad")
    mysql(size_gib=50)

    preview = running.engine("preview")

    assert preview.returncode == 0, preview.stdout + preview.stderr
    assert " ~  aws:ebs:Volume mysql update [diff: ~size," in preview.stdout  # and the tag, as the warning says
    assert "warning: the preview does not know the cluster, which Nomad did not report: " in preview.stdout
    for subject in (
        "job default/plugin-aws-ebs0-controller",
        "job default/plugin-aws-ebs0-nodes",
        "job default/plugin-aws-efs0-nodes",
        "the health of plugin aws-ebs0",
        "the health of plugin aws-efs0",
        "volume default/mysql",
        "volume default/shared",
    ):
        assert f"    warning: {address} is not reachable: {subject} was not compared" in preview.stdout
