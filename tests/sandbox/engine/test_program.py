"""What programs ask of the engine besides resources, what goes wrong in them, and what is refused."""

import pytest


def test_refused_invoke_is_an_exception_in_the_program(yard):
    """With its reason, and the program's own lines only."""
    yard.program('pulumi.runtime.invoke("toy:index:lookup", {"name": "refuse"})')

    result = yard.run("preview")

    [message] = result.messages()
    assert message.startswith("Program failed with an unhandled exception:")
    assert "expected another word" in message
    assert "nomad_csi_sandbox" not in message


def test_logged_error_and_exit_code_show_the_error_only(yard):
    """The way in which our own program reports problems."""
    yard.program('import sys; pulumi.log.error("two problems:\\n  a\\n  b"); sys.exit(32)')

    result = yard.run("up")

    assert result.code == 1
    assert result.messages() == ["two problems:\n  a\n  b"]
    assert "Traceback" not in result.text


@pytest.mark.parametrize(("exit_with", "code", "printed"), [("3", 3, ""), ("'words'", 1, "words")])
def test_exit_code_of_a_program_is_reported_as_the_engine_does(yard, exit_with, code, printed):
    """A text is printed, as Python does."""
    yard.program(f"import sys; sys.exit({exit_with})")

    result = yard.run("preview")

    assert result.messages() == [f"an unhandled error occurred: program exited with non-zero exit code: {code}"]
    assert printed in result.text


def test_independent_things_are_made_side_by_side(yard):
    """No create ends before all have begun, and yet all end."""
    yard.program('[toy.Thing(f"t{number}") for number in range(6)]')
    yard.fault(**{f"Create_t{number}": {"kind": "meet", "count": 6} for number in range(6)})

    assert yard.up().counts == {"create": 7}


def test_engine_refuses_to_run_outside_of_the_sandbox(yard):
    """It is a test double."""
    del yard.environment["NOMAD_CSI_SANDBOX"]
    yard.program("")

    result = yard.run("up")

    assert result.code == 2
    assert "NOMAD_CSI_SANDBOX is not set" in result.text
    assert not yard.state_file.exists()
