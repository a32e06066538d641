"""
Real programs that tests look for on PATH: ``python -m tests.programs [--record]`` lists them; `make programs` runs it.

The list has, for each, the day and commit on which the tests that need it last passed. A run of all tests notes that in
pytest's cache, and ``--record`` takes it over into `RECORD`, which is committed.
"""

import datetime as dt
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import csi_sanity

PROJECT = Path(__file__).parents[1]
RECORD = Path(__file__).with_suffix(".json")
UNPACKED = Path(sys.prefix) / "programs"
"""Where `tests.program_packages` unpacks packages for a user who is not root; their programs are in ``bin``."""

CACHED = "nomad-csi/programs"
WITHOUT = "TEST_WITHOUT"
"""Variable with words; where it is set, a test may be skipped only where one of them is in the reason."""

SOAK = "a part of `make soak`"
"""In the reason of tests that no other run is to take."""

VERSION_S = 20


@dataclass(frozen=True, kw_only=True)
class Program:
    """One program, or one of several that do the same."""

    names: tuple[str, ...]
    """As on PATH; the first is the one in reasons of skips."""

    needed_by: str
    """Regular expression: found in the id of a test that needs it, followed by the ``real_`` marks of the test."""

    package: str = ""
    """Package of Debian that has it; empty where it is installed by hand, mostly built from its source."""

    for_root: bool = False
    """Its tests need root as well."""

    version: str = "--version"
    """The word that it tells its version for; empty: it tells none."""


def _program(*names, **more):
    return Program(names=names, **more)


NODE = r"real/program/test_(init|sdks|git_package|own_stack_with_network|breaks_in_typescript)\.py"
FLAGS = r"real/test_driver_flags\.py|real/drivers/test_deletion\.py"
EFS = r"real/drivers/test_efs_(driver|mount)\.py"

PROGRAMS = (
    _program("chromium", "chromium-browser", "google-chrome", package="chromium", needed_by="test_in_a_browser"),
    _program("sshd", package="openssh-server", needed_by="test_real_ssh", version="-V"),
    _program("ssh", package="openssh-client", needed_by="test_real_ssh", version="-V"),
    _program("ssh-keygen", package="openssh-client", needed_by="test_real_ssh", version=""),
    _program("promtool", package="prometheus", needed_by="test_promtool"),
    _program("mariadbd", package="mariadb-server", needed_by="real/drivers/test_database", for_root=True),
    _program("mariadb", package="mariadb-client", needed_by="real/drivers/test_database", for_root=True),
    _program("rsync", package="rsync", needed_by="real/drivers/test_(deletion|democratic_csi_driver)"),
    _program("git", package="git", needed_by="real/program/test_git_package"),
    _program("csi-sanity", needed_by="csi_plugin/test_sanity", version=""),
    _program("go", needed_by=r"csi_plugin/test_sanity|real/program/test_(sdks|git_package)", version="version"),
    _program(
        "nomad",
        needed_by=" real_nomad|contract/test_who_asks|real/test_(connections|crowded_agent|leader_loss)",
        version="version",
    ),
    _program("pulumi", needed_by=" real_pulumi", version="version"),
    _program("pulumi-language-python", needed_by="(real/(engines|own_cluster|program|walk)|upgrade)/.* real_pulumi"),
    _program(
        "pulumi-language-yaml",
        needed_by="real/program/test_(init|yaml_program|git_package)",
    ),
    _program("pulumi-language-nodejs", needed_by=NODE),
    _program("pulumi-language-go", needed_by="real/program/test_(sdks|git_package)"),
    _program("node", needed_by=NODE),
    _program("npm", needed_by=NODE),
    _program("docker", needed_by="real/drivers/docker/"),
    _program(
        "hostpathplugin",
        needed_by=r"contract/.* real_driver|real/drivers/(docker/)?test_(database|hostpath|own_jobs)"
        rf"|real/own_cluster/.* real_nomad|real/program/test_(gate_of_clients|moving_in)|{FLAGS}",
    ),
    _program(
        "aws-ebs-csi-driver",
        needed_by=r"(csi_plugin|iam)/.* real_driver|real/test_ebs_driver|real/drivers/docker/test_ebs"
        rf"|real/own_cluster/.* real_nomad|real/program/test_(gate_of_clients|moving_in)|{FLAGS}",
    ),
    _program("aws-ebs-csi-driver-v0.10.1", needed_by=FLAGS),
    _program("aws-efs-csi-driver", needed_by=f"{EFS}|{FLAGS}"),
    _program("mount.efs", needed_by=EFS),
    _program("efs-proxy", needed_by=EFS),
    _program("exportfs", needed_by="real/drivers/test_efs_mount", version=""),
    _program("gcp-compute-persistent-disk-csi-driver", needed_by=f"real/drivers/test_gce_pd_driver|{FLAGS}"),
    _program("do-csi-plugin", needed_by=f"real/drivers/test_digitalocean_driver|{FLAGS}"),
    _program("nfsplugin", needed_by=f"real/drivers/test_nfs_driver|{FLAGS}"),
    _program("democratic-csi", needed_by=f"real/drivers/test_democratic_csi_driver|{FLAGS}"),
    _program("hcloud-csi-driver", needed_by=FLAGS),
    _program("seaweedfs-csi-driver", needed_by=FLAGS),
    _program("smbplugin", needed_by=FLAGS),
)


def path_of(name):
    """Return where the program *name* of the table is; ``None`` where it is not."""
    more = ("/usr/sbin", str(UNPACKED / "bin"), str(csi_sanity.MADE.parent))
    places = os.pathsep.join((os.environ.get("PATH", os.defpath), *more))
    [program] = [each for each in PROGRAMS if each.names[0] == name]
    return next(filter(None, (shutil.which(each, path=places) for each in program.names)), None)


def unwanted(reason):
    """Return whether a skip for *reason* is an error."""
    words = os.environ.get(WITHOUT)
    return words is not None and not any(word.lower() in reason.lower() for word in (SOAK, *words.split()))


def named_in(reason):
    """Return the programs that the *reason* of a skip names."""
    return [each for each in PROGRAMS if re.search(rf"(?<![\w.-]){re.escape(each.names[0])}(?![\w.-])", reason)]


def needing(report):
    """Return the programs that the test of a *report* needs."""
    marks = [word for word in report.keywords if word.startswith("real_")]
    return [each for each in PROGRAMS if re.search(each.needed_by, " ".join((report.nodeid, *sorted(marks))))]


class Runs:
    """Says which tests did not run for want of a program, and notes the programs whose tests passed."""

    def __init__(self):
        self._config = None
        self._outcomes = defaultdict(lambda: defaultdict(set))

    def _counts(self):
        """Return whether this process prints, of a run of all tests, or of those that need programs."""
        return self._config.option.tier in {"all", "real"} and not hasattr(self._config, "workerinput")

    def pytest_configure(self, config):
        """Let tests find what is unpacked, after all that is installed."""
        self._config = config
        if UNPACKED.is_dir():
            os.environ["PATH"] = os.pathsep.join((os.environ.get("PATH", os.defpath), str(UNPACKED / "bin")))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self):
        """Fail a skip for want of a program that the table does not have with this test: the list would be wrong."""
        report = yield
        if report.skipped and isinstance(report.longrepr, tuple):
            known = needing(report)
            if missing := [each.names[0] for each in named_in(report.longrepr[2]) if each not in known]:
                report.outcome = "failed"
                report.longrepr = f"tests/programs.py does not say that this test needs {', '.join(missing)}"
        return report

    def pytest_runtest_logreport(self, report):
        """Take a report, of this process or of a worker."""
        if self._counts() and (report.when == "call" or not report.passed):
            for each in needing(report):
                self._outcomes[each.names[0]][report.outcome].add(report.nodeid)
            reason = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
            for each in named_in(reason):
                self._outcomes[each.names[0]]["wanting"].add(report.nodeid)

    def pytest_sessionfinish(self):
        """Note what passed."""
        passed = {}
        for name, found in self._outcomes.items():
            if found["passed"] and not found["failed"] and path_of(name):
                passed[name] = {outcome: len(found[outcome]) for outcome in ("passed", "skipped")}
        if passed:
            when = {"date": dt.datetime.now(dt.UTC).date().isoformat(), "commit": _commit()}
            known = self._config.cache.get(CACHED, {})
            self._config.cache.set(CACHED, known | {name: when | row for name, row in passed.items()})

    def pytest_terminal_summary(self, terminalreporter):
        """Name the programs that were not there, with the number of tests that were skipped."""
        if not self._counts():
            return
        terminalreporter.section("programs: `make programs` lists all")
        for each in PROGRAMS:
            name = each.names[0]
            if skipped := self._outcomes[name]["wanting"] if path_of(name) is None else ():
                folders = sorted({"/".join(node.split("/")[:2]).partition("::")[0] for node in skipped})
                terminalreporter.line(f"without {name}: {len(skipped)} skipped in {', '.join(folders)}")


def _commit():
    """Return the commit of the checkout; with ``-dirty`` where files differ from it."""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
    if shutil.which("git") is None:
        return "not known"
    done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "not known"


def _version(program, path):
    """Return what the program says of its version, in one line."""
    if not program.version:
        return "?"
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [path, program.version],
            env=os.environ | {"HOME": home},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=VERSION_S,
            check=False,
        )
    found = re.search(r"v?\d+\.\d+[\w.+~-]*", done.stdout + done.stderr)
    return found[0] if found else "?"


def last_passed():
    """Return, by name, when the tests of each program last passed: what is committed, and what runs here noted since."""
    noted = PROJECT / ".pytest_cache/v" / CACHED
    found = json.loads(RECORD.read_text(encoding="utf-8"))
    here = json.loads(noted.read_text(encoding="utf-8")) if noted.exists() else {}
    return found | {name: row for name, row in here.items() if row["date"] >= found.get(name, row)["date"]}


def main(arguments):
    """Print the list; with ``--record`` write the days and commits into `RECORD`."""
    passed = last_passed()
    if arguments == ["--record"]:
        RECORD.write_text(json.dumps(passed, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    rows = [("program", "version", "package", "its tests last passed", "at commit", "passed, skipped")]
    for each in PROGRAMS:
        path, row = path_of(each.names[0]), passed.get(each.names[0])
        ran = (row["date"], row["commit"], f"{row['passed']}, {row['skipped']}") if row else ("not recorded", "", "")
        version = _version(each, path) if path else "not found"
        rows.append((each.names[0], version, each.package or "none: by hand", *ran))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(line.rstrip())  # noqa: T201  # a command prints


if __name__ == "__main__":
    main(sys.argv[1:])
