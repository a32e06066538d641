"""
Write the Python code of ``proto/csi.proto``: ``python -m tests.csi.proto_code``, or ``make proto``.

The file is compiled as ``nomad_csi/csi/v1/csi.proto``, so that the generated modules find each other by the name under
which they are imported.
"""

import sys
from importlib import resources
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "nomad_csi/csi/v1"
FILES = ("csi_pb2.py", "csi_pb2.pyi", "csi_pb2_grpc.py")
"""What is generated and committed."""


def generate(into: Path) -> None:
    """Write ``nomad_csi/csi/v1/{FILES}`` below *into*. Raises `RuntimeError` when the compiler refuses."""
    standard = resources.files("grpc_tools") / "_proto"
    arguments = [
        "protoc",
        f"--proto_path={PACKAGE}={ROOT / 'proto'}",
        f"--proto_path={standard}",
        f"--python_out={into}",
        f"--pyi_out={into}",
        f"--grpc_python_out={into}",
        f"{PACKAGE}/csi.proto",
    ]
    if protoc.main(arguments) != 0:
        raise RuntimeError(f"protoc refused {ROOT / 'proto/csi.proto'}; its own words are above")


def main() -> int:
    """Write the committed files again."""
    generate(ROOT / "infra")
    return 0


if __name__ == "__main__":
    sys.exit(main())
