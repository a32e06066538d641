"""Failures, interruptions and kills: what the state says afterwards, and how the next run goes on."""

import os
import signal

WAIT = {"kind": "wait", "seconds": 600}


def test_kill_during_a_create_is_named_at_the_next_run(yard):
    """After SIGKILL the state is whole, the create is pending, the provider is gone; a refresh can clear it."""
    yard.program('one = toy.Thing("one"); toy.Thing("slow", value=one.serial)')
    yard.fault(Create_slow=WAIT)
    process = yard.start("up", "--skip-preview")
    yard.wait_for(lambda: [call for call in yard.calls("Create") if call["name"] == "slow"])
    [provider] = {call["pid"] for call in yard.calls()}

    process.kill()
    process.communicate()

    assert yard.names() == ["one"]
    [pending] = yard.deployment["pending_operations"]
    assert (pending["type"], pending["resource"]["urn"]) == ("creating", "urn:pulumi:dev::yard::toy:index:Thing::slow")
    yard.wait_for(lambda: not alive(provider))
    yard.fault()
    result = yard.up()
    assert "with 1 pending operations from previous deployment." in result.warnings[0]["message"]
    assert "  * urn:pulumi:dev::yard::toy:index:Thing::slow, interrupted while creating" in result.text
    assert result.ops() == [("create", "slow")]
    assert yard.run("refresh", "--clear-pending-creates").code == 0
    assert yard.up().warnings == []


def test_first_interrupt_cancels_and_saves(yard):
    """The waiting step is cancelled, its own message is shown, and what was made stays."""
    yard.program('one = toy.Thing("one"); toy.Thing("slow", value=one.serial)')
    yard.fault(Create_slow=WAIT)
    process = yard.start("up", "--skip-preview")
    yard.wait_for(lambda: [call for call in yard.calls("Create") if call["name"] == "slow"])

    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=30)

    assert process.returncode == 1
    assert "stopped waiting, as asked" in text
    assert "error: update failed" in text
    assert yard.names() == ["one"]
    assert "pending_operations" not in yard.deployment


def test_second_interrupt_ends_a_run_that_does_not_listen(yard):
    """The step stays pending, for no one knows what became of it."""
    yard.program('toy.Thing("slow")')
    yard.fault(Create_slow={**WAIT, "obeys": False})
    process = yard.start("up", "--skip-preview")
    yard.wait_for(lambda: yard.calls("Create"))
    [provider] = {call["pid"] for call in yard.calls()}

    process.send_signal(signal.SIGINT)
    seen = "".join(
        iter(
            process.stdout.readline,
            "^C received; cancelling. If you would like to terminate immediately, press ^C again.\n",
        )
    )
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)

    assert "creating" in seen
    assert process.returncode == 130
    assert [each["type"] for each in yard.deployment["pending_operations"]] == ["creating"]
    yard.wait_for(lambda: not alive(provider))


def test_second_run_on_a_locked_state_is_refused(yard):
    """While one run holds the state another ends at once and names it."""
    yard.program('toy.Thing("slow")')
    yard.fault(Create_slow=WAIT)
    process = yard.start("up", "--skip-preview")
    yard.wait_for(lambda: yard.calls("Create"))

    result = yard.run("up", "--skip-preview")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)

    assert result.code == 2
    assert f"the stack is locked by another run, process {process.pid}" in result.text


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
