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
    make += "; place = folder.Folder(pathlib.Path(sys.argv[1])); place.make(); place.make_token()"

    subprocess.run([sys.executable, "-c", make, tmp_path], umask=0, check=True)

    place = folder.Folder(tmp_path)

    assert place.token_file.stat().st_mode & 0o777 == 0o600
    assert place.path.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in place.path.iterdir()) == [
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
    place = folder.Folder(tmp_path)
    place.make()
    place.make_token()
    record = folder.Record(parts={"nomad": "emulator"})

    before = environment.build(place, record, "us-east-1")
    record.processes["nomad"] = folder.Process(name="nomad", pid=1, started="1", port=4711)
    after = environment.build(place, record, "us-east-1")

    assert place.token not in before.values()
    assert environment.of_nomad(place, record) == {"NOMAD_ADDR": "http://127.0.0.1:4711", "NOMAD_TOKEN": place.token}
    assert (after["NOMAD_ADDR"], after["NOMAD_TOKEN"]) == ("http://127.0.0.1:4711", place.token)
    assert place.token not in environment.of_server(place, record).values()
    files = {variable: str(place.path / "tls" / name) for variable, name in CERTIFICATES.items()}
    record.parts["nomad"] = "real"
    assert environment.of_nomad(place, record) == {
        "NOMAD_ADDR": "https://127.0.0.1:4711",
        "NOMAD_TOKEN": place.token,
        **files,
    }
    assert before[sandbox_mark.TOKEN_HASH] == after[sandbox_mark.TOKEN_HASH] == sandbox_mark.token_hash(place.token)
