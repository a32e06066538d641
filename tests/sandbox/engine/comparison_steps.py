"""What happens to the world of ``comparison_program.py`` before a step of it; *side* is an engine with a toy world."""


def fail_things(side):
    side.fault(**{"Create:fragile": {"kind": "error", "message": "no fragile things today"}})


def half_make_things(side):
    side.fault(**{"Created:fragile": {"kind": "init", "message": "not ready yet"}})


def heal(side):
    side.fault()


def lose_watched(side):
    (side.world / "thing-watched-1.json").unlink()


def add_foreign(side):
    for name in ("foreign", "found"):
        (side.world / f"thing-{name}-1.json").write_text('{"value": "theirs"}', encoding="utf-8")


def drift(side):
    (side.world / "thing-two-1.json").write_text('{"value": "drifted"}', encoding="utf-8")
    (side.world / "thing-marked-1.json").unlink()


STEPS = 15
CHANGES = {7: fail_things, 8: half_make_things, 9: heal, 12: lose_watched, 14: add_foreign}
