"""The ``pulumi`` command as it is asked: words, order, errors. A script stands in for it here."""

import json

import pytest

from nomad_csi import errors
from nomad_csi.pulumi_state import stack_cli

URNS = ["urn:pulumi:dev::shop::a::1", "urn:pulumi:dev::shop::a::2", "urn:pulumi:dev::shop::a::3"]


@pytest.fixture
def pulumi(tmp_path, monkeypatch):
    """An emulator of the command that notes its words: ``pulumi(script)`` puts it on PATH; ``pulumi.calls()``."""
    noted = tmp_path / "calls"

    def install(script):
        path = tmp_path / "bin/pulumi"
        path.parent.mkdir()
        path.write_text(f'#!/bin/sh\necho "$@" >> {noted}\n{script}\n')
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
        return lambda: noted.read_text().splitlines()

    return install


@pytest.fixture
def stack(tmp_path):
    """A stack with a name, in a folder."""
    return stack_cli.PulumiStack(folder=tmp_path, name="dev")


def test_an_export_is_that_of_the_named_stack(pulumi, stack, tmp_path):
    """Else of the one that is selected; its secrets stay encrypted."""
    calls = pulumi("echo '{\"deployment\": {}}'")

    assert stack.export() == {"deployment": {}}
    stack_cli.PulumiStack(folder=tmp_path).export()
    assert calls() == [f"stack export {named}--non-interactive --color never" for named in ("--stack dev ", "")]


def test_pulumi_runs_in_the_folder_of_the_program(pulumi, stack, tmp_path):
    """There it finds Pulumi.yaml, and the stack that is selected."""
    pulumi('echo "{\\"folder\\": \\"$PWD$NOMAD_CSI_IMPORTS\\"}"')

    assert stack.export() == {"folder": str(tmp_path)}


@pytest.mark.parametrize(("protected", "force"), [(True, " --force"), (False, "")])
def test_urns_are_forgotten_in_their_order(pulumi, stack, protected, force):
    """Protected ones only go by force."""
    calls = pulumi("")

    stack.forget(URNS, protected=protected)

    assert calls() == [f"state delete --yes{force} {' '.join(URNS)} --stack dev --non-interactive --color never"]


@pytest.mark.parametrize(("printed", "steps"), [('{"steps": [{"op": "create"}]}', ({"op": "create"},)), ("{}", ())])
def test_a_preview_gives_the_import_file_and_the_steps(pulumi, stack, monkeypatch, printed, steps):
    """The file is written where the command says, and does not stay."""
    monkeypatch.setenv("PULUMI_SKIP_UPDATE_CHECK", "false")
    calls = pulumi(
        f'echo "{{\\"env\\": \\"$NOMAD_CSI_IMPORTS $PULUMI_SKIP_UPDATE_CHECK\\"}}" > "$4"; echo \'{printed}\''
    )

    assert stack.preview() == ({"env": "1 true"}, steps)

    [call] = calls()
    assert call.startswith("preview --json --import-file /")
    assert call.endswith("/imports.json --stack dev --non-interactive --color never")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            "echo ' first ' >&2; echo; echo 'error: no stack' >&2; exit 255",
            "pulumi stack export failed: first; error: no stack",
        ),
        (
            "echo '"
            + json.dumps(
                {"diagnostics": [{"severity": "warning", "message": "x"}, {"severity": "error", "message": "bad"}]}
            )
            + "'; exit 1",
            "pulumi stack export failed: bad",
        ),
        ("echo '{}'; echo lost >&2; exit 1", "pulumi stack export failed: lost"),
        ("echo '[]'; echo lost >&2; exit 1", "pulumi stack export failed: lost"),
        ("echo only this; kill -9 $$", "pulumi stack export failed: only this"),
        ("echo denied: $NOMAD_TOKEN $PLACE >&2; exit 1", "pulumi stack export failed: denied: [secret] room-91c2"),
        ("seq 20 >&2; exit 1", f"pulumi stack export failed: {'; '.join(map(str, range(9, 21)))}"),
    ],
)
def test_what_the_command_says_instead_is_told(pulumi, stack, monkeypatch, script, message):
    """The errors, and not all that it prints."""
    pulumi(script)
    monkeypatch.setenv("NOMAD_TOKEN", "canary-91c2")
    monkeypatch.setenv("PLACE", "room-91c2")

    with pytest.raises(errors.NomadCsiError) as refusal:
        stack.export()

    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda stack: stack.export(), "pulumi stack export did not end within 0.2 s"),
        (lambda stack: stack.forget(URNS, protected=False), "pulumi state delete did not end within 0.2 s"),
        (lambda stack: stack.preview(), "pulumi preview --json did not end within 0.3 s"),
    ],
)
def test_a_command_that_hangs_is_ended(pulumi, stack, monkeypatch, call, message):
    """Each has a deadline, a preview one of its own."""
    monkeypatch.setattr(stack_cli, "EXPORT_TIMEOUT_S", 0.2)
    monkeypatch.setattr(stack_cli, "PREVIEW_TIMEOUT_S", 0.3)
    pulumi("exec sleep 60")

    with pytest.raises(errors.NomadCsiError) as refusal:
        call(stack)

    assert str(refusal.value) == message
