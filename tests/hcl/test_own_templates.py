"""Templates of an operator's own, one by one: used, and refused where they drop what the plugin needs."""

import dataclasses
from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.hcl import documents, environment
from nomad_csi.plan import storage

DOCUMENT = {
    "plugins": [
        {
            "id": "aws-ebs0",
            "driver": "aws-ebs",
            "aws_region": "us-east-1",
            "availability_zone": "us-east-1a",
            "credentials": {"nomad_variable": "nomad/jobs"},
            "registry_credentials": {"vault": {"path": "secret/data/registry", "role": "pull"}},
            "nomad_region": "global",
            "controller": {"count": 3},
        },
        {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"},
        {
            "id": "oidc",
            "driver": "aws-ebs",
            "aws_region": "us-east-1",
            "credentials": {"workload_identity": {"role_arn": "arn:aws:iam::123456789012:role/csi"}},
            "update": {"max_parallel": 2},
            "metrics_port": 3301,
        },
    ],
    "volumes": [
        {
            "id": "mysql",
            "plugin_id": "aws-ebs0",
            "existing": {"external_id": "vol-0123456789abcdef0", "availability_zone": "us-east-1a"},
            "context": {"k": "v"},
            "parameters": {"iops": "1"},
        }
    ],
}
JOBS = {
    f"{job.plugin_id} {job.role}": job
    for plugin in storage.plan_document({"plugins": DOCUMENT["plugins"]}).plugins
    for job in plugin.jobs
}
[VOLUME] = storage.plan_document(DOCUMENT).volumes


def ours(name):
    return (environment.templates_folder() / name).read_text()


@pytest.fixture
def changed(tmp_path):
    """Write one of our templates with a change into a folder of one's own, and return the folder."""

    def change(name, old, new):
        text = ours(name)
        assert old in text
        (tmp_path / name).write_text(text.replace(old, new))
        return tmp_path

    return change


@pytest.fixture
def written(tmp_path):
    """Write a template of one's own, and return the folder."""

    def write(text, name="job.nomad.hcl.j2"):
        (tmp_path / name).write_text(text)
        return tmp_path

    return write


@pytest.mark.parametrize("name", JOBS)
def test_copies_of_our_templates_change_nothing(tmp_path, name):
    """Who takes over all of ours has the same files."""
    for path in environment.templates_folder().glob("*.j2"):
        (tmp_path / path.name).write_text(path.read_text())

    assert documents.job_file(JOBS[name], templates=tmp_path) == documents.job_file(JOBS[name])
    mysql = VOLUME.registration
    assert documents.volume_file(mysql, templates=tmp_path) == documents.volume_file(mysql)


def test_one_template_goes_before_ours(changed):
    """What a template adds stands in the file; the parts that are not in the folder are ours."""
    folder = changed("_container.hcl.j2", "      config {", "      # by us\n      config {\n        init = true")

    text = documents.job_file(JOBS["aws-efs0 node"], templates=folder)

    assert "      # by us\n" in text
    assert 'config {\n        init  = true\n        image = "public.ecr.aws/' in text


TAKE = "; take it over from our template"
SECRETS = (
    "secrets: expected no secrets: they are sent with the registration and stand in no file, got [secret]; remove them"
)
JOB = "job.nomad.hcl.j2"
DOCKER = "_container.hcl.j2"
DROPPED = [
    ("aws-ebs0 node", JOB, "id = {{ job.plugin_id | text }}", 'id = "aws-ebs1"', "job.group.task.csi_plugin.id: expected 'aws-ebs0', got 'aws-ebs1'" + TAKE),
    ("aws-ebs0 node", JOB, "type = {{ job.role | text }}", 'type = "controller"', "job.group.task.csi_plugin.type: expected 'node', got 'controller'" + TAKE),
    ("aws-ebs0 node", JOB, "mount_dir = {{ job.mount_dir | text }}", 'mount_dir = "/run"', "job.group.task.csi_plugin.mount_dir: expected '/csi', got '/run'" + TAKE),
    ("aws-ebs0 node", JOB, "mount_dir = {{ job.mount_dir | text }}", 'mount_dir = "/csi"\nstage_publish_base_dir = "/x"', "job.group.task.csi_plugin.stage_publish_base_dir: expected nothing, got '/x'" + TAKE),
    ("aws-ebs0 node", JOB, "csi_plugin {", "config {\n  privileged = false\n}\ncsi_plugin {", "job.group.task.config (repeated): expected nothing, got a block" + TAKE),
    ("aws-ebs0 node", JOB, "csi_plugin {", "meta {", "job.group.task.csi_plugin: expected a block, got nothing" + TAKE),
    ("aws-ebs0 node", JOB, "job {{ job.job_id | text }}", 'job "x"', "job: expected a block 'plugin-aws-ebs0-nodes', got a block 'x'" + TAKE),
    ("aws-ebs0 node", JOB, "group {{ job.group | text }}", 'group "x"', "job.group: expected a block 'nodes', got a block 'x'" + TAKE),
    ("aws-ebs0 node", JOB, "type = {{ job.job_type | text }}", 'type = "batch"', "job.type: expected 'system', got 'batch'" + TAKE),
    ("aws-ebs0 node", JOB, "region = {{ job.region | text }}", "", "job.region: expected 'global', got nothing" + TAKE),
    ("aws-ebs0 node", JOB, "namespace = {{ job.namespace | text }}", 'namespace = "x"', "job.namespace: expected 'default', got 'x'" + TAKE),
    ("aws-ebs0 node", JOB, "datacenters = {{ job.datacenters | texts }}", 'datacenters = ["a"]', "job.datacenters: expected ['*'], got ['a']" + TAKE),
    ("aws-ebs0 node", JOB, "node_pool = {{ job.node_pool | text }}", 'node_pool = "x"', "job.node_pool: expected 'default', got 'x'" + TAKE),
    ("aws-ebs0 node", JOB, "value = {{ constraint.value | text }}", 'value = "x"', "job.constraint: expected [{'attribute': '${attr.platform.aws.placement.availability-zone}', 'value': 'us-east-1a'}], got [{'attribute': '${attr.platform.aws.placement.availability-zone}', 'value': 'x'}]" + TAKE),
    ("aws-efs0 node", JOB, "  group {{", '  constraint {\n    attribute = "${node.class}"\n    value = "x"\n  }\n  group {{', "job.constraint: expected nothing, got [{'attribute': '${node.class}', 'value': 'x'}]" + TAKE),
    ("aws-efs0 node", JOB, "  group {{", '  region = "x"\n  group {{', "job.region: expected nothing, got 'x'" + TAKE),
    ("aws-ebs0 controller", JOB, 'operator = "distinct_hosts"', 'operator = "is_set"\n      attribute = "${attr.x}"', "job.group.constraint: expected [{'operator': 'distinct_hosts', 'value': 'true'}], got [{'operator': 'is_set', 'attribute': '${attr.x}', 'value': 'true'}]" + TAKE),
    ("aws-ebs0 controller", JOB, "count = {{ job.count | number }}", "count = 1", "job.group.count: expected 3, got 1" + TAKE),
    ("aws-ebs0 node", JOB, "    restart {", "    count = 2\n    restart {", "job.group.count: expected nothing, got 2" + TAKE),
    ("aws-ebs0 node", JOB, 'mode = "delay"', 'mode = "fail"', "job.group.restart.mode: expected 'delay', got 'fail'" + TAKE),
    ("aws-ebs0 node", JOB, "driver = {{ job.task_driver | text }}", 'driver = "podman"', "job.group.task.driver: expected 'docker', got 'podman'" + TAKE),
    ("aws-ebs0 node", DOCKER, "privileged = true", "", "job.group.task.config.privileged: expected true, got nothing" + TAKE),
    ("aws-ebs0 node", DOCKER, "image = {{ job.image | text }}", 'image = "x:1"', "job.group.task.config.image: expected 'public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0', got 'x:1'" + TAKE),
    ("aws-efs0 node", DOCKER, "network_mode = {{ job.network_mode | text }}", "", "job.group.task.config.network_mode: expected 'host', got nothing" + TAKE),
    ("aws-efs0 node", DOCKER, "volumes = {{ job.binds | lines }}", "", "job.group.task.config.volumes: expected a list with '/var/amazon/efs:/var/amazon/efs', '/var/run/efs:/var/run/efs', in this order, got another" + TAKE),
    ("aws-efs0 node", DOCKER, "args = {{ job.arguments | arguments(job.secret_variables) }}", 'args = ["--v=2"]', "job.group.task.config.args: expected a list with '--endpoint=${CSI_ENDPOINT}', '--v=2', in this order, got another" + TAKE),
    ("aws-efs0 node", DOCKER, "job.arguments |", "job.arguments | reverse |", "job.group.task.config.args: expected a list with '--endpoint=${CSI_ENDPOINT}', '--v=2', in this order, got another" + TAKE),
    ("aws-ebs0 node", DOCKER, "password = {{", "# {{", "job.group.task.config.auth.password: expected '${REGISTRY_PASSWORD}', got nothing" + TAKE),
    ("aws-ebs0 node", JOB, "{{ name | identifier }} = {{ value | argument }}", "OTHER = {{ value | argument }}", "job.group.task.env.AWS_REGION: expected 'us-east-1', got nothing" + TAKE),
    ("aws-ebs0 controller", JOB, "template.file_name) | argument", '"x") | argument', "job.group.task.template ${NOMAD_SECRETS_DIR}/credentials.env: expected a block, got nothing" + TAKE),
    ("aws-ebs0 controller", JOB, "        env = true\n", "", "job.group.task.template ${NOMAD_SECRETS_DIR}/credentials.env.env: expected true, got nothing" + TAKE),
    ("aws-ebs0 node", JOB, "role = {{ job.vault_role | text }}", "", "job.group.task.vault.role: expected 'pull', got nothing" + TAKE),
    ("aws-ebs0 node", JOB, "vault {", "meta {", "job.group.task.vault: expected a block, got nothing" + TAKE),
    ("oidc controller", JOB, "aud = {{ [job.identity_audience] | texts }}", '}\nidentity {\nname = "x"', "job.group.task.identity aws.aud: expected a list with 'sts.amazonaws.com', in this order, got another" + TAKE),
    ("aws-ebs0 node", JOB, "group {{ job.group | text }}", "meta", "job.group: expected a block 'nodes', got nothing" + TAKE),
    ("oidc controller", JOB, "aud = {{ [job.identity_audience] | texts }}", "", "job.group.task.identity.aud: expected a list with 'sts.amazonaws.com', in this order, got another" + TAKE),
]  # fmt: skip


@pytest.mark.parametrize(("name", "template", "old", "new", "line"), DROPPED, ids=[item[4][:40] for item in DROPPED])
def test_template_that_drops_a_required_part_is_refused_with_its_name(changed, name, template, old, new, line):
    """The part, what it must be, what it is."""
    folder = changed(template, old, new)

    with pytest.raises(errors.SpecError) as caught:
        documents.job_file(JOBS[name], templates=folder)

    lines = [str(problem) for problem in caught.value.problems]
    assert (line in lines, "__labels__" in str(lines)) == (True, False)
    assert caught.value.source == f"{JOBS[name].file_name}, rendered with templates of your own"


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("aws-ebs0 node", "attempts = {{ job.restart.attempts | number }}", "attempts = 99"),
        ("aws-ebs0 node", "interval = {{ job.restart.interval_s | seconds }}", 'interval = "99m"'),
        ("aws-ebs0 node", "delay = {{ job.restart.delay_s | seconds }}", 'delay = "99s"'),
        ("aws-ebs0 node", "priority = {{ job.priority | number }}", "priority = 99"),
        ("aws-ebs0 node", "health_timeout = {{ job.health_timeout_s | seconds }}", 'health_timeout = "99s"'),
        ("aws-ebs0 node", "cpu = {{ job.cpu_mhz | number }}", "cpu = 99"),
        ("aws-ebs0 node", "kill_timeout = {{ job.kill_timeout_s | seconds }}", 'kill_timeout = "99s"'),
        ("oidc controller", 'name = "aws"', 'name = "sts"'),
        ("oidc controller", "max_parallel = {{ job.update.max_parallel | number }}", "max_parallel = 99"),
        ("oidc controller", 'port "metrics" {', 'port "x" {'),
        ("oidc controller", "aud = {{ [job.identity_audience] | texts }}", 'aud = ["sts.amazonaws.com", "x"]'),
    ],
)
def test_template_may_change_what_nomad_reserves_and_when_it_restarts(changed, name, old, new):
    """The plugin is the same; what it needs is another part."""
    job = dataclasses.replace(JOBS[name], kill_timeout_s=9)
    text = documents.job_file(job, templates=changed(JOB, old, new))

    assert new in " ".join(text.split())


VOLUME_TEMPLATE = "volume.volume.hcl.j2"


def test_volumes_of_a_plan_are_rendered_with_them(changed):
    """As its jobs are."""
    folder = changed(VOLUME_TEMPLATE, 'type = "csi"', '# by us\nsecrets = {}\ntype = "csi"')

    files = documents.render_plan(storage.plan_document(DOCUMENT), {}, templates=folder)

    assert "# by us\n" in files["volumes/default/mysql.volume.hcl"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('type = "csi"', 'type = "host"\nsecrets = { a = "b" }', f"type: expected 'csi', got 'host'{TAKE}\n{SECRETS}"),
        ("id = {{ registration.volume_id", 'id = "x"\n# {{ registration.volume_id', "id: expected 'mysql', got 'x'" + TAKE),
        ("plugin_id = {{", 'plugin_id = "x" # {{', "plugin_id: expected 'aws-ebs0', got 'x'" + TAKE),
        ("external_id = {{", "# {{", "external_id: expected 'vol-0123456789abcdef0', got nothing" + TAKE),
        ("capability {", "parameters {", "capability: expected [{'access_mode': 'single-node-writer', 'attachment_mode': 'file-system'}], got nothing" + TAKE),
        ("required {", "preferred {", "topology_request.required: expected [{'topology': [{'segments': {'topology.ebs.csi.aws.com/zone': 'us-east-1a'}}]}], got nothing" + TAKE),
        ("context = {{ registration.context | volume_map }}", 'context = { k = "w" }', "context.k: expected 'v', got 'w'" + TAKE),
        ("context = {{ registration.context | volume_map }}", "", "context: expected a block, got nothing" + TAKE),
        ('type = "csi"', 'type = "csi"\nsecrets = { a = "b" }', SECRETS),
        ("mount_options {", "labels {", "mount_options: expected a block, got nothing" + TAKE),
    ],
)  # fmt: skip
def test_volume_template_that_drops_a_required_part_is_refused(changed, old, new, line):
    """A volume file says what is registered, all of it."""
    folder = changed(VOLUME_TEMPLATE, old, new)
    document = dataclasses.replace(VOLUME.registration, parameters={})

    with pytest.raises(errors.SpecError) as caught:
        documents.volume_file(document, templates=folder)

    assert line in "\n".join(map(str, caught.value.problems))


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a\n{{ jbo.x }}", 2, "'jbo' is undefined"),
        ("{{ job.image_name | text }}", 1, "'nomad_csi.plan.model.PluginJob object' has no attribute 'image_name'"),
        ("\n\n{{ job.image }}", 3, "a template printed a str that passed no quoting filter"),
        ("{% for x in y %}", 1, "Unexpected end of template"),
        ("x\n{{ job.image | txt }}", 2, "No filter named 'txt'."),
        ("\n{% include 'absent.j2' %}", 2, "'absent.j2' not found"),
        ("{% include 'job.nomad.hcl.j2' %}", 1, "RecursionError: "),
        ("{% macro a() %}{{ a() }}{% endmacro %}\n{{ a() }}", 1, "RecursionError: "),
        ("{{ ''.__class__ | text }}", 1, "access to attribute '__class__' of 'str' object is unsafe."),
        ("{{ (1 / 0) | number }}", 1, "ZeroDivisionError: division by zero"),
        ("{{ 5 | texts }}", 1, "TypeError: 'int' object is not iterable"),
    ],
)
def test_template_that_cannot_be_rendered_is_named_with_its_line(written, text, line, reason):
    """One clear error: the file, the line, the reason."""
    folder = written(text)

    with pytest.raises(environment.TemplateError) as caught:
        documents.job_file(JOBS["aws-efs0 node"], templates=folder)

    assert str(caught.value).startswith(f"template {folder / JOB}, line {line}: {reason}")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            DOCKER,
            "x\n\n{{ job.image | text }}{{ nothing }}",
            "FOLDER/_container.hcl.j2, line 3: 'nothing' is undefined",
        ),
        (
            JOB,
            "{% set job = 1 %}{% include '_container.hcl.j2' %}",
            "_container.hcl.j2, line 2: 'int object' has no attribute 'image'",
        ),
    ],
)
def test_error_in_an_included_part_names_the_part(written, tmp_path, name, text, message):
    """The innermost template is the one to mend, whether it is ours or not."""
    with pytest.raises(environment.TemplateError) as caught:
        documents.job_file(JOBS["aws-efs0 node"], templates=written(text, name))

    assert str(caught.value) == f"template {message.replace('FOLDER', str(tmp_path))}"


def test_template_whose_text_is_no_job_file_is_refused(written):
    """What it makes is read as Nomad would read it."""
    with pytest.raises(errors.SpecError, match=r"jobs/aws-efs0-node\.nomad\.hcl, rendered with templates of your own"):
        documents.job_file(JOBS["aws-efs0 node"], templates=written("job {\n"))


def test_folder_that_is_none_is_refused(tmp_path):
    """A mistyped path is not "no templates"."""
    with pytest.raises(environment.TemplateError, match=r"^templates: .*/absent is not a folder"):
        documents.job_file(JOBS["aws-efs0 node"], templates=tmp_path / "absent")


def test_folder_without_a_template_of_a_known_name_is_refused(written):
    """A mistyped file name would be left out in silence."""
    folder = written("x", "job.hcl.j2")

    with pytest.raises(
        environment.TemplateError,
        match=r"^templates: .* holds none of _container\.hcl\.j2, .*, so nothing there is used",
    ):
        documents.job_file(JOBS["aws-efs0 node"], templates=folder)


def test_relative_folder_is_that_of_the_working_directory(changed, tmp_path, monkeypatch):
    """The process that renders was started elsewhere, and had another folder of that name."""
    job = JOBS["aws-efs0 node"]
    folder = changed(DOCKER, "      config {", "      # by us\n      config {")
    other = tmp_path / "other" / folder.name
    other.mkdir(parents=True)
    (other / DOCKER).write_text(ours(DOCKER).replace("      config {", "      # by others\n      config {"))

    texts = []
    for working_directory in (folder.parent, other.parent):
        monkeypatch.chdir(working_directory)
        texts.append(documents.job_file(job, templates=Path(folder.name)))

    assert ["# by us" in texts[0], "# by others" in texts[1]] == [True, True]
