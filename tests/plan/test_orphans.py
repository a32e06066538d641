"""What an interrupted run left behind."""

from nomad_csi.plan import orphans


def test_unrecorded_is_what_no_arn_ends_with():
    """Ids are compared with the last part of the ARNs in the state."""
    recorded = ["arn:aws:ec2:us-east-1:1:volume/vol-1", "arn:aws:elasticfilesystem:us-east-1:1:file-system/fs-1"]

    assert orphans.unrecorded(["vol-2", "vol-1", "fs-1", "vol-2"], recorded) == ("vol-2",)
