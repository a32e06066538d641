"""Every row of the catalogue holds together."""

import re
from typing import get_args

import pydantic
import pytest

from nomad_csi.drivers import catalogue
from nomad_csi.plan.rules import ebs_rules
from nomad_csi.spec import driver as driver_spec
from nomad_csi.spec import names

DRIVERS = list(catalogue.DRIVERS.values())


@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_row_is_dated_sourced_and_consistent(driver):
    """A row without a date or a source, or with a mode that Nomad does not know, does not enter."""
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", driver.as_of)
    assert driver.sources
    assert driver.image.endswith(f":{driver.version}")
    assert driver.default_mode in driver.modes
    assert {mode for mode, _ in driver.modes} <= set(names.ACCESS_MODES)
    assert {attachment for _, attachment in driver.modes} <= set(names.ATTACHMENT_MODES)
    assert all(issue.source for issue in driver.known_issues)


EACH_ROLE = pytest.mark.parametrize(
    ("driver", "name", "role"),
    [(driver, name, role) for driver in DRIVERS for name, role in driver.roles.items()],
    ids=lambda value: getattr(value, "name", value if isinstance(value, str) else ""),
)


@EACH_ROLE
def test_role_says_how_far_it_is_verified(driver, name, role):
    """A evidence has a day, the versions it was made with, what was verified, and always what was not."""
    evidence = role.evidence

    assert evidence.tier in get_args(catalogue.EvidenceTier), (driver.name, name)
    assert evidence.not_verified
    if evidence.tier == "none":
        assert (evidence.as_of, evidence.versions, evidence.verified) == ("", (), ())
    else:
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", evidence.as_of)
        assert any(version.startswith("Nomad ") for version in evidence.versions)
        assert evidence.verified


@EACH_ROLE
def test_role_that_was_run_was_run_in_the_version_of_the_catalogue(driver, name, role):
    """Whoever raises the version runs the driver again, or says that nobody did."""
    ran = [version for version in role.evidence.versions if driver.version in version.split()]

    assert len(ran) == (role.evidence.tier == "run"), (driver.name, name)


KNOWN_FLAGS = pytest.mark.parametrize(
    ("driver", "name", "role"),
    [(driver, name, role) for driver in DRIVERS for name, role in driver.roles.items() if role.flags is not None],
    ids=lambda value: getattr(value, "name", value if isinstance(value, str) else ""),
)


@KNOWN_FLAGS
def test_role_renders_only_flags_that_it_accepts(driver, name, role):
    """An argument of the catalogue is one of the role's flags, or the mode word of the EBS driver."""
    words = [argument for argument in role.arguments if not argument.startswith("--")]
    flags = {argument.removeprefix("--").split("=")[0] for argument in role.arguments if argument.startswith("--")}

    assert flags <= role.flags
    assert not role.flags & set(role.unfit_flags)
    assert words == ([name] if driver.name == "aws-ebs" else [])
    assert [text for text in role.arguments if text.endswith("=${CSI_ENDPOINT}")] or driver.name == "hetzner"


@EACH_ROLE
def test_role_renders_no_secret_into_its_arguments(driver, name, role):
    """What comes from credentials is a file, or a variable that Nomad fills in on the client."""
    items = {*role.secret_environment.values(), *role.secret_files.values()}
    texts = [*role.arguments, *role.optional_arguments.values(), *role.environment.values()]

    assert [text for text in texts for item in items if f"{{{item}}}" in text] == [], (driver.name, name)
    for text in texts:
        assert "token=" not in text or text == "--token=${DIGITALOCEAN_ACCESS_TOKEN}"


def test_unusable_driver_says_why_and_what_to_use():
    """Somebody looks for it: the reason, the way out and the source are there, and no row of the same name."""
    for name, row in catalogue.UNUSABLE.items():
        assert (row.name, bool(row.reason and row.instead and row.source)) == (name, True)
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", row.as_of)
    assert not set(catalogue.UNUSABLE) & set(catalogue.DRIVERS)
    assert "aws-s3" in catalogue.UNUSABLE


def size_limit(name, limits):
    """Return what the catalogue says of a volume type."""
    text = f"{name}: {limits.size_gib[0]} to {limits.size_gib[1]} GiB"
    if limits.iops:
        text += f", {limits.iops[0]} to {limits.iops[1]} operations/s"
    if limits.throughput_mib_per_s:
        text += f", {limits.throughput_mib_per_s[0]} to {limits.throughput_mib_per_s[1]} MiB/s"
    return text


def test_ebs_row_has_the_limits_that_specs_are_checked_against():
    """The sentences of the row are those of the table that refuses a size or a type."""
    driver = catalogue.DRIVERS["aws-ebs"]

    expected = tuple(size_limit(name, limits) for name, limits in ebs_rules.BY_TYPE.items())

    assert driver.limits[: len(expected)] == expected
    assert driver.parameters.meanings["type"] == ", ".join(ebs_rules.BY_TYPE)


def test_row_with_a_key_that_no_driver_has_is_refused(tmp_path):
    """A contributor's file is read by the model that reads a spec's own driver: a misspelt key is named."""
    (tmp_path / "mine.yaml").write_text("name: mine\nprovidr: mine.example.com\n")

    rows = catalogue.Rows(tmp_path, catalogue.Driver)

    assert (list(rows), len(rows)) == (["mine"], 1)
    with pytest.raises(pydantic.ValidationError, match="providr"):
        rows["mine"]


def release(text):
    return tuple(map(int, text.removeprefix("v").split(".")))


@EACH_ROLE
def test_flags_of_some_versions_lie_within_the_versions_that_are_known(driver, name, role):
    """A flag that has ended is not one of today's, any other is; each begins and ends between the first and the last."""
    today = (role.flags or frozenset()) | set(role.unfit_flags)
    assert driver.arguments_source
    assert not role.flag_versions or driver.arguments_since

    for flag, known in role.flag_versions.items():
        assert known.since or known.until, (driver.name, name, flag)
        assert (flag in today) == (not known.until), (driver.name, name, flag)
        if known.since:
            assert release(driver.arguments_since) < release(known.since) <= release(driver.version), flag
        if known.until:
            assert release(known.since or driver.arguments_since) <= release(known.until) < release(driver.version), (
                flag
            )


@pytest.mark.parametrize(
    ("driver", "tag", "role", "arguments"),
    [
        ("aws-ebs", "v0.10.1", "controller", ["controller", "--endpoint=${CSI_ENDPOINT}", "--v={log_verbosity}"]),
        ("aws-ebs", "v0.10.1", "node", ["node", "--endpoint=${CSI_ENDPOINT}", "--v={log_verbosity}"]),
        ("aws-ebs", "v1.15.1", "node", ["node", "--endpoint=${CSI_ENDPOINT}", "--v={log_verbosity}"]),
        ("aws-ebs", "v1.16.0", "node", ["node", "--endpoint=${CSI_ENDPOINT}", "--logging-format=text", "--v={log_verbosity}"]),
        ("aws-ebs", "v1.44.0", "node", ["node", "--endpoint=${CSI_ENDPOINT}", "--logging-format=text", "--v={log_verbosity}"]),
        ("aws-ebs", "1.45.0", "node", ["node", "--endpoint=${CSI_ENDPOINT}", "--logging-format=text", "--v={log_verbosity}", "--metadata-sources=imds"]),
        ("aws-efs", "v.1.3.2", "node", ["--endpoint=${CSI_ENDPOINT}", "--v={log_verbosity}"]),
        ("csi-hostpath", "v1.7.0", "monolith", ["--endpoint=${CSI_ENDPOINT}", "--nodeid={node_id}", "--statedir={state_dir}", "--v={log_verbosity}"]),
    ],
)  # fmt: skip
def test_an_older_version_gets_the_arguments_of_its_time(driver, tag, role, arguments):
    """What came later is left out."""
    found = catalogue.select_version(catalogue.DRIVERS[driver], tag)

    assert (found.version, list(found.roles[role].arguments)) == (f"v{tag.lstrip('v.')}", arguments)


@pytest.mark.parametrize(
    ("tag", "has", "lacks"),
    [
        ("v0.5.0", {"v", "add_dir_header", "extra-volume-tags"}, {"extra-tags", "http-endpoint", "one_output", "batching"}),
        ("v0.10.1", {"extra-tags", "stderrthreshold"}, {"http-endpoint", "one_output", "logging-format", "kubeconfig"}),
        ("v1.15.1", {"one_output", "stderrthreshold", "http-endpoint"}, {"log-flush-frequency"}),
        ("v1.16.0", {"log-flush-frequency", "logtostderr"}, {"one_output", "stderrthreshold", "log-text-split-stream"}),
        ("v1.64.0", {"enable-node-local-volumes", "log-text-split-stream"}, {"one_output"}),
    ],
)  # fmt: skip
def test_flags_of_a_version_are_those_that_it_has(tag, has, lacks):
    """Flags begin, and those of klog end with v1.16.0; what is unfit begins, too."""
    role = catalogue.select_version(catalogue.DRIVERS["aws-ebs"], tag).roles["controller"]
    known = role.flags | set(role.unfit_flags)

    assert has <= known
    assert not lacks & known
    assert ("extra_tags" in role.optional_arguments, "metrics_port" in role.optional_arguments) == (
        "extra-tags" in known,
        "http-endpoint" in known,
    )


@pytest.mark.parametrize(
    ("driver", "tag"),
    [
        *(
            ("aws-ebs", tag)
            for tag in ("", "latest", "v0.4.0", "v1.65.0", "v1.16", "v1.16.0-rc.1", "v1.16.0.1", "prod")
        ),
        ("aws-efs", "v0.3.0"),
        ("portworx", "2.13.0"),
    ],
)
def test_what_is_not_known_of_a_version_is_not_guessed(driver, tag):
    """Older than the oldest, newer than the newest, a name of one's own."""
    assert catalogue.select_version(catalogue.DRIVERS[driver], tag) is None


@pytest.mark.parametrize(("driver", "is_same"), [("aws-efs", True), ("aws-ebs", False)])
def test_setting_is_compared_as_its_driver_does(driver, is_same):
    """In another case it is the same key, or another one."""
    context = catalogue.DRIVERS[driver].context
    [setting, *_] = sorted(context.settings)

    assert context.is_setting(setting)
    assert context.is_setting(setting.upper()) is is_same


@pytest.mark.parametrize(
    ("allowed", "taken"), [(None, True), ([], False), (["a*"], True), (["A1"], False), (["A*"], False)]
)
def test_keys_are_those_that_are_allowed(allowed, taken):
    """Any where none are named; none where the list is empty."""
    assert driver_spec.KeysSpec(allowed=None if allowed is None else frozenset(allowed)).takes("a1") is taken


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ({}, {"a": "", "b": ""}),
        ({"kind": "x"}, {"D|e": "kind", "a": "", "b": ""}),
        ({"kind": "x", "A": "1", "B": "2", "E": "3"}, {}),
    ],
)
def test_keys_that_are_missing(values, missing):
    """In order, each with the key that asks for it; one of two is enough, in whatever case the driver reads it."""
    with_kind = {"kind": {"x": frozenset({"D|e", "b"})}}
    keys = driver_spec.KeysSpec(required=frozenset({"b", "a"}), required_with=with_kind, ignore_case=True)

    assert list(keys.missing(values).items()) == list(missing.items())
    assert keys.model_copy(update={"allowed": frozenset({"K*"})}).takes("kind")


def test_driver_without_a_title_is_called_by_its_name():
    """As a description in a spec may be."""
    assert catalogue.DRIVERS["aws-ebs"].model_copy(update={"title": ""}).called == "aws-ebs"
