import grpc
import pytest

from nomad_csi_sandbox.csi_plugin import faults, status


def test_no_file_means_no_faults(tmp_path):
    """Neither an unset variable nor a file that is not there is a fault."""
    assert faults.read(None) == faults.Faults()
    assert faults.read(tmp_path / "none.json") == faults.Faults()


def test_faults_are_read_from_the_file(tmp_path):
    """Both keys arrive."""
    (tmp_path / "f.json").write_text('{"probe": "hang", "name": "other"}')

    assert faults.read(tmp_path / "f.json") == faults.Faults(probe="hang", name="other")


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"prob": "hang"}', '{"probe": "explode"}', '{"validate": {"vol-1": "BUSY"}}', '{"lacks": ["STAGE"]}'],
)
def test_rejects_a_file_that_orders_nothing_known(tmp_path, text):
    """A fault with a typing mistake does not pass for health."""
    (tmp_path / "f.json").write_text(text)

    with pytest.raises(status.StatusError) as caught:
        faults.read(tmp_path / "f.json")

    assert caught.value.code is grpc.StatusCode.INTERNAL


def test_capability_on_order_is_left_out(tmp_path):
    """The others stay, in their order."""
    (tmp_path / "f.json").write_text('{"lacks": ["EXPAND_VOLUME"]}')
    names = ("STAGE_UNSTAGE_VOLUME", "EXPAND_VOLUME", "GET_VOLUME_STATS")

    assert faults.left_of(tmp_path / "f.json", names) == ("STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS")
    assert faults.left_of(None, names) == names


def test_fault_of_a_validation_is_of_one_volume(tmp_path):
    """With the code and the text that are ordered; others are none the worse."""
    (tmp_path / "f.json").write_text('{"validate": {"vol-1": "ABORTED", "vol-3": "INTERNAL: slow down"}}')

    faults.of_validation(tmp_path / "f.json", "vol-2")
    with pytest.raises(status.StatusError, match="ordered fault for volume vol-1") as caught:
        faults.of_validation(tmp_path / "f.json", "vol-1")

    with pytest.raises(status.StatusError, match=r"^slow down$"):
        faults.of_validation(tmp_path / "f.json", "vol-3")

    assert caught.value.code is grpc.StatusCode.ABORTED
