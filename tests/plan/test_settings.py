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


ATTRIBUTE = "one runtime variable of the client such as ${attr.cpu.arch}, ${meta.rack} or ${node.class}"
NO_SECRET = "no secret: what stands here would stand in the job file, got [not shown]; put the value into a Nomad variable or Vault, and name it under credentials"


def one(**constraint):
    return {"constraints": [{"attribute": "${attr.cpu.arch}"} | constraint]}


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"datacenters": []}, "datacenters: expected at least 1 item, got []"),
        ({"datacenters": ["${x}"]}, "datacenters[0]: expected text without ${ or %{: Nomad would evaluate it, twice, got '${x}'; write the value itself"),
        ({"node_pool": ""}, "node_pool: expected text, got ''"),
        ({"namespace": "a b"}, "namespace: expected letters, digits and '-', got 'a b'"),
        ({"priority": 0}, "priority: expected at least 1, got 0"),
        ({"priority": 101}, "priority: expected at most 100, got 101"),
        (one(attribute="cpu", value="x"), f"constraints[0].attribute: expected {ATTRIBUTE}, got 'cpu'"),
        (one(attribute="${node.region}", value="x"), f"constraints[0].attribute: expected {ATTRIBUTE}, got '${{node.region}}'"),
        (one(), "constraints[0].value: expected a value for =, got none"),
        (one(operator="is_set", value="x"), "constraints[0].value: expected no value for is_set, got 'x'"),
        (one(operator="regexp", value="("), "constraints[0].value: expected a regular expression of Go (RE2), got '('"),
        (one(operator="regexp", value="(?!a)"), "constraints[0].value: expected a regular expression of Go (RE2), got '(?!a)'"),
        (one(operator="version", value="x"), "constraints[0].value: expected conditions on a version such as >= 1.2, < 2, got 'x'"),
        (one(operator="semver", value="~> 1.2"), "constraints[0].value: expected conditions such as >= 1.2.0; semver has no ~>, got '~> 1.2'"),
        ({"controller": {"count": 0}}, "controller.count: expected at least 1, got 0"),
        ({"resources": {"memory_mib": 8}}, "resources.memory_mib: expected at least 32, got 8"),
        ({"restart": {"attempts": 0}}, "restart.attempts: expected at least 1, got 0"),
        ({"restart": {"interval_s": 4, "delay_s": 1}}, "restart.interval_s: expected at least 5, or Nomad refuses the job, got 4"),
        ({"restart": {"attempts": 9, "interval_s": 60}}, "restart.interval_s: expected at least attempts x delay_s (135), or Nomad refuses the job, got 60"),
        ({"update": {"min_healthy_time_s": 300}}, "update.min_healthy_time_s: expected less than healthy_deadline_s (300), got 300"),
        ({"health_timeout_s": 4}, "health_timeout_s: expected at least 5, got 4"),
        ({"log_verbosity": 11}, "log_verbosity: expected at most 10, got 11"),
        ({"log_level": "debug"}, "log_level: expected none: aws-ebs takes no name as log level, got 'debug'; use log_verbosity"),
        ({"extra_tags": {"aws:x": "1"}}, "extra_tags.aws:x: expected no tag that begins with aws:, ebs.csi.aws.com/, kubernetes.io/, CSIVolumeName: they are AWS's and the driver's, got a tag; remove it"),
        ({"extra_tags": {"a": "1,b=2"}}, "extra_tags.a: expected a key and a value without '=' and ',': the driver splits there, got 'a=1,b=2'"),
        ({"metrics_port": 65_535}, "metrics_port: expected at most 65534, got 65535"),
        ({"environment": {"a-b": "c"}}, "environment.a-b: expected a name of letters, digits and '_', got [secret]"),
        ({"environment": {"CSI_ENDPOINT": "x"}}, "environment.CSI_ENDPOINT: expected no CSI_ENDPOINT: Nomad sets it, got a value"),
        ({"environment": {"DB_PASSWORD": "x"}}, f"environment.DB_PASSWORD: expected {NO_SECRET}"),
        ({"environment": {"AWS_ACCESS_KEY_ID": "x"}}, f"environment.AWS_ACCESS_KEY_ID: expected {NO_SECRET}"),
        ({"image": "own/driver"}, "image: expected an image with a tag other than latest, or a digest: or every client may run another version, got 'own/driver'"),
        ({"image": "own/driver:latest"}, "image: expected an image with a tag other than latest, or a digest: or every client may run another version, got 'own/driver:latest'"),
        ({"image": f"own/driver:v1.60.0@{DIGEST}", "image_digest": DIGEST}, "image_digest: expected one, in image or in image_digest, got two digests"),
        ({"image_digest": "sha256:1"}, "image_digest: expected sha256: and 64 hexadecimal digits, got 'sha256:1'"),
        ({"image_registry": "https://x/"}, "image_registry: expected a registry's host, optionally with a path, without a trailing slash, got 'https://x/'"),
        ({"registry_credentials": {}}, "registry_credentials: expected exactly one of nomad_variable, vault, got none of them"),
        ({"registry_credentials": {"nomad_variable": "a b"}}, "registry_credentials.nomad_variable: expected a path of letters, digits, '-', '_', '~' and '/', such as nomad/jobs/NAME, got 'a b'"),
        ({"task_driver": {"name": "raw_exec", "client_data_dir": "/d"}}, "task_driver.command: expected a command for raw_exec, got nothing; name the driver's binary on the clients"),
        ({"task_driver": {"name": "raw_exec", "command": "/x"}}, "task_driver.client_data_dir: expected the clients' data directory for raw_exec, got nothing; it is data_dir in the agent's configuration; no API reports it"),
        ({"task_driver": {"name": "exec", "command": "/x"}}, "task_driver.name: expected docker, podman or raw_exec: what a task of exec mounts is not seen outside of it, got exec; put it under controller.task_driver, for the controller alone"),
        ({"task_driver": {"command": "/x"}}, "task_driver: expected no command and no arguments for docker: the image has its own, got command or arguments; use image and extra_arguments"),
        ({"availability_zone": "eu-west-1a"}, "availability_zone: expected a zone of us-east-1, the plugin's region, got 'eu-west-1a'"),
        ({"monolith": {"count": 1}}, "monolith: expected no monolith for aws-ebs, which has only: controller, node, got one; remove it"),
        ({"verify": {"stable_s": 300}}, "verify.stable_s: expected less than timeout_s (300), got 300"),
        ({"nomad_region": "${x}"}, "nomad_region: expected text without ${ or %{: Nomad would evaluate it, twice, got '${x}'; write the value itself"),
        ({"node_pool": "cafe\u0301"}, "node_pool: expected text in Unicode's NFC form, because job files are normalised to it, got 'cafe\u0301'; normalise it"),
    ],
)  # fmt: skip
def test_bad_value_is_refused_with_its_place(settings, line):
    """One problem: where, what is allowed, what was given, what to do."""
    assert problems({"plugins": [BASE | settings]}) == [f"plugins[0].{line}"]


def second(**settings):
    return {"id": "efs", "driver": "aws-efs", "aws_region": "us-east-1"} | settings


def test_jobs_have_the_ids_that_the_spec_names():
    """The other job keeps its usual one; the file's name is the plugin's."""
    plan = planned(job_ids={"node": "plugin-ebs-nodes"})

    assert [(job.job_id, job.file_name) for job in plan.jobs] == [
        ("plugin-ebs-controller", "jobs/ebs-controller.nomad.hcl"),
        ("plugin-ebs-nodes", "jobs/ebs-node.nomad.hcl"),
    ]


@pytest.mark.parametrize(
    ("plugins", "line"),
    [
        ([{"job_ids": {"node": "a/b"}}], "plugins[0].job_ids.node: expected up to 128 letters, digits, '.', '_' and '-', the first a letter or digit, got 'a/b'"),
        ([{"job_ids": {"monolith": "a"}}], "plugins[0].job_ids.monolith: expected no id of a monolith job for aws-ebs, which has only: controller, node, got 'a'; remove it"),
        ([{"job_ids": {"controller": "a", "node": "a"}}], "plugins[0].job_ids.node: expected an id of its own: the controller job of plugins[0] has it already, got 'a'"),
        ([{}, {"job_ids": {"node": "plugin-ebs-controller"}}], "plugins[1].job_ids.node: expected an id of its own: the controller job of plugins[0] has it already, got 'plugin-ebs-controller'"),
    ],
)  # fmt: skip
def test_job_ids_that_no_two_jobs_can_have(plugins, line):
    """Nomad would take the second for the next version of the first."""
    first, *rest = plugins

    assert problems({"plugins": [BASE | first, *(second(**item) for item in rest)]}) == [line]


def test_one_job_id_in_two_namespaces_is_two_jobs():
    """Nomad tells them apart."""
    document = {"plugins": [BASE | {"job_ids": {"node": "n"}}, second(namespace="b", job_ids={"node": "n"})]}

    assert problems(document) == []


def test_two_plugins_of_one_client_have_ports_of_their_own():
    """Nomad would place only one of them."""
    document = {"plugins": [BASE | {"metrics_port": 3301}, second(metrics_port=3302)]}

    assert problems(document) == [
        "plugins[1].metrics_port: expected a port of its own, and the next one: plugins[0] has 3301 and 3302 on the same "
        "clients, got 3302"
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"metrics_port": 3301}, {"metrics_port": 3303}),
        ({"metrics_port": 3301}, {}),
        (
            {"metrics_port": 3301, "availability_zone": "us-east-1a"},
            {"metrics_port": 3301, "availability_zone": "us-east-1b"},
        ),
        ({"metrics_port": 3301, "node_pool": "a"}, {"metrics_port": 3301, "node_pool": "b"}),
    ],
)
def test_plugins_that_never_meet_may_share_a_port(one, other):
    """Other ports, other zones, other pools."""
    assert problems({"plugins": [BASE | one, second(**other)]}) == []


def test_two_roles_of_vault_cannot_be_one_token():
    """A task has one role."""
    plugin = BASE | {
        "credentials": {"vault": {"path": "secret/data/a", "role": "a"}},
        "registry_credentials": {"vault": {"path": "secret/data/b", "role": "b"}},
    }

    assert problems({"plugins": [plugin]}) == [
        "plugins[0].registry_credentials.vault.role: expected the role of credentials.vault: a task has one token of "
        "Vault, got 'b'"
    ]


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


def test_key_that_says_where_a_secret_is_may_stand():
    """A path to a token is no token."""
    assert problems({"plugins": [BASE | {"environment": {"AWS_WEB_IDENTITY_TOKEN_FILE": "/x"}}]}) == []


OLD = "amazon/aws-ebs-csi-driver:v0.10.1"
UNKNOWN = "registry.example/aws-ebs-csi-driver:v1.65.0"
KNOWN = "an image whose tag is a version of aws-ebs with known arguments: v0.5.0 to v1.64.0"


def test_an_older_image_gets_the_arguments_of_its_version():
    """The same spec with another image: what that version does not know is left out, what it knew may be given."""
    found = jobs(image=OLD, extra_arguments={"node": ["--stderrthreshold=0"]}, extra_tags={"a": "b"})

    assert {role: job.arguments for role, job in found.items()} == {
        "controller": ("controller", "--endpoint=${CSI_ENDPOINT}", "--v=2", "--extra-tags=a=b"),
        "node": ("node", "--endpoint=${CSI_ENDPOINT}", "--v=2", "--stderrthreshold=0"),
    }


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"image": UNKNOWN}, f"image: expected {KNOWN}, got '{UNKNOWN}'; set arguments_checked: false to run it with those of the catalogue, or describe the driver in the spec"),
        ({"image": OLD, "metrics_port": 3301}, "metrics_port: expected none: aws-ebs v0.10.1 has no such setting, got a value; remove it"),
    ],
)  # fmt: skip
def test_what_a_version_does_not_take_is_refused(settings, line):
    """Before a container ends with a usage error."""
    assert problems({"plugins": [BASE | settings]}) == [f"plugins[0].{line}"]


def test_a_flag_of_another_version_is_refused_with_those_of_this_one():
    """Batching came with v1.25.0."""
    [line] = problems({"plugins": [BASE | {"image": OLD, "extra_arguments": {"controller": ["--batching=true"]}}]})

    assert line.startswith(
        "plugins[0].extra_arguments.controller[0]: expected a flag of aws-ebs v0.10.1: add_dir_header, alsologtostderr, "
    )


def test_arguments_that_are_not_checked_are_those_of_the_catalogue_and_any():
    """Whoever says so knows the image: secrets and words are refused all the same."""
    given = {"image": UNKNOWN, "arguments_checked": False}

    found = jobs(**given, extra_arguments={"node": ["--new=1"]})["node"]
    [line] = problems({"plugins": [BASE | given | {"extra_arguments": {"node": ["word"]}}]})

    assert found.arguments[2:] == ("--logging-format=text", "--v=2", "--metadata-sources=imds", "--new=1")
    assert line.startswith("plugins[0].extra_arguments.node[0]: expected a flag such as --name=value")
