"""Write the package schema and the stubs: ``python -m tests.schema``."""

from nomad_csi.components import documentation
from tests.schema import package, stubs

if __name__ == "__main__":
    for path, text in {documentation.SCHEMA: package.text(package.package()), **stubs.written()}.items():
        path.write_text(text, encoding="utf-8")
