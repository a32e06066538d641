"""``python -m nomad_csi``, and the command ``nomad-csi``: an interrupt ends it alike before and after its imports."""

import sys


def main() -> int:
    """Run the command of the process and return its exit code."""
    try:
        from nomad_csi import cli  # noqa: PLC0415  # a quarter of a second, in which Ctrl-C may come

        return cli.main()
    except KeyboardInterrupt:
        print("interrupted; safe to re-run", file=sys.stderr)  # noqa: T201  # as `cli.main` does
        return 130  # `exit_codes.INTERRUPTED`, which may not be imported yet


if __name__ == "__main__":
    sys.exit(main())
