"""The name of a driver that the catalogue does not know."""

import pytest

JOB = """job "j" {
  type = "system"
  group "g" {
    task "t" {
      driver = "docker"
      config {
        image = "example.net/own-driver:v1"
      }
      csi_plugin {
        id   = "own"
        type = "node"
      }
    }
  }
}
"""


@pytest.mark.parametrize(
    ("controller", "node", "provider"),
    [
        ("--csi-name=a.example", "--drivername=b.example", "a.example"),
        ("--csi-name=a.example", "--verbose=b", "a.example"),
        ("--verbose=a", "--driver_name=b.example", "b.example"),
        ("--driver-name=${NAME}", "--drivername=b.example", "b.example"),
        ("--verbose=a", "--verbose=b", None),
    ],
)
def test_the_name_of_a_driver_is_in_the_arguments_of_a_role(adopted, said, controller, node, provider):
    """The first role that has one, other than a template, decides; else the name that the cluster shows."""
    image = 'image = "example.net/own-driver:v1"\n        args = ["{}"]'
    files = {
        role: JOB.replace('"j"', f'"{role}"')
        .replace('"node"', f'"{role}"')
        .replace('image = "example.net/own-driver:v1"', image.format(argument))
        for role, argument in (("controller", controller), ("node", node))
    }

    found = adopted(files)
    assert [each["driver"].get("provider") for each in found.document["plugins"]] == [provider]
    missing = (
        "driver.provider of plugin own: expected a value, got nothing; add provider; `nomad plugin status own` shows it"
    )
    assert [text for kind, text in said(found) if kind == "missing"] == ([] if provider else [missing])

    [known] = adopted(files, providers={"own": "live.example"}).document["plugins"]
    assert known["driver"]["provider"] == (provider or "live.example")
