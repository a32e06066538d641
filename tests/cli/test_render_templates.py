"""``nomad-csi render --templates``: templates of one's own on the command line."""

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.hcl import environment

SPEC = {"plugins": [{"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"}]}


@pytest.fixture
def render(tmp_path):
    """Render with a template of one's own called *name*; return the exit code and the job file's path."""
    spec = tmp_path / "storage.yaml"
    spec.write_text(yaml.safe_dump(SPEC))

    def run(name, text):
        folder = tmp_path / "own"
        folder.mkdir()
        (folder / name).write_text(text)
        words = ["render", str(spec), "--out", str(tmp_path / "out"), "--templates", str(folder)]
        return cli.main(words), tmp_path / "out/jobs/aws-efs0-node.nomad.hcl"

    return run


def ours(name):
    return (environment.templates_folder() / name).read_text()


def test_template_of_ones_own_is_used(render):
    """One of them; the others are ours."""
    code, path = render(
        "_container.hcl.j2", ours("_container.hcl.j2").replace("      config {", "      config {\n        init = true")
    )

    assert code == 0
    assert "        init  = true\n" in path.read_text()


def test_dropped_part_is_refused_and_nothing_is_written(render, capsys):
    """Exit code 2, and the part by its name."""
    code, path = render("_container.hcl.j2", ours("_container.hcl.j2").replace("privileged = true", ""))

    assert (code, path.exists()) == (2, False)
    assert capsys.readouterr().err == (
        "error: jobs/aws-efs0-node.nomad.hcl, rendered with templates of your own: 1 problem\n"
        "  job.group.task.config.privileged: expected true, got nothing; take it over from our template\n"
    )


def test_broken_template_is_named_with_its_line(render, capsys, tmp_path):
    """One sentence, no traceback."""
    code, path = render("job.nomad.hcl.j2", "\n{{ job.nothing | text }}")

    assert (code, path.exists()) == (2, False)
    assert capsys.readouterr().err == (
        f"error: template {tmp_path / 'own/job.nomad.hcl.j2'}, line 2: "
        "'nomad_csi.plan.model.PluginJob object' has no attribute 'nothing'\n"
    )
