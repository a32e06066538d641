"""The two distributions: the product's wheel holds no emulator and needs none of their libraries."""

import configparser
import email
import re
import subprocess
import sys
import textwrap
import tomllib
import zipfile
from pathlib import Path

import pytest

from nomad_csi_sandbox import nomad

ROOT = Path(__file__).parents[2]
EMULATORS = Path(nomad.__file__).parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
LIBRARIES = ("flask", "flask_cors", "lark", "moto", "nomad_csi_sandbox", "werkzeug")
"""What only emulators import."""

IMPORT_ALL = """
import importlib, pkgutil, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {libraries!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Refuse())
import nomad_csi
assert nomad_csi.__file__.startswith({site!r}), nomad_csi.__file__
names = [found.name for found in pkgutil.walk_packages(nomad_csi.__path__, "nomad_csi.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Build both and return them opened, by the name of the distribution."""
    made = tmp_path_factory.mktemp("wheels")
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-cache-dir",
    )
    subprocess.run([*pip, "--no-build-isolation", "--wheel-dir", made, ROOT, EMULATORS], check=True)
    return {path.name.partition("-")[0]: zipfile.ZipFile(path) for path in made.glob("*.whl")}


def metadata(wheel, name):
    """Return a file of the wheel's metadata as text."""
    [path] = [path for path in wheel.namelist() if path.endswith(f".dist-info/{name}")]
    return wheel.read(path).decode()


def requirements(wheel):
    """Return what the wheel requires, without and with an extra."""
    found = email.message_from_string(metadata(wheel, "METADATA")).get_all("Requires-Dist")
    return [each for each in found if "extra ==" not in each], [each for each in found if "extra ==" in each]


def scripts(wheel):
    """Return the names of the wheel's console scripts."""
    parser = configparser.ConfigParser()
    parser.read_string(metadata(wheel, "entry_points.txt"))
    return set(parser["console_scripts"])


def test_wheel_of_the_product_has_no_emulator(wheels):
    """Neither their modules, nor their libraries, nor their script; the extra is the other distribution."""
    product = wheels["nomad_csi"]

    required, extra = requirements(product)

    assert {path.split("/")[0].partition("-")[0] for path in product.namelist()} == {"nomad_csi", "pulumi_nomad_csi.py"}
    assert not [each for each in required if each.lower().startswith(("flask", "lark", "moto", "nomad-csi"))]
    assert extra == ["nomad-csi-sandbox; extra == 'sandbox'"]
    assert scripts(product) == {"nomad-csi", "pulumi-resource-nomad-csi"}


def test_both_describe_themselves_alike(wheels):
    """One version, which stands once; authors, urls, classifiers and Pythons; each has a readme."""
    found = [email.message_from_string(metadata(wheel, "METADATA")) for wheel in wheels.values()]
    shared = ("Version", "Author", "Project-URL", "Classifier", "Requires-Python", "License-Expression")

    assert [each["Version"] for each in found] == [VERSION, VERSION]
    assert [each["Author"] for each in found] == ["nomad-csi contributors"] * 2
    assert len(found[0].get_all("Project-URL")) == 4
    assert [found[0].get_all(name) for name in shared] == [found[1].get_all(name) for name in shared]
    assert [each.get_payload().splitlines()[0] for each in found] == [f"# {each['Name']}" for each in found]
    assert metadata(wheels["nomad_csi"], "licenses/LICENSE") == metadata(
        wheels["nomad_csi_sandbox"], "licenses/LICENSE"
    )
    text = (ROOT / "pyproject.toml").read_text() + (EMULATORS / "pyproject.toml").read_text()
    assert text.count(f'"{VERSION}"') == 1


def test_readme_of_the_product_leads_to_the_tag(wheels):
    """No link and no picture is relative: a package index has no files beside it. Nor has it a word of our tests."""
    text = email.message_from_string(metadata(wheels["nomad_csi"], "METADATA")).get_payload()
    source = (ROOT / "README.md").read_text()
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", text)

    assert len(links) == len(re.findall(r"\]\(", source))
    assert {link.split("/OWNER/")[0] for _, link in links} <= {
        "https://github.com",
        "https://raw.githubusercontent.com",
    }
    assert [link for is_picture, link in links if is_picture] == [
        f"https://raw.githubusercontent.com/OWNER/nomad-csi/v{VERSION}/docs/images/{name}"
        for name in ("architecture.svg", "report.png")
    ]
    assert f"https://github.com/OWNER/nomad-csi/blob/v{VERSION}/docs/reference/spec.md" in text
    assert "```sh install" in source
    assert "```sh install" not in text


def test_wheel_of_the_product_has_every_template(wheels):
    """Those of `nomad-csi init` too, which are in a folder of their own."""
    templates = {path.relative_to(ROOT).as_posix() for path in (ROOT / "templates").rglob("*") if path.is_file()}

    packed = {path.removeprefix("nomad_csi/") for path in wheels["nomad_csi"].namelist()}

    assert "templates/init/storage.yml.j2" in templates
    assert templates <= packed


def test_wheel_of_the_emulators_is_whole(wheels):
    """Every module of the tree, what they need, and the script that Nomad starts as a plugin."""
    sandbox = wheels["nomad_csi_sandbox"]
    modules = {path.relative_to(EMULATORS.parent).as_posix() for path in EMULATORS.rglob("*.py")}
    modules.remove(f"{EMULATORS.name}/hatch_build.py")

    packed = {path for path in sandbox.namelist() if path.endswith(".py")}

    assert packed == modules
    assert f"{EMULATORS.name}/session/Pulumi.sandbox.yaml" in sandbox.namelist()
    assert {"flask>=3.1", "lark>=1.1", "moto>=5.2.5", f"nomad-csi=={VERSION}"} <= set(requirements(sandbox)[0])
    assert scripts(sandbox) == {"nomad-csi-sandbox-csi-plugin"}


def test_product_alone_imports_none_of_the_emulators_libraries(wheels, tmp_path):
    """Every module of the installed wheel is imported where they are not to be had."""
    wheels["nomad_csi"].extractall(tmp_path)
    program = textwrap.dedent(IMPORT_ALL).format(libraries=LIBRARIES, site=str(tmp_path))

    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        check=False,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
    )

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len([path for path in wheels["nomad_csi"].namelist() if path.endswith(".py")]) - 2


def test_sandbox_without_its_distribution_names_the_extra(wheels, tmp_path):
    """A user who installed the product alone reads what to install."""
    wheels["nomad_csi"].extractall(tmp_path)
    program = f"import sys; sys.modules['nomad_csi_sandbox'] = None; import nomad_csi.cli as cli; sys.exit(cli.main(['sandbox', '--project', {str(tmp_path)!r}, 'status']))"

    done = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
    )

    assert done.returncode == 2, done.stderr
    assert "the sandbox needs its extra: pip install 'nomad-csi[sandbox]'" in done.stderr
