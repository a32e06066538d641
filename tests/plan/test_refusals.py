"""What a spec is refused for, and its neighbours that are not: each has exactly the problems of `refusals.yaml`."""

from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.plan import storage
from tests import tables

GROUPS = tables.load(Path(__file__).with_name("refusals.yaml"))
CASES = [
    pytest.param(case, id=f"{group['what']} {index}") for group in GROUPS for index, case in enumerate(group["cases"])
]


def change(document, path, value):
    """Set the value at *path* of *document*, such as ``volumes.0.ebs.size_gib``; an index at the end adds an item."""
    *above, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in above:
        document = document[step]
    if isinstance(document, list) and last == len(document):
        document.append(value)
    else:
        document[last] = value


@pytest.mark.parametrize("case", CASES)
def test_spec_has_exactly_these_problems(case, document):
    """All of them, in this order; none where it is accepted."""
    written = case.get("spec", document)
    for path, value in case.get("changes", {}).items():
        change(written, path, value)
    found = []
    try:
        storage.plan_document(written)
    except errors.SpecError as error:
        found = [str(problem) for problem in error.problems]

    assert found == case["problems"]


def existing(volume_id, external_id):
    source = {"external_id": external_id, "availability_zone": "us-east-1a"}
    return {"id": volume_id, "plugin_id": "aws-ebs0", "existing": source}


def test_all_problems_are_reported_at_once(document):
    """Values, rules of one thing and rules across things come in one error that names its source."""
    document["plugins"][0]["priority"] = 101
    document["volumes"][1]["efs"]["clients"] = {}
    document["volumes"].append(existing("a", "vol-01234567") | {"foo": 1})

    with pytest.raises(errors.SpecError) as caught:
        storage.plan_document(document, source="storage.yaml")

    assert [problem.path for problem in caught.value.problems] == [
        "plugins[0].priority",
        "volumes[1].efs.clients",
        "volumes[2].foo",
    ]
    assert str(caught.value).startswith(
        "storage.yaml: 3 problems\n  plugins[0] (aws-ebs0).priority: expected less than or equal to 100, got 101"
    )


def test_problems_name_plugins_and_volumes_beside_their_indexes(document):
    """Those of a set by the set's id; one of another namespace with that; an id that is none is not shown."""
    document["plugins"][0]["priority"] = 101
    document["volumes"][0] |= {"count": 2, "adopt": 3, "namespace": "default"}
    document["volumes"][1] |= {"namespace": "prod", "adopt": 3}
    document["volumes"].append(document["volumes"][0] | {"id": "a b"})

    with pytest.raises(errors.SpecError) as caught:
        storage.plan_document(document)

    assert [line.partition(":")[0] for line in caught.value.lines] == [
        "plugins[0] (aws-ebs0).priority",
        "volumes[0] (mysql).adopt",
        "volumes[1] (prod/shared).adopt",
        "volumes[2].id",
        "volumes[2].adopt",
        "volumes[2].id",
    ]
