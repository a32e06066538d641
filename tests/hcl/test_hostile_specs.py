"""Hostile texts in every place of a spec: what is accepted reads back as planned, with nothing more in it."""

import random

from nomad_csi.hcl import documents, read, volume
from nomad_csi.hcl import job as jobs
from nomad_csi.nomad import volumes
from nomad_csi.plan import storage
from tests import hostile_specs

MAPS = frozenset({"env", "context", "parameters", "segments", "args", "mount_flags", "data"})
"""What holds names and texts of an operator's own."""


def shape(value):
    """Return the names in *value*, without the texts: what blocks there are, and how many."""
    if isinstance(value, dict):
        return {name: None if name in MAPS else shape(item) for name, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else None


def test_accepted_specs_render_into_the_same_blocks():
    """However hostile the texts: no block and no attribute more, and each part as it was planned."""
    [plain_job] = storage.plan_document(hostile_specs.SPEC).plugins[0].jobs
    wanted = shape(read.read_job(documents.job_file(plain_job)))
    seed = random.randrange(2**32)  # noqa: S311  # tests are to be repeated
    count = 0
    for found in hostile_specs.accepted(seed):
        read_back = read.read_job(found.job_file)
        [(_, task, plugin)] = jobs.jobs(read_back)[0].plugins()
        job = found.job
        assert (plugin.id, plugin.mount_dir or "/csi") == (job.plugin_id, job.mount_dir), found.document
        assert (task.image, task.arguments) == (job.image, list(job.arguments)), found.document
        assert task.env.items() >= job.environment.items(), found.document
        assert shape(read_back) == wanted, found.document
        assert len(jobs.jobs(read_back)) == 1, found.document
        in_file = volume.volume_payload(read.read_volume(found.volume_file))
        sent = volumes.payload(found.volume.registration)
        sent.pop("Secrets")
        in_file.pop("Secrets", None)
        assert in_file == sent, found.document
        assert "CANARY" not in found.volume_file + found.job_file, found.document
        count += 1

    assert count > hostile_specs.COUNT / 10
