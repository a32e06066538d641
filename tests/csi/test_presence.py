"""Whether a volume exists is asked in a way that its driver can answer, and what it cannot answer is said to be so."""

from types import SimpleNamespace

import pytest

from nomad_csi import errors
from nomad_csi.csi import presence, services
from nomad_csi.csi.v1 import csi_pb2

GONE, CONFIRMED = "NOT_FOUND", "OK"
CONNECTION = SimpleNamespace(endpoint=SimpleNamespace(text="/csi.sock"))
VOLUME = "nas#pool#pvc-4bcbf944"


class Driver:
    """A controller that answers by the volume's id; ``validations`` has any id under an empty one."""

    def __init__(self, monkeypatch, validations, pages=None, condition=None):
        self.asked, self.given = [], []
        self.validations, self.pages, self.condition = validations, pages, condition
        for name in (
            "validate_volume_capabilities",
            "list_volumes",
            "controller_get_volume",
            "controller_get_capabilities",
        ):
            monkeypatch.setattr(services, name, getattr(self, name))

    def validate_volume_capabilities(self, _connection, *, volume_id, **given):
        self.asked.append(("validate", volume_id))
        self.given.append(given)
        code = self.validations.get(volume_id, self.validations.get("", GONE))
        if code != CONFIRMED:
            code, _, text = code.partition(": ")
            raise errors.CsiError("/csi.sock", f"{code}: {text}", code=code)

    def controller_get_capabilities(self, _connection, **given):
        self.given.append(given)
        return () if self.pages is None else ("LIST_VOLUMES",)

    def list_volumes(self, _connection, **given):
        self.given.append(given)
        for found in self.pages:
            self.asked.append(("list", found))
            yield from found

    def controller_get_volume(self, _connection, *, volume_id, **given):
        self.asked.append(("get", volume_id))
        self.given.append(given)
        if isinstance(self.condition, errors.CsiError):
            raise self.condition
        return csi_pb2.VolumeCondition(abnormal=self.condition != "1 of 3 copies not found", message=self.condition)


def observed(**question):
    return presence.observe(CONNECTION, presence.PresenceQuestion(volume_id=VOLUME, **question))


@pytest.mark.parametrize(
    ("validations", "pages", "expected"),
    [
        ({VOLUME: GONE}, None, "absent"),
        ({"": CONFIRMED}, None, "unobservable"),
        ({"": CONFIRMED}, [(), (VOLUME,)], "present"),
        ({"": CONFIRMED}, [("other",), ()], "absent"),
        ({"": "UNIMPLEMENTED"}, None, "unobservable"),
        ({"": "UNIMPLEMENTED"}, [(VOLUME,)], "present"),
        ({VOLUME: "INTERNAL: backend is down"}, None, "unobservable"),
    ],
)
def test_driver_of_which_nothing_is_known_is_asked_for_a_list(monkeypatch, validations, pages, expected):
    """Its confirmation proves nothing: some confirm every id."""
    Driver(monkeypatch, validations, pages)

    assert observed() == expected


@pytest.mark.parametrize(
    ("known", "validations", "expected"),
    [
        ({"absence": "none"}, {"": CONFIRMED}, "unobservable"),
        ({"absence": "validate"}, {"": CONFIRMED}, "present"),
        ({"absence": "validate"}, {"": GONE}, "absent"),
        ({"absence": "validate"}, {"": "INTERNAL: backend is down"}, "present"),
        (
            {"absence": "validate", "gone": [r"InvalidVolume\.NotFound"]},
            {"": "INTERNAL: InvalidVolume.NotFound"},
            "absent",
        ),
        ({"absence": "validate"}, {"": "UNIMPLEMENTED"}, "unobservable"),
    ],
)
def test_what_is_known_of_the_driver_goes_first(monkeypatch, known, validations, expected):
    """One question, or none; an error about something else is no proof of absence."""
    driver = Driver(monkeypatch, validations)

    assert observed(**known) == expected
    assert driver.asked == ([] if known["absence"] == "none" else [("validate", VOLUME)])


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("", "present"),
        ("Volume ID x not found", "absent"),
        ("degraded", "present"),
        ("1 of 3 copies not found", "present"),
        (errors.CsiError("/csi.sock", "NOT_FOUND: no", code="NOT_FOUND"), "absent"),
        (errors.CsiError("/csi.sock", "INTERNAL: no", code="INTERNAL"), "present"),
    ],
)
def test_condition_of_a_volume_tells_where_its_validation_cannot(monkeypatch, condition, expected):
    """An abnormal condition alone is no absence."""
    driver = Driver(monkeypatch, {"": GONE}, condition=condition)

    assert observed(absence="get", gone=["not found"]) == expected
    assert driver.asked == [("get", VOLUME)]


def test_driver_without_that_call_is_asked_to_validate(monkeypatch):
    """An older release of it."""
    for answer, expected in ((GONE, "absent"), (CONFIRMED, "present")):
        driver = Driver(monkeypatch, {"": answer}, condition=errors.CsiError("/csi.sock", "", code="UNIMPLEMENTED"))

        assert observed(absence="get") == expected
        assert driver.asked == [("get", VOLUME), ("validate", VOLUME)]


def test_each_call_has_the_time_limit_and_validation_the_secrets(monkeypatch):
    """All four, by a driver that answers none of the first two."""
    lacking = "UNIMPLEMENTED"
    driver = Driver(monkeypatch, {"": lacking}, [()], errors.CsiError("/csi.sock", "", code=lacking))

    assert observed(absence="get", secrets={"key": "s"}, timeout_s=7) == "absent"

    use = services.volume_capability(access_mode="single-node-writer", attachment_mode="file-system")
    validated = {"capabilities": (use,), "secrets": {"key": "s"}, "timeout_s": 7}
    assert driver.given == [{"timeout_s": 7}, validated, {"timeout_s": 7}, {"timeout_s": 7}]


@pytest.mark.parametrize("code", ["UNAVAILABLE", "DEADLINE_EXCEEDED", ""])
@pytest.mark.parametrize("absence", ["", "validate", "get"])
def test_no_answer_is_raised(monkeypatch, code, absence):
    """Out of reach is neither present nor absent."""
    Driver(monkeypatch, {"": code}, condition=errors.CsiError("/csi.sock", "", code=code))

    with pytest.raises(errors.CsiError):
        observed(absence=absence)
