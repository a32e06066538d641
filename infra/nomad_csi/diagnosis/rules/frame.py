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


def outcomes(item: Rule, found: facts.ObservedCluster) -> Iterator[facts.Outcome]:
    """Yield what the rule finds; where it lacks a fact, that it is not checked. Without subject it finds nothing."""
    values = {name: getattr(found, name) for name in item.needs}
    for name, value in values.items():
        if isinstance(value, facts.Unknown) and item.needs[name]:
            yield facts.Unchecked(check=item.needs[name], reason=value.reason, is_expected=value.is_expected)
    if all(value is not None and not isinstance(value, facts.Unknown) for value in values.values()):
        yield from item.find(found, **values)
