"""Each option of each command has an effect: the run with it differs from the run without it."""

import contextlib
import io
import os
import re
import shutil
import sys
import threading
import time
import types
from pathlib import Path
from unittest import mock

import pytest

from nomad_csi import cli
from nomad_csi.aws import calls
from nomad_csi.nomad import transport
from tests import emulated_agent, scripted_plugins
from tests.cli import option_rows, option_world

TIMES = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?|(?<=_seconds )[\d.]+"
    r"|\d\d:\d\d:\d\d\.\d+|(?<=status \d\d\d, )\d+ ms|\d{8}T\d{6}Z"
)
ATTACHED = {
    "VolumeId": option_world.DISK,
    "State": "in-use",
    "AvailabilityZone": "us-east-1a",
    "Size": 5,
    "VolumeType": "gp3",
    "Attachments": [{"InstanceId": "i-1", "State": "attached", "Device": "/dev/xvdba"}],
    "Tags": [],
}
AWS = {"Volumes": [ATTACHED], "Reservations": [], "FileSystems": [], "AccessPoints": []}
_CLIENTS = {}
"""Clients of AWS by service and region, each with its current agent: to create one takes longer than a run."""


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """Return an emulated agent."""
    with emulated_agent.running(tmp_path_factory.mktemp("agent")) as made:
        yield made


def _aws(agent):
    """Have AWS know one disk, and record each call."""
    make = calls.client

    def client(service, aws_region, *, profile=None):
        del profile
        key = service, aws_region
        if key not in _CLIENTS:
            made, current = make(*key), types.SimpleNamespace(agent=None)

            def answer(model, params, **_):
                current.agent.messages.append(f"{aws_region} {service} {model.name} {params['body']}")
                return types.SimpleNamespace(status_code=200), AWS

            made.meta.events.register("before-call", answer)
            _CLIENTS[key] = made, current
        made, current = _CLIENTS[key]
        current.agent = agent
        return made

    return mock.patch.object(calls, "client", client)


def _files(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def _sleep(clock, real):
    """Return a sleep that takes no time; that of another thread, which only shows progress, is real."""

    def sleep(seconds):
        (clock.sleep if threading.current_thread() is threading.main_thread() else real)(seconds)

    return sleep


def _run(agent, command, words):
    """Return the lines of what a run of *words* did: settings, requests, calls, output and files."""
    shutil.rmtree(agent.folder)
    for name, text in option_world.FILES.items():
        path = agent.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    settings, out, err = [], io.StringIO(), io.StringIO()
    before = _files(agent.folder)
    variables = {"NOMAD_ADDR": emulated_agent.ADDRESS, "NOMAD_TOKEN": "canary-94"}
    variables |= {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}

    def connect(given):
        settings.append(str(given))
        return agent.transport

    with (
        mock.patch.dict(os.environ, variables),
        mock.patch.object(transport, "Transport", connect),
        scripted_plugins.running(scripted_plugins.healthy(**command.calls), agent.messages.append) as plugins,
        mock.patch("time.sleep", _sleep(plugins.clock, time.sleep)),
        _aws(agent),
        command.around(agent),
        emulated_agent.counted(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        typed = ["-C", str(agent.folder), *(word.replace(",*", " *") for word in words.split())]
        code = cli.main(typed)
    written = {name: text for name, text in _files(agent.folder).items() if before.get(name) != text}
    shown = [out.getvalue(), err.getvalue(), *written.values()]
    assert "canary" not in "".join(shown), f"a secret is shown: {words}"
    requests = [str(each) for each in agent.transport.requests if "index=" not in each[1]]
    did = [*dict.fromkeys(settings), *sorted(agent.messages), *dict.fromkeys(requests), *map(str, agent.disks.calls)]
    lines = [f"exit {code}", *did, *shown[:2], *map(str, written.items())]
    return [
        TIMES.sub("TIME", line.replace(str(agent.folder), "DIR").replace(sys.executable, "PYTHON")) for line in lines
    ]


def runner(agent):
    """Return what runs a command, by its name and its arguments, in its cluster; an equal call runs once."""
    made, prepared = {}, {}

    def run(name, words, attempt=1):
        command = option_rows.COMMANDS[name]
        if command.before not in prepared:
            agent.restart()
            with emulated_agent.counted():
                command.before and command.before(agent)
            prepared[command.before] = agent.keep()
        if (name, words, attempt) not in made:
            agent.go_back(prepared[command.before])
            made[name, words, attempt] = _run(agent, command, f"{name} {words}")
        return made[name, words, attempt]

    return run


@pytest.fixture(scope="module")
def run(agent):
    """Return what runs a command."""
    return runner(agent)


@pytest.mark.parametrize("name", option_rows.COMMANDS)
def test_each_option_has_an_effect(run, name):
    """A second run is like the first one; only an option that another test tries may have no effect here."""
    command = option_rows.COMMANDS[name]
    assert run(name, command.usual) == run(name, command.usual, 2)
    without = []
    for option, row in command.rows.items():
        usual, _, more = row.partition(" => ")
        usual = usual.replace("+", command.usual, 1)
        with_it = more.removeprefix("= ") if more.startswith("= ") else f"{usual} {more}"
        if run(name, usual) == run(name, with_it):
            without.append(option)

    assert set(without) <= option_rows.ELSEWHERE.get(name, {}).keys()


@pytest.mark.parametrize("name", option_rows.CONNECTED)
def test_each_option_of_a_connection_is_a_setting(run, name):
    """Whichever the command is."""
    usual = option_rows.CONNECTED[name].replace("+", option_rows.COMMANDS[name].usual)
    given = " ".join(f"{option} {value}".strip() for option, value in option_rows.CONNECTION.items())
    settings = " ".join(run(name, f"{usual} {given}"))

    missing = {value for value in option_rows.CONNECTION.values() if value and Path(value).name not in settings}
    assert missing == set()
