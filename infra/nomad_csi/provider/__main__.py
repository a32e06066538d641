"""
The plugin's process.

What keeps it from starting is one line: the engine shows all that a plugin prints before it has printed its port.
"""

import sys


def main() -> None:
    """Serve the engine until it ends this process. Exits with a line on standard error where it cannot start."""
    try:
        from nomad_csi.provider import serving  # noqa: PLC0415  # pulumi writes a temporary file when it is imported

        serving.serve(sys.argv[1:])
    except OSError as error:
        sys.exit(f"{CANNOT}: {error.strerror or error}")


CANNOT = "error: the provider nomad-csi cannot start"


if __name__ == "__main__":
    main()
