"""The token of a sandbox's Nomad: random, one for each sandbox, and readable for its owner alone."""

import subprocess
import sys

from nomad_csi.nomad import sandbox_mark
from nomad_csi_sandbox.session import environment, folder

CERTIFICATES = {
    "NOMAD_CACERT": "ca_cert.pem",
    "NOMAD_CLIENT_CERT": "client_cert.pem",
    "NOMAD_CLIENT_KEY": "client_key.pem",
}


def test_only_its_owner_reads_it(tmp_path):
    """Whatever the umask."""
    make = "import pathlib, sys; from nomad_csi_sandbox.session import folder"
    make += "; paths = folder.Folder(pathlib.Path(sys.argv[1])); paths.make(); paths.make_token()"

    subprocess.run([sys.executable, "-c", make, tmp_path], umask=0, check=True)

    paths = folder.Folder(tmp_path)

    assert paths.token_file.stat().st_mode & 0o777 == 0o600
    assert paths.path.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in paths.path.iterdir()) == [
        ".gitignore",
        "backend",
        "home",
        "logs",
        "run",
        "tls",
        "token",
    ]


def test_environment_has_the_token_once_nomad_runs(tmp_path):
    """What starts before it needs none; by its hash the provider distinguishes the sandbox's Nomad from others."""
    paths = folder.Folder(tmp_path)
    paths.make()
    paths.make_token()
    record = folder.Record(parts={"nomad": "emulator"})

    before = environment.build(paths, record, "us-east-1")
    record.processes["nomad"] = folder.Process(name="nomad", pid=1, started="1", port=4711)
    after = environment.build(paths, record, "us-east-1")

    assert paths.token not in before.values()
    assert environment.of_nomad(paths, record) == {"NOMAD_ADDR": "http://127.0.0.1:4711", "NOMAD_TOKEN": paths.token}
    assert (after["NOMAD_ADDR"], after["NOMAD_TOKEN"]) == ("http://127.0.0.1:4711", paths.token)
    assert paths.token not in environment.of_server(paths, record).values()
    files = {variable: str(paths.path / "tls" / name) for variable, name in CERTIFICATES.items()}
    record.parts["nomad"] = "real"
    assert environment.of_nomad(paths, record) == {
        "NOMAD_ADDR": "https://127.0.0.1:4711",
        "NOMAD_TOKEN": paths.token,
        **files,
    }
    assert before[sandbox_mark.TOKEN_HASH] == after[sandbox_mark.TOKEN_HASH] == sandbox_mark.token_hash(paths.token)
