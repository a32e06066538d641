"""Failures, interruptions and kills: what the state says afterwards, and how the next run goes on."""

import os
import signal

WAIT = {"kind": "wait", "seconds": 600}


def test_failed_create_is_told_once_and_leaves_no_trace(yard):
    """One error at the resource; what was made before stays; nothing that depends on it begins."""
    yard.program(
        'one = toy.Thing("one"); bad = toy.Thing("bad", value=one.serial); toy.Thing("after", value=bad.serial)'
    )
    yard.fault(Create_bad={"kind": "error", "message": "no bad things"})

    result = yard.run("up", "--skip-preview")

    assert result.code == 1
    assert result.messages() == ["no bad things"]
    assert result.text.count("error: no bad things") == 2  # as it happens, and under Diagnostics
    assert "Traceback" not in result.text
    assert yard.names() == ["one"]
    assert "pending_operations" not in yard.deployment


def test_init_failure_is_recorded_and_retried(yard):
    """The object is in the state with its reasons; the next run updates it."""
    yard.program('toy.Thing("one", value="v")')
    yard.fault(Created_one={"kind": "init", "message": "not ready yet"})

    result = yard.run("up", "--skip-preview")

    assert result.messages() == ["1 error occurred:\n\t* not ready yet"]
    assert yard.resource("one")["initErrors"] == ["not ready yet"]
    assert yard.resource("one")["id"] == "thing-one-1"
    yard.fault()
    assert yard.up().ops() == [("update", "one")]
    assert "initErrors" not in yard.resource("one")


def test_provider_that_dies_is_named(yard):
    """With the real engine's words; the create is no pending operation."""
    yard.program('toy.Thing("one")')
    yard.fault(Create_one={"kind": "die"})

    result = yard.run("up", "--skip-preview")

    [message] = result.messages()
    assert message.startswith("Detected that ")
    assert "pulumi-resource-toy exited prematurely." in message
    assert "pending_operations" not in yard.deployment


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


def test_kill_after_a_create_returned_keeps_the_object(yard):
    """What the provider made is in the state before the program hears of it."""
    yard.program(
        """
        import os
        one = toy.Thing("one")
        one.serial.apply(lambda serial: os.kill(os.getpid(), 9) if serial == 1 else None)
        """
    )

    result = yard.run("up", "--skip-preview")

    assert result.code == -signal.SIGKILL
    assert yard.resource("one")["id"] == "thing-one-1"


def test_first_interrupt_cancels_and_saves(yard):
    """The waiting step is told to end, its own words are shown, and what was made stays."""
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


def test_interrupt_of_a_preview_keeps_the_update_from_beginning(yard):
    """The signal reaches the preview, which is a process of its own."""
    yard.program('toy.Thing("one")')
    yard.up()
    yard.fault(Diff_one=WAIT)
    yard.forget_calls()
    process = yard.start("up")
    yard.wait_for(lambda: yard.calls("Diff"))

    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=30)

    assert process.returncode == 1
    assert "preview canceled" in text
    assert "Updating" not in text


def test_kill_during_a_preview_leaves_no_process(yard):
    """Neither the preview nor its provider outlives the run."""
    yard.program('toy.Thing("one")')
    yard.up()
    yard.fault(Diff_one={**WAIT, "obeys": False})
    yard.forget_calls()
    process = yard.start("up")
    yard.wait_for(lambda: yard.calls("Diff"))
    [provider] = {call["pid"] for call in yard.calls()}

    process.kill()
    process.communicate()

    yard.wait_for(lambda: not alive(provider))


def test_second_interrupt_ends_a_run_that_does_not_listen(yard):
    """The step stays pending, for nobody knows what became of it."""
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


def test_replacement_cut_between_deletion_and_creation_goes_on(yard):
    """The old object is not deleted twice, the new one is made."""
    text = 'toy.Thing("one", zone="%s", deleteFirst=True)'
    yard.program(text % "a")
    yard.up()
    yard.program(text % "b")
    yard.fault(Create_one={"kind": "error", "message": "not today"})
    yard.run("up", "--skip-preview")
    assert yard.resource("one")["pendingReplacement"] is True
    yard.fault()
    yard.forget_calls()

    result = yard.up()

    assert result.ops() == [("replace", "one"), ("create-replacement", "one")]
    assert yard.calls("Delete") == []
    assert yard.things() == ["thing-one-2"]


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
