"""What a client reports of an instance, and what is said where it reports nothing."""

from nomad_csi.health import probed


def test_no_report_is_never_health():
    """Its client may not be there any more."""
    word = probed.merged("ebs.csi.aws.com", "node", "node-a", None)

    assert (word.healthy, word.reached) == (False, False)
    assert (word.status, word.detail, word.advice) == ("no-answer", "the client was not asked", "")


def test_a_plugin_without_instances_is_not_ready():
    """None answered, and no client is at fault."""
    assert not probed.ProbedPlugin(plugin_id="aws-ebs0", rows=()).ok
