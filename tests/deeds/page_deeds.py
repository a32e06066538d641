"""The page, its data and the metrics of a cluster in which something of everything is there; and with one thing changed."""

import copy
import difflib
import json
import re

from tests.deeds import aws_deeds, option_deeds, verify_deeds
from tests.deeds.deeds import Case

SECONDS = re.compile(r"after \d+\.\d s")
TAG = re.compile(r"<(\w+)([^>]*)>")
KIND = re.compile(r"class=\"?([\w -]+)")
PAGE = "verify small.yaml --html page.html --json"


def _world(agent, context):
    """Have three clients in two zones, of which one is down and one is drained, and volumes of one zone, of two and of none."""
    option_deeds._world(agent, context)
    known = agent.cluster.state
    first = next(iter(known.nodes.values()))
    for name, changes in {
        "client-2": {"SchedulingEligibility": "ineligible", "Drain": True, "DrainStrategy": {"Deadline": 0}},
        "client-3": {"Status": "down"},
    }.items():
        node = copy.deepcopy(first) | {"ID": f"00000000-{name}", "Name": name, "NodePool": "disks"} | changes
        node["Attributes"]["platform.aws.placement.availability-zone"] = "us-east-1b"
        known.nodes[node["ID"]] = node
        for plugin_id in ("ebs", "efs"):
            own = copy.deepcopy(known.plugins[plugin_id].nodes[first["ID"]])
            own |= {"AllocID": f"{plugin_id}-{name}", "Healthy": name == "client-2"}
            if plugin_id == "ebs":
                own["NodeInfo"]["AccessibleTopology"] = {"Segments": {"topology.ebs.csi.aws.com/zone": "us-east-1b"}}
            known.plugins[plugin_id].nodes[node["ID"]] = own
    scratch = known.volumes["prod", "scratch"]
    for volume_id, zones in {"both": "ab", "other": "b"}.items():
        volume = known.volumes["storage", volume_id] = copy.deepcopy(scratch)
        places = [{"Segments": {"topology.ebs.csi.aws.com/zone": f"us-east-1{zone}"}} for zone in zones]
        volume.spec |= {
            "ID": volume_id,
            "Name": volume_id,
            "Namespace": "storage",
            "ExternalID": aws_deeds.DISKS["ab".index(zones[-1]) + 1],
            "Topologies": places,
        }
        volume.claims["vanished"] = dict(known.volumes["default", "logs"].claims["gone"]) | {"NodeID": first["ID"]}


def _lines(text):
    """Return the texts of a page, each with the class of what it is in."""

    def opened(tag):
        kind = KIND.search(tag[2])
        return f"\n[{kind[1]}] " if kind else "\n"

    body = re.sub(r"(?s)<style.*?</style>|<head.*?</head>", "", text)
    return [
        " ".join(line.split()) for line in TAG.sub(opened, re.sub(r"</\w+>", "", body)).splitlines() if line.strip()
    ]


def _data(document):
    """Return a line for each part of *document*, and for each item of a list."""
    return [
        f"{key}: {json.dumps(each)}"
        for key, value in document.items()
        for each in (value if isinstance(value, list) else [value])
    ]


def _ran(agent, words):
    """Return what a command printed, and the lines of the page and of the metrics."""
    found = []
    command = option_deeds.Command("", {}, around=lambda each: option_deeds.keeping(each, found))
    printed = option_deeds._ran(agent, agent.keep(), command, words, is_whole=True)
    said = [line for line in printed if line.startswith(("exit", "err"))]
    out = "\n".join(line.removeprefix("out: ") for line in printed if line.startswith("out: "))
    said += _data(json.loads(out)) if "--json" in words else out.splitlines()
    for name, text in found:
        shown = option_deeds.masked(text, agent.folder)
        said += [f"{name}: {line}" for line in (_lines(shown) if name.endswith(".html") else shown.splitlines())]
    return said


def _whole(*words):
    """Return the function of a case: the whole output of each of *words*."""

    def run(agent, _context, _before=None):
        said = [line for each in words for line in (f"## {each}", *_ran(agent, each))]
        _leave(agent, said)

    return run


def _changed(agent, _context, _before=None):
    """Show what each change of the cluster changes in page, data and metrics."""
    kept = agent.keep()
    words = f"{PAGE} --title shop", "verify small.yaml --prometheus out.prom"
    well = [line for each in words for line in _ran(agent, each)]
    said = []
    for change in verify_deeds.CHANGES:
        agent.go_back(kept)
        change(agent.cluster.state, next(iter(agent.cluster.state.nodes.values())))
        now = [line for each in words for line in _ran(agent, each)]
        said += [
            f"## {change.__name__[1:]}",
            *option_deeds.first(list(difflib.unified_diff(well, now, n=0, lineterm=""))[2:]),
        ]
    _leave(agent, said)


def _leave(agent, said):
    agent.transport.requests.clear()
    agent.disks.calls.clear()
    agent.messages[:] = [option_deeds._cut(line, agent.folder) for line in said]


CASES = (
    Case("page", _whole(f"{PAGE} --title shop --aws-region eu-west-1 --smoke smoke.json"), before=_world),
    Case("page without a spec", _whole("verify --html page.html --json"), before=_world),
    Case("metrics", _whole("verify small.yaml --prometheus out.prom"), before=_world),
    Case("changed", _changed, before=_world),
)
