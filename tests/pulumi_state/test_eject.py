"""To eject: what a stack forgets and in which order, what hinders, the files, the backup, and what is left."""

import copy
import json
import stat

import pytest

from nomad_csi import errors
from nomad_csi.hcl import volume
from nomad_csi.pulumi_state import eject

STACK = "urn:pulumi:dev::shop::"
ROOT = f"{STACK}pulumi:pulumi:Stack::shop-dev"
AWS = f"{STACK}pulumi:providers:aws::default_7_51_1"
OTHER_AWS = f"{STACK}pulumi:providers:aws::own"
NOMAD = f"{STACK}pulumi:providers:nomad-csi::nomad"
PLUGIN = f"{STACK}nomad-csi:index:CsiPlugin::ebs"
JOB = f"{STACK}nomad-csi:index:CsiPlugin$nomad-csi:index:PluginJob::ebs-node"
EBS = f"{STACK}nomad-csi:index:EbsVolume::mysql"
STORAGE = f"{STACK}nomad-csi:index:EbsVolume$aws:ebs/volume:Volume::mysql"
VOLUME = f"{STACK}nomad-csi:index:EbsVolume$nomad-csi:index:VolumeRegistration::mysql"
MADE = f"{STACK}nomad-csi:index:CreatedVolume::scratch"
BUCKET = f"{STACK}aws:s3/bucket:Bucket::logs"
SECRET_KEY = "4dabf18193072939515e22adb298388d"
SEALED = {SECRET_KEY: "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:abc"}
HCL = 'job "plugin-ebs-nodes" {\n  group "g" {\n    task "t" {\n      csi_plugin {\n        id   = "ebs"\n        type = "node"\n      }\n    }\n  }\n}\n'
INPUTS = {
    "volumeId": "mysql",
    "namespace": "prod",
    "name": "mysql",
    "externalId": "vol-0123456789abcdef0",
    "pluginId": "ebs",
    "capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}],
    "mountOptions": {"fsType": "ext4", "mountFlags": ["noatime"]},
    "secrets": SEALED,
}
MADE_INPUTS = {name: value for name, value in INPUTS.items() if name not in ("externalId", "secrets", "mountOptions")}
MADE_INPUTS |= {"volumeId": "scratch", "namespace": "default", "name": "scratch", "capacityMinBytes": 2**30}


def resource(urn, kind=None, **more):
    """Return a resource as a state has it."""
    return {"urn": urn, "custom": "id" in more, "type": kind or urn.split("::")[2].rpartition("$")[2]} | more


def exported():
    """Return a state: a plugin, an EBS volume, a volume that the plugin made, and a bucket that is none of ours."""
    aws, nomad = {"provider": f"{AWS}::id-1"}, {"provider": f"{NOMAD}::id-2"}
    return {
        "version": 3,
        "deployment": {
            "resources": [
                resource(ROOT),
                resource(AWS, id="id-1"),
                resource(OTHER_AWS, id="id-3"),
                resource(NOMAD, id="id-2"),
                resource(PLUGIN, parent=ROOT),
                resource(
                    JOB,
                    id="default/plugin-ebs-nodes",
                    parent=PLUGIN,
                    inputs={"jobId": "plugin-ebs-nodes", "namespace": "default", "hcl": HCL},
                    **nomad,
                ),
                resource(EBS, parent=ROOT),
                resource(
                    STORAGE,
                    id="vol-0123456789abcdef0",
                    parent=EBS,
                    protect=True,
                    outputs={"tags": {"owner": "shop/dev", "hidden": SEALED}},
                    **aws,
                ),
                resource(
                    VOLUME, id="prod/mysql", parent=EBS, inputs=copy.deepcopy(INPUTS), dependencies=[STORAGE], **nomad
                ),
                resource(
                    MADE,
                    id="default/scratch",
                    parent=ROOT,
                    inputs=copy.deepcopy(MADE_INPUTS),
                    outputs={"externalId": "hp-1", "context": {"made": "by plugin"}},
                    **nomad,
                ),
                resource(BUCKET, id="logs", parent=ROOT, provider=f"{OTHER_AWS}::id-3"),
            ]
        },
    }


class StateOfATest:
    """An emulator of a stack: a state in memory that forgets as Pulumi does, dependents first."""

    def __init__(self, document):
        self.document = document
        self.forgets = []

    def export(self):
        return copy.deepcopy(self.document)

    def forget(self, urns, *, protected):
        self.forgets.append((tuple(urns), protected))
        for urn in urns:
            left = [each for each in self.document["deployment"]["resources"] if each["urn"] != urn]
            needing = [each["urn"] for each in left if urn in (each.get("parent"), *each.get("dependencies", ()))]
            assert not needing, f"{urn} is needed by {needing}"
            self.document["deployment"]["resources"] = left


@pytest.fixture
def stack():
    """A stack of which nothing is forgotten yet."""
    return StateOfATest(exported())


@pytest.fixture
def run(tmp_path):
    """Eject a stack below the folder of the test; return what was said."""

    def ejected(stack):
        said = []
        found = eject.plan_ejection(stack, "dev")
        eject.run(stack, found, folder=tmp_path / "out", backup=tmp_path / "before.json", report=said.append)
        return said

    return ejected


def test_everything_of_the_package_is_forgotten_dependents_first(stack):
    """Also what lies below a component in AWS, and the provider of the package; others and the bucket stay."""
    found = eject.plan_ejection(stack, "dev")

    assert found.urns == (MADE, VOLUME, STORAGE, EBS, JOB, PLUGIN, NOMAD)
    assert found.kept == (ROOT, AWS, OTHER_AWS, BUCKET)


def test_all_of_it_as_json(stack):
    """What stays in AWS, without a manager, has its tags, but none that is secret."""
    resources = stack.document["deployment"]["resources"]
    del resources[9]["outputs"]["context"]
    more = resource(f"{STORAGE}-b", id=7, parent=EBS, outputs={"tags": None})
    resources[8:8] = [more, resource(f"{STORAGE}-c", parent=EBS)]

    found = eject.plan_ejection(stack, "dev")

    kind, message = "aws:ebs/volume:Volume", "is secret and is not in any file: add it, or it is dropped"
    assert found.as_json() == {
        "forgotten": [MADE, VOLUME, f"{STORAGE}-c", f"{STORAGE}-b", STORAGE, EBS, JOB, PLUGIN, NOMAD],
        "kept": [ROOT, AWS, OTHER_AWS, BUCKET],
        "left_in_aws": [
            {"type": kind, "id": "vol-0123456789abcdef0", "tags": {"owner": "shop/dev"}},
            {"type": kind, "id": "7", "tags": {}},
        ],
        "files": ["jobs/ebs-node.nomad.hcl", "volumes/prod/mysql.volume.hcl", "volumes/default/scratch.volume.hcl"],
        "remarks": [f"secrets of volume prod/mysql {message}"],
    }


def test_the_state_forgets_and_a_backup_of_it_is_kept(stack, run, tmp_path):
    """The backup is what was there, encrypted as it was, for its owner's eyes."""
    before = stack.export()

    said = run(stack)

    backup = tmp_path / "before.json"
    assert [each["urn"] for each in stack.export()["deployment"]["resources"]] == [ROOT, AWS, OTHER_AWS, BUCKET]
    assert [protected for _, protected in stack.forgets] == [True]
    assert backup.read_text() == json.dumps(before, indent=2) + "\n"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert said == [
        f"state kept in {backup}: `pulumi stack import --file {backup}` brings it back",
        f"3 of 3 files written below {tmp_path / 'out'}",
    ]


@pytest.mark.parametrize(("protected", "is_forced"), [((), False), ((BUCKET,), False), ((BUCKET, VOLUME), True)])
def test_pulumi_is_forced_only_for_what_is_protected_itself(stack, run, protected, is_forced):
    """Protection of what stays in the stack is no reason."""
    for each in stack.document["deployment"]["resources"]:
        each["protect"] = each["urn"] in protected

    run(stack)

    assert [forced for _, forced in stack.forgets] == [is_forced]


def test_the_files_are_those_that_go_on(stack, run, tmp_path):
    """At the paths of `nomad-csi render`; ids are concrete."""
    run(stack)

    texts = {str(path.relative_to(tmp_path / "out")): path for path in (tmp_path / "out").rglob("*.hcl")}
    [mysql] = volume.read(texts["volumes/prod/mysql.volume.hcl"], namespace="default")
    [scratch] = volume.read(texts["volumes/default/scratch.volume.hcl"], namespace="default")
    assert set(texts) == {
        "jobs/ebs-node.nomad.hcl",
        "volumes/prod/mysql.volume.hcl",
        "volumes/default/scratch.volume.hcl",
    }
    assert texts["jobs/ebs-node.nomad.hcl"].read_text() == HCL
    assert (mysql.document.external_id, mysql.document.mount_options.mount_flags) == (
        INPUTS["externalId"],
        ("noatime",),
    )
    assert (scratch.document.external_id, scratch.document.context) == ("hp-1", {"made": "by plugin"})


@pytest.mark.parametrize("flags", [SEALED, ["noatime", SEALED], [["noatime"], {"of": SEALED}]])
def test_secrets_inside_of_other_values_are_in_no_file_and_are_told(stack, flags):
    """One value of a map, or one item of a list: what holds it is left out as a whole."""
    volume = next(each for each in stack.document["deployment"]["resources"] if each["urn"] == VOLUME)
    volume["inputs"] = INPUTS | {
        "secrets": {"token": SEALED},
        "context": {"server": "nas", "password": SEALED},
        "mountOptions": {"fsType": "ext4", "mountFlags": flags},
    }

    found = eject.plan_ejection(stack, "dev")

    text = found.files["volumes/prod/mysql.volume.hcl"]
    assert [word for word in ("nas", "noatime", "ciphertext", SECRET_KEY) if word in text] == []
    message = "of volume prod/mysql is secret and is not in any file: add it, or it is dropped"
    assert found.remarks == (f"mountOptions {message}", f"secrets {message}", f"context {message}")


UNFINISHED = f"and its end is not known: {VOLUME}; run `pulumi refresh` or `pulumi up`, then eject"
NOT_MADE = "volume default/scratch: the state does not hold its external id; run `pulumi up`, then eject"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda found: (
                found.update(pending_operations=[{"resource": {"urn": urn}} for urn in (MADE, STORAGE)]),
                found["resources"][8].update(delete=True),
            ),
            f"dev: an operation was interrupted, {UNFINISHED}".replace(VOLUME, f"{MADE}, {STORAGE}, {VOLUME}"),
        ),
        (lambda found: found["resources"][8].update(delete=True), f"dev: an operation was interrupted, {UNFINISHED}"),
        (lambda found: found["resources"][9]["outputs"].clear(), NOT_MADE),
        (lambda found: found["resources"][9].pop("outputs"), NOT_MADE),
        (lambda found: found["resources"][9]["outputs"].update(externalId=""), NOT_MADE),
        (
            lambda found: found["resources"][5]["inputs"].update(hcl=SEALED),
            "job default/plugin-ebs-nodes: its HCL is secret in the state, and is written to no file; keep its file "
            "yourself, and take it out of the stack with `pulumi state delete`",
        ),
        (
            lambda found: found["resources"].append(found["resources"][5] | {"inputs": {"hcl": "other"}}),
            "two resources of the stack have the file jobs/ebs-node.nomad.hcl; eject them from separate stacks",
        ),
    ],
)
def test_rejects_a_state_that_cannot_be_ejected_now(stack, change, message):
    """Before anything is written: with what is in the way."""
    change(stack.document["deployment"])

    with pytest.raises(errors.RefusedError) as refusal:
        eject.plan_ejection(stack, "dev")

    assert str(refusal.value) == message


def test_rejects_a_file_of_somebody_else_in_the_way(stack, run, tmp_path):
    """Nothing is forgotten then."""
    path = tmp_path / "out/volumes/prod/mysql.volume.hcl"
    path.parent.mkdir(parents=True)
    path.write_text("mine\n")

    with pytest.raises(errors.RefusedError, match="not overwritten"):
        run(stack)

    assert stack.forgets == []


def test_rejects_to_write_over_a_backup(stack, run, tmp_path):
    """The first backup is the one that counts."""
    (tmp_path / "before.json").write_text("the first")

    with pytest.raises(errors.RefusedError, match=r"before\.json is there already"):
        run(stack)

    assert (stack.forgets, (tmp_path / "before.json").read_text()) == ([], "the first")


def test_rejects_a_stack_that_changed_while_one_was_asked(stack, tmp_path):
    """Somebody else's `pulumi up` came between the list and the answer."""
    found = eject.plan_ejection(stack, "dev")
    stack.document["deployment"]["resources"].pop()

    with pytest.raises(errors.RefusedError, match="the stack changed meanwhile"):
        eject.run(stack, found, folder=tmp_path, backup=tmp_path / "b.json", report=print)

    assert (stack.forgets, list(tmp_path.iterdir())) == ([], [])


def test_an_ejection_that_was_broken_off_goes_on(stack, tmp_path, run):
    """What was forgotten first stays forgotten; the rest follows, and its files with it."""
    stack.forget((MADE,), protected=False)
    (tmp_path / "out/jobs").mkdir(parents=True)
    (tmp_path / "out/jobs/ebs-node.nomad.hcl").write_text(HCL)

    assert run(stack)[1] == f"1 of 2 files written below {tmp_path / 'out'}"
    assert [each["urn"] for each in stack.export()["deployment"]["resources"]] == [ROOT, AWS, OTHER_AWS, BUCKET]
    assert (tmp_path / "out/volumes/prod/mysql.volume.hcl").exists()


def test_two_jobs_of_one_name_get_two_files(stack):
    """In different namespaces; each is named as the resource is. A file that two have alike is one file."""
    other = copy.deepcopy(stack.document["deployment"]["resources"][5])
    other["urn"] += "-prod"
    other["inputs"] |= {"namespace": "prod", "hcl": HCL + "\n"}
    same = stack.document["deployment"]["resources"][5] | {
        "urn": JOB.replace("CsiPlugin$", "Own$nomad-csi:index:CsiPlugin$")
    }
    stack.document["deployment"]["resources"][6:6] = [other, same]

    assert tuple(path for path in eject.plan_ejection(stack, "dev").files if path.startswith("jobs/")) == (
        "jobs/ebs-node.nomad.hcl",
        "jobs/ebs-node-prod.nomad.hcl",
    )
