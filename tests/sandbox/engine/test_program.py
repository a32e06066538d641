"""What programs ask of the engine besides resources, what goes wrong in them, and what is refused."""

import subprocess

import pytest


def test_refused_invoke_is_an_exception_in_the_program(yard):
    """With its reason, and the program's own lines only."""
    yard.program('pulumi.runtime.invoke("toy:index:lookup", {"name": "refuse"})')

    result = yard.run("preview")

    [message] = result.messages()
    assert message.startswith("Program failed with an unhandled exception:")
    assert "expected another word" in message
    assert "nomad_csi_sandbox" not in message


def test_program_reads_its_own_stored_outputs(yard):
    """By URN, with type and outputs, as the real engine answers; nothing before the first run."""
    yard.program(
        """
        found = pulumi.runtime.invoke("pulumi:pulumi:readStackResourceOutputs", {"stackName": "dev"}).value
        pulumi.export("found", {urn.split("::")[3]: entry for urn, entry in found["outputs"].items() if "Thing" in urn})
        toy.Thing("one", value="v")
        """
    )
    first = yard.up()
    second = yard.up()

    assert first.outputs == {"found": {}}
    outputs = {"echo": "v", "serial": 1, "value": "v"}
    assert second.outputs == {"found": {"one": {"type": "toy:index:Thing", "outputs": outputs}}}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('pulumi.runtime.invoke("pulumi:pulumi:getResource", {"urn": "u"})', "getResource is not supported"),
        (
            'pulumi.runtime.invoke("pulumi:pulumi:readStackResourceOutputs", {"stackName": "o/p/x"})',
            "unknown stack 'o/p/x'",
        ),
        ('pulumi.StackReference("o/p/other")', "pulumi:pulumi:StackReference is not supported"),
        ('pulumi.ComponentResource("toy:index:Far", "far", {}, None, True)', "remote is not supported"),
        ('toy.Thing("a", opts=options(deleted_with=toy.Thing("b")))', "deletedWith is not supported"),
    ],
)
def test_unsupported_things_are_refused_with_a_sentence(yard, line, words):
    """Nothing is passed over in silence."""
    yard.program(line)

    result = yard.run("preview")

    assert result.code == 1
    assert any(words in message for message in result.messages()), result.text


def test_logged_error_and_exit_code_show_the_error_only(yard):
    """The way in which our own program reports problems."""
    yard.program('import sys; pulumi.log.error("two problems:\\n  a\\n  b"); sys.exit(32)')

    result = yard.run("up")

    assert result.code == 1
    assert result.messages() == ["two problems:\n  a\n  b"]
    assert "Traceback" not in result.text


def test_run_error_shows_its_message_only(yard):
    """Without a traceback."""
    yard.program('raise pulumi.RunError("no such thing")')

    assert yard.run("preview").messages() == ["no such thing"]


def test_provider_configuration_is_refused_in_the_providers_words(yard):
    """At the provider that it is about."""
    yard.program('toy.Toy("own", prefix="refuse")')

    assert yard.run("preview").messages() == ["prefix: expected another word"]


def test_missing_plugin_is_named(yard):
    """With where it was looked for."""
    yard.program('pulumi.CustomResource("other:index:Thing", "one", {})')

    [message] = yard.run("preview").messages()

    assert message == "no resource plugin 'pulumi-resource-other' found in the workspace or on your $PATH"


def test_messages_of_a_provider_are_shown_at_their_resource(yard):
    """What stays is repeated under Diagnostics, what is ephemeral is not."""
    yard.program('toy.Thing("one", say="made with care", whisper="0/3 healthy")')

    result = yard.up()

    assert " +  toy:index:Thing one creating (0s) 0/3 healthy\n" in result.text
    assert "Diagnostics:\n  toy:index:Thing (one):\n    made with care\n" in result.text
    assert result.text.count("0/3 healthy") == 1


def test_independent_things_are_made_side_by_side(yard):
    """No create ends before all have begun, and yet all end."""
    yard.program('[toy.Thing(f"t{number}") for number in range(6)]')
    yard.fault(**{f"Create_t{number}": {"kind": "meet", "count": 6} for number in range(6)})

    assert yard.up().counts == {"create": 7}


def test_parallel_one_makes_one_after_the_other(yard):
    """No create begins before the one before has ended."""
    yard.program('[toy.Thing(f"t{number}") for number in range(3)]')
    yard.fault(**{f"Create_t{number}": {"kind": "wait", "seconds": 0.1} for number in range(3)})

    yard.up("--parallel", "1")

    methods = [call["method"] for call in yard.calls() if call["method"] in ("Create", "Made")]
    assert methods == ["Create", "Made"] * 3


def test_attached_provider_serves_without_being_started(yard):
    """``PULUMI_DEBUG_PROVIDERS`` names it; it goes on after the run."""
    provider = subprocess.Popen(
        [str(yard.project / "plugin" / "pulumi-resource-toy")],
        env=yard.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    yard.environment["PULUMI_DEBUG_PROVIDERS"] = f"toy:{provider.stdout.readline().strip()}"
    yard.program('toy.Thing("one")')
    try:
        yard.up()
        assert {call["pid"] for call in yard.calls("Create")} == {provider.pid}
        assert provider.poll() is None
    finally:
        provider.kill()
        provider.communicate()


def test_engine_refuses_to_run_outside_of_the_sandbox(yard):
    """It is a test double."""
    del yard.environment["NOMAD_CSI_SANDBOX"]
    yard.program("")

    result = yard.run("up")

    assert result.code == 2
    assert "NOMAD_CSI_SANDBOX is not set" in result.text
    assert not yard.state_file.exists()
