"""``nomad-csi verify --print-job``: the periodic job that verifies."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from nomad_csi.cli import verify_on_nodes
from nomad_csi.cli.common import inputs
from nomad_csi.health import gather
from nomad_csi.plan import verify_job
from nomad_csi.render import documents

DEFAULTS = {
    "command": "nomad-csi",
    "image": "",
    "cron": verify_job.CRON,
    "job-id": verify_job.JOB_ID,
    "on-client": "",
    "token-variable": "",
}
"""The options of the job, which mean nothing elsewhere."""

_FILES = {"ca_cert": "NOMAD_CACERT", "client_cert": "NOMAD_CLIENT_CERT", "client_key": "NOMAD_CLIENT_KEY"}
_ADDRESS = "http://127.0.0.1:4646"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    group = parser.add_argument_group("a periodic job")
    text = "print a job that verifies this spec at regular times, and ask nobody; nothing secret stands in it"
    group.add_argument("--print-job", action="store_true", help=text)
    text = (
        "nomad-csi on the clients, or in the image: a path, or a name on the PATH of the agent (default: nomad-csi); "
        "also of the job of --on-nodes, as is --image"
    )
    group.add_argument("--command", default=DEFAULTS["command"], metavar="PATH", help=text)
    text = "run it in this image with Docker; default: raw_exec, which needs it installed on the clients"
    group.add_argument("--image", default="", metavar="IMAGE", help=text)
    text = f"when, as cron has it, in UTC (default: {verify_job.CRON})"
    group.add_argument("--cron", default=DEFAULTS["cron"], metavar="CRON", help=text)
    text = f"id of the job (default: {verify_job.JOB_ID})"
    group.add_argument("--job-id", default=DEFAULTS["job-id"], metavar="ID", help=text)
    text = "name of the only client that runs it (default: any); needed with --prometheus FILE"
    group.add_argument("--on-client", default="", metavar="NAME", help=text)
    text = f"Nomad variable with the token as item {verify_job.TOKEN_ITEM} (default: its own identity is the token)"
    group.add_argument("--token-variable", default="", metavar="PATH", help=text)


def wrong(arguments: argparse.Namespace) -> Mapping[str, str]:
    """Return options that do not go together, and how they do."""
    if not arguments.print_job:
        shared = verify_on_nodes.SHARED if arguments.on_nodes else {}
        wanted = "it only with --print-job"
        return {
            f"--{name}": f"{wanted} or --on-nodes" if name in verify_on_nodes.SHARED else wanted
            for name in _given(arguments)
            if name not in shared
        }
    found = {}
    file: Path | None = arguments.prometheus
    if file is not None and not file.is_absolute():
        found["--prometheus"] = "an absolute path on the client with --print-job"
    if file is not None and not arguments.on_client:
        found["--on-client"] = "the name of a client with --prometheus: files of several would tell several times"
    return found


def run(arguments: argparse.Namespace) -> int:
    """Print the job."""
    inputs.read_plan(arguments.spec)  # for its problems
    external_ids = inputs.read_external_ids(arguments.stack_output)
    place = inputs.target(arguments, [arguments.spec])
    job = verify_job.VerifyJob(
        spec=verify_job.as_data(inputs.read_document(arguments.spec)),
        external_ids=verify_job.as_data({"externalIds": external_ids}) if external_ids else "",
        job_id=arguments.job_id,
        namespace=place.namespace,
        region=place.region,
        client=arguments.on_client,
        cron=arguments.cron,
        command=arguments.command,
        image=arguments.image,
        environment=_environment(arguments, place.insecure_http),
        token_variable=arguments.token_variable,
        options=tuple(_passed_on(arguments)),
        metrics_file=str(arguments.prometheus or ""),
    )
    print(documents.verify_job_file(job), end="")
    return 0


def _environment(arguments: argparse.Namespace, is_insecure: bool) -> dict[str, str]:
    """Return where the job finds Nomad. Raises `errors.SpecError` where its token would go there unencrypted."""
    from nomad_csi import nomad  # noqa: PLC0415  # only commands that print a job pay for it

    address = arguments.address or inputs.address_of_stack(arguments.spec) or _ADDRESS
    nomad.Connection(address=address, token="of-the-job", insecure_http=is_insecure)  # noqa: S106  # refuses the address
    found = {"NOMAD_ADDR": address} | ({"NOMAD_CSI_INSECURE_HTTP": "true"} if is_insecure else {})
    return found | {variable: value for name, variable in _FILES.items() if (value := getattr(arguments, name))}


def _passed_on(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield what the job's own command gets of the options of this one."""
    if arguments.stable_s:
        yield from ("--stable-s", f"{arguments.stable_s:g}")
    if arguments.probe_timeout_s != gather.PROBE_TIMEOUT_S:
        yield from ("--probe-timeout-s", f"{arguments.probe_timeout_s:g}")
    if arguments.strict:
        yield "--strict"
    if arguments.json:
        yield "--json"


def _given(arguments: argparse.Namespace) -> Iterator[str]:
    for name, default in DEFAULTS.items():
        if getattr(arguments, name.replace("-", "_")) != default:
            yield name
