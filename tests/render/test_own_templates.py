"""Templates of an operator's own, one by one: used, bounded, and refused where they drop what the plugin needs."""

import dataclasses
import pickle
import resource
import subprocess
import sys
from concurrent import futures
from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.plan import storage
from nomad_csi.render import documents, environment, own, own_worker
from tests.render import quick_worker

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
JOB = "job.nomad.hcl.j2"
DOCKER = "_container.hcl.j2"
DROPPED = [
    ("aws-ebs0 node", JOB, "id = {{ job.plugin_id | text }}", 'id = "aws-ebs1"', "csi_plugin.id: expected 'aws-ebs0', got 'aws-ebs1'" + TAKE),
    ("aws-ebs0 node", JOB, "type = {{ job.role | text }}", 'type = "controller"', "csi_plugin.type: expected 'node', got 'controller'" + TAKE),
    ("aws-ebs0 node", JOB, "mount_dir = {{ job.mount_dir | text }}", 'mount_dir = "/run"', "csi_plugin.mount_dir: expected '/csi', got '/run'" + TAKE),
    ("aws-ebs0 node", JOB, "csi_plugin {", "meta {", "csi_plugin: expected one, got none" + TAKE),
    ("aws-ebs0 node", JOB, "job {{ job.job_id | text }}", 'job "x"', "job: expected 'plugin-aws-ebs0-nodes', got 'x'" + TAKE),
    ("aws-ebs0 node", JOB, "type = {{ job.job_type | text }}", 'type = "batch"', "type: expected 'system', got 'batch'" + TAKE),
    ("aws-ebs0 node", JOB, "region = {{ job.region | text }}", "", "region: expected 'global', got nothing" + TAKE),
    ("aws-ebs0 node", JOB, "namespace = {{ job.namespace | text }}", 'namespace = "x"', "namespace: expected 'default', got 'x'" + TAKE),
    ("aws-ebs0 node", JOB, "datacenters = {{ job.datacenters | texts }}", 'datacenters = ["a"]', "datacenters: expected ['*'], got ['a']" + TAKE),
    ("aws-ebs0 node", JOB, "node_pool = {{ job.node_pool | text }}", 'node_pool = "x"', "node_pool: expected 'default', got 'x'" + TAKE),
    ("aws-ebs0 node", JOB, "value = {{ constraint.value | text }}", 'value = "x"', "constraint: expected ${attr.platform.aws.placement.availability-zone} = us-east-1a, got nothing" + TAKE),
    ("aws-efs0 node", JOB, "  group {{", '  constraint {\n    attribute = "${node.class}"\n    value = "x"\n  }\n  group {{', "constraint: expected the constraints of the spec, got ${node.class} = x; put it there"),
    ("aws-ebs0 controller", JOB, 'operator = "distinct_hosts"', 'operator = "is_set"\n      attribute = "${attr.x}"', "constraint: expected distinct_hosts, got nothing" + TAKE),
    ("aws-ebs0 controller", JOB, "count = {{ job.count | number }}", "count = 1", "group.count: expected 3, got 1" + TAKE),
    ("aws-ebs0 node", JOB, 'mode = "delay"', 'mode = "fail"', "group.restart.mode: expected 'delay', got 'fail'" + TAKE),
    ("aws-ebs0 node", JOB, "driver = {{ job.task_driver | text }}", 'driver = "podman"', "task.driver: expected 'docker', got 'podman'" + TAKE),
    ("aws-ebs0 node", DOCKER, "privileged = true", "", "config.privileged: expected true, got false" + TAKE),
    ("aws-ebs0 node", DOCKER, "image = {{ job.image | text }}", 'image = "x:1"', "config.image: expected 'public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0', got 'x:1'" + TAKE),
    ("aws-efs0 node", DOCKER, "network_mode = {{ job.network_mode | text }}", "", "config.network_mode: expected 'host', got nothing" + TAKE),
    ("aws-efs0 node", DOCKER, "volumes = {{ job.binds | lines }}", "", "config.volumes: expected '/var/amazon/efs:/var/amazon/efs', got nothing" + TAKE),
    ("aws-efs0 node", DOCKER, "args = {{ job.arguments | arguments(job.secret_variables) }}", 'args = ["--v=2"]', "config.args: expected '--endpoint=${CSI_ENDPOINT}', got nothing" + TAKE),
    ("aws-efs0 node", DOCKER, "job.arguments |", "job.arguments | reverse |", "config.args: expected the order ['--endpoint=${CSI_ENDPOINT}', '--v=2'], got another order" + TAKE),
    ("aws-ebs0 node", DOCKER, "password = {{", "# {{", "config.auth.password: expected '${REGISTRY_PASSWORD}', got nothing" + TAKE),
    ("aws-ebs0 node", JOB, "{{ name | identifier }} = {{ value | argument }}", "OTHER = {{ value | argument }}", "env.AWS_REGION: expected 'us-east-1', got nothing" + TAKE),
    ("aws-ebs0 controller", JOB, "template.file_name) | argument", '"x") | argument', "template credentials.env: expected it, because it holds the secrets, got nothing" + TAKE),
    ("aws-ebs0 controller", JOB, "        env = true\n", "", "template credentials.env: expected its data and env as in the plan, got something else" + TAKE),
    ("aws-ebs0 node", JOB, "role = {{ job.vault_role | text }}", "", "vault.role: expected 'pull', got nothing" + TAKE),
    ("aws-ebs0 node", JOB, "vault {", "meta {", "vault: expected the block, got nothing" + TAKE),
    ("aws-ebs0 node", DOCKER, "privileged = true", "privileged = true\n        privilegd = true", "config.privilegd: expected a key of the task driver docker, got an unknown key; did you mean privileged"),
    ("oidc controller", JOB, "aud = {{ [job.identity_audience] | texts }}", "", "identity aws: expected ['sts.amazonaws.com'], got nothing" + TAKE),
]  # fmt: skip


@pytest.mark.parametrize(("name", "template", "old", "new", "line"), DROPPED, ids=[item[4][:40] for item in DROPPED])
def test_template_that_drops_a_required_part_is_refused_with_its_name(changed, name, template, old, new, line):
    """The part, what it must be, what it is."""
    folder = changed(template, old, new)

    with pytest.raises(errors.SpecError) as caught:
        documents.job_file(JOBS[name], templates=folder)

    assert line in [str(problem) for problem in caught.value.problems]
    assert caught.value.source == f"{JOBS[name].file_name}, rendered with templates of your own"


VOLUME_TEMPLATE = "volume.volume.hcl.j2"


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('type = "csi"', 'type = "host"', "type: expected 'csi', got 'host'" + TAKE),
        ("id = {{ registration.volume_id", 'id = "x"\n# {{ registration.volume_id', "id: expected 'mysql', got 'x'" + TAKE),
        ("plugin_id = {{", 'plugin_id = "x" # {{', "plugin_id: expected 'aws-ebs0', got 'x'" + TAKE),
        ("external_id = {{", "# {{", "external_id: expected 'vol-0123456789abcdef0', got nothing" + TAKE),
        ("capability {", "parameters {", "capability: expected [{'AccessMode': 'single-node-writer', 'AttachmentMode': 'file-system'}], got nothing" + TAKE),
        ("required {", "preferred {", "topology_request.required: expected [{'Segments': {'topology.ebs.csi.aws.com/zone': 'us-east-1a'}}], got nothing" + TAKE),
        ("context = {{ registration.context | volume_map }}", "", "context.k: expected 'v', got nothing" + TAKE),
        ('type = "csi"', 'type = "csi"\nsecrets = { a = "b" }', "secrets: expected no secrets: they are sent with the registration and stand in no file, got [secret]; remove them"),
        ("mount_options {", "labels {", "mount_options: expected the block, even an empty one: Nomad refuses a file without it while the volume is in use, got nothing" + TAKE),
    ],
)  # fmt: skip
def test_volume_template_that_drops_a_required_part_is_refused(changed, old, new, line):
    """A volume file says what is registered, all of it."""
    folder = changed(VOLUME_TEMPLATE, old, new)
    document = dataclasses.replace(VOLUME.registration, parameters={})

    with pytest.raises(errors.SpecError) as caught:
        documents.volume_file(document, templates=folder)

    assert line in [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a\n{{ jbo.x }}", 2, "'jbo' is undefined"),
        ("{{ job.image_name | text }}", 1, "'nomad_csi.plan.model.PluginJob object' has no attribute 'image_name'"),
        ("\n\n{{ job.image }}", 3, "a template printed a str that passed no quoting filter"),
        ("{% for x in y %}", 1, "Unexpected end of template"),
        ("x\n{{ job.image | txt }}", 2, "No filter named 'txt'."),
        ("\n{% include 'absent.j2' %}", 2, "there is no template 'absent.j2'"),
        ("{% include 'job.nomad.hcl.j2' %}", 1, "it includes or calls itself without end"),
        ("{% macro a() %}{{ a() }}{% endmacro %}\n{{ a() }}", 1, "it includes or calls itself without end"),
        ("{% for i in range(100000) %}x{% endfor %}", 1, "range() gives more than 10000 numbers"),
        (
            "{% for i in range(9000) %}{% for j in range(9000) %}{% endfor %}{% endfor %}",
            1,
            "range() gives more than 10000 numbers",
        ),
        ("{{ ('x' * 10 ** 9) | text }}", 1, "** is for two numbers only"),
        ("{{ ('x' * 1000000000) | text }}", 1, "* is for two numbers only"),
        ("{{ ''.__class__ | text }}", 1, "access to attribute '__class__' of 'str' object is unsafe."),
        (
            "{{ job.restart.parse_raw('x', content_type='x/pickle', allow_pickle=true) | text }}",
            1,
            "access to attribute 'parse_raw' of 'RestartSpec' object is unsafe.",
        ),
        ("{{ (1 / 0) | number }}", 1, "ZeroDivisionError: division by zero"),
        ("{{ 5 | texts }}", 1, "TypeError: 'int' object is not iterable"),
    ],
)
def test_template_that_cannot_be_rendered_is_named_with_its_line(written, text, line, reason):
    """One clear error: the file, the line, the reason."""
    folder = written(text)

    with pytest.raises(own.TemplateError) as caught:
        documents.job_file(JOBS["aws-efs0 node"], templates=folder)

    assert str(caught.value).startswith(f"template {folder / JOB}, line {line}: {reason}")


def test_error_in_an_included_part_names_the_part(written):
    """The innermost template is the one to mend."""
    folder = written("x\n\n{{ job.image | text }}{{ nothing }}", "_container.hcl.j2")

    with pytest.raises(own.TemplateError, match=r"_container\.hcl\.j2, line 3: 'nothing' is undefined"):
        documents.job_file(JOBS["aws-efs0 node"], templates=folder)


def test_template_that_writes_without_end_is_stopped(written):
    """What a file may hold at most is what Nomad takes."""
    text = "{% for i in range(9999) %}" + "x" * 1000 + "{{ job.image | text }}{% endfor %}"
    folder = written(text)

    with pytest.raises(own.TemplateError, match="it makes more than 1048576 characters: does it loop"):
        documents.job_file(JOBS["aws-efs0 node"], templates=folder)


def test_template_whose_text_is_no_job_file_is_refused(written):
    """What it makes is read as Nomad would read it."""
    with pytest.raises(errors.SpecError, match=r"jobs/aws-efs0-node\.nomad\.hcl, rendered with templates of your own"):
        documents.job_file(JOBS["aws-efs0 node"], templates=written("job {\n"))


def test_empty_template_lacks_the_job(written):
    """A file without a job is none."""
    with pytest.raises(errors.SpecError, match="job: expected one job, got 0"):
        documents.job_file(JOBS["aws-efs0 node"], templates=written(""))


def test_folder_that_is_none_is_refused(tmp_path):
    """A mistyped path is not "no templates"."""
    with pytest.raises(own.TemplateError, match=r"templates: .*/absent is not a folder"):
        documents.job_file(JOBS["aws-efs0 node"], templates=tmp_path / "absent")


def test_folder_without_a_template_of_a_known_name_is_refused(written):
    """A mistyped file name would be left out in silence."""
    folder = written("x", "job.hcl.j2")

    with pytest.raises(own.TemplateError, match=r"holds none of _container\.hcl\.j2, .*, so nothing there is used"):
        documents.job_file(JOBS["aws-efs0 node"], templates=folder)


LIST = "[1,2,3,4,5,6,7,8,9,10]"
NESTED = "{% for x in " + LIST + " %}"
DOUBLED = "{% set ns = namespace(x='abcdefgh') %}{% for i in range(64) %}{% set ns.x = STEP %}{% endfor %}"
ENDLESS = {
    "loops over a list": NESTED * 9 + "{% endfor %}" * 9,
    "a recursive loop": "{% for x in [1, 2] recursive %}{% if loop.depth < 60 %}{% set a = loop([1, 2]) %}{% endif %}{% endfor %}",
    "a macro that calls itself twice": "{% macro m(n) %}{% if n %}{% set a = m(n - 1) %}{% set b = m(n - 1) %}{% endif %}{% endmacro %}"
    "{% set c = m(60) %}",
}
HUGE = {
    "center": "{{ 'a'.center(9000000000) | text }}",
    "the filter center": "{{ ('a' | center(9000000000)) | text }}",
    "a format": "{{ '{:9000000000}'.format(1) | text }}",
    "concatenation": DOUBLED.replace("STEP", "ns.x ~ ns.x"),
    "addition": DOUBLED.replace("STEP", "ns.x + ns.x"),
    "replacement": DOUBLED.replace("STEP", "ns.x.replace('a', ns.x)"),
    "a filled batch": "{{ ([1] | batch(900000000, 0) | list | length) | number }}",
}
AS_SHIPPED = {"loops over a list", "addition"}
"""Cases that meet the limits of the product; the others meet smaller ones, sooner."""


@pytest.fixture
def limit_s(name, monkeypatch):
    """The processor time of a template, in a process that may have limits for tests."""
    if name in AS_SHIPPED:
        yield own_worker.CPU_LIMIT_S
        return
    worker = own._Worker()
    monkeypatch.setattr(own, "_WORKER", worker)
    monkeypatch.setattr(own, "_MODULE", quick_worker.__name__)
    yield quick_worker.LIMIT_S
    worker.close()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", ENDLESS)
def test_template_that_would_run_for_ever_is_stopped(written, name, limit_s):
    """By the processor time of a process of its own; the next file is rendered as if nothing had been."""
    stopped = rf"job\.nomad\.hcl\.j2(, line 1)?: it takes more than {limit_s} s of processor time"

    with pytest.raises(own.TemplateError, match=stopped):
        documents.job_file(JOBS["aws-efs0 node"], templates=written(ENDLESS[name]))

    (written("x") / JOB).unlink()
    folder = written(ours(DOCKER), DOCKER)
    assert documents.job_file(JOBS["aws-efs0 node"], templates=folder) == documents.job_file(JOBS["aws-efs0 node"])


@pytest.mark.parametrize("name", HUGE)
def test_template_that_would_fill_the_memory_is_stopped(written, name, limit_s):
    """In that process: this one does not grow. On a slow machine its processor time comes to an end first."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    too_long = f"it takes more than {limit_s} s of processor time"

    with pytest.raises(
        own.TemplateError, match=rf"job\.nomad\.hcl\.j2(, line 1)?: (MemoryError|OverflowError|{too_long})"
    ):
        documents.job_file(JOBS["aws-efs0 node"], templates=written(HUGE[name]))

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs Linux, which tells the limits of a process")
def test_process_of_templates_may_take_a_gibibyte(changed):
    """Its processor time alone would let a template take all of a machine's memory first."""
    documents.job_file(
        JOBS["aws-efs0 node"], templates=changed(DOCKER, "      config {", "      # by us\n      config {")
    )

    assert resource.prlimit(own._WORKER._process.pid, resource.RLIMIT_AS) == (2**30, 2**30)


def test_limit_of_processor_time_from_outside_stays():
    """Of ``ulimit -t``: only root may raise it, and no limit of ours is above it."""
    command = ["sh", "-c", 'ulimit -t 3; exec "$0" -m nomad_csi.render.own_worker', sys.executable]
    request = pickle.dumps((Path.cwd(), Path("none"), "job.nomad.hcl.j2", {}))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        worker.stdin.write(own.SIZE.pack(len(request)) + request)
        worker.stdin.flush()
        reply = worker.stdout.readline()
        found = resource.prlimit(worker.pid, resource.RLIMIT_CPU)
        worker.stdin.close()

    assert b"none is not a folder" in reply
    assert found == (3, 3)


def test_threads_share_the_process(changed):
    """Each gets the text of its own job."""
    folder = changed(DOCKER, "      config {", "      # by us\n      config {")
    names = [name for name in JOBS if "efs" in name or "ebs0" in name] * 4

    with futures.ThreadPoolExecutor(8) as workers:
        texts = list(workers.map(lambda name: documents.job_file(JOBS[name], templates=folder), names))

    alone = [documents.job_file(JOBS[name], templates=folder) for name in names]
    assert texts == alone
    assert all("# by us" in text for text in texts)


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


def test_process_that_was_killed_is_started_anew(changed):
    """By somebody who frees memory; the file that it was at is an error, the next one is none."""
    folder = changed(DOCKER, "      config {", "      # by us\n      config {")
    job = JOBS["aws-efs0 node"]
    text = documents.job_file(job, templates=folder)

    own._WORKER._process.kill()
    own._WORKER._process.wait()

    assert documents.job_file(job, templates=folder) == text
