"""Hostile texts in every place of a spec: what is accepted reads back as planned, with nothing more in it."""

import copy
import json
import os
import random

import pytest

from nomad_csi import errors
from nomad_csi.hcl import documents, read, volume
from nomad_csi.hcl import job as jobs
from nomad_csi.nomad import volumes
from nomad_csi.plan import storage
from tests import hostile, hostile_specs

COUNT = int(os.environ.get("NOMAD_CSI_HOSTILE_SPECS", "300"))
"""How many specs are made; 6,000 search for longer, and take minutes."""

MAPS = frozenset({"env", "context", "parameters", "segments", "args", "mount_flags", "data"})
"""What holds names and texts of an operator's own."""


def shape(value):
    """Return the names in *value*, without the texts: what blocks there are, and how many."""
    if isinstance(value, dict):
        return {name: None if name in MAPS else shape(item) for name, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else None


def changed(chance):
    """Return `SPEC` with hostile texts in one to three places, in a value or in a key, each in a tenth unwritable."""
    document = copy.deepcopy(hostile_specs.SPEC)
    chosen = chance.sample(hostile_specs.PLACES, 1 + chance.randrange(3))
    for *way, last in sorted(chosen, key=lambda place: (place in hostile_specs.KEYS, -len(place))):
        inside = document
        for step in way:
            inside = inside[step]
        if last == "":
            name = chance.choice(list(inside))
            inside[f"{name}{_text(chance)}"] = inside.pop(name)
        else:
            inside[last] = _text(chance) if chance.randrange(2) else f"{inside[last]}{_text(chance)}"
    return document


def _text(chance):
    made = hostile.texts if chance.randrange(10) else hostile.unwritable_texts
    return next(text for text in made(100, chance.randrange(2**32)) if text)


def accepted(seed):
    """Yield those of `COUNT` hostile specs that are accepted, as JSON and planned; each problem of the others has a path."""
    chance = random.Random(seed)  # noqa: S311  # tests are to be repeated
    for _ in range(COUNT):
        document = changed(chance)
        try:
            yield json.dumps(document), storage.plan_document(document)
        except errors.SpecError as error:
            if not all(problem.path for problem in error.problems):
                pytest.fail(json.dumps(document))


def test_accepted_specs_render_into_the_same_blocks():
    """However hostile the texts: no block and no attribute more, and each part as it was planned."""
    [plain_job] = storage.plan_document(hostile_specs.SPEC).plugins[0].jobs
    wanted = shape(read.read_job(documents.job_file(plain_job)))
    seed = random.randrange(2**32)  # noqa: S311  # tests are to be repeated
    count = 0
    for document, plan in accepted(seed):
        [job], [planned] = plan.plugins[0].jobs, plan.volumes
        try:
            files = documents.render_plan(plan, {})
        except errors.SpecError:  # `check` renders, too
            continue
        read_back = read.read_job(files[job.file_name])
        [(_, task, plugin)] = jobs.jobs(read_back)[0].plugins()
        assert (plugin.id, plugin.mount_dir or "/csi") == (job.plugin_id, job.mount_dir), document
        assert (task.image, task.arguments) == (job.image, list(job.arguments)), document
        assert task.env.items() >= job.environment.items(), document
        assert shape(read_back) == wanted, document
        assert len(jobs.jobs(read_back)) == 1, document
        in_file = volume.volume_payload(read.read_volume(files[planned.file_name]))
        sent = volumes.payload(planned.registration)
        sent.pop("Secrets")
        in_file.pop("Secrets", None)
        assert in_file == sent, document
        assert "CANARY" not in files[planned.file_name] + files[job.file_name], document
        count += 1

    assert count > COUNT / 10
