"""
Read HCL2 text into bodies, blocks and attributes with their values and places. Part of the Nomad emulator.

Values are what Nomad's parser makes of them: ``var.x`` is replaced, every other ``${...}`` of a string stays as it is
written, because the client fills it in later. Functions and operators are refused: the sandbox does not compute them.
Source: hashicorp/nomad, ``jobspec2/types.config.go`` and ``jobspec2/parse.go``, 2026-08-21.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import hcl2
from lark import Token, Tree, exceptions

from nomad_csi_sandbox.nomad.hcl import hcl_text

Node = Tree[Token]


@dataclass(frozen=True, kw_only=True)
class Span:
    """Where something stands in the text: line and columns, counted from 1; ``end`` is the column behind it."""

    line: int
    start: int
    end: int

    @classmethod
    def of(cls, token: Token) -> Self:
        """Return the place of *token*."""
        line, column = token.line or 1, token.column or 1
        return cls(line=line, start=column, end=column + len(token))

    def __str__(self) -> str:
        """Return it as Nomad writes it."""
        return f"input.hcl:{self.line},{self.start}-{self.end}"


class HclError(Exception):
    """
    The text is not what Nomad accepts. Reads as Nomad's own sentence: ``input.hcl:2,3-8: Summary; detail``.

    Without a place, which Nomad writes as ``<nil>``, where the text lacks something.
    """

    def __init__(self, span: Span | None, summary: str, detail: str) -> None:
        super().__init__(f"{span or '<nil>'}: {summary}; {detail}")


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """``name = value``."""

    name: str
    value: Any
    span: Span
    """Of the name."""

    value_span: Span
    """Of the value; within the quotes of a string, of a list or map the bracket."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """``type "label" { ... }``."""

    type: str
    labels: tuple[str, ...]
    body: "Body"
    span: Span
    """Of the type."""

    label_spans: tuple[Span, ...]
    brace: Span

    @property
    def head(self) -> Span:
        """The place of type and labels."""
        last = (self.span, *self.label_spans)[-1]
        return Span(line=self.span.line, start=self.span.start, end=last.end)


@dataclass(frozen=True, kw_only=True)
class Body:
    """What stands between two braces, in the order of the text."""

    attributes: tuple[Attribute, ...] = ()
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What an expression can see."""

    source: str
    variables: Mapping[str, Any] = field(default_factory=dict)


class UnknownNameError(Exception):
    """An expression names something that only the client knows, such as ``attr.cpu.arch``."""


def parse_tree(text: str) -> Node:
    """Return the syntax tree of *text*. Raises `HclError`."""
    try:
        return hcl2.parses_to_tree(text)
    except exceptions.UnexpectedInput as error:
        column = max(error.column, 1)
        span = Span(line=max(error.line, 1), start=column, end=column + 1)
        raise HclError(span, "Invalid expression", "the text is not valid HCL2 at this place.") from error


def read_body(tree: Node, scope: Scope, *, skip: str = "") -> Body:
    """Return the content of a ``start`` or ``body`` node, without the attribute *skip*. Raises `HclError`."""
    if tree.data == "start":
        return read_body(_trees(tree)[0], scope)
    nodes = [node for node in _trees(tree) if node.data == "attribute" and _leaf(node) != skip]
    attributes = tuple(_attribute(node, scope) for node in nodes)
    blocks = tuple(read_block(node, scope) for node in _trees(tree) if node.data == "block")
    _refuse_duplicates(attributes)
    return Body(attributes=attributes, blocks=blocks)


def outermost(tree: Node) -> Iterator[tuple[str, Span, Node]]:
    """Yield name, place and unread node of each attribute and block that stands in no other block."""
    [body] = _trees(tree)
    for node in _trees(body):
        if node.data in {"attribute", "block"}:
            yield str(_leaf(node)), Span.of(_leaf(node)), node


def block_trees(tree: Node, block_type: str) -> list[Node]:
    """Return the nodes of the outermost blocks of *block_type*, unread."""
    return [node for name, _, node in outermost(tree) if node.data == "block" and name == block_type]


def read_block(node: Node, scope: Scope, *, skip: str = "") -> Block:
    """Return one block, without its attribute *skip*. Raises `HclError`."""
    *head, body = _trees(node)
    labels = tuple(_label(label, scope) for label in head[1:])
    place = _leaf(head[0])
    brace = next(token for token in node.children if isinstance(token, Token) and token.type == "LBRACE")
    return Block(
        type=str(place),
        labels=labels,
        body=read_body(body, scope, skip=skip),
        span=Span.of(place),
        label_spans=tuple(_whole(label) for label in head[1:]),
        brace=Span.of(brace),
    )


def _trees(node: Node) -> list[Node]:
    return [child for child in node.children if isinstance(child, Tree) and child.data != "new_line_or_comment"]


def _tokens(node: Node) -> list[Token]:
    return list(node.scan_values(lambda value: isinstance(value, Token)))


def _leaf(node: Node) -> Token:
    return _tokens(node)[0]


def _refuse_duplicates(attributes: tuple[Attribute, ...]) -> None:
    seen: dict[str, Span] = {}
    for attribute in attributes:
        if attribute.name in seen:
            before = f'The argument "{attribute.name}" was already set at {seen[attribute.name]}.'
            raise HclError(attribute.span, "Attribute redefined", f"{before} Each argument may be set only once.")
        seen[attribute.name] = attribute.span


def _attribute(node: Node, scope: Scope) -> Attribute:
    name, expression = _trees(node)
    token = _leaf(name)
    span = Span.of(token)
    return Attribute(
        name=str(token), value=_value_at(expression, scope, span), span=span, value_span=_value_span(expression)
    )


def _whole(node: Node) -> Span:
    """Return the place of everything in *node*, which is on one line."""
    first, last = Span.of(_tokens(node)[0]), Span.of(_tokens(node)[-1])
    return Span(line=first.line, start=first.start, end=last.end)


def _value_span(node: Node) -> Span:
    inner = _trees(node)[0] if node.data == "expr_term" and len(_trees(node)) == 1 else node
    whole = _whole(inner)
    match inner.data:
        case "string":
            return Span(line=whole.line, start=whole.start + 1, end=whole.end - 1)
        case "tuple" | "object":
            return Span.of(_leaf(inner))
        case _:
            return whole


def _label(node: Node, scope: Scope) -> str:
    return str(_string(node, scope)) if node.data == "string" else str(_leaf(node))


def _value_at(node: Node, scope: Scope, span: Span) -> Any:
    try:
        return value(node, scope)
    except ValueError as error:
        raise HclError(span, "Unsupported expression", f"{error}.") from error


def value(node: Node, scope: Scope) -> Any:
    """
    Return the value of an expression; of a name that is no variable, the reference itself: ``${attr.cpu.arch}``.

    Raises `ValueError` for what the emulator does not compute.
    """
    match node.data:
        case "expr_term":
            return value(_trees(node)[0], scope)
        case "string":
            return _string(node, scope)
        case "heredoc_template" | "heredoc_template_trim":
            return _heredoc(node, scope)
        case "int_lit" | "float_lit" | "literal_value":
            return _literal(str(_leaf(node)))
        case "unary_op" if _leaf(node) == "-":
            return -value(_trees(node)[0], scope)
        case "tuple":
            return [value(child, scope) for child in _trees(node)]
        case "object":
            return dict(_pair(child, scope) for child in _trees(node))
        case "get_attr_expr_term" | "identifier":
            return _reference_or(f"${{{_written(node, scope)}}}", node, scope)
        case other:
            raise ValueError(f"the sandbox's Nomad emulator does not compute a {str(other).replace('_', ' ')}")


def _literal(text: str) -> Any:
    words = {"true": True, "false": False, "null": None}
    if text in words:
        return words[text]
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _pair(node: Node, scope: Scope) -> tuple[str, Any]:
    key, expression = _trees(node)
    term = _trees(key)[0] if _trees(key) else key
    inner = _trees(term)[0] if _trees(term) else term
    name = str(_leaf(inner)) if inner.data in {"identifier", "object_elem_key"} else value(term, scope)
    return _scalar_text(name), value(expression, scope)


def _reference(path: str, scope: Scope) -> Any:
    root, _, name = path.partition(".")
    if root != "var":
        raise UnknownNameError(root)
    if name not in scope.variables:
        raise ValueError(f'this object does not have an attribute named "{name}"')
    return scope.variables[name]


def _reference_or(unknown: str, node: Node, scope: Scope) -> Any:
    try:
        return _reference(_written(node, scope), scope)
    except UnknownNameError:
        return unknown


def _written(node: Node, scope: Scope) -> str:
    tokens = _tokens(node)
    return scope.source[tokens[0].start_pos : tokens[-1].end_pos]


def _string(node: Node, scope: Scope) -> Any:
    parts = [_part(part.children[0], scope) for part in _trees(node)]
    if len(parts) == 1 and not isinstance(parts[0], str):
        return parts[0]  # "${var.count}" alone keeps the variable's own type
    return unicodedata.normalize("NFC", "".join(_scalar_text(part) for part in parts))


def _part(part: Node | Token, scope: Scope) -> Any:
    if isinstance(part, Token):
        return hcl_text.decode_doubled(part) if part.type.startswith("ESCAPED_") else hcl_text.decode_quoted(part)
    if part.data != "interpolation":
        raise ValueError("the sandbox's Nomad emulator does not compute template directives")
    [term] = _trees(part)
    inner = _trees(term)[0] if term.data == "expr_term" else term
    if inner.data in {"get_attr_expr_term", "identifier"}:
        return _reference_or(_written(part, scope), inner, scope)
    return value(term, scope)


def _heredoc(node: Node, scope: Scope) -> str:
    def insert(marker: str) -> str:
        try:
            return _scalar_text(_reference(marker[2:-1].strip(), scope))
        except UnknownNameError:
            return marker

    text = hcl_text.decode_heredoc(_leaf(node), trim=node.data == "heredoc_template_trim", insert=insert)
    return unicodedata.normalize("NFC", text)


def _scalar_text(scalar: Any) -> str:
    """Return the text that HCL2 makes of a scalar: ``true``, ``3000``, ``2.5``."""
    if isinstance(scalar, bool):
        return "true" if scalar else "false"
    if isinstance(scalar, str | int | float):
        return str(scalar)
    raise ValueError("a string is required")
