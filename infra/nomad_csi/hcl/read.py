"""
Job files and volume files as plain Python values, with every string as Nomad would decode it.

A file becomes a dict. An attribute is its value: ``str``, ``int``, ``float``, ``bool``, ``None``, list or dict. A block
type is a list with a dict for each block, in order; a block's labels stand in it under `LABELS`. So

    job "mysql" { group "db" { count = 1 } }

reads as ``{"job": [{"__labels__": ["mysql"], "group": [{"__labels__": ["db"], "count": 1}]}]}``.

Stricter than Nomad where Nomad loses something silently: a name or key that stands twice is refused. Not evaluated:
variables, functions, operators; they are refused too. Quoted names in a block (``segments { "a/b" = "c" }``), which
HCL1 knows and HCL2 does not, are refused with the form that both read.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import hcl2
import lark

from nomad_csi import errors
from nomad_csi.hcl import literals

LABELS = "__labels__"
"""Key of a block's labels, a list of texts; absent when there are none."""

_Node = lark.Tree[lark.Token]
_QUOTED_NAME_FIX = 'write a quoted name inside a map: segments = { "name" = "value" }'


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How one kind of file decodes what stands in quotes."""

    literal: Callable[[str], str]
    heredoc: Callable[[str], str]


JOB = Dialect(literal=literals.hcl2, heredoc=literals.hcl2_heredoc)
VOLUME = Dialect(literal=literals.hcl1, heredoc=literals.hcl1_heredoc)


def read_job(text: str, name: str = "") -> dict[str, Any]:
    """
    Return the job file *text*; *name* is the file's, for errors.

    Raises `errors.SpecError` with every problem and its line; a syntax error is the only one that is reported.
    """
    return _read(text, name or "the job file", JOB)


def read_volume(text: str, name: str = "") -> dict[str, Any]:
    """Return the volume file *text* as `read_job` does, legacy forms (``context { }`` as a block) included."""
    return _read(text, name or "the volume file", VOLUME)


def _read(text: str, name: str, dialect: Dialect) -> dict[str, Any]:
    reader = _Reader(text=text, dialect=dialect)
    try:
        [body] = hcl2.parses_to_tree(text).children
        document = reader.body(body)
    except lark.exceptions.UnexpectedInput as error:
        raise errors.SpecError((_syntax_problem(error, text),), source=name) from None
    except RecursionError:
        problem = errors.Problem(path="", got="hundreds of levels", allowed="a file with a few levels of brackets")
        raise errors.SpecError((problem,), source=name) from None
    if reader.problems:
        raise errors.SpecError(tuple(reader.problems), source=name)
    return document


def _syntax_problem(error: lark.exceptions.UnexpectedInput, text: str) -> errors.Problem:
    position = len(text) if error.pos_in_stream is None else error.pos_in_stream
    found = text[position : position + 1]
    names_something = text[:position].rstrip(" \t").endswith(("{", "\n"))
    return errors.Problem(
        path=f"line {error.line}, column {error.column}",
        got=ascii(found) if found else "the end of the file",
        allowed="what HCL allows there",
        fix=_QUOTED_NAME_FIX if found == '"' and names_something else "",
    )


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """Walks the parse tree of one file and collects what is wrong with it."""

    text: str
    dialect: Dialect
    problems: list[errors.Problem] = field(default_factory=list)

    def body(self, tree: _Node) -> dict[str, Any]:
        """Return the attributes and blocks of a file or of a block."""
        document: dict[str, Any] = {}
        block_types = set()
        for item in self._apart(_trees(tree, "attribute", "block"), "\n"):
            name, *rest = _trees(item)
            key, is_block = self._source(name), item.data == "block"
            if key in document and not (is_block and key in block_types):
                self._report(name, "each name once", f"{key} again")
            elif is_block:
                block_types.add(key)
                document.setdefault(key, []).append(self._block(*rest))
            else:
                document[key] = self.value(*rest)
        return document

    def value(self, tree: _Node) -> Any:
        """Return the value of an expression, or report why it has none."""
        match tree:
            case lark.Tree(data="expr_term", children=[lark.Tree() as inner]):
                return self.value(inner)
            case lark.Tree(data="unary_op", children=[lark.Token("MINUS"), lark.Tree() as operand]):
                return self._negative(operand)
            case lark.Tree(data="string"):
                return self._text(tree, self.dialect.literal)
            case lark.Tree(data="heredoc_template" | "heredoc_template_trim"):
                return self._text(tree, self.dialect.heredoc)
            case lark.Tree(data="int_lit" | "float_lit"):
                return self._number(tree)
            case lark.Tree(data="literal_value"):
                return {"true": True, "false": False, "null": None}[self._source(tree)]
            case lark.Tree(data="tuple"):
                return [self.value(item) for item in _trees(tree)]
            case lark.Tree(data="object"):
                return self._object(tree)
        self._report(tree, "a text, a number, true, false, null, a list or a map", "something to evaluate")
        return None

    def _block(self, *parts: _Node) -> dict[str, Any]:
        *labels, body = parts
        content = self.body(body)
        if labels:
            content[LABELS] = [self._name(label) for label in labels]
        return content

    def _object(self, tree: _Node) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for element in self._apart(_trees(tree, "object_elem"), "\n,"):
            key, expression = _trees(element)
            name = self._name(key)
            if name in values:
                self._report(key, "each key once", f"{name!a} again")
            values[name] = self.value(expression)
        return values

    def _name(self, tree: _Node) -> str:
        """Return a block's label or a map's key: a word, a number or a text."""
        match tree:
            case lark.Tree(data="object_elem_key" | "expr_term", children=[lark.Tree() as inner]):
                return self._name(inner)
            case lark.Tree(data="string"):
                return self._text(tree, self.dialect.literal)
            case lark.Tree(data="identifier" | "keyword" | "literal_value" | "int_lit"):
                return self._source(tree)
        self._report(tree, "a name or a text", "something to evaluate")
        return ""

    def _text(self, tree: _Node, decode: Callable[[str], str]) -> str:
        try:
            return decode(self.text[tree.meta.start_pos : tree.meta.end_pos])
        except literals.LiteralError as error:
            self._report(tree, str(error))
            return ""

    def _number(self, tree: _Node) -> int | float:
        source = self._source(tree)
        if len(source) > 1 and source[0] == "0" and source[1].isdigit():
            self._report(tree, "a number without leading zeros, which HCL1 reads as octal", source)
        return int(source) if tree.data == "int_lit" else float(source)

    def _negative(self, tree: _Node) -> int | float | None:
        match tree:
            case lark.Tree(data="expr_term", children=[lark.Tree(data="int_lit" | "float_lit") as number]):
                return -self._number(number)
        self._report(tree, "a number behind -", "something to evaluate")
        return None

    def _apart(self, items: list[_Node], separators: str) -> list[_Node]:
        """Return *items*, and report those with nothing between them that HCL2 would take for a separator."""
        for before, item in itertools.pairwise(items):
            between = self.text[before.meta.end_pos - 1 : item.meta.start_pos]
            if not any(separator in between for separator in separators):
                self._report(item, "a line for each attribute, block and key", "two on one line")
        return items

    def _source(self, tree: _Node) -> str:
        return "".join(str(token) for token in tree.scan_values(lambda _: True)).strip()

    def _report(self, tree: _Node, allowed: str, got: str = "") -> None:
        where = f"line {tree.meta.line}, column {tree.meta.column}"
        self.problems.append(errors.Problem(path=where, got=got, allowed=allowed))


def _trees(tree: _Node, *kinds: str) -> list[_Node]:
    """Return the rules below *tree*, of *kinds* only where given, without line breaks and comments."""
    rules = [child for child in tree.children if isinstance(child, lark.Tree) and child.data != "new_line_or_comment"]
    return [rule for rule in rules if not kinds or rule.data in kinds]
