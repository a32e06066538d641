"""Our quoting and our readers held to Nomad's own parsers and formatter, with thousands of hostile texts at once."""

import itertools
import os
import random
import shutil
import subprocess
import unicodedata

import pytest

from nomad_csi.hcl import layout, quote, read, volume
from nomad_csi.nomad import jobs
from tests import hostile

NOMAD = shutil.which("nomad")
COUNT = 5_000
"""Texts of each kind in one file."""
pytestmark = [pytest.mark.real_nomad, pytest.mark.skipif(NOMAD is None, reason="no `nomad` on PATH to parse with")]


@pytest.fixture
def seed():
    """Another one in each run; a failure shows it among its values."""
    return random.randrange(2**32)  # noqa: S311  # tests are to be repeated


def run(*words, address=""):
    environment = {"PATH": os.environ["PATH"], "NOMAD_ADDR": address}
    return subprocess.run([NOMAD, *words], env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_volume_command_reads_hostile_texts_as_we_do(tmp_path, received, seed):
    """As values, as keys and in a list: what `nomad volume register` sends is each text as it was."""
    address, bodies = received
    texts = list(hostile.texts(2 * COUNT, seed))
    context = dict(zip(texts[::2], texts[1::2], strict=True))
    flags = list(hostile.texts(COUNT, seed + 1))
    text = layout.layout(
        f'type = "csi"\nid = "v"\nname = "v"\nexternal_id = "e"\nplugin_id = "p"\n'
        f'capability {{\naccess_mode = "single-node-writer"\nattachment_mode = "file-system"\n}}\n'
        f"mount_options {{\nmount_flags = {quote.string_list(flags)}\n}}\ncontext = {quote.string_map(context)}\n"
        f"{''.join(quote.comment(text) + chr(10) for text in texts)}"
    )
    file = tmp_path / "v.volume.hcl"
    file.write_text(text, encoding="utf-8", newline="")

    done = run("volume", "register", str(file), address=address)

    assert (done.returncode, done.stderr) == (0, "")
    [sent] = bodies[0][1]["Volumes"]
    assert sent["Context"] == context
    assert sent["MountOptions"]["MountFlags"] == flags
    ours = volume.volume_payload(read.read_volume(text))
    assert (ours["Context"], ours["MountOptions"]["MountFlags"]) == (context, flags)
    assert (sent["ID"], sent["Name"], sent["ExternalID"]) == ("v", "v", "e")


def job(values, quoting):
    """Return a job file with *values* as its meta."""
    lines = "".join(f"{quote.key(name)} = {quoting(text)}\n" for name, text in values.items())
    return layout.layout(
        f'job "j" {{\nmeta = {{\n{lines}}}\ngroup "g" {{\ntask "t" {{\ndriver = "raw_exec"\nconfig {{\n'
        'command = "true"\n}\n}\n}\n}\n'
    )


def test_agent_reads_hostile_texts_of_a_job_as_we_do(agent, seed):
    """Every text that a job file may hold arrives as it was, and nothing beside it."""
    values = {f"k{index}": text for index, text in enumerate(hostile.job_texts(COUNT, seed))}

    text = job(values, quote.job_string)
    parsed = jobs.parse(agent.client, text)

    assert parsed["Meta"] == values
    assert read.read_job(text)["job"][0]["meta"] == values
    assert [group["Name"] for group in parsed["TaskGroups"]] == ["g"]


def test_agent_reads_the_literals_of_volume_files_as_we_do(agent, seed):
    """Under HCL2 a literal of a volume file is the same text in NFC form, templates and all."""
    values = {f"k{index}": text for index, text in enumerate(hostile.texts(COUNT, seed))}

    text = job(values, quote.string)
    parsed = jobs.parse(agent.client, text)

    assert parsed["Meta"] == {name: unicodedata.normalize("NFC", value) for name, value in values.items()}
    assert read.read_job(text)["job"][0]["meta"] == parsed["Meta"]


def test_formatter_leaves_hostile_files_alone(tmp_path, seed):
    """However odd its values, a file that we laid out has nothing to be formatted; names of emoji it aligns otherwise."""
    texts = hostile.texts(COUNT, seed)
    for index, part in enumerate(iter(lambda: list(itertools.islice(texts, 100)), [])):
        context = {f"{'k' * (position % 9)}{position}": value for position, value in enumerate(part[::2])}
        text = layout.layout(f"context = {quote.string_map(context)}\nflags = {quote.string_list(part)}\n")
        (tmp_path / f"{index}.hcl").write_text(text, encoding="utf-8", newline="")

    done = run("fmt", "-check", "-list=true", str(tmp_path))

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
