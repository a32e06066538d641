"""Both engines, each with a sandbox of its own and the Nomad emulator: the same steps, the same program."""

import json
import re
import shutil
import sys
from concurrent import futures
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.e2e import sandboxes

PROGRAMS = ("pulumi", "pulumi-language-python")
ABSENT = [name for name in PROGRAMS if shutil.which(name) is None]
KINDS = ("real", "emulator")
DEADLINE_S = 240

FORGOTTEN = ("created", "modified", "sourcePosition", "stackTrace")
SECRET = "4dabf18193072939515e22adb298388d"
UNTOLD = ("same", "refresh", "create-replacement", "delete-replaced", "discard-replaced")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

RANDOM = (
    (UUID, "ID"),
    (re.compile(r"\b(vol|fs|fsap|fsmt|sg|sgr|subnet|vpc|eni|i)-[0-9a-f]{8,17}\b"), r"\1-ID"),
    (re.compile(r"\b(aws-ebs0|shared)-[0-9a-f]{7}\b"), r"\1-RANDOM"),
    (re.compile(r'("policyId": ")A[0-9A-Z]{20}'), r"\1RANDOM"),
    (re.compile(r'("(?:stackId|ownerId|nonce|nomad-csi:stack-id)": ")[0-9a-f]+'), r"\1RANDOM"),
    (re.compile(r'("id": ")[0-9a-f]{16}"'), r'\1RANDOM"'),
    (re.compile(r'("creationToken": ")[^"]*'), r"\1RANDOM"),
    (re.compile(r"(render again\. Content )[0-9a-f]{16}"), r"\1OF-CONTENT"),
    (re.compile(r"20\d\d-\d\d-\d\dT[0-9:.]+(Z|\+00:00)"), "TIME"),
    (re.compile(r'("plugin-[a-z0-9-]+": |"jobModifyIndex": )"?\d+"?'), r'\1"COUNT"'),
)
"""
What AWS, Nomad and the providers make up: ids, suffixes of names, times; sums of contents with ids in them; indexes, by
which Nomad counts all its writes, in whatever order steps that run at once come to it.
"""


def pytest_collection_modifyitems(items):
    """Mark what is here, and skip it where the engine is not at hand."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.real_pulumi)
            item.add_marker(pytest.mark.timeout(900))
            item.add_marker(pytest.mark.skipif(bool(ABSENT), reason=f"not on PATH: {', '.join(ABSENT)}"))


def without_random(text):
    """Return *text* with a name instead of each value that is made up."""
    for pattern, name in RANDOM:
        text = pattern.sub(name, text)
    return text


# --- states
def normal(resources):
    """Return *resources* by URN and deletion mark, without what the two engines cannot have in common."""
    text = UUID.sub("ID", json.dumps(resources))
    return {(each["urn"], each.get("delete", False)): normal_resource(each) for each in json.loads(text)}


def normal_resource(resource):
    kept = {key: hide(value) for key, value in resource.items() if key not in FORGOTTEN}
    for properties in (kept.get("inputs", {}), kept.get("outputs", {})):
        properties.pop("__internal", None)
    if "dependencies" in kept:
        kept["dependencies"] = sorted(kept["dependencies"])
    by_property = kept.get("propertyDependencies", {})
    kept["propertyDependencies"] = {key: sorted(urns) for key, urns in by_property.items() if urns}
    return {key: value for key, value in kept.items() if value not in ({}, [])}


def hide(value):
    if isinstance(value, dict):
        return "[secret]" if SECRET in value else {key: hide(item) for key, item in value.items()}
    return [hide(item) for item in value] if isinstance(value, list) else value


def shown(operations):
    """Return *operations* that change something; the two report providers differently and of what only was read."""
    return {(op, urn) for op, urn in operations if "pulumi:providers" not in urn and op not in UNTOLD}


def differences(ours, theirs):
    """Return one line for each field in which *ours* and *theirs*, both normal, differ."""
    return [
        f"{urn} {key}: {ours.get((urn, gone), {}).get(key)} here, {theirs.get((urn, gone), {}).get(key)} there"
        for urn, gone in sorted({*ours, *theirs})
        for key in sorted({*ours.get((urn, gone), {}), *theirs.get((urn, gone), {})})
        if ours.get((urn, gone), {}).get(key) != theirs.get((urn, gone), {}).get(key)
    ]


def in_order(resources):
    """Whether nothing stands before what it depends on."""
    seen = set()
    for each in resources:
        needed = {each.get("parent"), *each.get("dependencies", ())} - {None}
        if not needed <= seen:
            return False
        seen.add(each["urn"])
    return True


@pytest.fixture(scope="session")
def states():
    """How states are compared, ``normal``, ``differences``, ``shown``, ``in_order``; and what was said, ``said``."""
    return SimpleNamespace(normal=normal, differences=differences, shown=shown, in_order=in_order, said=said)


def said(text):
    """Return the summaries in the output *text*, and the lines under its diagnostics."""
    run = Run(code=0, text=text, operations=frozenset())
    return run.summaries(), run.diagnostics()


# --- engines
@dataclass(kw_only=True)
class Run:
    """What one operation did."""

    code: int
    text: str
    operations: frozenset
    """``(operation, urn)`` of each resource; those of a preview where nothing was done after it."""

    def summaries(self):
        """Return what stands under ``Resources:``, of the preview and of what was done."""
        return re.findall(r"^Resources:\n((?: {4}.*\n)+)", self.text, re.MULTILINE)

    def diagnostics(self):
        """Return the lines under ``Diagnostics:``, of the preview and of what was done, without indent, order and random ids."""
        found = re.findall(r"^Diagnostics:\n((?:(?: .*)?\n)+)", self.text, re.MULTILINE)
        return {without_random(line.strip()) for block in found for line in block.splitlines()} - {""}


class Engine:
    """One engine in a sandbox of its own."""

    def __init__(self, kind, sandbox):
        self.kind = kind
        self.sandbox = sandbox
        self.log = sandbox.project.parent / "operations.json"

    def start_sandbox(self):
        """Type ``nomad-csi sandbox up`` and return its output; nothing is asked of how it ends."""
        done = self.sandbox.run("up", "--engine", self.kind, "--nomad", "emulator")
        return Run(code=done.returncode, text=done.stdout + done.stderr, operations=frozenset())

    def command(self, operation, *words):
        """Return what to type behind ``nomad-csi sandbox exec --``."""
        if self.kind == "real":
            yes = () if operation == "preview" else ("--yes",)
            quiet = ("--non-interactive", "--color", "never", "--suppress-progress")
            command = ["env", "PULUMI_DEBUG_COMMANDS=true", "pulumi", "--cwd", self.sandbox.project, operation]
            return [*command, *yes, *quiet, "--event-log", self.log, *words]
        config = self.sandbox.project / ".sandbox/Pulumi.sandbox.yaml"
        place = ["--project", self.sandbox.project, "--stack", "sandbox", "--state", self.sandbox.state]
        command = [sys.executable, "-m", "nomad_csi_sandbox.engine", operation, *place]
        return [*command, "--config-file", config, "--json", self.log, *words]

    def run(self, operation, *words, environment=()):
        """Run the engine, with *environment* as ``env`` takes it, and return what it did."""
        self.log.unlink(missing_ok=True)
        done = self.sandbox.exec("env", *environment, *self.command(operation, *words), check=False)
        return Run(code=done.returncode, text=done.stdout + done.stderr, operations=self._operations())

    def _operations(self):
        if not self.log.exists():
            return frozenset()
        if self.kind == "real":
            events = [json.loads(line) for line in self.log.read_text().splitlines()]
            done = [event["resOutputsEvent"]["metadata"] for event in events if "resOutputsEvent" in event]
        else:
            done = json.loads(self.log.read_text())["operations"]
        return frozenset((each["op"], each["urn"]) for each in done)

    def deployment(self):
        """Return the state, in the shape of ``pulumi stack export``."""
        if self.kind == "real":
            words = ("pulumi", "--cwd", self.sandbox.project, "stack", "export")
            return json.loads(self.sandbox.exec(*words).stdout)["deployment"]
        return json.loads(self.sandbox.state.read_text())["deployment"]

    def resources(self):
        """Return the resources in the state."""
        return self.deployment().get("resources", [])

    def steady(self):
        """Return the resources with what differs between two sandboxes named by what it is."""
        found = self.resources()
        text = json.dumps(found)
        for path, name in ((self.sandbox.project, "PROJECT"), (self.sandbox.data_dir, "DATA_DIR")):
            text = text.replace(str(path), name)
        for each in found:
            if each["type"].startswith("aws:") and each.get("id"):
                text = text.replace(json.dumps(each["id"])[1:-1], f"<id of {each['urn'].rpartition('$')[2]}>")
        return json.loads(without_random(text).replace(f"engine:{self.kind}", "engine:ENGINE"))


@pytest.fixture
def engine(tmp_path):
    """Make a sandbox for an engine, not up yet: ``engine("real")``. All are taken down at the end."""
    made = []

    def make(kind):
        folder = tmp_path / kind
        folder.mkdir()
        one = Engine(kind, sandboxes.make(folder))
        made.append(one)
        return one

    yield make
    for one in made:
        sandboxes.end(one.sandbox)


@pytest.fixture(params=KINDS)
def each_engine(request, engine):
    """One engine after the other, each with a sandbox that is not up yet."""
    return engine(request.param)


@pytest.fixture
def both(engine):
    """Both engines, for what is done with each at the same time: ``both(lambda engine: engine.run("up"))``."""
    engines = [engine(kind) for kind in KINDS]
    with futures.ThreadPoolExecutor(len(engines)) as threads:
        yield lambda act: tuple(threads.map(act, engines))


@pytest.fixture(scope="module")
def _settled(tmp_path_factory):
    made = [Engine(kind, sandboxes.make(tmp_path_factory.mktemp(kind))) for kind in KINDS]
    with futures.ThreadPoolExecutor(len(made)) as threads:
        done = list(threads.map(lambda one: one.start_sandbox(), made))
    assert [run.code for run in done] == [0, 0], "".join(run.text for run in done)
    yield {one.kind: one for one in made}
    for one in made:
        sandboxes.end(one.sandbox)


@pytest.fixture(params=KINDS)
def settled(request, _settled):
    """One engine after the other, each with a sandbox that is up and shared: whoever uses it puts it back."""
    engine = _settled[request.param]
    before = engine.sandbox.config.read_text()
    yield engine
    engine.sandbox.config.write_text(before)


@pytest.fixture
def noise():
    """Return what should not be in the output of a run: warnings that are not ours, and tracebacks."""
    return find_noise


OURS = re.compile(
    r"warning: (deregisters |group .* cannot be placed yet: |.* is not reachable: .* was not compared|"
    r"plugin .* is not healthy now, and `up` waits for it: |\S+ is re-pointed from |"
    r"\S+ gets (new, empty|other) storage instead of |"
    r"volume \S+ is not registered in Nomad any more(: `up` registers it again, with its storage \S+)?$)"
)


def find_noise(text):
    """Return lines of tracebacks, and of warnings that nomad-csi did not write."""
    bad = re.compile(r"warning:|Traceback|KeyboardInterrupt|^\s+File ")
    return [line for line in text.splitlines() if bad.search(line) and not OURS.search(line)]
