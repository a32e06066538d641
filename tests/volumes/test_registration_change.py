"""What a change of a registration's inputs comes to, and what the operator reads of it."""

import dataclasses

import pytest

from nomad_csi.drivers import storage_identity
from nomad_csi.frame import resource
from nomad_csi.plan import model
from nomad_csi.spec import volume as spec
from nomad_csi.volumes import desired, observe, ownership, volume_properties

ZONE_A = {"segments": {"topology.ebs.csi.aws.com/zone": "us-east-1a"}}
ZONE_B = {"segments": {"topology.ebs.csi.aws.com/zone": "us-east-1b"}}
VOL_A, VOL_B = "vol-0aaaaaaaaaaaaaaaa", "vol-0bbbbbbbbbbbbbbbb"
OLD = {
    "volumeId": "mysql",
    "namespace": "default",
    "name": "mysql",
    "externalId": VOL_A,
    "pluginId": "aws-ebs0",
    "capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}],
    "requiredTopologies": [ZONE_A, ZONE_B],
    "context": {"tier": "fast"},
    "secrets": {"password": "old"},
    "storage": {"settings": ["encryptInTransit"]},
}
STAYS = f"the data stays in {VOL_A} and is not copied"
KEPT = f"this step leaves {VOL_A} and its data as they are"


def classify(old, new_inputs):
    """Return the change between two sets of inputs."""
    return desired.classify(
        *(desired.of_properties(volume_properties.REGISTRATION, item) for item in (old, new_inputs))
    )


def changed(**new_inputs):
    """Return the class of a change of *new_inputs*; a value of ``None`` leaves the property out."""
    merged = {name: value for name, value in (OLD | new_inputs).items() if value is not None}
    return classify(OLD, merged)


@pytest.mark.parametrize(
    ("new_inputs", "kind", "names", "storage"),
    [
        ({}, "none", (), "same"),
        ({"adopt": True}, "none", (), "same"),
        ({"requiredTopologies": [ZONE_B, ZONE_A]}, "none", (), "same"),
        ({"secrets": {"password": "new"}}, "in-place", (), "same"),
        ({"capabilities": []}, "in-place", (), "same"),
        ({"owner": "shop/prod"}, "in-place", (), "same"),
        ({"context": {"tier": "fast", "encryptInTransit": "false"}}, "in-place", (), "same"),
        ({"context": {"tier": "fast", "share": "/b"}}, "in-place", (), "unknown"),
        ({"context": resource.UNKNOWN}, "in-place", (), "unknown"),
        ({"context": None}, "re-register", ("context",), "unknown"),
        ({"externalId": VOL_B}, "re-register", ("externalId",), "other"),
        ({"externalId": resource.UNKNOWN}, "re-register", ("externalId",), "unknown"),
        ({"externalId": VOL_B, "pluginId": "x"}, "re-register", ("externalId", "pluginId"), "other"),
        ({"pluginId": "x"}, "re-register", ("pluginId",), "same"),
        ({"name": "x"}, "re-register", ("name",), "same"),
        ({"parameters": {"a": "b"}}, "re-register", ("parameters",), "same"),
        ({"requiredTopologies": [ZONE_A]}, "re-register", ("requiredTopologies",), "same"),
        ({"requiredTopologies": None}, "re-register", ("requiredTopologies",), "same"),
        ({"requiredTopologies": resource.UNKNOWN}, "re-register", ("requiredTopologies",), "same"),
        ({"namespace": "prod"}, "replace", ("namespace",), "same"),
        ({"volumeId": "b", "externalId": VOL_B}, "replace", ("volumeId",), "other"),
    ],
)
def test_change_is_classified(new_inputs, kind, names, storage):
    """By what Nomad can change in place, and by whether the id stands for the same data afterwards."""
    found = changed(**new_inputs)

    assert (found.kind, found.properties, found.storage) == (kind, names, storage)


def test_change_names_what_differs():
    """Also what only one side has; what is not sent to Nomad does not count, nor does what neither side has."""
    owned = {"volumeId": "b", "externalId": VOL_B, "context": None, "adopt": True, "owner": "shop/prod"}

    assert changed(**owned).changed == {"volumeId", "externalId", "context", "owner"}
    assert changed(pluginId="x", secrets={"password": "new"}, protect=True).changed == {"pluginId", "secrets"}
    replaced = classify({}, {"volumeId": "b"})
    assert (replaced.kind, replaced.changed, replaced.properties) == ("replace", {"volumeId"}, ("volumeId",))
    assert (changed().kind, changed().changed, changed().storage) == ("none", frozenset(), "same")
    old, new = (OLD | {"mountOptions": {"mountFlags": [flag]}} for flag in ("rw", "ro"))
    assert classify(old, new).changed == {"mountOptions"}  # Nomad shows neither


def test_volume_has_all_properties_of_its_resource():
    """Each in its field; one that is left out has its default, and what a state has encrypted is not known."""
    storage = {"location": "fs-1:/a", "owned": True, "shared": True}
    stack = {"owner": "shop/prod", "ownerId": "9f86", "adopt": True}
    whole = desired.of_properties(volume_properties.REGISTRATION, OLD | stack | {"storage": storage, "protect": True})
    created = OLD | {"onDestroy": "delete", "deletion": {"awsRegion": "us-east-1"}}
    made = desired.of_properties(volume_properties.CREATED, created)
    bare = desired.of_properties(volume_properties.REGISTRATION, {"volumeId": "mysql"})
    encrypted = desired.of_properties(volume_properties.REGISTRATION, OLD | {"storage": "[secret]"})

    document = dataclasses.replace(desired.parse_inputs(OLD), shares_storage=True)
    known = volume_properties.VolumeStorage.model_construct(**storage)
    given = {"owner": "shop/prod", "owner_id": "9f86", "adopt": True, "protect": True}
    assert whole == desired.DesiredVolume(document=document, source="existing", storage=known, **given)
    assert (made.source, made.on_destroy, made.deletion) == ("created", "delete", {"awsRegion": "us-east-1"})
    assert bare == desired.DesiredVolume(document=desired.parse_inputs({"volumeId": "mysql"}))
    assert (bare.document.shares_storage, encrypted.document) == (False, document)


@pytest.mark.parametrize(
    ("external_id", "is_made", "known"), [(VOL_A, False, VOL_A), ("", False, resource.UNKNOWN), ("", True, "")]
)
@pytest.mark.parametrize(("by_owner", "by_spec"), [(True, False), (False, True), (False, False)])
def test_volume_of_a_plan_has_its_owner_and_its_storage(external_id, is_made, known, by_owner, by_spec):
    """Storage that the program has yet to create is not known, and what a plugin creates is none."""
    document = dataclasses.replace(desired.parse_inputs(OLD), external_id=external_id)
    source = spec.CreateSpec(capacity_min_gib=1) if is_made else None
    planned = model.VolumePlan(registration=document, source=source, protect=True, adopt=by_spec)
    who = ownership.Requester(owner="shop/prod", adopts=by_owner)

    assert desired.of_plan(planned, document, who) == desired.DesiredVolume(
        document=dataclasses.replace(document, external_id=known),
        source="created" if is_made else "existing",
        owner="shop/prod",
        adopt=by_owner or by_spec,
    )


@pytest.mark.parametrize("settings", [{"old": ["share"]}, {"new": ["share"]}, {"old": ["tier"], "new": ["share"]}])
@pytest.mark.parametrize(("before", "after"), [("/a", "/b"), (None, "/b"), ("/a", None)])
def test_key_that_is_a_setting_on_either_side_says_nothing_of_the_data(settings, before, after):
    """The driver's settings may come and go with the key itself."""
    old, new = (
        OLD
        | {"context": {"tier": "fast"} | ({"share": share} if share else {})}
        | {"storage": {"settings": settings[side]} if side in settings else {}}
        for side, share in (("old", before), ("new", after))
    )

    found = classify(old, new)

    assert (found.changed, found.context_keys, found.storage) == ({"context"}, (), "same")


def test_storage_that_is_not_known_yet_says_nothing():
    """The record may depend on what is made first: what the key means is in doubt, and nothing is said of a deletion."""
    found = changed(externalId=resource.UNKNOWN, storage=resource.UNKNOWN, context={"encryptInTransit": "a"})

    assert (found.storage, found.left_storage) == ("unknown", None)
    assert found.context_keys == ("tier",)


@pytest.mark.parametrize("external_id", ["server#share#folder", "pv-1", "local-ebs://dev/xvdbz", f"{VOL_A}-copy"])
def test_another_plugin_may_mean_other_data_by_the_same_id(external_id):
    """Ids of EBS and EFS are unique in AWS; any other id is the plugin's own."""
    old = OLD | {"externalId": external_id}

    found = classify(old, old | {"pluginId": "x"})

    assert found.storage == "unknown"
    assert desired.sentence("default/nfs", found) == (
        "default/nfs is deregistered and registered again (Nomad never changes pluginId in place), refused while "
        f"claimed; this step leaves {external_id} and its data as they are; the volume id may stand for other data "
        "afterwards"
    )


AGAIN = "deregistered and registered again"
DOUBT = f"default/mysql may stand for other data afterwards: {VOL_A} stays its external id, with another context"
CONSEQUENCES = {
    "storage that is not known yet": (
        {"externalId": resource.UNKNOWN},
        f"default/mysql is re-pointed from {VOL_A} to other storage: {AGAIN}, refused while claimed; {STAYS}",
    ),
    "another plugin and name": (
        {"pluginId": "x", "name": "y"},
        f"default/mysql is {AGAIN} (Nomad never changes name, pluginId in place), refused while claimed; {KEPT}",
    ),
    "another namespace": (
        {"namespace": "prod"}, f"default/mysql is deregistered first, which is refused while it is claimed; {KEPT}"
    ),
    "a context that is not known yet": ({"context": resource.UNKNOWN}, f"{DOUBT}.*"),
    "a folder that was not known before": (
        {"externalId": VOL_B, "storage": {"location": "fs-1:/b"}},
        f"default/mysql is re-pointed from {VOL_A} to {VOL_B}: {AGAIN}, refused while claimed; {STAYS}",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("new_inputs", "expected"), CONSEQUENCES.values(), ids=CONSEQUENCES)
def test_change_is_named_with_its_consequence(new_inputs, expected):
    """The operator reads what is taken away, on what condition, and what becomes of the data."""
    assert desired.sentence("default/mysql", changed(**new_inputs)) == expected


OLD_POINT, NEW_POINT = "fs-0aaaaaaaaaaaaaaaa::fsap-0aaaaaaaaaaaaaaaa", "fs-0aaaaaaaaaaaaaaaa::fsap-0bbbbbbbbbbbbbbbb"
FOLDER = "fs-0aaaaaaaaaaaaaaaa:/shared"
EFS = {
    "volumeId": "shared",
    "namespace": "default",
    "externalId": OLD_POINT,
    "pluginId": "aws-efs0",
    "protect": True,
    "storage": {"location": FOLDER, "owned": True},
}
RE_POINTED = "volume default/shared is protected, and would be re-pointed from"
MEANT = "nothing was changed: where that is meant, set protect: false, run `pulumi up`, and change it then"


def refusal(old, new_inputs):
    """Return why the protected volume may not change from *old* to *new_inputs*; empty where it may."""
    wanted = observe.WantedVolume(
        resource.Context(connect=pytest.fail), desired.of_properties(volume_properties.REGISTRATION, new_inputs), old
    )
    return str(wanted.refused("protected")) if wanted.protect and wanted.recorded in {"other", "doubtful"} else ""


def moved(location, external_id):
    """Return the EFS volume with another access point and the folder behind it."""
    return EFS | {"externalId": external_id, "storage": {"location": location, "owned": True}}


@pytest.mark.parametrize(
    ("location", "external_id", "storage"),
    [
        (FOLDER, NEW_POINT, "same"),
        (FOLDER, resource.UNKNOWN, "same"),
        ("fs-0aaaaaaaaaaaaaaaa:/shared2", resource.UNKNOWN, "other"),
        ("fs-0aaaaaaaaaaaaaaaa:/shared2", NEW_POINT, "other"),
        ("fs-0aaaaaaaaaaaaaaaa:/", "fs-0aaaaaaaaaaaaaaaa", "other"),
    ],
)
def test_folder_behind_an_access_point_is_the_data(location, external_id, storage):
    """An access point is created again for another owner, also unknown in a preview; another folder is refused if protected."""
    said = f"{RE_POINTED} {FOLDER} to {location}: the data stays in {FOLDER} and is not copied; {MEANT}"

    assert classify(EFS, moved(location, external_id)).storage == storage
    assert refusal(EFS, moved(location, external_id)) == ("" if storage == "same" else said)


WHOLE = {"owned": True}
POINT = {"owned": True, "part": True}
FILE_SYSTEM = OLD_POINT.partition(":")[0]
LEFT = {
    "a file system of others": ((WHOLE, OLD_POINT), ({}, OLD_POINT), FILE_SYSTEM),
    "only an access point is still the program's": ((WHOLE, OLD_POINT), (POINT, OLD_POINT), FILE_SYSTEM),
    "its file system gets an access point": ((WHOLE, FILE_SYSTEM), (WHOLE, OLD_POINT), None),
    "its file system, retained": ((WHOLE | {"retained": True}, OLD_POINT), ({}, OLD_POINT), None),
    "another access point": ((POINT, OLD_POINT), (POINT, NEW_POINT), OLD_POINT),
    "the same access point": ((POINT, OLD_POINT), (POINT, OLD_POINT), None),
    "an access point of others": ((POINT, OLD_POINT), ({}, OLD_POINT), OLD_POINT),
}


@pytest.mark.parametrize(("before", "after", "left"), LEFT.values(), ids=LEFT)
def test_storage_that_the_program_deletes_after_a_change_is_known(before, after, left):
    """The file system, or the access point alone; what others own, or the engine retains, is not deleted."""
    old, new = (EFS | {"storage": storage, "externalId": external_id} for storage, external_id in (before, after))

    change = classify(old, new)

    assert change.left_storage == (storage_identity.identify(left) if left else None)
    assert desired.has_other_fate(change.before, change.after) is (before[0] != after[0])


def test_storage_that_the_program_makes_anew_is_said_to_be_deleted():
    """The engine deletes what it replaces; the preview does not know yet what comes in its place."""
    disk = OLD | {"storage": {"owned": True}, "protect": True}

    assert desired.sentence("default/mysql", classify(disk, disk | {"externalId": resource.UNKNOWN})) == (
        f"default/mysql is re-pointed from {VOL_A} to other storage: deregistered and registered again, refused while "
        f"claimed; {VOL_A} is deleted with all its data afterwards"
    )
    assert refusal(EFS, moved(resource.UNKNOWN, resource.UNKNOWN)) == (
        f"volume default/shared is protected, and would be re-pointed from {FOLDER} to other storage: "
        f"{FOLDER.partition(':')[0]} is deleted with all its data afterwards; {MEANT}"
    )


def test_file_system_that_volumes_share_is_not_said_to_be_deleted():
    """Only the access point of this volume goes, whatever file system it is in next."""
    part = EFS | {"storage": {"location": FOLDER, "owned": True, "part": True}}
    new_inputs = part | {"externalId": resource.UNKNOWN}
    new_inputs["storage"] = {"location": resource.UNKNOWN, "owned": True, "part": True}

    said = desired.sentence("default/shared", classify(part, new_inputs))

    assert said.endswith(f"refused while claimed; the data stays in {FOLDER} and is not copied")


def test_folder_that_is_not_said_any_more_leaves_the_external_id():
    """What it will be is not known before the access point is made."""
    found = classify(EFS, EFS | {"externalId": resource.UNKNOWN, "storage": {}})

    assert (found.storage, found.old_data) == ("unknown", FOLDER)


OTHER_DATA = "may stand for other data afterwards: fs-1:/a stays its external id, with another"
PROTECTED = {
    "other storage": (
        {"externalId": "fs-1:/b"}, "would be re-pointed from fs-1:/a to fs-1:/b: the data stays in fs-1:/a and is not copied"
    ),
    "another share": (
        {"context": {"server": "nas", "share": "/b", "subDir": "x"}},
        f"{OTHER_DATA} context.share and context.subDir",
    ),
    "another setting": ({"context": {"server": "nas", "share": "/a", "mountOptions": "soft"}}, ""),
    "another plugin": ({"pluginId": "x"}, f"{OTHER_DATA} plugin"),
    "another volume": ({"volumeId": "b", "externalId": "fs-1:/b"}, ""),
    "how it is used": ({"name": "x", "capabilities": [], "requiredTopologies": [ZONE_A], "parameters": {"a": "b"}}, ""),
}  # fmt: skip


@pytest.mark.parametrize(("new_inputs", "why"), PROTECTED.values(), ids=PROTECTED)
def test_protected_volume_stays_on_its_storage(new_inputs, why):
    """External id, folder and share decide which data it is; what only says how it is used may change."""
    old = OLD | {
        "externalId": "fs-1:/a",
        "protect": True,
        "context": {"server": "nas", "share": "/a"},
        "storage": {"settings": ["mountOptions"]},
    }

    assert refusal(old, old | new_inputs) == (f"volume default/mysql is protected, and {why}; {MEANT}" if why else "")
