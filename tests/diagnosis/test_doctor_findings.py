"""Every finding there is: the smallest thing that makes it, and what it says."""

import dataclasses

import pytest

from nomad_csi import errors
from nomad_csi.aws import ebs_volumes, file_systems, regions
from nomad_csi.diagnosis import doctor, facts, judge, read_account
from nomad_csi.findings import registry
from nomad_csi.nomad import jobs, version_gates, volumes
from nomad_csi.plan import storage
from nomad_csi.volumes import ownership
from tests.diagnosis import conftest, situations
from tests.diagnosis.known import known

OWNED = ownership.OwnerRecord(owner="shop/prod")
RECORDED = situations.recorded()


@pytest.mark.parametrize("is_tagged", [False, True])
def test_storage_that_an_owner_record_names_is_found_once(make, is_tagged):
    """By the record, with the two ways on, also where EC2 shows its tags; not while its volume is registered."""
    record = dataclasses.replace(OWNED, created_name="old-a3c024f01cac", external_id="vol-1", plugin_id="ebs")
    disk = make.ebs(external_id="vol-1", availability_zone="a", state="available", kms_key_arn="", tags=situations.OURS)
    account = make.account(ours={"vol-1": disk} if is_tagged else {})

    found = doctor.examined(
        make.found(owner_records={"default/old": record, "default/mysql": record}, account=account)
    ).findings

    assert [(item.code, item.subject, item.found, item.advice) for item in found] == [
        (
            "storage-not-registered",
            "storage vol-1",
            "/v1/var/nomad-csi/volumes: plugin ebs created vol-1 as default/old for shop/prod; /v1/volumes: not "
            "registered",
            "run `nomad-csi apply` with the spec of shop/prod, which registers it again; or, where its data is not "
            "needed, `nomad-csi remove default/old --delete-data --owner shop/prod`",
        )
    ]


def test_every_finding_stands_here():
    """A new rule needs a situation."""
    assert set(situations.SITUATIONS) == {
        code for code, row in registry.codes().items() if "doctor" in row.commands and not row.gate
    }


@pytest.mark.parametrize("name", situations.ALL)
def test_rules_say_of_a_situation_what_is_recorded(make, name):
    """All of it: each finding with its evidence, and what was not checked."""
    lines = list(situations.outcomes(situations.ALL[name](make)))

    assert lines == RECORDED[name]
    assert list(RECORDED) == list(situations.ALL)
    assert name not in situations.SITUATIONS or any(f" {name}: " in line for line in lines)


@pytest.mark.parametrize(
    ("fault", "gate"), version_gates.gates(), ids=[fault.code for fault, _ in version_gates.gates()]
)
def test_gate_closes_below_each_of_its_versions(fault, gate):
    """On the side whose version counts, where what it is about is used; not at the version itself."""
    for text in gate.fixed_in:
        below = _below(text)
        for side in gate.sides:
            assert fault.code in _gates(side, below, gate.features)
            assert fault.code not in _gates(side, text, gate.features)
            assert fault.code not in _gates(side, f"{text}+ent", gate.features)
            assert fault.code not in _gates(side, f"{text}-rc.1", gate.features)


def _below(text):
    major, minor, patch = (int(part) for part in text.split("."))
    return f"{major}.{minor}.{patch - 1}" if patch else f"{major}.{minor - 1}.0"


def _gates(side, version, features):
    return {gate.code for gate in version_gates.met(side, version, features)}


@pytest.mark.parametrize(
    ("provider", "external_id", "is_expected"),
    [("efs.csi.aws.com", "", False), ("ebs.csi.aws.com", situations.EFS, False), ("ebs.csi.aws.com", "vol-1", True)],
)
def test_no_permission_for_efs_is_needed_where_nothing_is_of_efs(make, provider, external_id, is_expected):
    """A plugin or a volume is enough."""
    found = make.found(plugins={"p": make.plugin(provider=provider)}, volumes=(make.volume(external_id=external_id),))

    assert read_account._expected(found, situations.UNKNOWN).is_expected is is_expected


@pytest.mark.parametrize(("external_id", "asked"), [("vol-1", []), (situations.EFS, ["us-east-1"])])
def test_efs_is_asked_where_a_volume_is_on_it(monkeypatch, external_id, asked):
    """Nothing is, where the region is not known."""
    calls = []
    monkeypatch.setattr(file_systems, "read_file_systems", calls.append)
    monkeypatch.setattr(ebs_volumes, "read_volumes", lambda *_: {})

    read_account.read_storage([external_id, "vol-2"], regions.Region(name="us-east-1"))
    nothing = read_account.read_storage([external_id], regions.Region(reason="left out", is_expected=True))

    assert calls == asked
    assert nothing.volumes == nothing.file_systems == facts.Unknown(reason="left out", is_expected=True)


ELSEWHERE = {"plugins": {}, "clients": ()}
BARE = ELSEWHERE | {"volumes": (conftest.make_volume(segments=()),)}


@pytest.mark.parametrize(
    ("changes", "named", "account"),
    [
        ({"plugins": {"p": conftest.make_plugin(provider="x")}, "volumes": ()}, {}, None),
        (ELSEWHERE | {"plugins": {"p": conftest.make_plugin()}, "volumes": ()}, {}, "us-east-1"),
        (ELSEWHERE, {}, "us-east-1"),
        ({"plugins": {}, "volumes": (conftest.make_volume(external_id=situations.EFS, segments=()),)}, {}, "us-east-1"),
        (ELSEWHERE | {"volumes": (conftest.make_volume(segments=(), planned_zone="eu-west-1b"),)}, {}, "eu-west-1"),
        (BARE, {"default": lambda: frozenset({"ap-south-1"})}, "ap-south-1"),
        (BARE, {}, "sa-east-1"),
        (BARE, {"named": "us-west-2"}, "us-west-2"),
        ({}, {"is_left_out": True}, facts.Unknown(reason="AWS was not queried (--no-aws)", is_expected=True)),
    ],
)
def test_account_is_asked_in_the_region_of_what_is_there(make, monkeypatch, changes, named, account):
    """Of instances, volumes and clients, then of the spec, then of the environment; not where nothing is of AWS."""
    monkeypatch.setenv("AWS_REGION", "sa-east-1")
    monkeypatch.setattr(read_account, "_account", lambda _found, region: region)
    found = make.found(**changes)
    found.__class__, found.aws = read_account.AccountFacts, regions.Choice(**named)
    del vars(found)["account"], vars(found)["instance_ids"]

    assert (found.account, found.instance_ids) == (account, {})


def test_keys_of_encrypted_volumes_are_asked_for(make, monkeypatch):
    """A volume without encryption has none."""
    disks = {make.EBS_ID: make.ebs(), "vol-1": make.ebs(kms_key_arn="")}
    monkeypatch.setattr(ebs_volumes, "key_state", lambda arn, _region: f"state of {arn}")
    monkeypatch.setattr(read_account, "_ask_all", lambda questions: [each() for each in questions])
    for module, name, answer in (
        (ebs_volumes, "read_volumes", disks),
        (ebs_volumes, "ours", {}),
        (read_account.instances, "read_instances", {}),
        (file_systems, "read_file_systems", {}),
    ):
        monkeypatch.setattr(module, name, lambda *_, answer=answer: answer)

    account = read_account._account(make.found(), "us-east-1")

    assert account.keys == {make.KEY: f"state of {make.KEY}"}


@pytest.mark.parametrize("status", [200, 403])
def test_owner_records_are_read_where_volumes_are_or_may_be(context, scripted, make, status):
    """In each namespace once, and in that of the connection; a token that may not read them is no failure."""
    scripted.reply("GET", "/v1/vars", status, [] if status == 200 else "Permission denied")
    found = facts.Facts(context.connect())
    vars(found)["listed"] = [make.replace(make.claimed(), namespace=name) for name in ("prod", "dev", "prod")]

    records = found.owner_records

    asked = dict.fromkeys(path.partition("namespace=")[2].partition("&")[0] for path, _ in scripted.sent("GET"))
    assert list(asked) == ["default", "dev", "prod"][: 3 if status == 200 else 1]
    assert records == {} if status == 200 else records.is_expected


@pytest.mark.parametrize(
    ("changes", "of_account", "count"),
    [
        ({}, {}, 1),
        ({"instance_ids": {}}, {}, 0),
        ({"clients": situations.UNKNOWN}, {}, 0),
        ({}, {"instances": situations.UNKNOWN}, 0),
        ({}, {"instances": {}}, 0),
        ({}, {"instances": {conftest.INSTANCE_ID: conftest.make_machine(profile_arn="")}}, 0),
        ({"tasks": (conftest.make_task(),)}, {}, 0),
        ({"tasks": (conftest.make_task("controller", own_credentials=True),)}, {}, 0),
    ],
)
def test_role_of_a_client_is_asked_for_where_a_controller_of_ebs_may_use_it(make, changes, of_account, count):
    """Its instance is known, and the controller has no credentials of its own."""
    found = read_account._profiles(make.found(**changes), make.account(**of_account))

    assert found == {make.PROFILE} if count else found == set()


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, 0),
        ({"clients": (conftest.make_node(eligible=False),)}, 1),
        ({"clients": (conftest.make_node(eligible=False, draining=True),)}, 1),
        ({"clients": (conftest.make_node(status="down"),), "plugins": {}}, 0),
        ({"plugins": {}}, 1),
        ({"plugins": {"ebs": conftest.make_plugin(nodes=(conftest.make_instance("node", healthy=False),))}}, 1),
        ({"plugins": {}, "volumes": (conftest.make_volume(claims=0),)}, 0),
    ],
)
def test_claims_are_read_where_a_client_or_a_plugin_may_be_missing(make, monkeypatch, changes, count):
    """Elsewhere nobody needs them: one request for each volume."""
    monkeypatch.setattr(volumes, "read_each", lambda _client, keys: [*keys])
    found = make.found(**changes)
    del vars(found)["claims_read"]

    assert found.claims_read == [("default", "mysql")] * count


@pytest.mark.parametrize(
    ("is_planned", "is_known", "tasks"),
    [
        (True, False, [("a", "gpu"), ("plugin-ebs-nodes", "gpu"), ("plugin-ebs-controller", "default")]),
        (False, True, [("a", "gpu"), ("plugin-ebs-nodes", "gpu")]),
        (False, False, situations.UNKNOWN),
    ],
)
def test_tasks_are_those_that_run_else_those_of_the_spec(make, is_planned, is_known, tasks):
    """Not known without a spec and without the plugins, whose jobs they are."""
    names = ("plugin-ebs-nodes", "a")
    tasks_of = {("default", name): (make.task(job_id=name, node_pool="gpu"),) for name in names}
    running = facts.ObservedPluginJobs(tasks=tasks_of | {("default", "plugin-ebs-controller"): ()})
    plan = storage.plan_document(situations.SPEC) if is_planned else None
    found = make.found(plan=plan, plugin_jobs=running, plugins={} if is_known else situations.UNKNOWN)
    del vars(found)["tasks"]

    seen = found.tasks
    assert ([(item.job_id, item.node_pool) for item in seen] if isinstance(seen, tuple) else seen) == tasks


def test_failed_allocations_are_read_with_the_volumes_that_they_ask_for(make, monkeypatch):
    """In the namespaces of registered volumes, of so many jobs; why one may not be listed is kept."""
    first, second = make.failed("a", "x"), make.replace(make.failed("b", "y"), job_id="other")
    group = {"Name": "db", "Volumes": {"data": {"Type": "csi", "Source": "mysql", "PerAlloc": True}}}
    asked = []

    def listed(_client, namespace):
        if namespace == "hidden":
            raise errors.NomadApiError("GET", "/v1/allocations", "denied", status=403, kind="refused")
        return (first, second) if namespace == "default" else ()

    monkeypatch.setattr(jobs, "failed_mounts", listed)
    monkeypatch.setattr(
        jobs, "document", lambda *given: asked.append(given[1:]) or {"ID": "web", "TaskGroups": [group]}
    )
    monkeypatch.setattr(facts, "JOBS_MAX", 1)
    places = ({}, {"key": "hidden/a"}, {"key": "prod/a"}, {"key": "other/a", "is_registered": False})
    found = make.found(volumes=tuple(make.volume(**place) for place in places))
    del vars(found)["failed_mounts"]

    assert found.failed_mounts == facts.FailedMounts(
        failed=(first, second),
        wanted={"a": ("mysql[2]",)},
        unread={"hidden": "GET /v1/allocations: status 403: denied"},
    )
    assert asked == [("default", "web")]


def test_volume_is_examined_as_it_is_listed_or_read(make):
    """Its claims are counted by both."""
    read = make.claimed()
    names = {item.name for item in dataclasses.fields(volumes.ListedVolume)} - {"readers", "writers"}
    listed = volumes.ListedVolume(**{name: getattr(read, name) for name in names}, readers=2, writers=1)

    found = [facts.examined(item, None) for item in (read, listed)]

    assert found == [make.volume(segments=(), controller_required=True, claims=count) for count in (1, 3)]


def test_jobs_of_plugins_are_read_with_their_state(make, context, scripted):
    """One that is absent is left out; why one may not be read is kept."""
    answers = {"runs": (200, {"ID": "runs"}), "stopped": (200, {"ID": "stopped", "Stop": True})}
    answers |= {"absent": (404, "job not found"), "hidden": (403, "Permission denied")}
    for name, answer in answers.items():
        scripted.reply("GET", f"/v1/job/{name}", *answer)
    scripted.reply("GET", "/v1/job/plugin-ebs-nodes", 200, {"ID": "of the spec", "Stop": True})
    scripted.reply("GET", "/v1/job/plugin-ebs-controller", 404, "job not found")
    found = facts.Facts(context.connect(), storage.plan_document(situations.SPEC))
    vars(found)["plugins"] = {"ebs": make.plugin(jobs=frozenset(("default", name) for name in answers))}

    jobs = found.plugin_jobs

    assert (jobs.tasks, jobs.stopped) == (
        {("default", "runs"): ()},
        {("default", "stopped"), ("default", "plugin-ebs-nodes")},
    )
    assert [(name, why[:36]) for name, why in jobs.hidden.items()] == [
        ("default/hidden", "GET /v1/job/hidden: status 403: Perm")
    ]


@pytest.mark.parametrize("is_optional", [False, True])
def test_what_the_token_may_not_read_is_not_known(is_optional):
    """As was to be expected, where the right is only asked for by another command."""
    refused = errors.NomadApiError(method="GET", path="/v1/vars", message="denied", status=403, kind="refused")

    def read():
        raise refused

    with pytest.raises(facts.NotKnownError) as caught:
        facts.permitted(read, is_optional=is_optional)

    assert caught.value.unknown.is_expected is is_optional
    refused.status = 500
    with pytest.raises(errors.NomadApiError, match="denied"):
        facts.permitted(read, is_optional=is_optional)


@pytest.mark.parametrize("commands", [("doctor",), ("verify", "claims", "doctor")])
def test_no_rule_is_silent_about_a_fact_that_is_not_known(commands):
    """Whatever a rule needs, it is not checked: by itself, or by another rule of the same commands."""
    rules = [rule for rule in judge.RULES for code in rule.codes if {*commands} & {*registry.codes()[code].commands}]
    for need in {need for rule in rules for need in rule.needs}:
        derived = {"account": ("storage",), "claimed": ("claims",), "plugin_jobs": ("tasks",)}.get(need, ())
        found = known(**dict.fromkeys((need, *derived), situations.UNKNOWN))

        unchecked = [item for item in judge.outcomes(found, *commands) if isinstance(item, facts.Unchecked)]
        assert {item.reason for item in unchecked} == {situations.UNKNOWN.reason}, need
