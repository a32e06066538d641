"""``python -m nomad_csi_sandbox.aws.moto --port 0 --ready-file FILE``: the AWS emulator as a process of its own."""

from collections.abc import Sequence

from nomad_csi_sandbox.aws import process, server


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT. Return the exit code."""
    options = process.options("nomad_csi_sandbox.aws.moto", "moto instead of AWS, on 127.0.0.1", arguments)
    ended = process.end_on_signal()
    with server.Moto(options.port) as moto:
        moto.wait_until_it_answers()
        with process.announced(options.ready_file, moto.port):
            ended.wait()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
