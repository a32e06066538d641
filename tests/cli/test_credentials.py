"""Token and CSI secrets of whoever types a command reach no address that only a file names, and none in clear."""

import re
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import grpc
import pytest
import yaml

from nomad_csi import cli
from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc

TOKEN = "9d0f-ci-secret-token"
STORAGE = {
    "plugins": [{"id": "nas", "driver": "aws-efs", "aws_region": "us-east-1"}],
    "volumes": [{"id": "shared", "plugin_id": "nas", "existing": {"external_id": "fs-0123456789abcdef0"}}],
}
COMMANDS = [["verify"], ["plan"], ["apply", "--owner", "shop/prod"], ["doctor", "--no-aws"], ["verify"]]


@pytest.fixture
def listener():
    """Whoever waits for tokens: its port, and the headers and bodies that reached it."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            seen.append((f"{self.command} {self.path}", dict(self.headers), body.decode()))
            self.send_response(500)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815  # http.server says what they are called

        def log_message(self, *_):
            pass

    serving = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield serving.server_port, seen
    serving.shutdown()
    serving.server_close()


@pytest.fixture
def stack(tmp_path):
    """Write a stack config: ``stack(address="...")``; return its path."""

    def write(**settings):
        path = tmp_path / "storage.yaml"
        config = {f"nomad-csi:{key}": value for key, value in settings.items()}
        path.write_text(yaml.safe_dump({"config": {**config, "nomad-csi:storage": STORAGE}}))
        return str(path)

    return write


@pytest.mark.parametrize("words", COMMANDS, ids=[words[0] for words in COMMANDS])
def test_rejects_the_address_of_a_file_for_the_token_of_the_environment(stack, listener, monkeypatch, capsys, words):
    """Given a pull request that turns the spec into a stack config, and a pipeline with a token: nothing is sent."""
    port, seen = listener
    monkeypatch.setenv("NOMAD_ADDR", "https://nomad.internal:4646")
    monkeypatch.setenv("NOMAD_TOKEN", TOKEN)

    assert cli.main([*words, stack(address=f"http://127.0.0.1:{port}")]) == 2

    out, err = capsys.readouterr()
    assert seen == []
    told = (
        "address (NOMAD_ADDR): expected https://nomad.internal:4646, the only address that NOMAD_TOKEN may be sent to, "
        f"got 'http://127.0.0.1:{port}' from a file; if it is right, type it (--address http://127.0.0.1:{port})"
    )
    assert told in err
    assert TOKEN not in out + err


@pytest.mark.parametrize("of_file", ["http://127.0.0.1:{port}", {"secure": "v1:abc"}])
def test_a_typed_address_gets_the_token(stack, listener, monkeypatch, of_file):
    """The same file, or one that cannot be read, with the option that the message names."""
    port, seen = listener
    address = of_file.format(port=port) if isinstance(of_file, str) else of_file
    monkeypatch.setenv("NOMAD_ADDR", "https://nomad.internal:4646")
    monkeypatch.setenv("NOMAD_TOKEN", TOKEN)

    assert cli.main(["plan", stack(address=address), "--address", f"http://127.0.0.1:{port}"]) == 2

    assert {headers["X-Nomad-Token"] for _, headers, _ in seen} == {TOKEN}


def test_csi_secrets_count_as_credentials(stack, listener, tmp_path, capsys):
    """Given a cluster without ACLs, where only the secrets of a registration are worth collecting."""
    port, seen = listener
    (tmp_path / "secrets.yaml").write_text(f"default/shared: {{password: {TOKEN}}}\n")
    words = [
        "apply",
        stack(address=f"http://127.0.0.1:{port}"),
        "--owner",
        "shop/prod",
        "--secrets",
        str(tmp_path / "secrets.yaml"),
    ]

    assert cli.main(words) == 2

    assert "the only address that CSI secrets may be sent to" in capsys.readouterr().err
    assert seen == []


def test_token_goes_over_plain_http_with_the_option_only(stack, listener, monkeypatch, capsys):
    """To another machine; 0.0.0.0 reaches this one, and is not its name."""
    port, seen = listener
    monkeypatch.setenv("NOMAD_ADDR", f"http://0.0.0.0:{port}")
    monkeypatch.setenv("NOMAD_TOKEN", TOKEN)

    assert cli.main(["claims"]) == 2

    assert seen == []
    assert "--insecure-http" in capsys.readouterr().err
    in_file = ((["plan"], {"insecureHttp": value}) for value in ("true", True))
    for words, settings in ((["claims", "--insecure-http"], None), *in_file):
        seen.clear()
        assert cli.main([*words, *([stack(**settings)] if settings else [])]) == 2
        assert {headers["X-Nomad-Token"] for _, headers, _ in seen} == {TOKEN}


@pytest.mark.parametrize(("words", "code", "insecure"), [([], 2, False), (["--insecure-http"], 0, True)])
def test_a_printed_job_may_send_its_token_where_it_says(stack, monkeypatch, capsys, words, code, insecure):
    """Given plain HTTP to another machine: the job is refused, or carries the consent that its own command needs."""
    monkeypatch.setenv("NOMAD_TOKEN", TOKEN)
    assert cli.main(["verify", "job", stack(address="http://10.0.0.1:4646"), *words]) == code

    out, err = capsys.readouterr()
    assert bool(re.search(r'NOMAD_CSI_INSECURE_HTTP\s*= "true"', out)) is insecure
    assert insecure or "expected https:// to another machine" in err


class Controller(csi_pb2_grpc.ControllerServicer):
    """Makes volumes, and keeps the secrets that it was sent."""

    def __init__(self):
        self.secrets = []

    def CreateVolume(self, request, _):  # noqa: N802  # gRPC says what it is called
        self.secrets.append(dict(request.secrets))
        return csi_pb2.CreateVolumeResponse(volume={"volume_id": "v-1"})


@pytest.fixture
def far_plugin():
    """A plugin that is asked over TCP, by an address that is not this machine's name; its endpoint, and what it got."""
    controller, plugin = Controller(), grpc.server(futures.ThreadPoolExecutor(2))
    csi_pb2_grpc.add_ControllerServicer_to_server(controller, plugin)
    port = plugin.add_insecure_port("127.0.0.1:0")
    plugin.start()
    yield f"0.0.0.0:{port}", controller.secrets
    plugin.stop(0).wait()


CREATE = (
    "CreateVolume",
    "--yes",
    "name=data",
    "volume_capabilities={access_mode: {mode: SINGLE_NODE_WRITER}, mount: {}}",
)


@pytest.mark.parametrize("consent", ["option", "variable"])
def test_csi_secrets_go_over_tcp_with_the_option_only(far_plugin, monkeypatch, capsys, tmp_path, consent):
    """To another machine; without secrets the call is made."""
    endpoint, got = far_plugin
    words = ["csi", "call", endpoint, *CREATE]
    assert cli.main(words) == 0
    capsys.readouterr()
    (tmp_path / "secrets.yaml").write_text("password: hunter2")
    words += ["--secrets", str(tmp_path / "secrets.yaml")]

    assert cli.main(words) == 1

    assert got == [{}]
    assert capsys.readouterr().err.endswith(
        f"refused: {endpoint}: CSI secrets would be sent unencrypted to another machine; use the plugin's socket "
        "(ssh:// for one on another machine); to send them anyway: --insecure-http, NOMAD_CSI_INSECURE_HTTP=1, or "
        "nomad-csi:insecureHttp in Pulumi\n"
    )
    if consent == "variable":
        monkeypatch.setenv("NOMAD_CSI_INSECURE_HTTP", "1")
    assert cli.main([*words, *(["--insecure-http"] if consent == "option" else [])]) == 0
    assert got == [{}, {"password": "hunter2"}]
