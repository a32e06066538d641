"""`verify --html`: what cannot be written, and nobody there to query."""

from nomad_csi import cli


def test_nobody_there_is_an_error_and_no_page(tmp_path, capsys):
    """A page that knows nothing would look like one that found nothing."""
    page = tmp_path / "report.html"

    assert cli.main(["verify", "--address", "http://127.0.0.1:9", "--html", str(page)]) == 2

    assert "no connection: Connection refused" in capsys.readouterr().err
    assert not page.exists()


def test_rejects_another_commands_output_before_anything_is_asked(tmp_path, capsys):
    """The file is named, and what it should have been."""
    other = tmp_path / "verify.json"
    other.write_text('{"ok": true}')

    assert cli.main(["verify", "--address", "http://127.0.0.1:9", "--html", "x.html", "--smoke", str(other)]) == 2

    assert f"{other}: " in (told := capsys.readouterr().err)
    assert "expected the output of `nomad-csi smoke NAMESPACE/ID --json`" in told
