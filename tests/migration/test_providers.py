"""What a cluster tells of a driver that the catalogue does not know."""

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


def test_the_name_that_a_plugin_answers_with_is_not_missing(adopted, said):
    """A job file does not hold it; a running plugin has said it."""
    files = {"j": JOB, "k": JOB.replace('"j"', '"k"').replace('"own"', '"second"')}
    told = adopted(files, providers={"own": "own.csi.example.net", "other": "x"})

    missing = (
        "driver.provider of plugin {0}: expected a value, got nothing; add provider; `nomad plugin status {0}` shows it"
    )
    for found, names in ((adopted(files), ["own", "second"]), (told, ["second"])):
        assert [text for kind, text in said(found) if kind == "missing"] == [missing.format(name) for name in names]
    assert [each["driver"].get("provider") for each in told.document["plugins"]] == ["own.csi.example.net", None]


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
def test_the_name_of_a_driver_is_in_the_arguments_of_a_role(adopted, controller, node, provider):
    """The first role that has one, other than a template, decides."""
    image = 'image = "example.net/own-driver:v1"\n        args = ["{}"]'
    files = {
        role: JOB.replace('"j"', f'"{role}"')
        .replace('"node"', f'"{role}"')
        .replace('image = "example.net/own-driver:v1"', image.format(argument))
        for role, argument in (("controller", controller), ("node", node))
    }

    assert [each["driver"].get("provider") for each in adopted(files).document["plugins"]] == [provider]
