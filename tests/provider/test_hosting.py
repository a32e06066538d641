"""The components are hosted beside the custom resources, and imported only when somebody asks for them."""

import json
import subprocess
import sys

from nomad_csi import components
from nomad_csi.deploy import registry
from nomad_csi.provider import hosting, schema


def test_one_schema_has_components_and_custom_resources():
    """One package has both, under its name and version."""
    hosted = hosting.Hosted()

    package = json.loads(hosted.schema)

    assert (hosted.version, package["name"], package["version"]) == (schema.version(), "nomad-csi", schema.version())
    named = {f"nomad-csi:index:{item.__name__}" for item in components.COMPONENTS}
    assert set(package["resources"]) == named | set(registry.RESOURCES)
    assert all(package["resources"][token]["isComponent"] for token in named)


def test_a_start_does_not_wait_for_the_components():
    """A step that needs custom resources only does not pay for pulumi-aws."""
    code = "import sys; import nomad_csi.provider.__main__; print('pulumi_aws' in sys.modules)"

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert answer.stdout == "False\n"
