"""What a hold knows of those who need its storage, and what it refuses where that is not known."""

import pytest

from nomad_csi import nomad
from nomad_csi.drivers import storage_identity
from nomad_csi.frame import resource
from nomad_csi.volumes import hold, ownership

DISK = "vol-0123456789abcdef0"
KEY = ("default", "data")
RECORD = ownership.OwnerRecord(owner="shop/prod", external_id=DISK)
VARIABLE = {"Path": ownership.path_of("data"), "Namespace": "default", "ModifyIndex": 9}
NO_ACLS = (500, "ACL support disabled")


@pytest.fixture
def found(context, scripted):
    """Return what needs the disk in a cluster with no volume and one owner record, with changed replies."""

    def read(**replies):
        answers = {
            "volumes": (200, []),
            "vars": (200, [VARIABLE]),
            f"var/{VARIABLE['Path']}": (200, VARIABLE | {"Items": {"id": "data", **RECORD.to_items()}}),
            "acl/token/self": NO_ACLS,
        }
        for path, answer in (answers | replies).items():
            scripted.reply("GET", f"/v1/{path}", *answer)
        return hold.read(context, storage_identity.identify(DISK), "default")

    return read


@pytest.mark.parametrize("path", ["volumes", f"var/{ownership.FOLDER}/{ownership.NOT_AN_ID}"])
def test_what_may_not_be_listed_is_not_known(found, path):
    """Storage is not deleted for that, and the refusal names the right."""
    seen = found(**{path: (403, "Permission denied")})

    assert seen.fact == "not known"
    assert f"what needs it is not known: give the token {seen.unknown}" in str(seen.refusal("the disk"))
    assert ("csi-list-volume" if path == "volumes" else "variables") in seen.unknown


def test_rights_are_those_in_the_namespace_of_the_connection(scripted):
    """A token may have none in another one."""
    scripted.reply("GET", "/v1/volumes", 200, [])
    scripted.reply("GET", "/v1/vars", 200, [])
    scripted.reply("GET", "/v1/acl/token/self", *NO_ACLS)
    with nomad.Nomad(nomad.Connection(address=scripted.address, namespace="shop")) as client:
        hold.StorageHoldResource().delete(resource.Context(connect=lambda: client), DISK, {"storageId": DISK})

    assert [path for path, _ in scripted.sent("GET") if "/var" in path] == [
        f"/v1/var/{ownership.FOLDER}/~?namespace=shop",
        "/v1/vars?namespace=%2A&prefix=nomad-csi%2Fvolumes%2F",
    ]


def test_record_of_a_volume_that_this_run_removes_does_not_count(context, found):
    """Unless its removal fails."""
    with hold.removing(context, KEY):
        assert found().fact == "none"
    with pytest.raises(OSError, match="full"), hold.removing(context, KEY):
        raise OSError("full")

    assert (found().fact, found().unknown) == ("some", "")
