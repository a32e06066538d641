"""One rule for one code: what a rule needs, and what is not checked where that is not known. Pure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from nomad_csi.diagnosis import facts

Find = Callable[..., Iterator[facts.Outcome]]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A function that yields the findings of its codes."""

    codes: tuple[str, ...]
    needs: Mapping[str, str]
    """Names of the facts that it takes, and what is not checked without each; empty: another rule reports that."""

    find: Find


RULES: list[Rule] = []
"""All rules of the modules that are imported; `judge` imports all."""


def rule(*codes: str, **needs: str) -> Callable[[Find], Find]:
    """Return the decorator that registers a function as the rule of *codes*, with the facts that it *needs*."""

    def register(find: Find) -> Find:
        RULES.append(Rule(codes=codes, needs=needs, find=find))
        return find

    return register
