"""
What custom resources and commands answer, say and send, with every input set to a value of its own.

`resources.yaml` has what was there, the inputs or files, what is done one after the other, and what came of each step,
whole. After a change that is meant, it is written again by ``python -m tests.frame.resources``; a reader looks at the
difference.
"""

import dataclasses
import itertools
import json
import re
import shlex
import tempfile
from pathlib import Path

import yaml

from nomad_csi import errors
from nomad_csi.frame import registry, resource
from nomad_csi.spec import names
from nomad_csi_sandbox.nomad import state
from tests import emulated_agent, tables
from tests.components import registrations

FILE = Path(__file__).with_name("resources.yaml")
HEAD = "# Custom resources and commands, and their steps. Written by `python -m tests.frame.resources`.\n"


def read():
    """Return the cases of the file, by name."""
    return tables.load(FILE)


def otherwise(value, known):
    """Return what *value* has otherwise than *known*, by its keys; what it lacks is ``lacking``."""
    if isinstance(value, dict):
        known = known if isinstance(known, dict) else {}
        keys = [key for key in {**value, **known} if value.get(key) != known.get(key)]
        return {key: otherwise(value.get(key, "lacking"), known.get(key)) for key in keys}
    if isinstance(value, list):
        return [otherwise(*pair) for pair in itertools.zip_longest(value, known or [])][: len(value)]
    return value


class Steps:
    """
    What came of each step: the answer, the messages, and the requests that change something.

    An answer is compared with what was there before, and the body of a request with that of the last one to its path.
    """

    def __init__(self, agent):
        self.found, self._agent, self._bodies = {}, agent, {}

    def note(self, step, act, *given, before=None):
        """Take the step, and return its answer."""
        self._agent.transport.requests.clear()
        self._agent.messages.clear()
        try:
            answer = act(*given)
        except errors.NomadCsiError as error:
            answer = f"{type(error).__name__}: {error}"
        sent = []
        for method, target, body, limit_s in self._agent.transport.requests:
            path = target.partition("?")[0]
            if "Job" in (body or {}):
                body["Job"] = body["Job"]["ID"]  # the rest is as Nomad has parsed it
            if method == "GET" or re.search(r"/(parse|plan)\?namespace=(storage|prod)$", target):
                continue  # it changes nothing
            bodies = [] if body is None else [otherwise(body, self._bodies.get(path))]
            self._bodies[path] = body or self._bodies.get(path)
            head = f"{method} {target}, {limit_s} s"
            sent.append([head, *bodies] if bodies else head)
        shown = otherwise(list(answer) if isinstance(answer, tuple) else answer, before)
        came = {"answer": shown, "said": self._agent.messages, "sent": sent}
        if came := {key: value for key, value in came.items() if value and value != [{}, {}]}:
            text = json.dumps(came, default=_plain).replace(names.UNKNOWN, "not known yet")
            self.found[step] = json.loads(text.replace(str(self._agent.folder), "DIR"))
        return answer


def steps(agent, case):
    """Return by step what came of it in a cluster with what was ``there``."""
    agent.restart()
    case = json.loads(json.dumps(case).replace("not known yet", names.UNKNOWN))
    context, taken = dataclasses.replace(agent.context(), timeout_s=case.get("timeout_s", 0)), Steps(agent)
    with emulated_agent.counted():
        for kind, given in case.get("there", ()):
            put(context, kind, given)
        disturb(agent, case)
        if "kind" in case:
            _of_resource(agent, context, case, taken.note)
        for name, given in case.get("commands", {}).items():
            disturb(agent, given)
            for path, text in given.get("files", {}).items():
                Path(context.root, path).write_text(text)
            taken.note(name, typed, context, given["typed"])
    return taken.found


def put(context, name, given):
    """Create the resource *name* with the inputs *given*."""
    kind = registry.find(f"{names.TYPES}{name}")
    return kind.create(context, kind.check(given)[0])


def disturb(agent, changes):
    """Have something else change what the cluster has of all volumes, add plugins, stop jobs, or clear a table."""
    known = agent.cluster.state
    for plugin_id in changes.get("plugins", ()):
        known.plugins[plugin_id] = state.PluginRecord(plugin_id=plugin_id, create_index=4, modify_index=5)
    for record in known.volumes.values():
        record.spec |= changes.get("of_nomad", {})
        record.claims = changes.get("claims", {})
    for job_id in changes.get("stopped", ()):
        known.jobs["storage", job_id].spec["Stop"] = True
    for table in changes.get("gone", ()):
        getattr(known, table).clear()


def typed(context, words):
    """Return the exit code of a command, the lines that it prints, and its JSON as data."""
    code, out, err = emulated_agent.typed(context.root, *shlex.split(words))
    text, brace, data = (err + out).partition("{\n")
    return [f"exit {code}", *text.splitlines(), *([json.loads(brace + data)] if brace else [])]


def _of_resource(agent, context, case, note):
    """Check, preview, create and import a resource; then make each of its changes, and delete it."""
    kind = registry.find(f"{names.TYPES}{case['kind']}")
    wanted, _ = note("check", kind.check, case["given"], before=[case["given"]])
    inputs = wanted
    note("preview", kind.preview, inputs, before=["", inputs])
    note("preflight", kind.preflight, context, {}, inputs)
    made = note("create", kind.create, context, inputs, before=["", inputs])
    if isinstance(made, str):
        return
    identity, outputs = made
    note("import", kind.read, context, identity, {}, {}, before=[inputs, outputs])
    for name, changes in case["changes"].items():
        disturb(agent, changes)
        if "variables" in changes.get("gone", ()):
            context = agent.context()  # another process, to which the cluster has no identity
        former, (wanted, _) = wanted, kind.check({**wanted, **changes.get("given", {})})
        seen = note(f"{name}: read", kind.read, context, identity, inputs, outputs, before=[inputs, outputs])
        inputs, outputs = seen if isinstance(seen, tuple) else (inputs, outputs)
        note(f"{name}: diff", kind.diff, identity, inputs, outputs, wanted)
        note(f"{name}: preflight", kind.preflight, context, outputs, wanted)
        done = note(f"{name}: update", kind.update, context, identity, outputs, wanted, before=outputs)
        inputs, outputs, wanted = (wanted, done, wanted) if isinstance(done, dict) else (inputs, outputs, former)
    if "replaced_by" in case:
        context.operation.declare(kind.declared.token, context.urn, kind.check({**wanted, **case["replaced_by"]})[0])
    note("delete", kind.delete, context, identity, outputs)
    note("read of what is gone", kind.read, context, identity, inputs, outputs, before=[inputs, outputs])


def _plain(value):
    if isinstance(value, resource.ResourceDiff):
        return {name: item for name, item in vars(value).items() if item}
    return sorted(value) if isinstance(value, set | frozenset) else str(value)


def main():
    """Write the file again."""
    with tempfile.TemporaryDirectory() as folder, emulated_agent.running(folder) as agent:
        cases = {name: {**case, "steps": steps(agent, case)} for name, case in read().items()}
    text = yaml.dump(cases, Dumper=registrations.Dumper, sort_keys=False, width=120, default_flow_style=None)
    FILE.write_text(HEAD + text, encoding="utf-8")


if __name__ == "__main__":
    main()
