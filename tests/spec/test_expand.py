"""Classes and sets: what is written becomes the volumes that are meant, and each mistake is told once."""

import pytest

from nomad_csi.spec import draft

EBS = {"availability_zone": "us-east-1a", "size_gib": 10}


def read(*volumes, classes=None):
    """Return the volumes by path, and the problems."""
    found = []
    document = {"volumes": list(volumes)} | ({} if classes is None else {"classes": classes})
    return dict(draft.each_volume(document, found)), found


def lines(*volumes, classes=None):
    _, found = read(*volumes, classes=classes)
    return [str(problem) for problem in draft.fold_sets(found, {"volumes": volumes})]


def volume(**changes):
    return {"id": "data", "plugin_id": "aws-ebs0", "ebs": dict(EBS)} | changes


def test_volume_takes_over_what_its_class_says():
    """Mappings key by key, the volume first; lists whole."""
    classes = {
        "fast": {
            "plugin_id": "aws-ebs0",
            "ebs": {"volume_type": "io2", "iops": 500, "size_gib": 99},
            "mount_options": {"fs_type": "xfs", "mount_flags": ["noatime", "ro"]},
        }
    }

    written = {"id": "a", "class": "fast", "ebs": EBS, "mount_options": {"mount_flags": ["rw"]}}
    volumes, found = read(written, classes=classes)

    [made] = volumes.values()
    assert found == []
    assert (made.plugin_id, made.ebs.volume_type, made.ebs.iops, made.ebs.size_gib) == ("aws-ebs0", "io2", 500, 10)
    assert (made.mount_options.fs_type, made.mount_options.mount_flags) == ("xfs", ("rw",))


def test_count_makes_a_set_with_indexes():
    """The form that a group with per_alloc asks for."""
    volumes, _ = read(volume(count=3))

    assert {path: item.id for path, item in volumes.items()} == {
        "volumes[0].each[0]": "data[0]",
        "volumes[0].each[1]": "data[1]",
        "volumes[0].each[2]": "data[2]",
    }


def test_each_makes_a_set_with_something_of_its_own():
    """Merged like a class, over the volume."""
    volumes, _ = read(volume(each=[{"ebs": {"availability_zone": "us-east-1b"}}, {"name": "second"}]))

    first, second = volumes.values()
    assert (first.id, first.ebs.availability_zone, first.ebs.size_gib) == ("data[0]", "us-east-1b", 10)
    assert (second.id, second.ebs.availability_zone, second.name) == ("data[1]", "us-east-1a", "second")


@pytest.mark.parametrize("count", [1, 1000])
def test_count_may_stand_beside_each_where_they_agree(count):
    """A check that somebody wants."""
    assert lines(volume(count=count, each=[{}] * count)) == []


@pytest.mark.parametrize(
    "more",
    [{"count": 1}, {"count": 2, "shares_storage": True}, {"each": [{}, {"existing": {"external_id": "fs-2"}}]}],
)
def test_count_of_existing_storage_makes_one_volume_or_such_that_share_it(more):
    """Nobody else has its external id."""
    assert lines({"id": "data", "plugin_id": "p", "existing": {"external_id": "fs-1"}} | more) == []


CLASSES = "one of adopt, capabilities, context, create, ebs, efs, existing, mount_options, name, namespace, parameters, plugin_id, protect, secrets, shares_storage, snapshots, topologies"
COUNT = "a whole number of 1 to 1000"


@pytest.mark.parametrize(
    ("written", "classes", "line"),
    [
        (volume(**{"class": "fats"}), {"fast": {}}, "volumes[0].class: expected a class of this spec: fast, got 'fats'; add it under classes"),
        (volume(**{"class": "x"}), None, "volumes[0].class: expected a class of this spec: there is none, got 'x'; add it under classes"),
        (volume(**{"class": ["x"]}), {"x": {}}, "volumes[0].class: expected a class of this spec: x, got a list; add it under classes"),
        (volume(count=0), None, f"volumes[0].count: expected {COUNT}, got 0"),
        (volume(count=1001), None, f"volumes[0].count: expected {COUNT}, got 1001"),
        (volume(count=True), None, f"volumes[0].count: expected {COUNT}, got true"),
        (volume(id=5, count=1), None, "volumes[0].id: expected a valid string, got 5"),
        (volume(count="3"), None, f"volumes[0].count: expected {COUNT}, got '3'"),
        (volume(count=2, each=[{}]), None, "volumes[0].count: expected 1, as many as there are in each, or no count, got 2"),
        (volume(count=1, each=[{}, {}]), None, "volumes[0].count: expected 2, as many as there are in each, or no count, got 1"),
        (volume(each=[]), None, "volumes[0].each: expected a list with a mapping for each volume, got []"),
        (volume(each={"a": 1}), None, "volumes[0].each: expected a list with a mapping for each volume, got a mapping"),
        (volume(each=3), None, "volumes[0].each: expected a list with a mapping for each volume, got 3"),
        (volume(each=[1]), None, "volumes[0].each: expected a list with a mapping for each volume, got a list"),
        (volume(), ["x"], "classes: expected a mapping, got a list"),
        (volume(), {"a": 1}, "classes.a: expected a mapping, parts of a volume, got 1"),
        (
            {"id": "data", "plugin_id": "p", "count": 2, "existing": {"external_id": "vol-1"}},
            {},
            "volumes[0].count: expected each instead of count: it gives every volume an external_id of its own, got 2 with one external_id",
        ),
        (volume(), {"a": {"ebss": {}}}, "classes.a.ebss: unknown key; did you mean ebs?"),
        (volume(), {"a": {"id": "x"}}, f"classes.a.id: expected {CLASSES}, got an unknown key; remove it"),
        (volume(), {"a": {"class": "b"}}, f"classes.a.class: expected {CLASSES}, got an unknown key; remove it"),
        (volume(each=[{"size_gib": 1}, {"size_gib": 2}]), None, None),
    ],
)  # fmt: skip
def test_bad_class_or_set_is_refused_with_its_place(written, classes, line):
    """One problem for one mistake; of a set the first volume speaks for all with the same mistake."""
    found = lines(written, classes=classes)

    if line is None:
        assert [text.partition(":")[0] for text in found] == ["volumes[0].each[0].size_gib"]
    else:
        assert found == [line]


def test_set_whose_volumes_have_different_mistakes_tells_each():
    """The second is not hidden by the first."""
    found = lines(volume(each=[{"name": 1}, {"namespace": "a b"}]))

    assert found == [
        "volumes[0].each[0].name: expected a valid string, got 1",
        "volumes[0].each[1].namespace: expected letters, digits and '-', got 'a b'",
    ]


def test_class_of_a_value_that_is_no_mapping_is_replaced():
    """A text over a mapping is the volume's own mistake, told as such."""
    assert lines(
        volume(**{"class": "a", "mount_options": "x"}), classes={"a": {"mount_options": {"fs_type": "xfs"}}}
    ) == ["volumes[0].mount_options: expected a mapping, got 'x'"]
