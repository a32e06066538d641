"""``nomad-csi smoke``."""

import os

from nomad_csi import exit_codes
from nomad_csi.cli.common import command, inputs, options, output, specs
from nomad_csi.diagnosis import smoke, smoke_round
from nomad_csi.nomad import sandbox_mark
from nomad_csi.plan import smoke as plan
from nomad_csi.text import table


@command.command()
@command.argument(
    "volume VOLUME",
    "volume or namespace/volume to try; it must not be in use",
    **inputs.VOLUME,
)
@specs.aws_options
@command.option(f"--task-driver {'|'.join(plan.TASK_DRIVERS)}", "default: what most clients have")
@command.option(
    "--image IMAGE",
    f"image with a shell and sha256sum, for docker and podman (default: {plan.IMAGE})",
    default=plan.IMAGE,
)
@options.duration("step-timeout", ": placing, running, freeing", default_s=smoke.TIMEOUT_S)
@command.as_json()
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Test the volume, and print what was verified."""
    with inputs.reading(arguments) as nomad:
        outcome = smoke.try_out(
            nomad,
            arguments.volume,
            wish=plan.Wish(
                task_driver=arguments.task_driver or "", image=arguments.image, region=nomad.connection.region
            ),
            timeout_s=arguments.step_timeout_s,
            aws=specs.aws_choice(arguments),
            sandbox=os.environ.get(sandbox_mark.ENVIRONMENT, ""),
            report=output.print_progress,
        )
    output.show(arguments, outcome.as_json(), _print_outcome(outcome))
    if outcome.status == "failed" or outcome.left_behind:
        return exit_codes.CHANGES
    return 0 if outcome.status == "verified" else exit_codes.ERROR


def _print_outcome(outcome: smoke_round.SmokeOutcome) -> str:
    rows = [("job", "client", "attach", "mount", "detach", "remarks")]
    for done in outcome.rounds:
        times = done.times
        attach, mount, detach = (_seconds(value) for value in (times.attach_s, times.mount_s, times.detach_s))
        rows.append((done.kind, done.node_name or "-", attach, mount, detach, done.reason or "-"))
    lines = [table.columns(rows)]
    for title, sentences in (
        ("verified", outcome.verified),
        ("not verified", outcome.not_verified),
        ("left behind", outcome.left_behind),
    ):
        lines += [f"{title}: {sentence}" for sentence in sentences]
    key = f"{outcome.namespace}/{outcome.volume_id}"
    lines.append(f"volume {key}: {outcome.status} ({outcome.access_mode}, task driver {outcome.task_driver})")
    return "\n".join(lines)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} s"
