"""A Pulumi stack of one's own against a running sandbox, on the real engine: the program of docs/reference/sandbox.md."""

import os
import re
import shutil

import pytest

from nomad_csi import nomad
from nomad_csi.nomad import volumes
from nomad_csi_sandbox.session import folder
from tests.e2e import wheels

PAGE = (wheels.ROOT / "docs/reference/sandbox.md").read_text()
ABSENT = [name for name in ("pulumi", "pulumi-language-python") if shutil.which(name) is None]

pytestmark = [
    pytest.mark.real_pulumi,
    pytest.mark.timeout(900),
    pytest.mark.skipif(bool(ABSENT), reason=f"not on PATH: {', '.join(ABSENT)}"),
]


def block(kind):
    [found] = re.findall(rf"^```{kind} own\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


def test_stack_of_ones_own_runs_in_a_sandbox_from_the_wheels(tmp_path):
    """Its storage is in the sandbox's AWS and Nomad, beside that of the sandbox; its stack and config are its own."""
    installed = wheels.install(tmp_path)
    installed.programs = os.environ["PATH"]
    sandbox, own = tmp_path / "sandbox", tmp_path / "orders"
    sandbox.mkdir()
    own.mkdir()
    (own / "Pulumi.yaml").write_text(block("yaml"))
    (own / "__main__.py").write_text(block("python"))
    try:
        installed.type("nomad-csi sandbox up --nomad emulator --skip-preview", sandbox)

        pulumi = "nomad-csi sandbox --project ../sandbox exec -- pulumi"
        said = installed.type(f"{pulumi} stack init dev && {pulumi} up --yes", own)

        assert "9 created" in said
        paths = folder.Folder(sandbox)
        address = f"http://127.0.0.1:{paths.load().processes['nomad'].port}"
        with nomad.Nomad(nomad.Connection(address=address, token=paths.token)) as client:
            found = volumes.list_volumes(client, "default")
        assert sorted(each.volume_id for each in found) == ["mysql", "orders", "shared"]
        assert (own / "Pulumi.dev.yaml").exists()
        mine = "nomad-csi sandbox exec -- pulumi preview --expect-no-changes"
        installed.type(mine, sandbox)
        installed.type(mine.replace("exec", "--project ../sandbox exec"), own)
    finally:
        installed.type("nomad-csi sandbox down", sandbox)
