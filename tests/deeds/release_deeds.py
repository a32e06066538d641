"""Several volumes that are deregistered together: claimed, attached, changed meanwhile, of others, forced, interrupted."""

import time
from unittest import mock

from nomad_csi.aws import ebs_volumes
from nomad_csi.aws import records as aws_records
from nomad_csi.volumes import deregistration, owner_records
from tests.deeds import agent as agents
from tests.deeds import registration_deeds
from tests.deeds.deeds import Case

CLAIM = {"Mode": "write", "AccessMode": "single-node-writer", "AttachmentMode": "file-system", "NodeID": "n"}
CAPABILITIES = [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}]
KEYS = [("prod", volume_id) for volume_id in ("a", "b", "c")]
OTHER = {"owner": "web/prod", "ownerId": "9999999999999999"}
OURS = owner_records.Requester(owner="shop/prod", stack_id="00112233aabbccdd")
EVERY = 2
"""Waits between two of the changes that happen meanwhile."""


def _register(context, volume_id, external_id="", **changes):
    known = {"volumeId": volume_id, "name": volume_id, "externalId": external_id or f"vol-{volume_id}"}
    registration_deeds.create(None, context, **known | changes)


def _claimed(*volume_ids):
    """Return what registers the three volumes, of which some are claimed."""

    def before(agent, context):
        for _, volume_id in KEYS:
            _register(context, volume_id)
        for volume_id in volume_ids:
            agent.cluster.state.volumes["prod", volume_id].claims["x"] = CLAIM

    return before


def _freed(*volume_ids):
    def change(agent, _context, _ebs):
        for volume_id in volume_ids:
            agent.cluster.state.volumes["prod", volume_id].claims.clear()

    return change


def _gone(agent, _context, _ebs):
    del agent.cluster.state.volumes["prod", "a"]


def _again(**changes):
    def change(agent, context, _ebs):
        del agent.cluster.state.volumes["prod", "a"]
        _register(context, "a", adopt=True, **changes)

    return change


def _once_more(_agent, context, _ebs):
    _register(context, "a")


def _taken(_agent, context, _ebs):
    _register(context, "b", adopt=True, **OTHER)


def _detached(*volume_ids):
    def change(_agent, _context, attached):
        attached.difference_update(f"vol-{volume_id}" for volume_id in volume_ids)

    return change


def _by_hand(_agent, context, _ebs):
    """Register a volume again as a program does that writes no records."""
    made = {"Volumes": [{"ID": "a", "PluginID": "ebs", "ExternalID": "vol-a", "RequestedCapabilities": CAPABILITIES}]}
    context.connect().request("PUT", "/v1/volume/csi/a", query={"namespace": "prod"}, body=made)


def _deregister(*meanwhile, keys=KEYS, requester=OURS, attached=(), cancels=False, at_end=(), **options):
    """Return what deregisters *keys*; *meanwhile* happens as it waits, and *at_end* after a record is gone, one by one."""

    def run(agent, context, _before=None):
        left, held, waits = list(meanwhile), {f"vol-{each}" for each in attached}, []
        late, sent = list(at_end), agent.transport.exchange
        real, passed, cancelled = time.monotonic, [0.0], agents.Cancelled()

        def sleep(seconds):  # a blocking query sleeps in a thread of its own, too
            passed[0] += seconds
            waits.append(seconds)
            if len(waits) % EVERY == 0 and left:
                happens(left.pop(0))
            if cancels and len(waits) == EVERY:
                cancelled.set()

        def happens(change):
            kept, agent.transport.requests = agent.transport.requests, []
            change(agent, context, held)
            agent.transport.requests = kept

        def exchange(call, target, *given):
            answer = sent(call, target, *given)
            if late and call.method == "DELETE" and target.startswith("/v1/var/"):
                happens(late.pop(0))
            return answer

        def now():
            return real() + passed[0]

        def observed(ids, _region):
            place = aws_records.Attachment(
                instance_id="i-1", instance_state="running", state="attached", device="/dev/x"
            )
            found = {each: (place,) if each in held else () for each in ids}
            states = {True: "in-use", False: "available"}
            known = {
                each: aws_records.AttachedVolume(external_id=each, state=states[bool(where)], attachments=where)
                for each, where in found.items()
            }
            return aws_records.ObservedAttachments(volumes=known)

        with (
            mock.patch("time.sleep", sleep),
            mock.patch.object(agent.transport, "exchange", exchange),
            mock.patch("time.monotonic", now),
            mock.patch.object(ebs_volumes, "read_attachments", observed),
        ):
            found = deregistration.deregister(
                context.connect(),
                keys,
                deregistration.DeregistrationOptions(requester=requester, **options),
                report=agent.messages.append,
                cancelled=cancelled,
            )
        agent.messages += [
            f"{each.key} {each.status}: {each.cells} {each.external_id} {each.is_done} {waits and len(waits)}"
            for each in found
        ]

    return run


LONG = {"wait_s": 60.0}
CASES = (
    Case("three", _deregister(), before=_claimed(), fails=True),
    Case("one is claimed", _deregister(), before=_claimed("b")),
    Case("one is claimed, with a wait", _deregister(wait_s=3.0), before=_claimed("b")),
    Case("two are claimed, with a wait", _deregister(wait_s=3.0), before=_claimed("a", "c")),
    Case("freed together", _deregister(_freed("a", "c"), **LONG), before=_claimed("a", "c"), fails=True, repeats=True),
    Case("freed one after another", _deregister(_freed("c"), _freed("a"), **LONG), before=_claimed("a", "c")),
    Case("gone meanwhile", _deregister(_gone, _freed("b"), **LONG), before=_claimed("a", "b")),
    Case("registered again meanwhile", _deregister(_again(), _freed("b"), **LONG), before=_claimed("a", "b")),
    Case("another meanwhile", _deregister(_again(external_id="vol-z"), _freed("b"), **LONG), before=_claimed("a", "b")),
    Case("taken meanwhile", _deregister(_taken, _freed("a", "b"), **LONG), before=_claimed("a", "b")),
    Case("registered by hand at the end", _deregister(at_end=[_by_hand]), before=_claimed()),
    Case("registered by hand at the end, and gone", _deregister(at_end=[_by_hand, _gone]), before=_claimed()),
    Case("registered again at the end", _deregister(at_end=[_once_more]), before=_claimed()),
    Case("taken at the end", _deregister(at_end=[_taken]), before=_claimed()),
    Case("forced", _deregister(is_forced=True), before=_claimed("a", "b"), fails=True),
    Case("interrupted", _deregister(cancels=True, **LONG), before=_claimed("a", "b")),
    Case("dry run", _deregister(is_dry_run=True), before=_claimed("b")),
    Case("records are kept", _deregister(keeps_owner_records=True), before=_claimed()),
    Case(
        "named twice, and one that is not there", _deregister(keys=[*KEYS, ("prod", "x"), KEYS[0]]), before=_claimed()
    ),
    Case(
        "others are meant",
        _deregister(external_ids={KEYS[0]: "vol-a", KEYS[1]: "vol-z"}),
        before=_claimed(),
    ),
    Case("of another stack", _deregister(requester=owner_records.Requester(owner="web/prod")), before=_claimed()),
    Case(
        "of another stack, adopted",
        _deregister(requester=owner_records.Requester(owner="web/prod", adopts=True)),
        before=_claimed(),
    ),
    Case("attached", _deregister(aws_region="eu-west-1", attached="ab"), before=_claimed("b")),
    Case(
        "attached, dry run", _deregister(aws_region="eu-west-1", attached="ab", is_dry_run=True), before=_claimed("b")
    ),
    Case(
        "detached one after another",
        _deregister(_detached("a"), _freed("b"), _detached("b"), aws_region="eu-west-1", attached="ab", **LONG),
        before=_claimed("b"),
    ),
)
