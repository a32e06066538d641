"""Generated plans: every text reads back as what was planned, however hostile its values are."""

import itertools
import os
import random

import pytest

from nomad_csi.hcl import layout, read, volume
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration, storage
from nomad_csi.render import disk, documents, files
from tests import hostile

COUNT = int(os.environ.get("HCL_EXAMPLES", "200")) // 8
"""Files of each test: 25, five times as many with ``make test-all``, a hundred times with ``make soak``."""


@pytest.fixture
def chance():
    """Another one in each run."""
    return random.Random(random.randrange(2**32))  # noqa: S311  # tests are to be repeated


def pairs(texts, count):
    return dict(itertools.pairwise(itertools.islice(texts, count + 1)))


def test_volume_file_reads_back_as_the_payload(chance):
    """Any registration: what Nomad's command would send for the file is what we send."""
    texts = hostile.texts(100 * COUNT, chance.randrange(2**32))
    for _ in range(COUNT):
        document = registration.VolumeRegistration(
            volume_id=next(texts),
            namespace=next(texts),
            name=next(texts),
            external_id=next(texts),
            plugin_id=next(texts),
            capabilities=tuple(
                registration.Capability(access_mode=next(texts), attachment_mode=next(texts))
                for _ in range(1 + chance.randrange(3))
            ),
            mount_options=registration.MountOptions(
                fs_type=next(texts), mount_flags=tuple(itertools.islice(texts, chance.randrange(4)))
            ),
            required_topologies=tuple(pairs(texts, 1 + chance.randrange(3)) for _ in range(chance.randrange(3))),
            parameters=pairs(texts, chance.randrange(4)),
            context=pairs(texts, chance.randrange(4)),
        )

        text = documents.volume_file(document)

        written = {"MountOptions": {}} | {k: v for k, v in volume.volume_payload(read.read_volume(text)).items() if v}
        assert written == volumes.payload(document)
        assert layout.layout(text) == text
        assert disk.is_ours(text)


def spec(chance):
    """Return a sound spec whose free texts are hostile."""
    seed = chance.randrange(2**32)
    any_text, job_text = hostile.texts(100, seed), (text for text in hostile.job_texts(100, seed) if text)
    names = ("AWS_CA_BUNDLE", "HTTPS_PROXY", "x", "_Y9")
    plugin = {
        "id": f"efs-{chance.randrange(10)}",
        "driver": "aws-efs",
        "aws_region": "us-east-1",
        "node_pool": next(job_text),
        "datacenters": list(itertools.islice(job_text, 1 + chance.randrange(3))),
        "environment": {name: next(job_text) for name in names[: chance.randrange(5)]},
    }
    volume_spec = {
        "id": f"data-{chance.randrange(1000)}[{chance.randrange(10)}]",
        "plugin_id": plugin["id"],
        "name": next(any_text),
        "existing": {"external_id": f"fs-{chance.randrange(2**68):017x}"},
        "mount_options": {"mount_flags": list(itertools.islice(any_text, chance.randrange(4)))},
        "secrets": {next(any_text): "CANARY"},
    }
    return {"plugins": [plugin], "volumes": [volume_spec]}


def test_files_of_a_spec_read_back_as_its_plan(chance):
    """Any sound spec: the job file holds what the job is to hold, the volume file the payload without its secrets."""
    for _ in range(COUNT):
        plan = storage.plan_document(spec(chance))
        [job], [planned] = plan.plugins[0].jobs, plan.volumes

        rendered = files.render_plan(plan, {})

        [parsed] = read.read_job(rendered[job.file_name])["job"]
        [task] = parsed["group"][0]["task"]
        assert (parsed["datacenters"], parsed["node_pool"]) == (list(job.datacenters), job.node_pool)
        assert task.get("env", [{}]) == [dict(job.environment)]
        assert task["config"][0]["args"] == list(job.arguments)
        in_file = volume.volume_payload(read.read_volume(rendered[planned.file_name]))
        sent = volumes.payload(planned.registration)
        assert set(sent.pop("Secrets").values()) == {"CANARY"}
        in_file.pop("Secrets", None)
        assert in_file == sent
        assert "CANARY" not in rendered[planned.file_name]
