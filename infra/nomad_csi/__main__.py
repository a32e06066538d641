"""``python -m nomad_csi``, and the command ``nomad-csi``: an interrupt ends it alike before and after its imports."""

import sys

from nomad_csi import exit_codes


def main() -> int:
    """Run the command of the process and return its exit code."""
    try:
        from nomad_csi import cli  # noqa: PLC0415  # a quarter of a second, in which Ctrl-C may come

        return cli.main()
    except KeyboardInterrupt:
        print("interrupted; safe to re-run", file=sys.stderr)  # noqa: T201  # as `cli.main` does
        return exit_codes.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
