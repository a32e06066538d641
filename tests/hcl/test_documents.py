"""Whole files, reviewed like code, and what readers make of them."""

import dataclasses

import pytest

from nomad_csi.hcl import documents, read, values, volume
from nomad_csi.hcl import job as jobs
from nomad_csi.nomad import volumes
from nomad_csi.plan import program_jobs, smoke, storage
from nomad_csi.plan.registration import Capability, MountOptions, VolumeRegistration
from nomad_csi.spec import encrypted


def plain(**changes):
    base = VolumeRegistration(
        volume_id="v",
        name="v",
        external_id="vol-01234567",
        plugin_id="p",
        capabilities=(Capability(access_mode="single-node-writer", attachment_mode="file-system"),),
    )
    return dataclasses.replace(base, **changes)


@pytest.mark.parametrize(
    ("size", "written"),
    [
        (10 * 2**30, "10GiB"),
        (1536 * 2**20, "1536MiB"),
        (104_857_600, "100MiB"),
        (5 * 2**10, "5KiB"),
        (104_857_601, "104857601B"),
        (2**53 - 1, "9007199254740991B"),
    ],
)
def test_sizes_in_a_file_are_exact(size, written):
    """The largest unit that divides it, and the same bytes when Nomad's CLI reads it."""
    made = plain(external_id="", capacity_min_bytes=size, capacity_max_bytes=size)

    text = documents.volume_file(made, made_by_plugin=True)

    payload = volume.volume_payload(read.read_volume(text))
    assert f'capacity_min = "{written}"\ncapacity_max = "{written}"\n' in text
    assert (payload["RequestedCapacityMin"], payload["RequestedCapacityMax"]) == (size, size)


def test_volume_that_its_plugin_creates_has_a_file_for_create():
    """With its size, and without an external id, which nobody has to give."""
    volume_spec = {"id": "data", "plugin_id": "p", "create": {"capacity_min_gib": 1}}
    plan = storage.plan_document({"plugins": [{"id": "p", "driver": "csi-hostpath"}], "volumes": [volume_spec]})

    document = read.read_volume(documents.render_plan(plan, {})["volumes/default/data.volume.hcl"])

    assert document["capacity_min"] == "1GiB"
    assert "external_id" not in document


@pytest.mark.parametrize(("count", "text"), [(1, "1 of its mount flags is"), (2, "2 of its mount flags are")])
def test_volume_file_counts_encrypted_flags_and_does_not_hold_them(count, text):
    """The other flags stand in it."""
    flags = ("noatime", *[encrypted.PLACEHOLDER] * count)

    written = documents.volume_file(plain(mount_options=MountOptions(mount_flags=flags)))

    assert f"# {text} encrypted and in no file" in written
    assert read.read_volume(written)["mount_options"] == [{"mount_flags": ["noatime"]}]


def test_volume_file_names_secrets_and_does_not_hold_them():
    """A committed file tells that there are secrets, and which; only the payload has them."""
    registration = plain(secrets={"token": "CANARY", "user": "CANARY"})

    text = documents.volume_file(registration)

    assert "CANARY" not in text
    assert "# Its secrets (token, user) are sent with the registration and stand in no file." in text
    sent = volumes.payload(registration)
    assert sent.pop("Secrets") == {"token": "CANARY", "user": "CANARY"}
    in_file = volume.volume_payload(read.read_volume(text))
    in_file.pop("Secrets", None)
    assert in_file == sent


ONCE = {
    "smoke": documents.smoke_job_file(
        smoke.SmokeJob(
            job_id="nomad-csi-smoke-a",
            namespace="default",
            region="",
            volume_id="mysql",
            access_mode="single-node-writer",
            task_driver="exec",
            image="",
            node_ids=("a",),
            kind="write",
            token="a",
        )
    ),
    "verify": documents.verify_job_file(program_jobs.VerifyJob(spec="{}")),
    "probe": documents.probe_job_file(program_jobs.ProbeJob(node_ids=("a",))),
}
"""Jobs of this package that run once, or once at each of their times."""


@pytest.mark.parametrize(
    ("name", "kind", "tries"),
    [
        ("smoke", "batch", [{"attempts": 0, "unlimited": False}]),
        ("verify", "batch", [{"attempts": 0, "unlimited": False}]),
        ("probe", "sysbatch", []),
    ],
)
def test_job_whose_first_result_counts_is_tried_once(name, kind, tries):
    """A second try could succeed where the first has shown what is wrong, and a smoke job would write twice."""
    [job] = jobs.jobs(read.read_job(ONCE[name], ""))
    [group] = job.groups

    assert job.type == kind
    assert [dict(block) for block in values.blocks(group.body, "restart")] == [{"attempts": 0, "mode": "fail"}]
    assert [dict(block) for block in values.blocks(group.body, "reschedule")] == tries


def test_runs_of_the_periodic_job_do_not_overlap():
    """One that takes longer than the interval is not joined by the next."""
    [job] = jobs.jobs(read.read_job(ONCE["verify"], ""))

    [periodic] = values.blocks(job.body, "periodic")

    assert (periodic["prohibit_overlap"], periodic["time_zone"]) == (True, "UTC")
