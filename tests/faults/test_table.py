"""Which tests hold which fault: what the user reads, what is left, and that running again finishes the work."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

FAULTS = {
    "connection reset before sending": [
        "faults/test_connections.py::test_request_that_is_reset_before_it_is_read_is_sent_again"
    ],
    "connection reset after sending": [
        "faults/test_connections.py::test_request_that_is_reset_after_it_arrived_is_not_sent_again"
    ],
    "empty body of older servers": ["faults/test_connections.py::test_empty_body_is_a_success"],
    "nested rpc error": ["faults/test_answers.py::test_nested_error_is_understood_by_its_end"],
    "leader loss": [
        "faults/test_answers.py::test_lost_leader_is_waited_for",
        "faults/test_answers.py::test_nothing_is_sent_again_unseen",
        "real/test_leader_loss.py::test_lost_leader_is_waited_for",
        "real/test_leader_loss.py::test_server_that_dies_itself_leaves_the_rest_for_another",
    ],
    "connection number 101, and silent close": [
        "faults/test_connections.py::test_connection_number_101_is_tried_again",
        "faults/test_connections.py::test_agent_that_stays_full_is_told_and_nothing_was_sent",
        "real/test_crowded_agent.py::test_connection_that_is_one_too_many_waits_for_the_others",
    ],
    "403 midway": ["faults/test_answers.py::test_right_that_is_taken_away_midway_is_named_and_what_is_in_stays"],
    "missing namespace": ["faults/test_answers.py::test_namespace_that_is_not_there_is_named_before_anything_goes_in"],
    "change that Nomad never makes": [
        "faults/test_changes.py::test_change_that_nomad_never_makes_is_refused_and_done_the_long_way"
    ],
    "change of a volume in use": [
        "faults/test_changes.py::test_change_of_a_volume_in_use_is_refused_and_goes_in_when_it_is_free"
    ],
    "flapping plugin": [
        "faults/test_plugins.py::test_flapping_plugin_opens_no_gate",
        "resources/test_plugin_health_wait.py::test_restart_within_the_window_is_not_healthy",
    ],
    "frozen controller": [
        "faults/test_plugins.py::test_frozen_controller_is_told_after_its_time_and_nothing_is_registered",
        "faults/test_plugins.py::test_unhealthy_controller_is_told_and_waited_for",
        "soak/test_frozen_controller.py::test_controller_that_goes_on_in_time_is_waited_for",
        "soak/test_frozen_controller.py::test_frozen_controller_is_told_after_two_minutes_and_nothing_is_registered",
    ],
    "interrupt while Nomad does not answer": ["faults/test_interrupts.py::test_interrupt_waits_for_no_answer"],
    "slow server": [
        "faults/test_connections.py::test_slow_server_that_did_it_is_not_asked_again",
        "faults/test_connections.py::test_slow_server_that_does_it_later_holds_every_volume_once",
        "faults/test_connections.py::test_deadline_of_the_run_ends_it_and_the_next_one_goes_on",
    ],
    "clock jump": [
        "faults/test_machine.py::test_clock_that_jumps_at_every_look_changes_nothing",
        "faults/test_machine.py::test_nothing_is_timed_by_the_clock_on_the_wall",
    ],
    "full disk": [
        "faults/test_machine.py::test_full_disk_leaves_no_half_file",
        "faults/test_machine.py::test_file_of_a_stack_on_a_full_disk_is_told_and_written_by_the_next_up",
        "faults/test_machine.py::test_file_that_the_kernel_cuts_off_is_none",
    ],
    "two operators at once": [
        "faults/test_changes.py::test_two_operators_with_the_same_wish_both_get_it",
        "faults/test_changes.py::test_two_operators_with_different_wishes_for_one_id_do_not_take_it_from_each_other",
        "jobs/test_plugin_job.py::test_create_that_lost_a_race_is_refused",
    ],
    "version gates": [
        "diagnosis/test_doctor_findings.py::test_gate_closes_below_each_of_its_versions",
        "health/test_minimum_version.py::test_one_server_is_too_old",
        "faults/test_connections.py::test_empty_body_is_a_success",
    ],
}
"""By fault: the file below ``tests`` and the name of each test."""


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_has_a_test(fault):
    """Under the name that stands here."""
    assert FAULTS[fault]
    for place in FAULTS[fault]:
        file, _, name = place.partition("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
