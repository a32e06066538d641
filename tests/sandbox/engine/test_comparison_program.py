"""The program by which the emulator is held to the real engine, on the emulator alone: what each step does."""

import json
import shutil

from tests.sandbox.engine import comparison_steps
from tests.sandbox.engine.conftest import HERE

DONE = {
    "create": "before byoption far guarded hidden kept late leaf leaves marked middle oldbox one root strict two watched",
    1: "",
    2: "create:comes delete:leaves update:one",
    3: "create-replacement:middle create-replacement:one create-replacement:root delete-replaced:middle "
    "delete-replaced:one delete-replaced:root replace:middle replace:one replace:root update:leaf update:two",
    4: "update:hidden",
    5: "",
    6: "delete:after delete:newbox",
    7: "",
    8: "",
    9: "update:fragile",
    10: "",
    11: "delete:fragile",
    12: "create:onlooker create:watched",
    13: "create-replacement:byoption create-replacement:strict delete-replaced:byoption delete-replaced:strict "
    "replace:byoption replace:strict",
    14: "create:patient import:foreign read:found update:foreign",
}
"""What changes in each step, of the things; all are created in step 0."""

FAILED = {7: "no fragile things today", 8: "not ready yet", 10: "expected another word", 11: "it is protected"}


def test_each_step_does_what_the_real_engine_was_seen_to_do(yard):
    """Created, updated, replaced, failed, mended, renamed, imported; `tests/real/engines` compares the states."""
    shutil.copy(HERE / "comparison_program.py", yard.project / "__main__.py")
    stack = {"config": {"toy:prefix": "", "yard:storage": {"sizes": [1, 2], "fast": True}}}
    (yard.project / "Pulumi.dev.yaml").write_text(json.dumps(stack), encoding="utf-8")
    for step in range(comparison_steps.STEPS):
        comparison_steps.CHANGES.get(step, lambda _side: None)(yard)

        done = yard.run("up", "--skip-preview", "--config", f"step={step}")

        expected = DONE[step] if step else " ".join(f"create:{name}" for name in DONE["create"].split())
        assert " ".join(sorted(":".join(each) for each in done.ops())) == expected, f"step {step}"
        assert (done.code != 0) == (step in FAILED), f"step {step}: {done.text}"
        assert FAILED.get(step, "") in "".join(done.messages())
