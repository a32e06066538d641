"""Each setting of a plugin: what it becomes in the job's document, and in the file that Nomad reads."""

import copy

import pytest

from nomad_csi import errors
from nomad_csi.hcl import job as readers
from nomad_csi.hcl import read
from nomad_csi.plan import storage
from nomad_csi.plan.model import Constraint
from nomad_csi.render import documents
from nomad_csi.spec.plugin_jobs import RestartSpec, UpdateSpec

BASE = {"id": "ebs", "driver": "aws-ebs", "aws_region": "us-east-1"}
DIGEST = f"sha256:{'0123456789abcdef' * 4}"
OWN = {
    "name": "own",
    "provider": "own.example.com",
    "image": "registry.example.com/team/own:1",
    "roles": {"monolith": {"job_type": "service", "arguments": ["--endpoint=${CSI_ENDPOINT}"], "privileged": True}},
    "capabilities": [{"access_mode": "single-node-writer"}],
}


def planned(**settings):
    """Return the plan of the plugin of `BASE` with *settings*."""
    [plan] = storage.plan_document({"plugins": [BASE | settings]}).plugins
    return plan


def jobs(**settings):
    """Return the documents by role."""
    return {job.role: job for job in planned(**settings).jobs}


def parsed(job):
    """Return the job as a reader of its file sees it."""
    [found] = readers.jobs(read.read_job(documents.job_file(job)))
    return found


def files(**settings):
    """Return the jobs by role, read from their files."""
    return {role: parsed(job) for role, job in jobs(**settings).items()}


def tasks(**settings):
    """Return the plugin tasks by role, read from their files."""
    return {role: job.groups[0].tasks[0] for role, job in files(**settings).items()}


def problems(document):
    try:
        storage.plan_document(document)
    except errors.SpecError as error:
        return [str(problem) for problem in error.problems]
    return []


@pytest.mark.parametrize(
    ("settings", "key", "value"),
    [
        ({}, "datacenters", ["*"]),
        ({"datacenters": ["dc1", "eu-*"]}, "datacenters", ["dc1", "eu-*"]),
        ({}, "node_pool", "default"),
        ({"node_pool": "storage"}, "node_pool", "storage"),
        ({}, "namespace", "default"),
        ({"namespace": "infra"}, "namespace", "infra"),
        ({}, "region", None),
        ({"nomad_region": "eu"}, "region", "eu"),
        ({}, "priority", 80),
        ({"priority": 100}, "priority", 100),
        ({}, "constraint", None),
        ({}, "update", None),
    ],
)
def test_setting_of_the_whole_job(settings, key, value):
    """Both jobs of the plugin have it."""
    assert [job.body.get(key) for job in files(**settings).values()] == [value, value]


def test_nomad_region_and_aws_region_are_two_things():
    """One is where the jobs run, the other where the storage is."""
    node = files(nomad_region="eu", aws_region="us-west-2")["node"]

    assert node.body["region"] == "eu"
    assert node.groups[0].tasks[0].env == {"AWS_REGION": "us-west-2"}


def test_constraints_emulator_the_file_and_in_what_is_expected():
    """The count of clients follows the same constraints as Nomad's scheduler."""
    constraints = [
        {"attribute": "${attr.cpu.arch}", "value": "amd64"},
        {"attribute": "${meta.storage}", "operator": "is_set"},
        {"attribute": "${attr.nomad.version}", "operator": "semver", "value": ">= 1.8.0"},
    ]

    plan = planned(constraints=constraints)

    wanted = (
        Constraint(attribute="${attr.cpu.arch}", operator="=", value="amd64"),
        Constraint(attribute="${meta.storage}", operator="is_set", value=""),
        Constraint(attribute="${attr.nomad.version}", operator="semver", value=">= 1.8.0"),
    )
    assert plan.expectation.constraints == wanted
    assert [job.constraints for job in plan.jobs] == [wanted, wanted]
    assert parsed(plan.jobs[1]).body["constraint"] == [
        {"attribute": "${attr.cpu.arch}", "value": "amd64"},
        {"attribute": "${meta.storage}", "operator": "is_set"},
        {"attribute": "${attr.nomad.version}", "operator": "semver", "value": ">= 1.8.0"},
    ]


def test_availability_zone_makes_a_plugin_of_one_zone():
    """Its jobs run there only, and only clients there are counted."""
    plan = planned(availability_zone="us-east-1b", constraints=[{"attribute": "${node.class}", "value": "x"}])

    zone = Constraint(attribute="${attr.platform.aws.placement.availability-zone}", operator="=", value="us-east-1b")
    assert plan.expectation.constraints[0] == zone
    assert [job.constraints[0] for job in plan.jobs] == [zone, zone]


def test_resources_of_the_role_go_before_those_of_the_plugin_and_of_the_driver():
    """The most particular one counts, whole."""
    of_role = {"cpu_mhz": 10, "memory_mib": 32, "memory_max_mib": 64}

    def resources(**settings):
        return [task.body["resources"] for task in tasks(**settings).values()]

    usual = {"cpu": 100, "memory": 256}
    assert resources() == [[usual], [usual]]
    assert resources(resources={"cpu_mhz": 50, "memory_mib": 64}) == [[{"cpu": 50, "memory": 64}]] * 2
    assert resources(resources={"memory_mib": 64}, controller={"resources": of_role}) == [
        [{"cpu": 10, "memory": 32, "memory_max": 64}],
        [{"cpu": 100, "memory": 64}],
    ]
    assert resources(node={"resources": of_role})[1] == [{"cpu": 10, "memory": 32, "memory_max": 64}]


def test_count_is_the_controllers_and_the_driver_has_a_usual_one():
    """Each on a client of its own; node plugins run everywhere."""
    usual, given = files(), files(controller={"count": 3})

    assert [usual["controller"].groups[0].count, given["controller"].groups[0].count] == [2, 3]
    assert given["node"].groups[0].count is None
    assert given["controller"].groups[0].body["constraint"] == [{"operator": "distinct_hosts", "value": "true"}]
    assert planned(controller={"count": 3}).expectation.controllers == 3


def test_count_of_a_monolith_is_that_of_its_instances():
    """A service monolith has so many instances, each controller and node."""
    plan = planned(driver=OWN, aws_region=None, monolith={"count": 2})

    assert [(job.role, job.count) for job in plan.jobs] == [("monolith", 2)]
    expected = plan.expectation
    assert (expected.monolith, expected.nodes, expected.controllers) == (True, 2, 0)


def test_restart_never_gives_up():
    """The mode is no setting: a plugin that fails more often than its attempts is started again later."""
    usual, given = jobs()["node"], jobs(restart={"attempts": 5, "interval_s": 60, "delay_s": 2})["node"]

    assert usual.restart == RestartSpec(attempts=3, interval_s=300, delay_s=15)
    assert given.restart == RestartSpec(attempts=5, interval_s=60, delay_s=2)
    assert parsed(given).groups[0].body["restart"] == [
        {"attempts": 5, "interval": "60s", "delay": "2s", "mode": "delay"}
    ]


def test_update_has_deadlines_that_nomad_takes():
    """Nomad wants its progress deadline to be later than the deadline of one instance."""
    node = jobs(update={"max_parallel": 3, "min_healthy_time_s": 20, "healthy_deadline_s": 90, "auto_revert": True})[
        "node"
    ]

    assert node.update == UpdateSpec(max_parallel=3, min_healthy_time_s=20, healthy_deadline_s=90, auto_revert=True)
    assert parsed(node).body["update"] == [
        {
            "max_parallel": 3,
            "min_healthy_time": "20s",
            "healthy_deadline": "90s",
            "progress_deadline": "3m",
            "auto_revert": True,
        }
    ]


def test_health_timeout_is_the_drivers_or_ones_own():
    """How long the first healthy answer may take."""
    assert [task.plugin.health_timeout_s for task in tasks().values()] == [60.0, 60.0]
    assert [task.plugin.health_timeout_s for task in tasks(health_timeout_s=300).values()] == [300.0, 300.0]


def test_log_verbosity_is_an_argument():
    """The flag of klog, for drivers that have it."""
    assert [task.arguments[3] for task in tasks(log_verbosity=7).values()] == ["--v=7", "--v=7"]


def test_log_level_is_a_word_for_drivers_that_take_one():
    """The driver's usual one where none is given."""
    role = {"job_type": "system", "arguments": ["--log={log_level}"]}
    driver = OWN | {"roles": {"node": role}, "log_levels": ["info", "debug"], "default_log_level": "info"}

    usual = tasks(driver=driver, aws_region=None)["node"]
    given = tasks(driver=driver, aws_region=None, log_level="debug")["node"]

    assert (usual.arguments, given.arguments) == (["--log=info"], ["--log=debug"])


def test_extra_arguments_stand_behind_those_that_are_rendered():
    """Each role has its own."""
    given = tasks(extra_arguments={"controller": ["--batching=true"], "node": ["--legacy-xfs=true"]})

    assert given["controller"].arguments == [
        "controller",
        "--endpoint=${CSI_ENDPOINT}",
        "--logging-format=text",
        "--v=2",
        "--batching=true",
    ]
    assert given["node"].arguments[-1] == "--legacy-xfs=true"


def test_environment_goes_before_the_drivers():
    """Both roles have it."""
    given = tasks(environment={"AWS_REGION": "x", "GODEBUG": 'a="b"'})

    assert [task.env for task in given.values()] == [{"AWS_REGION": "x", "GODEBUG": 'a="b"'}] * 2


@pytest.mark.parametrize(
    ("driver", "role", "argument"),
    [("aws-ebs", "controller", "--extra-tags=a=1,b=2"), ("aws-efs", "node", "--tags=a:1 b:2")],
)
def test_extra_tags_are_written_as_the_driver_reads_them(driver, role, argument):
    """Sorted, so that the file does not depend on their order."""
    assert tasks(driver=driver, extra_tags={"b": "2", "a": "1"})[role].arguments[-1] == argument


def test_metrics_of_controller_and_node_have_ports_of_their_own():
    """A client may run both; each port is reserved on it, and open in the container's own network."""
    given = files(metrics_port=3301)

    assert [job.groups[0].tasks[0].arguments[-1] for job in given.values()] == [
        "--http-endpoint=:3302",
        "--http-endpoint=:3301",
    ]
    ports = [job.groups[0].body["network"][0]["port"][0] for job in given.values()]
    assert [(port["static"], port["to"]) for port in ports] == [(3302, 3302), (3301, 3301)]
    assert [job.groups[0].tasks[0].config["ports"] for job in given.values()] == [["metrics"], ["metrics"]]


def test_metrics_in_the_clients_network_need_no_mapping():
    """The process listens on the client itself."""
    node = files(metrics_port=3301, host_network=True)["node"].groups[0]

    assert node.body["network"][0]["port"] == [{"__labels__": ["metrics"], "static": 3301}]
    assert "ports" not in node.tasks[0].config


@pytest.mark.parametrize(
    ("settings", "image"),
    [
        ({}, "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0"),
        ({"image_registry": "mirror.example.com:5000/aws"}, "mirror.example.com:5000/aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0"),
        ({"image_digest": DIGEST}, f"public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0@{DIGEST}"),
        ({"image": "own/driver:v1.60.0"}, "own/driver:v1.60.0"),
        ({"image": "own/driver:v1.60.0", "image_registry": "mirror.example.com"}, "mirror.example.com/own/driver:v1.60.0"),
        ({"image": "localhost/driver:v1.60.0", "image_registry": "mirror.example.com"}, "mirror.example.com/driver:v1.60.0"),
        ({"image": "own/driver", "image_digest": DIGEST, "arguments_checked": False}, f"own/driver@{DIGEST}"),
    ],
)  # fmt: skip
def test_image_is_the_catalogues_or_ones_own_from_wherever(settings, image):
    """Registry, path, tag, digest."""
    assert [task.image for task in tasks(**settings).values()] == [image, image]


def test_image_of_ones_own_is_not_held_to_the_catalogues_version():
    """Nobody but its maker knows what it will answer."""
    assert [planned().expectation.version, planned(image="own/driver:v1.60.0").expectation.version] == ["v1.64.0", ""]


def test_registry_credentials_are_named_and_filled_in_on_the_client():
    """The file holds two names; the template holds where the values are."""
    controller = jobs(registry_credentials={"nomad_variable": "nomad/jobs"})["controller"]

    assert (controller.registry_user, controller.registry_password) == ("${REGISTRY_USERNAME}", "${REGISTRY_PASSWORD}")
    task = parsed(controller).groups[0].tasks[0]
    assert task.config["auth"] == [{"username": "${REGISTRY_USERNAME}", "password": "${REGISTRY_PASSWORD}"}]
    [template] = task.body["template"]
    assert (template["destination"], template["env"]) == ("${NOMAD_SECRETS_DIR}/registry.env", True)


@pytest.mark.parametrize("name", ["docker", "podman"])
def test_task_driver_of_containers(name):
    """Podman's task driver takes what Docker's does."""
    node = files(driver="aws-efs", task_driver={"name": name})["node"]
    task = node.groups[0].tasks[0]

    assert task.driver == name
    assert (task.config["privileged"], task.config["network_mode"]) == (True, "host")
    assert task.config["volumes"] == ["/var/amazon/efs:/var/amazon/efs", "/var/run/efs:/var/run/efs"]


def test_needs_of_docker_are_not_those_of_podman():
    """The notes for the operator say what this task driver needs."""
    docker, podman = (jobs(task_driver={"name": name})["node"].needs for name in ("docker", "podman"))

    hop = "an instance metadata hop limit of at least 2, because the container is one hop away"
    assert docker == ("docker with allow_privileged = true", hop)
    assert podman == ("Podman's task driver", hop)
    assert jobs(host_network=True)["node"].needs == ("docker with allow_privileged = true",)


def test_ipc_mode_needs_a_new_podman():
    """Its task driver has the setting since 0.6.5."""
    driver = copy.deepcopy(OWN)
    driver["roles"]["monolith"] |= {"ipc_mode": "host"}

    job = jobs(driver=driver, aws_region=None, task_driver={"name": "podman"})["monolith"]

    assert job.needs == ("Podman's task driver, 0.6.5 or newer for ipc_mode",)
    assert parsed(job).groups[0].tasks[0].config["ipc_mode"] == "host"


def test_raw_exec_runs_a_binary_of_the_client():
    """No image, no privileges to ask for, and the folder that Nomad stages volumes in is named to it."""
    given = {"name": "raw_exec", "command": "/opt/driver", "arguments": ["--quiet"], "client_data_dir": "/opt/nomad"}
    task = tasks(task_driver=given)["node"]

    assert (task.driver, task.config["command"], task.arguments[:2]) == ("raw_exec", "/opt/driver", ["--quiet", "node"])
    assert set(task.config) == {"command", "args"}
    assert task.plugin.stage_publish_base_dir == "/opt/nomad/client/csi/node/ebs"
    assert planned(task_driver=given).expectation.version == ""


def test_controllers_may_run_under_exec():
    """They mount nothing, so they can be isolated."""
    given = tasks(controller={"task_driver": {"name": "exec", "command": "/bin/driver"}})

    assert [task.driver for task in given.values()] == ["exec", "docker"]
    assert given["controller"].config == {
        "command": "/bin/driver",
        "args": ["controller", "--endpoint=${CSI_ENDPOINT}", "--logging-format=text", "--v=2"],
    }


def test_host_network_is_the_drivers_choice_unless_one_says():
    """EFS needs it, EBS does not."""

    def mode(**settings):
        return tasks(**settings)["node"].config.get("network_mode")

    assert (mode(), mode(host_network=True)) == (None, "host")
    assert (mode(driver="aws-efs"), mode(driver="aws-efs", host_network=False)) == ("host", None)


def test_settings_of_a_driver_are_filled_in_once():
    """A value that looks like another name is not filled in again; a truth is written as drivers read it."""
    role = {
        "job_type": "system",
        "arguments": ["--a={a}", "--b={b}", "--c={c}", "--d={unknown}", "--e=${CSI_ENDPOINT}"],
    }
    settings = {name: {"text": name, "default": "x"} for name in "abc"}
    driver = OWN | {"roles": {"node": role}, "settings": settings}

    task = tasks(driver=driver, aws_region=None, config={"a": "{b}", "b": True})["node"]

    assert task.arguments == ["--a={b}", "--b=true", "--c=x", "--d={unknown}", "--e=${CSI_ENDPOINT}"]


def second(**settings):
    return {"id": "efs", "driver": "aws-efs", "aws_region": "us-east-1"} | settings


def test_jobs_have_the_ids_that_the_spec_names():
    """The other job keeps its usual one; the file's name is the plugin's."""
    plan = planned(job_ids={"node": "plugin-ebs-nodes"})

    assert [(job.job_id, job.file_name) for job in plan.jobs] == [
        ("plugin-ebs-controller", "jobs/ebs-controller.nomad.hcl"),
        ("plugin-ebs-nodes", "jobs/ebs-node.nomad.hcl"),
    ]


def test_one_job_id_in_two_namespaces_is_two_jobs():
    """Nomad tells them apart."""
    document = {"plugins": [BASE | {"job_ids": {"node": "n"}}, second(namespace="b", job_ids={"node": "n"})]}

    assert problems(document) == []


def test_variable_that_credentials_fill_is_not_given_twice():
    """The template would lose against it, or win: nobody should have to know."""
    plugin = BASE | {
        "credentials": {"nomad_variable": "nomad/jobs"},
        "environment": {"AWS_ACCESS_KEY_ID": "x"},
    }

    assert problems({"plugins": [plugin]}) == [
        "plugins[0].environment.AWS_ACCESS_KEY_ID: expected no AWS_ACCESS_KEY_ID: the credentials of this plugin give it, "
        "got [not shown]; remove it"
    ]


OLD = "amazon/aws-ebs-csi-driver:v0.10.1"
UNKNOWN = "registry.example/aws-ebs-csi-driver:v1.65.0"


def test_an_older_image_gets_the_arguments_of_its_version():
    """The same spec with another image: what that version does not know is left out, what it knew may be given."""
    found = jobs(image=OLD, extra_arguments={"node": ["--stderrthreshold=0"]}, extra_tags={"a": "b"})

    assert {role: job.arguments for role, job in found.items()} == {
        "controller": ("controller", "--endpoint=${CSI_ENDPOINT}", "--v=2", "--extra-tags=a=b"),
        "node": ("node", "--endpoint=${CSI_ENDPOINT}", "--v=2", "--stderrthreshold=0"),
    }


def test_arguments_that_are_not_checked_are_those_of_the_catalogue_and_any():
    """Whoever says so knows the image: secrets and words are refused all the same."""
    given = {"image": UNKNOWN, "arguments_checked": False}

    found = jobs(**given, extra_arguments={"node": ["--new=1"]})["node"]
    [line] = problems({"plugins": [BASE | given | {"extra_arguments": {"node": ["word"]}}]})

    assert found.arguments[2:] == ("--logging-format=text", "--v=2", "--metadata-sources=imds", "--new=1")
    assert line.startswith("plugins[0].extra_arguments.node[0]: expected a flag such as --name=value")
