"""``nomad-csi-sandbox-csi-plugin``: the emulator of a CSI driver as a process, as Nomad starts it."""

import os
import sys
from collections.abc import Sequence

from nomad_csi import errors
from nomad_csi_sandbox.aws import process
from nomad_csi_sandbox.csi_plugin import arguments, server, status


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT. Return the exit code, which is the real driver's for the same mistake."""
    ended = process.end_on_signal()
    try:
        command = arguments.read(sys.argv[1:] if argv is None else argv, os.environ)
        with server.served(command, os.environ):
            who = f"{command.driver.provider} {command.driver.version}"
            status.log(f"emulator of {who} ({command.mode}): listening on {command.socket.text}, mounts nothing")
            ended.wait()
    except arguments.Ended as end:
        print(end, file=sys.stderr if end.code else sys.stdout)
        return end.code
    except errors.RefusedError as error:
        status.log(str(error))
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
