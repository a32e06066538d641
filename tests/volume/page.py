"""
The tables of docs/explain/ownership.md, from `volume.decide`: ``python -m tests.volume.page`` writes them again.

Each table has a case in which nothing is wrong, and changes one fact of it at a time.
"""

import re
from pathlib import Path
from types import SimpleNamespace

from nomad_csi.volume import decide, facts

PAGE = Path(__file__).parents[2] / "docs/explain/ownership.md"
BEGIN, END = "<!-- generated: python -m tests.volume.page -->", "<!-- end of generated -->"

USUAL = {
    facts.Presence: {
        "source": "existing",
        "protect": True,
        "adopt": False,
        "recorded": "same",
        "cluster": "same",
        "record": "own",
        "origin": "none",
        "registration": "equal",
        "claims": "none",
        "storage": "there",
        "sharing": "none",
        "fitness": "fit",
    },
    facts.Removal: {
        "is_replaced": False,
        "is_held_elsewhere": False,
        "is_renamed": False,
        "protect": False,
        "ends": "kept",
        "is_proven": True,
        "cluster": "same",
        "record": "own",
        "registration": "same",
        "claims": "none",
        "dependents": "none",
        "fitness": "fit",
    },
}
"""A volume of this stack, in its cluster, unclaimed, of nobody else."""

WAYS = {
    "new": {"source": "existing", "recorded": "nothing", "record": "none"},
    "in the state": {"source": "existing", "recorded": "same"},
    "in the state, to have other storage": {"source": "existing", "recorded": "other", "protect": False},
    "new, to be created": {"source": "created", "recorded": "nothing", "record": "none"},
    "in the state, created": {"source": "created", "recorded": "same"},
}
REGISTRATIONS = {
    "absent": "nothing",
    "equal": "what is wanted",
    "in-place": "another size, capability, option",
    "re-register": "another plugin, name, topology",
    "other-storage": "other storage",
    "drifted": "one of these, unlike the state",
    "refused": "a change that it refuses now",
    "not known": "secrets that a read would erase",
}
ENDS = {
    "kept": "storage stays",
    "deleted here": "storage goes by `on_destroy: delete`",
    "deleted after": "storage Pulumi deletes afterwards",
}
REASONS = {
    "other cluster": "the state has the volume in another cluster",
    "lost cluster": "the cluster lost its id",
    "foreign": "the owner record names another stack",
    "unreadable": "a read would erase secrets",
    "protected": "`protect`: the id would get other data",
    "shared": "another volume has this storage, or contains it",
    "storage gone": "the storage does not exist",
    "unfit": "the new registration would not work",
    "claimed": "an allocation claims the volume",
    "taken": "it is registered, and not in this state",
    "never in place": "created storage cannot change in this",
    "changed meanwhile": "Nomad has not what the state has",
    "impossible": "Nomad refuses the change at present",
    "renamed stack": "renamed or copied, and no `up` since",
    "stale state": "another resource or newer state holds it",
    "dependents": "volumes of others are in its storage",
    "unproven": "nothing proves who created the storage",
}


def _told(decision):
    if decision.refusal:
        return f"refused: {decision.refusal}"
    remarks = f" ({', '.join(decision.remarks)})" if decision.remarks else ""
    return f"{', '.join(decision.steps) or 'nothing'}{remarks}"


def _row(*cells):
    return f"| {' | '.join(cells)} |"


def _decided(kind, changes):
    decision_of = {facts.Presence: decide.decide_presence, facts.Removal: decide.decide_removal}[kind]
    return decision_of(SimpleNamespace(**{**USUAL[kind], **changes}))


def _wanted():
    yield _row("Nomad has", *WAYS)
    yield _row(*["---"] * (1 + len(WAYS)))
    for registration, words in REGISTRATIONS.items():
        cells = [_told(_decided(facts.Presence, way | {"registration": registration})) for way in WAYS.values()]
        if set(cells) != {cells[0]}:  # else it is a refusal whatever else holds
            yield _row(words, *cells)


def _removed():
    yield _row("a removed volume whose", "is")
    yield _row("---", "---")
    for ends in facts.values(facts.Removal)["ends"]:
        yield _row(ENDS[ends], _told(_decided(facts.Removal, {"ends": ends})))
    yield _row("id another resource declares", _told(_decided(facts.Removal, {"is_held_elsewhere": True})))


def reasons():
    """Return the refusals that one fact, or two together, lead to, in the order of `decide.Refusal`."""
    found = set()
    for kind, usual in USUAL.items():
        known = facts.values(kind)
        starts = [{}, *WAYS.values(), {"registration": "absent"}, {"registration": "other-storage"}]
        starts += [{"ends": ends} for ends in known.get("ends", ())] + [{"is_replaced": True}]
        starts += [{"recorded": "other", "protect": False, "registration": "other-storage"}]
        for start in starts:
            for name, values in known.items():
                found |= {_decided(kind, {**usual, **start, name: value}).refusal for value in values}
    return found - {None}


def _refusals():
    yield _row("refused", "because")
    yield _row("---", "---")
    for reason, words in REASONS.items():
        yield _row(reason, words)


def written():
    """Return the page with its tables as the code decides."""
    text = PAGE.read_text(encoding="utf-8")
    tables = "\n\n".join("\n".join(lines) for lines in (_wanted(), _removed(), _refusals()))
    between = re.compile(rf"(?<={re.escape(BEGIN)}\n\n).*?(?=\n\n{re.escape(END)})", re.DOTALL)
    return between.sub(lambda _found: tables, text)


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
