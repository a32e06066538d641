"""
The page of what is decided about a volume, from `volumes.decide`.

Each table has a case in which nothing is wrong, and changes one fact of it at a time.
"""

from types import SimpleNamespace

from nomad_csi.volumes import decide, facts
from tests.model import tree
from tests.pages import table

HEAD = """# What happens to a volume

What previews, `up` and `nomad-csi apply` do to an unclaimed volume without `adopt`, by the registration in Nomad and
the state of the stack ([ownership](../explain/ownership.md)). *Create again*: the plugin finds what it created by the
volume's name. *Deregister, register*: see [changes of a registration](comparison.md)."""

USUAL = {
    facts.Presence: {
        "source": "existing",
        "protect": True,
        "adopt": False,
        "recorded": "same",
        "cluster": "same",
        "record": "own",
        "kept": "nothing",
        "registration": "equal",
        "claims": "none",
        "storage": "there",
        "sharing": "none",
        "dependents": "none",
        "fitness": "fit",
    },
    facts.Removal: {
        "is_replaced": False,
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
    "other cluster": "the state has the volume in another cluster, or this one lost its id",
    "foreign": "the owner record names another stack",
    "unreadable": "a read would erase secrets",
    "protected": "`protect`: the id would get other data",
    "shared": "another volume has this storage, or contains it",
    "unfit": "the new registration would not work",
    "claimed": "an allocation claims the volume",
    "taken": "it is registered, and not in this state",
    "never in place": "created storage cannot change in this",
    "changed meanwhile": "Nomad has not what the state has",
    "impossible": "Nomad refuses the change at present",
    "renamed stack": "renamed or copied, and no `up` since",
    "owner not known": "owner records cannot be read",
    "dependents": "storage would go that a registration needs",
    "unproven": "nothing proves who created the storage",
    "other storage": "the owner record keeps other storage for the id",
    "unrecorded": "no owner record can keep new storage",
}


def _told(decision):
    if decision.refusal:
        return f"refused: {decision.refusal}"
    remarks = f" ({', '.join(decision.remarks)})" if decision.remarks else ""
    return f"{', '.join(decision.steps) or 'nothing'}{remarks}"


def _decided(kind, changes):
    decision_of = {facts.Presence: decide.decide_presence, facts.Removal: decide.decide_removal}[kind]
    return decision_of(SimpleNamespace(**{**USUAL[kind], **changes}))


def _wanted():
    for registration, words in REGISTRATIONS.items():
        cells = [_told(_decided(facts.Presence, way | {"registration": registration})) for way in WAYS.values()]
        if set(cells) != {cells[0]}:  # else it is a refusal whatever else holds
            yield words, *cells


def _removed():
    for ends in tree.values(facts.Removal)["ends"]:
        yield ENDS[ends], _told(_decided(facts.Removal, {"ends": ends}))
    yield "id another resource took over", _told(_decided(facts.Removal, {"record": "sibling"}))
    yield "owner record cannot be read", _told(_decided(facts.Removal, {"record": "not known"}))


def reasons():
    """Return the refusals that one fact, or two together, lead to, in the order of `decide.Refusal`."""
    found = set()
    to_create = WAYS["new, to be created"] | {"registration": "absent"}
    for kind, usual in USUAL.items():
        known = tree.values(kind)
        starts = [{}, *WAYS.values(), to_create, {"registration": "absent"}, {"registration": "other-storage"}]
        starts += [{"ends": ends} for ends in known.get("ends", ())] + [{"is_replaced": True}]
        starts += [{"recorded": "other", "protect": False, "registration": "other-storage"}]
        for start in starts:
            for name, values in known.items():
                found |= {_decided(kind, {**usual, **start, name: value}).refusal for value in values}
    return found - {None}


def page():
    """Return the page."""
    tables = (
        table(("Nomad has", *WAYS), _wanted()),
        table(("a removed volume whose", "is"), _removed()),
        table(("refused", "because"), REASONS.items()),
    )
    return "\n".join((HEAD, "", *(line for lines in tables for line in lines)))
