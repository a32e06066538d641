"""
Our jobs as they are rendered by default: in containers, on a real agent with a real Docker engine.

The images are made of programs of this machine and have the names that the catalogue has. What an image from its
publisher brings besides the driver is not verified by them.
"""

import contextlib
import os
import shutil
import subprocess
from contextlib import ExitStack

import pytest

from nomad_csi.nomad import nodes
from nomad_csi_sandbox.session import mounts
from tests.real.drivers.docker import images as docker_images

READY_S = 30.0
MOUNT_S = 20.0


@pytest.fixture(scope="session")
def images():
    """Makers of images: what is in ``images.py``. Skips without an engine."""
    if not shutil.which("nomad") or os.geteuid():
        pytest.skip("needs `nomad` on PATH, and root to start its client")
    if why := docker_images.obstacle():
        pytest.skip(why)
    return docker_images


@pytest.fixture(scope="session")
def image(images):
    """Have an image: ``image(name, entrypoint, programs)``. What was made is removed at the end."""
    with ExitStack() as stack:

        def have(name, entrypoint, programs, files=()):
            if not images.exists(name):
                images.make(name, entrypoint, programs, files)
                stack.callback(images.remove, name)
            return name

        yield have


@pytest.fixture(scope="session")
def docker_settings(images):
    """The settings of Nomad's Docker driver. It is one of several clients of the engine, whose containers stay."""
    cleaning = {"image": False, "dangling_containers": {"enabled": False}}
    volumes = {"enabled": True}
    return {"endpoint": images.address(), "allow_privileged": True, "volumes": volumes, "gc": cleaning}


@pytest.fixture(scope="session")
def agent(run_agent, until, docker_settings, images):
    """An agent that runs containers, on a mount that shares what is mounted below it."""
    with run_agent(mount, docker=docker_settings) as started:
        until(lambda: has_docker(started.client), READY_S, "the agent has found the engine")
        yield started
        ran = [item["ID"] for item in started.client.request("GET", "/v1/allocations", query={"namespace": "*"}).data]
    assert [alloc_id for alloc_id in ran if containers(images, alloc_id)] == []


def containers(images, alloc_id):
    """Return the containers of an allocation, running or not."""
    words = ("ps", "--all", "--quiet", "--filter", f"label=com.hashicorp.nomad.alloc_id={alloc_id}")
    return images.docker(*words).stdout.split()


def has_docker(client):
    """Return whether the one client can run containers."""
    return all(node.drivers.get("docker") for node in nodes.list_nodes(client))


@contextlib.contextmanager
def mount(folder):
    """Make *folder* a shared mount of its own, as the root of a machine with systemd is."""
    subprocess.run(["mount", "--bind", folder, folder], check=True, timeout=MOUNT_S)
    try:
        subprocess.run(["mount", "--make-shared", folder], check=True, timeout=MOUNT_S)
        yield
    finally:
        left = mounts.below(folder)
        mounts.unmount_below(folder)
        subprocess.run(["umount", folder], check=True, timeout=MOUNT_S)
    assert left == []


@pytest.fixture(scope="module")
def task(agent):
    """How the plugins are run: as they are by default."""
    return {"name": "docker", "client_data_dir": str(agent.folder)}
