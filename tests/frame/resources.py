"""
What each custom resource answers, says and sends, with every input set to a value of its own.

`resources.yaml` has the inputs, the changes that follow each other, and what came of each step, whole. After a change
that is meant, it is written again by ``python -m tests.frame.resources``; a reader looks at the difference.
"""

import itertools
import json
import tempfile
from pathlib import Path

import yaml

from nomad_csi import errors
from nomad_csi.frame import registry, resource
from nomad_csi.spec import names
from tests import emulated_agent
from tests.components import registrations

FILE = Path(__file__).with_name("resources.yaml")
HEAD = "# Inputs of each custom resource, and its steps. Written by `python -m tests.frame.resources`.\n"


def read():
    """Return the cases of the file, by name."""
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def otherwise(value, known):
    """Return what *value* has otherwise than *known*, by its keys; what it lacks is ``lacking``."""
    if isinstance(value, dict):
        known = known if isinstance(known, dict) else {}
        keys = [key for key in {**value, **known} if value.get(key) != known.get(key)]
        return {key: otherwise(value.get(key, "lacking"), known.get(key)) for key in keys}
    if isinstance(value, list):
        return [otherwise(*pair) for pair in itertools.zip_longest(value, known or [])][: len(value)]
    return value


def steps(agent, case):
    """
    Return by step what came of it in a cluster with what was ``there``: the answer, the messages, the requests.

    An answer is told beside what was there before, and the body of a request beside that of the last one to its path.
    """
    agent.restart()
    kind, context = registry.find(f"{names.TYPES}{case['kind']}"), agent.context()
    found, bodies, held = {}, {}, agent.cluster.state.volumes

    def note(step, act, *given, before=None):
        agent.transport.requests.clear()
        agent.messages.clear()
        try:
            answer = act(*given)
        except errors.NomadCsiError as error:
            answer = f"{type(error).__name__}: {error}"
        sent = []
        for method, target, body, _ in agent.transport.requests:
            path = target.partition("?")[0]
            if "Job" in (body or {}):
                body["Job"] = body["Job"]["TaskGroups"][0]["Tasks"][0]["Config"]  # it is as Nomad has parsed it
            told = [] if body is None else [otherwise(body, bodies.get(path))]
            bodies[path] = body or bodies.get(path)
            sent.append([f"{method} {target}", *told] if told else f"{method} {target}")
        shown = otherwise(_listed(answer), before)
        came = {"answer": shown, "said": agent.messages, "sent": sent}
        text = json.dumps({key: value for key, value in came.items() if value and value != [{}, {}]}, default=_plain)
        found[step] = json.loads(text.replace(names.UNKNOWN, "not known"))
        return answer

    with emulated_agent.counted():
        if "there" in case:
            kind.create(context, kind.check(case["there"])[0])
        wanted, _ = note("check", kind.check, case["given"], before=[case["given"]])
        inputs = wanted
        note("preview", kind.preview, inputs, before=["", inputs])
        note("preflight", kind.preflight, context, {}, inputs)
        made = note("create", kind.create, context, inputs, before=["", inputs])
        if isinstance(made, str):
            return found
        identity, outputs = made
        note("import", kind.read, context, identity, {}, {}, before=[inputs, outputs])
        for name, changes in case["changes"].items():
            for record in held.values():
                record.spec |= changes.get("of_nomad", {})
                record.claims = changes.get("claims", {})
            if "gone" in changes:
                held.clear()
            former, (wanted, _) = wanted, kind.check({**wanted, **changes.get("given", {})})
            seen = note(f"{name}: read", kind.read, context, identity, inputs, outputs, before=[inputs, outputs])
            inputs, outputs = seen if isinstance(seen, tuple) else (inputs, outputs)
            note(f"{name}: diff", kind.diff, identity, inputs, outputs, wanted)
            note(f"{name}: preflight", kind.preflight, context, outputs, wanted)
            done = note(f"{name}: update", kind.update, context, identity, outputs, wanted, before=outputs)
            inputs, outputs, wanted = (wanted, done, wanted) if isinstance(done, dict) else (inputs, outputs, former)
        note("delete", kind.delete, context, identity, outputs)
        note("read of what is gone", kind.read, context, identity, inputs, outputs, before=[inputs, outputs])
    return {step: came for step, came in found.items() if came}


def _listed(answer):
    return list(answer) if isinstance(answer, tuple) else answer


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
