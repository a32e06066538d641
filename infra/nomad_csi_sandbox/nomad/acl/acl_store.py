"""The tokens and policies of a cluster. Part of the emulator of Nomad."""

import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nomad_csi_sandbox.nomad.acl import acl_rules


@dataclass(frozen=True, kw_only=True)
class Token:
    """A token that is not the one which may do everything."""

    secret: str
    accessor: str
    name: str
    policies: Sequence[str]


class Acl:
    """
    Who may do what. Without *root* there are no ACLs, and anyone may do everything.

    *tokens* are there from the beginning: token -> the rules of its only policy, which is called as the token.
    """

    def __init__(self, root: str, tokens: Mapping[str, str]) -> None:
        self.root = root
        self.policies: dict[str, tuple[str, acl_rules.Rights]] = {}
        """Text and rights of each policy, by name."""
        self.tokens: dict[str, Token] = {}
        """By secret."""
        self._lock = threading.Lock()
        for secret, rules in tokens.items():
            self.put_policy(secret, rules)
            self.tokens[secret] = Token(secret=secret, accessor=str(uuid.uuid4()), name=secret, policies=[secret])

    @property
    def is_enabled(self) -> bool:
        """Whether there are ACLs."""
        return bool(self.root)

    def rights(self, secret: str) -> acl_rules.Rights | None:
        """Return what *secret* grants, nothing for no token; ``None`` for a token that is not known."""
        if not self.is_enabled or secret == self.root:
            return acl_rules.MANAGEMENT
        if not secret:
            return acl_rules.NONE
        with self._lock:
            token = self.tokens.get(secret)
            if token is None:
                return None
            return acl_rules.merged(self.policies[name][1] for name in token.policies if name in self.policies)

    def put_policy(self, name: str, rules: str) -> None:
        """Make or replace a policy. Raises `acl_rules.RulesError`."""
        found = acl_rules.parse(rules)
        with self._lock:
            self.policies[name] = (rules, found)

    def put_token(self, name: str, policies: Sequence[str]) -> Token:
        """Make a token with *policies*."""
        made = Token(secret=str(uuid.uuid4()), accessor=str(uuid.uuid4()), name=name, policies=policies)
        with self._lock:
            self.tokens[made.secret] = made
        return made
