"""A program of components in a sandbox, without `pulumi`: what docs/reference/sandbox.md has a user type."""

import re

from tests.e2e import sandboxes

PAGE = (sandboxes.PROJECT / "docs/reference/sandbox.md").read_text()
JOB = (sandboxes.PROJECT / "examples/shop.nomad.hcl").read_text()


def block(kind):
    [found] = re.findall(rf"^```{kind} own\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


def test_program_of_components_runs_and_a_job_claims_its_volume(tmp_path):
    """Nothing is asked for but the project and its program; the sandbox finds the plugin without a warning."""
    sandbox = sandboxes.Sandbox(tmp_path / "orders", "")
    sandbox.project.mkdir()
    (sandbox.project / "Pulumi.yaml").write_text(block("yaml"))
    (sandbox.project / "__main__.py").write_text(block("python"))
    (sandbox.project / "job.nomad.hcl").write_text(JOB.replace('"mysql"', '"orders"'))

    def claims():
        return re.findall(r"^default/orders +live ", sandbox.exec("nomad-csi", "claims").stdout, re.MULTILINE)

    try:
        made = sandbox.up(check=True)
        ran = sandbox.run("exec", "--", "nomad", "job", "run", str(sandbox.project / "job.nomad.hcl"), check=True)
        sandboxes.until(claims)
        stopped = sandbox.run("exec", "--", "nomad", "job", "stop", "shop", check=True)
        sandboxes.until(lambda: not claims())
        unknown = sandbox.run("exec", "--", "nomad", "job", "stop", "other")
        program = sandbox.project / "__main__.py"
        program.write_text(program.read_text().replace("size_gib=10", "size_gib=0"))
        refused = sandbox.run("preview")
    finally:
        sandbox.run("down", check=True)

    assert "warning" not in made.stdout + made.stderr
    assert ran.stdout.startswith("job shop is registered; its claims: ")
    assert stopped.stdout == "job shop is stopped\n"
    assert (unknown.returncode, unknown.stderr) == (2, "error: Nomad has no job other in namespace default\n")
    assert refused.returncode == 1
    assert "size_gib: expected 1 to 65536 for gp3, got 0" in refused.stdout + refused.stderr
    assert "Traceback" not in refused.stdout + refused.stderr
    left = {path.name for path in sandbox.project.iterdir()} - {"__pycache__"}
    assert left == {"Pulumi.yaml", "Pulumi.sandbox.yaml", "__main__.py", "job.nomad.hcl"}
