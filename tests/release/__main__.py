"""``python -m tests.release``: dist, check, install PYTHON..., image ENGINE [OPTION...], tag TAG, version, sbom."""

import json
import sys
from pathlib import Path

from tests.release import archives, assets, image, installation, project

DIST = project.ROOT / "dist/release"
"""Archives alone: all of it is uploaded."""

ASSETS = project.ROOT / "dist/assets"


def main(words):
    """Run a command; return the exit code, and print what is wrong."""
    match words:
        case ["dist"]:
            archives.clear(DIST)
            archives.build(DIST)
            assets.write_sbom(ASSETS)
            assets.write_schemas(ASSETS)
            assets.write_notes(ASSETS)
            print(
                *(path.relative_to(project.ROOT) for path in (*archives.found(DIST), *sorted(ASSETS.iterdir()))),
                sep="\n",
            )
            return 0
        case ["check"]:
            return _tell(archives.check(DIST), f"{DIST}: built twice, byte for byte the same; nothing is wrong")
        case ["install", *pythons] if pythons:
            return _install(pythons)
        case ["image", engine, *options]:
            return _tell(image.check(engine, options, ASSETS), f"{image.NAME}: built and run")
        case ["tag", tag]:
            return _tell(project.problems(tag, repository=project.repository()), f"{tag}: ready")
        case ["version"]:
            print(project.metadata()["version"])
            return 0
        case ["sbom"]:
            assets.write_sbom(Path("dist"))
            return 0
    print(__doc__, file=sys.stderr)
    return 64


def _install(pythons):
    wheels = sorted(DIST.glob("*.whl"))
    wrong = []
    for python in pythons:
        seen = installation.main_job(wheels, python)
        print(json.dumps(seen))
        if not seen["ok"] or set(seen["plugins"].values()) != {"healthy"} or set(seen["volumes"].values()) != {"ok"}:
            wrong.append(f"{python}: the storage is not verified")
    return _tell(wrong, "the main job ran from the wheels")


def _tell(wrong, right):
    print("\n".join(wrong) or right, file=sys.stderr if wrong else sys.stdout)
    return bool(wrong)


sys.exit(main(sys.argv[1:]))
