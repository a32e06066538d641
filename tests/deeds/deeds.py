"""
What each operation sends to Nomad and returns, whole, in the text files beside this one.

A case is run once undisturbed: ``NAME.txt``. ``NAME_faults.txt`` is written by ``make test-all`` and compared there:
what differs where each of its requests fails in turn, refused, or done with its answer lost; and once for each right of
its token with a token that lacks it. The files have every request with its body and time limit, what the plugin was
called, every message, the outputs or the error, and what Nomad has afterwards.
After a change that is meant, ``python -m tests.deeds.deeds`` writes them again; the difference is what a reader of the
change looks at.
"""

import difflib
import importlib
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nomad_csi import errors
from nomad_csi.frame import resource
from tests.deeds import agent as agents

FOLDER = Path(__file__).parent

SUBJECTS = sorted({path.name.removesuffix("_deeds.py") for path in FOLDER.glob("*_deeds.py")} - {"test"})
"""All: what has a module here has a text file, and is tested."""

SLOW = frozenset({"doctor", "edit", "option", "page", "spec", "verify"})
"""Subjects that are compared by ``make test-all``, with those of the faults."""

SHORT = 100
"""Values of more characters are numbered, and are shown once."""

FEW = 3
"""More requests that another case has sent, too, are not shown again."""

LINE = 170
"""What differs stands in one line where it has at most so many characters."""

REPEATED = 4
"""At least so many requests in a row that were sent before, in the same order, are shown by their numbers."""

ALIKE = 0.34
"""How much of a value may differ from one that was shown before, to be shown by what differs."""


def checked_inputs(of, given):
    """Return *given* as the resource checks them, all of which are right."""
    values, failures = of.check(given)
    assert not failures, failures
    return values


@dataclass(frozen=True)
class Case:
    """An operation, and what came before it."""

    name: str
    run: Callable
    """Called with the agent, a context and what `before` returned; returns what is shown."""

    before: Callable = lambda _agent, _context: None
    fails: bool = False
    """Whether it is run again with each of its requests failing, and with a token that lacks each of its rights."""

    repeats: bool = False
    """Whether it sends the same requests again and again: then each row of them is shown once."""


@dataclass(frozen=True)
class Run:
    """What a run of a case left behind."""

    requests: tuple
    """Pairs of what was sent, and what became of it."""

    calls: tuple
    messages: tuple
    result: object
    left: dict


def context_of(agent, **changes):
    """Return the context of a step whose messages stand with the agent."""
    client = agent.client()

    def say(kind):
        return lambda text: agent.messages.append(f"{kind}: {text}")

    known = {"stack": "shop/prod", "urn": "urn:x", "root": agent.folder, "cancelled": agents.Cancelled()} | changes
    return resource.Context(
        connect=lambda: client,
        status=say("status"),
        warn=say("warning"),
        note=say("note"),
        **known,
    )


class Page:
    """The text of a file; a long value that was shown before is shown by its number and by what differs."""

    def __init__(self):
        self.lines, self._shown, self._known, self.repeats = [], [], {}, False

    def add(self, text):
        self.lines.append(text)

    def requests(self, name, requests):
        """Add *requests* of the case *name*, or the name of the case that had the same."""
        known = self._known.setdefault(json.dumps(requests), name)
        if known != name and len(requests) > FEW:
            self.add(f"sends what {known!r} sends")
            return
        self.lines += _joined(self, requests, 1)

    def value(self, value):
        """Return *value* as text."""
        short = agents.shortened(value)
        text = agents.as_text(short)
        if len(text) <= SHORT:
            return text
        shown = dict(flat(json.loads(text)))
        best = min(range(len(self._shown)), key=lambda at: len(changes(self._shown[at], shown)), default=None)
        differing = changes(self._shown[best], shown) if best is not None else shown
        if best is not None and len(differing) <= ALIKE * len(shown):
            return f"[{best + 1}]" + (f" but {json.dumps(differing, sort_keys=True)}" if differing else "")
        self._shown.append(shown)
        return f"[{len(self._shown)}] {text}"


def flat(value, item="[{}]", path=""):
    """Yield the values in *value* by their paths, in which a place in a list is written as *item*."""
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from flat(each, item, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for position, each in enumerate(value):
            yield from flat(each, item, f"{path}{item.format(position)}")
    else:
        yield path, value


def changes(old, new):
    """Return what differs, by path, in the order of the paths; ``"gone"`` for what is not there any more."""
    paths = sorted(old.keys() | new.keys())
    return {path: new.get(path, "gone") for path in paths if old.get(path, ...) != new.get(path, ...)}


def write(cases, agent, *, faults=False):
    """Return the text of a file: of the undisturbed runs, or of those with *faults*."""
    page = Page()
    for case in cases:
        if faults and not case.fails:
            continue
        agent.restart()
        with agents.counted():
            given = case.before(agent, context_of(agent))
        kept = agent.keep()
        agent.go_back(kept)
        before = agent.left()
        whole = _run(case, agent, given, {})
        page.add(f"# {case.name}")
        page.repeats = case.repeats
        if faults:
            _add_faults(page, case, agent, given, (kept, whole, before))
        else:
            page.requests(case.name, whole.requests)
            _end(page, whole, _left(page, whole.left, before))
        page.add("")
    return "\n".join(page.lines)


def _add_faults(page, case, agent, given, known):
    """Run *case* again with each fault, and add what is not as without that: alike ones together."""
    kept, whole, before = known
    alike, rights = {}, {}
    for number, (sent, _) in enumerate(whole.requests):
        if sent[1].endswith(agents.WAITS):
            continue
        for fault in ("refused",) if sent[0] == "GET" else ("refused", "lost"):
            agent.go_back(kept)
            found = _differing(page, number, _run(case, agent, given, {number: fault}), whole, before)
            alike.setdefault(tuple(found), []).append(f"{number + 1} {fault}")
        rights.setdefault(agents.right_of(sent), number)
    for right, number in rights.items():
        agent.go_back(kept)
        found = _differing(page, number, _run(case, agent, given, {}, right), whole, before)
        alike.setdefault(tuple(found), []).append(f"no {right}")
    for found, where in alike.items():
        is_short = not any(line.startswith(" ") for line in found) and len("; ".join(found)) <= LINE
        label = f"({', '.join(where)})"
        page.lines += [f"{label} {'; '.join(found) or 'the same'}"] if is_short else [label, *found]


def _differing(page, number, run, whole, before):
    """Return the lines of what is not as in the run without the fault."""
    before_it = [[sent for sent, _ in each.requests[: number + 1]] for each in (run, whole)]
    assert before_it[0] == before_it[1], "a run is not like the one before it"
    found = []
    if run.requests[number + 1 :] != whole.requests[number + 1 :]:
        found += [f"  {line}" for line in _joined(page, run.requests[number + 1 :])] or ["ends"]
    if run.calls != whole.calls:
        found += [f"plugin {page.value(call)}" for call in run.calls] or ["plugin not called"]
    if run.messages != whole.messages:
        found += [line for line in run.messages if line not in whole.messages] or ["says less"]
    if run.result != whole.result:
        found.append(_result(page, run.result))
    if run.left != whole.left:
        found.append(f"left {_left(page, run.left, before)}")
    method, target, *_ = whole.requests[number][0]
    path = target.partition("?")[0]
    for own in (f"{method} {path}: status 500: no such luck", f"{method} {path}: status 403: Permission denied"):
        found = [line.replace(own, "[its error]") for line in found]
    return found


def _joined(page, requests, first=None):
    """Return the lines of *requests*, reads of a row in one; numbered from *first* on."""
    lines, is_open, at = [], False, 0
    while at < len(requests):
        start, length = _repeated(requests, at) if page.repeats else (0, 0)
        if length >= REPEATED:
            lines.append(f"{at + 1} to {at + length} as from {start + 1} on")
            is_open, at = False, at + length
            continue
        sent, became = requests[at]
        number = "" if first is None else f"{first + at} "
        at += 1
        text = f"{number}{_request(page, sent)} -> {became}"
        is_read = sent[2] is None and sent[0] == "GET"
        if is_read and is_open and len(lines[-1]) + len(text) < LINE:
            lines[-1] += f"; {text}"
        else:
            lines.append(text)
        is_open = is_read
    return lines


def _repeated(requests, at):
    """Return where the longest row of *requests* that begins *at* was before, and its length."""
    best = (0, 0)
    for start in range(at):
        length = 0
        while at + length < len(requests) and requests[start + length] == requests[at + length]:
            length += 1
        best = max(best, (start, length), key=lambda found: found[1])
    return best


def _end(page, run, left):
    page.lines += [f"plugin {page.value(call)}" for call in run.calls]
    page.lines += run.messages
    page.add(_result(page, run.result))
    page.add(f"left {left}")


def _result(page, result):
    return result if isinstance(result, str) else f"= {page.value(result[0])}"


def _left(page, left, before):
    return "as before" if left == before else page.value(left)


def _request(page, sent):
    method, target, body, limit_s = sent
    return " ".join(
        [
            method,
            target,
            *([page.value(body)] if body is not None else []),
            *([f"({limit_s} s)"] if limit_s != 30 else []),
        ]
    )


def _run(case, agent, given, fails, lacks=""):
    agent.transport.fails, agent.transport.lacks = fails, lacks
    with agents.counted():
        context = context_of(agent)
        try:
            result = (case.run(agent, context, *(() if given is None else (given,))),)
        except resource.InitFailedError as error:
            result = ((f"InitFailedError: {error}", error.identity, error.outputs),)
        except errors.NomadCsiError as error:
            result = f"! {type(error).__name__}: {error}"
    return Run(
        requests=tuple(agent.transport.requests),
        calls=tuple(agent.disks.calls),
        messages=tuple(agent.messages),
        result=result,
        left=agent.left(),
    )


def written(name, agent, *, faults=False):
    """Return the text that a file of the subject *name* should have."""
    return write(importlib.import_module(f"tests.deeds.{name}_deeds").CASES, agent, faults=faults)


def path_of(name, *, faults=False):
    """Return a file of a subject."""
    return FOLDER / f"{name}{'_faults' * faults}.txt"


def difference(name, agent, *, faults=False):
    """Return how the text differs from the file, as lines of a unified diff; empty where it does not."""
    kept = path_of(name, faults=faults).read_text(encoding="utf-8").splitlines()
    now = written(name, agent, faults=faults).splitlines()
    return "\n".join(difflib.unified_diff(kept, now, "kept", "now", lineterm=""))


def main(names):
    """Write the files again."""
    with tempfile.TemporaryDirectory(prefix="nd") as folder, agents.running(folder) as agent:
        for name in names or SUBJECTS:
            for faults in (False, True):
                if text := written(name, agent, faults=faults):
                    path_of(name, faults=faults).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
