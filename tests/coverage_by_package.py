"""
Print how much of each package the tests run, lines and branches together: ``python -m tests.coverage_by_package``.

Reads what ``coverage run`` left. Modules that hold data (the subjects of `tests.mutants`) below `LEAST` are named: a
branch that no test takes there is a finding. There is no goal for the rest.
"""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path, PurePosixPath

import yaml

ROOT = Path(__file__).parents[1]
LEAST = 95


def measured() -> dict:
    """Return what coverage.py has of each module, by its path below the library."""
    tool = [sys.executable, "-m", "coverage"]
    subprocess.run([*tool, "combine", "--quiet"], cwd=ROOT, check=False)  # nothing to combine is no error here
    report = subprocess.run(
        [*tool, "json", "--quiet", "-o", "-"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    library = PurePosixPath("infra/nomad_csi")
    files = json.loads(report)["files"].items()
    return {str(PurePosixPath(file).relative_to(library)): item["summary"] for file, item in files}


def percent(summaries: list) -> float:
    """Return the share of lines and branches that were run."""
    run = sum(item["covered_lines"] + item["covered_branches"] for item in summaries)
    every = sum(item["num_statements"] + item["num_branches"] for item in summaries)
    return 100 * run / every if every else 100.0


def main() -> None:
    """Print the table."""
    files = measured()
    packages = defaultdict(list)
    for file, summary in files.items():
        packages[file.partition("/")[0] if "/" in file else "."].append(summary)
    for package, summaries in sorted(packages.items()):
        sys.stdout.write(f"{package:<12} {percent(summaries):6.1f} %  {len(summaries):4} modules\n")
    sys.stdout.write(f"{'all':<12} {percent(list(files.values())):6.1f} %\n")
    subjects = yaml.safe_load((ROOT / "tests/mutants/table.yaml").read_text())
    for file in sorted({module for item in subjects for module in item["modules"]}):
        if (share := percent([files[file]])) < LEAST:
            sys.stdout.write(f"below {LEAST} % in a module that holds data: {file} {share:.1f} %\n")


if __name__ == "__main__":
    main()
