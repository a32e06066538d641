"""Templates of an operator's own, from the stack's config to the job that runs."""

import yaml

from nomad_csi.hcl import environment
from nomad_csi.nomad import jobs


def own(sandbox, name, old, new):
    """Put a changed copy of our template *name* into the project, and name its folder in the stack's config."""
    folder = sandbox.project / "own-templates"
    folder.mkdir(exist_ok=True)
    text = (environment.templates_folder() / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))
    document = yaml.safe_load(sandbox.config.read_text())
    document["config"]["nomad-csi:templates"] = "own-templates"
    sandbox.config.write_text(yaml.safe_dump(document, sort_keys=False))


def test_template_of_ones_own_makes_the_job_that_runs(sandbox):
    """A comment that we do not have stands in the job's source."""
    own(sandbox, "job.nomad.hcl.j2", '    task "plugin" {', '    # ours\n    task "plugin" {')

    sandbox.up(check=True)

    with sandbox.nomad() as client:
        source = jobs.source(client, "default", "plugin-aws-ebs0-nodes", 0)
    assert '    # ours\n    task "plugin" {' in source
