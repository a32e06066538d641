"""The calls to plugins: each with its request and the time that is left for it, and what is made of each answer."""

import dataclasses
import itertools
import json
import re
import types
from unittest import mock

from google.protobuf import descriptor

from nomad_csi import errors
from nomad_csi.csi import capability, channel, controller, endpoint, explain, identity, presence, probe, rpc, validation
from nomad_csi.csi import on_node as on_nodes
from nomad_csi.csi.v1 import csi_pb2
from tests.deeds import plugin as plugins
from tests.deeds.deeds import Case

SOCKET = "/run/csi.sock"
WHERE = endpoint.parse(SOCKET)
TCP = "10.0.0.9:9000"
ROLES = (None, "controller", "node", "monolith")
HIDDEN = {"key": "canary-41", "n": "x"}
NODE = ("NodeGetInfo", "NodeGetCapabilities")
REFUSALS = {
    "hangs": plugins.HANGS,
    "unimplemented": ("UNIMPLEMENTED", "unknown service"),
    "not there": ("UNAVAILABLE", "failed to connect to all addresses; last error: x"),
    "no host": ("UNAVAILABLE", "errors resolving csi: x"),
    "went away": ("UNAVAILABLE", "Stream removed (1)"),
    "own unavailable": ("UNAVAILABLE", "the cloud\n is away"),
    "http": ("INTERNAL", "Trying to connect an http1.x server"),
    "no gRPC": ("UNAVAILABLE", "Failed parsing HTTP/2"),
    "internal": ("INTERNAL", "no: token=canary-41"),
    "denied": ("PERMISSION_DENIED", "no"),
    "no login": ("UNAUTHENTICATED", ""),
    "precondition": ("FAILED_PRECONDITION", "no network"),
}


def _outcome(call):
    """Return what *call* returns, or its error with all that callers read of it."""
    try:
        return call()
    except errors.CsiError as error:
        return [type(error).__name__, str(error), error.code, error.is_answer]
    except (errors.NomadCsiError, ValueError) as error:
        return [type(error).__name__, str(error)]


def _with(call, answers=None, **how):
    """Return a case that calls *call* with plugins that give *answers*."""

    def run(agent, _context):
        with plugins.running(agent, plugins.all_answers() if answers is None else answers, **how) as found:
            return _outcome(lambda: call(found))

    return run


def _probe(where=SOCKET, **how):
    return lambda _found: probe.probe(where, **how).as_json()


def _short(report):
    return [report["status"], report["detail"], report["latency_ms"]] if isinstance(report, dict) else report


def _table(rows):
    """Return a case of many small ones, the calls of which are not shown: *rows* are calls, answers and more, by name."""

    def run(agent, _context):
        shown = {}
        for name, (call, answers, how) in rows.items():
            more = {key: value for key, value in how.items() if key != "takes_s"}
            with plugins.running(agent, answers, takes_s=how.get("takes_s", 0.25)) as found:
                found.is_shown = False
                vars(found).update(more)
                began = found.clock.now_s
                shown[name] = [_outcome(lambda: call(found)), f"{found.calls} calls", found.clock.now_s - began]  # noqa: B023
        return shown

    return run


def _failing():
    for role, (name, refusal), number in itertools.product((None, "monolith"), REFUSALS.items(), range(1, 7)):
        if role is not None and name != "unimplemented":
            continue
        yield (
            f"{role}, call {number}: {name}",
            (
                lambda found, role=role, number=number: _short(_probe(role=role)(found))[:: 1 if number == 1 else 2],
                plugins.all_answers(),
                {"faults": {number: refusal}, "refuses": probe.REFUSED_CHECK_S if "there" in name else None},
            ),
        )


def _serving():
    parts = {"both": (), "controller": NODE, "node": ("ControllerGetCapabilities",)}
    parts["none"] = (*NODE, "ControllerGetCapabilities")
    for (serves, without), role in itertools.product(parts.items(), ROLES):
        answers = {name: answer for name, answer in plugins.all_answers().items() if name not in without}
        yield f"{role}, serves {serves}", (lambda found, role=role: _short(_probe(role=role)(found)), answers, {})


def _info(**changes):
    return {"GetPluginInfo": csi_pb2.GetPluginInfoResponse(**{"name": "ebs.csi.aws.com"} | changes)}


def _node(segments=None, **changes):
    place = {"accessible_topology": {"segments": segments}} if segments else {}
    return {"NodeGetInfo": csi_pb2.NodeGetInfoResponse(**{"node_id": "i-1"} | place | changes)}


VALUES = {
    "no name": _info(name=""),
    "other name": _info(name="efs.csi.aws.com"),
    "secret version": _info(vendor_version="token=canary-41"),
    "starts": {"Probe": csi_pb2.ProbeResponse(ready={"value": False})},
    "ready": {"Probe": csi_pb2.ProbeResponse(ready={"value": True})},
    "no node id": _node(node_id=""),
    "no limit": _node(max_volumes_per_node=0),
}


def _value(found):
    report = _probe(expect_name="ebs.csi.aws.com")(found)
    return {name: value if len(str(value)) < 300 else f"{len(str(value))} characters" for name, value in report.items()}


def _until(until_s, **how):
    return lambda found: _short(probe.probe_until(SOCKET, until=found.clock.now_s + until_s, **how).as_json())


def _cancelled(looks):
    return lambda found: _probe(cancelled=plugins.Cancelled(looks, found.clock))(found)


def _wait(wait_s):
    return lambda _found: identity.until_ready(WHERE, wait_s=wait_s)


STARTS = csi_pb2.ProbeResponse(ready={"value": False})
MISSING = types.SimpleNamespace(kind="missing", message="no such socket", advice="wait")
FORBIDDEN = types.SimpleNamespace(kind="no-permission", message="no permission", advice="run as root")
WAITS = {
    "ready at once": ([csi_pb2.ProbeResponse()], 10, {}),
    "starts, then ready": ([STARTS, STARTS, csi_pb2.ProbeResponse()], 10, {}),
    "starts for ever": ([STARTS], 3, {}),
    "hangs, then ready": ([plugins.HANGS, csi_pb2.ProbeResponse()], 10, {}),
    "hangs for ever": ([plugins.HANGS], 12, {}),
    "starts, then hangs": ([STARTS, plugins.HANGS], 4, {}),
    "no time": ([plugins.HANGS], 0, {}),
    "not there, then ready": ([REFUSALS["not there"], csi_pb2.ProbeResponse()], 10, {}),
    "own unavailable for ever": ([REFUSALS["own unavailable"]], 2, {}),
    "not there for ever": ([REFUSALS["not there"]], 2, {}),
    "internal": ([REFUSALS["internal"]], 10, {}),
    "no socket for ever": ([STARTS], 2, {"obstacle": lambda: MISSING}),
    "no permission": ([STARTS], 2, {"obstacle": lambda: FORBIDDEN}),
}


def _waiting():
    for name, (answers, wait_s, how) in WAITS.items():
        yield name, (_wait(wait_s), {"Probe": answers}, how)


def _connected(call, **how):
    """Return a call that has a connection."""

    def run(_found):
        with channel.connect(WHERE, **how) as connection:
            return call(connection)

    return run


REFUSED = {
    "known": csi_pb2.ValidateVolumeCapabilitiesResponse(),
    "not found": ("NOT_FOUND", "no"),
    "gone": ("INTERNAL", "it is gone"),
    "fails": ("INTERNAL", "no"),
    "unserved": ("UNIMPLEMENTED", "no"),
    "away": ("UNAVAILABLE", "no"),
    "hangs": plugins.HANGS,
}
GET = csi_pb2.ControllerGetVolumeResponse


def _condition(*, abnormal, message):
    return GET(status={"volume_condition": {"abnormal": abnormal, "message": message}})


GOT = REFUSED | {
    "known": GET(),
    "abnormal": _condition(abnormal=True, message="full"),
    "abnormal, gone": _condition(abnormal=True, message="it is gone"),
    "normal, gone": _condition(abnormal=False, message="it is gone"),
}


def _listed(*ids, token=""):
    return csi_pb2.ListVolumesResponse(entries=[{"volume": {"volume_id": each}} for each in ids], next_token=token)


def _can(*numbers):
    return csi_pb2.ControllerGetCapabilitiesResponse(
        capabilities=[plugins.capability("controller", number) for number in numbers]
    )


def last_of_each():
    """Have a character be replaced by the last one of its kind."""
    return mock.patch.object(presence.random, "SystemRandom", return_value=mock.Mock(choice=lambda kind: kind[-1]))


def _unknown(text):
    with last_of_each():
        return presence.unknown_id(text)


def _observe(absence):
    question = presence.PresenceQuestion(
        volume_id="vol-0123456789abcdef0", absence=absence, gone=("is gone",), secrets=HIDDEN, timeout_s=60
    )

    def observe(connection):
        with last_of_each():
            return presence.observe(connection, question)

    return _connected(observe)


def _observed():
    lists = {
        "no list": {"ControllerGetCapabilities": _can(1)},
        "listed": {
            "ControllerGetCapabilities": _can(1, 3),
            "ListVolumes": [_listed("vol-1", token="2"), _listed("vol-0123456789abcdef0")],
        },
        "not listed": {"ControllerGetCapabilities": _can(3), "ListVolumes": _listed("vol-1")},
    }
    for absence, (first, found), (second, of_other) in itertools.product(
        ("", "validate"), REFUSED.items(), {"known": REFUSED["known"], "not found": REFUSED["not found"]}.items()
    ):
        for list_name, listing in lists.items():
            answers = {"ValidateVolumeCapabilities": [found, of_other], **listing}
            yield f"{absence or '-'}: {first}, other {second}, {list_name}", (_observe(absence), answers, {})
    for (name, found), validated in itertools.product(GOT.items(), ("known", "not found", "unserved")):
        answers = {"ControllerGetVolume": found, "ValidateVolumeCapabilities": REFUSED[validated], **lists["listed"]}
        yield f"get: {name}, {validated}", (_observe("get"), answers, {})
    yield "none", (_observe("none"), {}, {})


def _pages(answers, timeout_s=10):
    return (
        _connected(lambda connection: list(controller.list_volumes(connection, timeout_s=timeout_s))),
        {"ListVolumes": answers},
    )


PAGED = {
    "one": _pages([_listed("a")]),
    "three": _pages([_listed("a", token="2"), _listed("b", token="3"), _listed("c")]),
    "none": _pages([_listed()]),
    "a token twice": _pages([_listed("a", token="2"), _listed("b", token="3"), _listed("c", token="2")]),
    "no time": _pages([_listed("a", token=str(number)) for number in range(9)], 1),
}
USES = [
    capability.VolumeCapability(access_mode=mode, attachment_mode="block-device" if at % 2 else "file-system")
    for at, mode in enumerate(capability.MODES)
]
MOUNT = dataclasses.replace(USES[0], fs_type="xfs", mount_flags=("ro", "noatime"))
MORE = {"parameters": {"tier": "x"}, "secrets": HIDDEN, "timeout_s": 9.0}
SNAPSHOTS = {
    "ValidateVolumeCapabilities": csi_pb2.ValidateVolumeCapabilitiesResponse(confirmed={}, message="m"),
    "DeleteVolume": csi_pb2.DeleteVolumeResponse(),
    "CreateSnapshot": csi_pb2.CreateSnapshotResponse(snapshot={"snapshot_id": "snap-1", "ready_to_use": True}),
    "ListSnapshots": csi_pb2.ListSnapshotsResponse(
        entries=[{"snapshot": {"snapshot_id": "snap-1"}}, {"snapshot": {"snapshot_id": "snap-2"}}]
    ),
    "ControllerGetVolume": GOT["abnormal"],
}
CALLS = {
    "validate": lambda to: controller.validate_volume_capabilities(
        to, volume_id="v", capabilities=[*USES, MOUNT], context={"a": "b"}, **MORE
    ),
    "delete": lambda to: controller.delete_volume(to, volume_id="v", secrets=HIDDEN, timeout_s=9.0),
    "get": lambda to: str(controller.controller_get_volume(to, volume_id="v", timeout_s=9.0)),
    "snapshot": lambda to: str(controller.create_snapshot(to, source_volume_id="v", name="n", **MORE)),
    "snapshots": lambda to: list(
        map(str, controller.list_snapshots(to, snapshot_id="s", source_volume_id="v", secrets=HIDDEN, timeout_s=9.0))
    ),
}


def _by_tcp(insecure):
    def call(_found):
        with channel.connect(endpoint.parse(TCP), insecure=insecure) as connection:
            return controller.delete_volume(connection, volume_id="v", secrets=HIDDEN, timeout_s=9)

    return call


def _questions(*modes):
    return [
        validation.ValidationQuestion(
            key=("prod", f"v{at}"), external_id=f"vol-{at}", uses=((mode, "file-system"),), parameters={"p": str(at)}
        )
        for at, mode in enumerate(modes)
    ]


ASKED = _questions("single-node-writer", "strange", "multi-node-multi-writer", "single-node-writer")


def _validate(**how):
    return lambda _found: {
        "/".join(key): vars(answer)
        for key, answer in validation.ask(SOCKET, ASKED, secrets={("prod", "v2"): HIDDEN}, timeout_s=3.0, **how).items()
    }


CONFIRMED = csi_pb2.ValidateVolumeCapabilitiesResponse(confirmed={})
ANSWERS = {
    "all confirmed": {"asked": 4, "wrong": []},
    "one wrong": {"asked": 4, "wrong": [["prod", "v2", {"code": "NOT_FOUND", "confirmed": False, "message": "m"}]]},
    "another number": {"asked": 3, "wrong": []},
    "another volume": {"asked": 4, "wrong": [["prod", "v9", {"code": "", "confirmed": False, "message": ""}]]},
}


def _packed(_agent, _context):
    task = validation.ValidationTask(seconds=2.5, by_allocation={"a": tuple(ASKED), "b": ()})
    environment = validation.packed(task)
    noise = "".join(map(str, range(90_000)))
    large = validation.packed(
        dataclasses.replace(task, by_allocation={"a": (dataclasses.replace(ASKED[0], context={"x": noise}),)})
    )
    return {
        "names": list(environment),
        "the same again": validation.unpacked(environment) == task,
        "parts": {name: len(part) for name, part in large.items()},
        "large again": validation.unpacked(large).by_allocation["a"][0].context["x"] == noise,
        "no question": validation.packed(dataclasses.replace(task, by_allocation={"b": ()})),
        "nothing": vars(validation.unpacked({})),
        "of another version": _outcome(lambda: validation.unpacked({f"{validation.VARIABLE}_0": "eJw="})),
        "no base64": _outcome(lambda: validation.unpacked({f"{validation.VARIABLE}_0": "!"})),
        "answers": {
            name: _outcome(lambda: [vars(each) for each in validation.parse_answers(document, ASKED).values()])  # noqa: B023
            for name, document in ANSWERS.items()
        },
        "wrong ones": validation.wrong_as_json(
            {("a", "b"): validation.Validated(confirmed=True), ("a", "c"): validation.LATE}
        ),
    }


def _on_node(agent, answers, *, task=on_nodes._NOTHING, place="client/csi/plugins", made=("a1", "b2", "c3"), **how):
    folder = agent.folder / place
    for name in made:
        (folder / name).mkdir(parents=True, exist_ok=True)
    with plugins.running(agent, answers, **how) as found:
        shown = on_nodes.ask_all(folder, timeout_s=4.0, volumes=task)
        result = shown.as_json() | {"lines": shown.as_lines(), "all ready": shown.all_ready, "at": found.clock.now_s}
    root = str(agent.folder.resolve())
    agent.messages[:] = [line.replace(root, "ROOT") for line in agent.messages]
    return json.loads(re.sub("x{9,}", "LONG", json.dumps(result).replace(root, "ROOT")))


def _two_of_three(agent, _context):
    root = agent.folder.resolve() / "client/csi/plugins"
    well = plugins.all_answers(ValidateVolumeCapabilities=("NOT_FOUND", "no such"))
    answers = well | {
        (f"unix:{root}/a1/csi.sock", "Probe"): plugins.HANGS,
        (f"unix:{root}/c3/csi.sock", "ControllerGetCapabilities"): ("UNIMPLEMENTED", "no"),
    }
    task = validation.ValidationTask(
        seconds=1.0, by_allocation={name: tuple(ASKED[:1]) for name in ("a1", "b2", "c3", "d")}
    )
    return _on_node(agent, answers, task=task)


def _no_folder(agent, _context):
    (agent.folder / "file").write_text("", encoding="utf-8")
    (agent.folder / "client").mkdir(exist_ok=True)
    known = {"client/csi/plugins": (), "csi/plugins": (), "other/csi/plugins": (), "other": (), "file": ()}
    known["x" * (200 - len(str(agent.folder.resolve())))] = ("long",)
    return {place[:19].rstrip("x"): _on_node(agent, {}, place=place, made=made) for place, made in known.items()}


def _filled(message):
    """Return *message* with a value in each of its fields."""
    kind = descriptor.FieldDescriptor
    for field in message.DESCRIPTOR.fields:
        is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
        if is_map:
            getattr(message, field.name).update({"plain": "shown", "password": "canary-5"})
        elif field.message_type is not None:
            inner = getattr(message, field.name)
            if field.is_repeated:
                _filled(inner.add())
            elif field.containing_oneof is None or field.containing_oneof.fields[0] is field:
                inner.SetInParent()
                _filled(inner)
        elif field.is_repeated:
            getattr(message, field.name).append("shown" if field.cpp_type == kind.CPPTYPE_STRING else 3)
        elif field.containing_oneof is None or field.containing_oneof.fields[0] is field:
            setattr(message, field.name, "shown" if field.cpp_type == kind.CPPTYPE_STRING else 1)
    return message


def _documents(_agent, _context):
    return {
        name: {
            "of": found.service,
            "is a list": found.is_list,
            "takes secrets": found.takes_secrets,
            "shown": rpc.document_of(_filled(found.request_type())),
        }
        for name, found in rpc.RPCS.items()
    }


REQUESTS = {
    "all": {"volume_id": "v", "secrets": {"key": "canary-41"}},
    "no such field": {"volume": "v", "secrets": {"key": "canary-41"}},
    "a number as text": {"volume_id": 3},
    "secrets as a list": {"secrets": ["canary-41"]},
    "a secret as a number": {"secrets": {"key": 4141}},
    "a name as a number": {"secrets": {4141: "canary-41"}},
}


def _requests(_agent, _context):
    return {
        name: _outcome(lambda: str(rpc.request_of(rpc.RPCS["DeleteVolume"], document, "request.json")))  # noqa: B023
        for name, document in REQUESTS.items()
    }


def _explained(_agent, _context):
    found = explain.explained(errors.CsiError(SOCKET, "m", code="INTERNAL", advice="own", is_answer=False), "Probe")
    shown = {"whole": [str(found), found.code, found.is_answer]}
    for name, code in itertools.product(
        (*explain.BY_RPC, "Probe"), ("NOT_FOUND", "ABORTED", "INVALID_ARGUMENT", "UNAVAILABLE", "")
    ):
        for advice in ("own", ""):
            found = explain.explained(
                errors.CsiError(SOCKET, "m", code=code, advice=advice, is_answer=code != "UNAVAILABLE"), name
            )
            shown[f"{name} {code} {advice}"] = [found.advice, explain.exit_code(found)]
    return shown


CASES = (
    *(Case(f"probe: {role}", _with(_probe(role=role))) for role in ROLES),
    Case("probe: by TCP, each answer takes 0.9 s", _with(_probe(TCP, timeout_s=5.0), takes_s=0.9)),
    Case("probe: too slow", _with(_probe(timeout_s=5.0), takes_s=1.2)),
    Case("probe: another time", _with(_probe(timeout_s=30.0))),
    Case("probe: what is served", _table(dict(_serving()))),
    Case("probe: each call fails", _table(dict(_failing()))),
    Case(
        "probe: values",
        _table({name: (_value, plugins.all_answers(**answers), {}) for name, answers in VALUES.items()}),
    ),
    Case(
        "probe: obstacles",
        _table(
            {
                name: (_probe(), {}, {"obstacle": lambda found=found: found})
                for name, found in (("missing", MISSING), ("forbidden", FORBIDDEN))
            }
        ),
    ),
    Case(
        "probe until",
        _table(
            {
                f"{until_s} s left, {name}": (
                    _until(until_s, timeout_s=4.0, expect_name="ebs.csi.aws.com", role="node"),
                    plugins.all_answers() | answers,
                    how,
                )
                for until_s in (4.0, 3.8, 3.0, 1.0, -9.0)
                for name, answers, how in (
                    ("well", {}, {}),
                    ("hangs", {"Probe": plugins.HANGS}, {}),
                    ("hangs once", {"Probe": [plugins.HANGS, csi_pb2.ProbeResponse()]}, {}),
                    ("refused", {"Probe": REFUSALS["internal"]}, {}),
                    ("slow", {}, {"takes_s": 0.7}),
                )
            }
        ),
    ),
    Case("probe: interrupted", _with(_cancelled(2), {"Probe": plugins.OPEN})),
    Case("probe: not interrupted in time", _with(_cancelled(99), {"Probe": plugins.OPEN})),
    Case("wait", _with(_wait(10), {"Probe": [STARTS, REFUSALS["not there"], csi_pb2.ProbeResponse()]})),
    Case("waits", _table(dict(_waiting()))),
    Case(
        "is it there",
        _with(_observe(""), {"ValidateVolumeCapabilities": CONFIRMED, "ControllerGetCapabilities": _can(1)}),
    ),
    Case("is it there: all answers", _table(dict(_observed()))),
    Case(
        "ids of no volume",
        lambda *_: {text: _unknown(text) for text in ("vol-0123456789", "a-b", "", "fs-0aF1zZ9b::fsap-0123456Z")},
    ),
    *(Case(f"pages: {name}", _with(*each)) for name, each in list(PAGED.items())[:2]),
    Case("pages", _table({name: (*each, {}) for name, each in PAGED.items()})),
    *(Case(f"controller: {name}", _with(_connected(call, attempt_s=7.5), SNAPSHOTS)) for name, call in CALLS.items()),
    Case("controller: secrets by TCP", _with(_by_tcp(insecure=False), SNAPSHOTS)),
    Case("controller: secrets by TCP, accepted", _with(_by_tcp(insecure=True), SNAPSHOTS)),
    Case(
        "controller: refused",
        _table(
            {name: (_connected(CALLS["delete"]), {"DeleteVolume": answer}, {}) for name, answer in REFUSALS.items()}
        ),
    ),
    Case("validate", _with(_validate(), {"ValidateVolumeCapabilities": [CONFIRMED, ("NOT_FOUND", "no"), CONFIRMED]})),
    Case(
        "validate: no time for all",
        _with(_validate(seconds=2.0), {"ValidateVolumeCapabilities": CONFIRMED}, takes_s=1.5),
    ),
    Case("validate: hangs", _with(_validate(seconds=8.0), {"ValidateVolumeCapabilities": plugins.HANGS})),
    Case("validate: as variables", _packed),
    Case("on a client", _two_of_three),
    Case("on a client: folders", _no_folder),
    Case("each request shown", _documents),
    Case("requests from documents", _requests),
    Case("errors explained", _explained),
)
