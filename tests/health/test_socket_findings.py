"""What a client reports of an instance, and what is said where it reports nothing."""

import pytest

from nomad_csi.health import probed


@pytest.mark.parametrize(
    ("answer", "status", "detail"),
    [
        (None, "no-answer", "the client was not asked"),
        (probed.ClientAnswer(problem="late", reports={}), "no-answer", "late"),
        (probed.ClientAnswer(reports={}), "missing", "missing: its client was asked, and the allocation has no"),
    ],
)
def test_no_report_is_never_health(answer, status, detail):
    """Whatever the cause is."""
    word = probed.merged("ebs.csi.aws.com", "node", "node-a", answer)

    assert (word.healthy, word.reached, word.status) == (False, status == "missing", status)
    assert word.detail.startswith(detail)


def test_a_plugin_without_instances_is_not_ready():
    """None answered, and no client is at fault."""
    assert not probed.ProbedPlugin(plugin_id="aws-ebs0", rows=()).ok
