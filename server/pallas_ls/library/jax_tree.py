"""Pytrees: `jax.tree.map`, `jax.tree.leaves`. Nodes are tuples, lists, dicts, NamedTuples and None."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..domain.python import Call, DictCell, Instance, ListCell, Opaque, Unknown, Value
from .registry import Registry


class NotATree(Exception):
    """The structure of a value is not known."""


def register(r: Registry) -> None:
    """Registers jax.tree and jax.tree_util."""

    @r.function("jax.tree.map jax.tree_util.tree_map jax.tree_map", "f, tree, *rest, is_leaf=None")
    def map_(m: Any, call: Call, f: Value, tree: Value, rest: tuple[Value, ...], is_leaf: Value) -> Value:
        try:
            return map_tree(m, lambda *xs: m.program.calls.call(m, f, xs, call.site), tree, *rest)
        except NotATree:
            return m.unknown("a tree of unknown structure", tree, *rest, site=call.site)

    @r.function("jax.tree.leaves jax.tree_util.tree_leaves jax.tree_leaves", "tree, is_leaf=None")
    def leaves_(m: Any, call: Call, tree: Value, is_leaf: Value) -> Value:
        try:
            return ListCell({"items": tuple(leaves(m, tree))})
        except NotATree:
            return ListCell({"items": m.unknown("leaves of a tree of unknown structure", tree, site=call.site)})

    @r.function("jax.tree.flatten jax.tree_util.tree_flatten", "tree, is_leaf=None")
    def flatten(m: Any, call: Call, tree: Value, is_leaf: Value) -> Value:
        structure = Structure(tree)
        try:
            return (ListCell({"items": tuple(leaves(m, tree))}), structure)
        except NotATree:
            return m.unknown("a tree of unknown structure", tree, site=call.site)

    @r.function("jax.tree.structure jax.tree_util.tree_structure", "tree, is_leaf=None")
    def structure(m: Any, call: Call, tree: Value, is_leaf: Value) -> Value:
        return Structure(tree)

    @r.function("jax.tree.unflatten jax.tree_util.tree_unflatten", "treedef, leaves")
    def unflatten(m: Any, call: Call, treedef: Value, leaves: Value) -> Value:
        items = m.program.items.iterate(m, leaves)
        if not isinstance(treedef, Structure) or items is None:
            return m.unknown("a tree of unknown structure", leaves, site=call.site)
        return _unflatten(m, treedef, items)

    @r.raw("jax.tree_util.register_dataclass jax.tree_util.register_pytree_node_class jax.tree_util.register_static")
    def registered(m: Any, call: Call) -> Value:
        return call.args[0] if call.args else m.unknown("a decorator that is not known", site=call.site)


class Structure:
    """A tree definition, kept as an example tree."""

    __slots__ = ("tree",)

    def __init__(self, tree: Value) -> None:
        self.tree = tree


def _unflatten(m: Any, structure: Structure, items: list[Value]) -> Value:
    try:
        rest = iter(items)
        out = map_tree(m, lambda _: next(rest), structure.tree)
    except (NotATree, StopIteration):
        return m.unknown("a tree of unknown structure", *items)
    return out


def children(m: Any, tree: Value) -> Sequence[Value] | None:
    """The subtrees of a node; None for a leaf."""
    if tree is None:
        return ()
    if type(tree) is tuple:
        return tree
    if isinstance(tree, ListCell):
        return _content(m, tree)
    if isinstance(tree, DictCell):
        return [v for _, (_, v) in _entries(m, tree)]
    if isinstance(tree, Instance) and tree.cls.kind == "namedtuple":
        return list(tree.slots.values())
    if isinstance(tree, (Unknown, Instance)) or (
        isinstance(tree, Opaque) and tree.hint not in ("array", "int", "float")
    ):
        raise NotATree  # whether it is a leaf is not known
    return None


def _content(m: Any, cell: ListCell) -> tuple[Value, ...]:
    items = m.select(cell.slots["items"])
    if type(items) is not tuple:
        raise NotATree
    return items


def _entries(m: Any, cell: DictCell) -> list[tuple[Any, tuple[Value, Value]]]:
    """Entries in JAX's order: sorted by key."""
    items = m.select(cell.slots["items"])
    if not isinstance(items, dict):
        raise NotATree
    try:
        return sorted(items.items(), key=lambda kv: kv[0])
    except TypeError as e:
        raise NotATree from e


def leaves(m: Any, tree: Value) -> list[Value]:
    """All leaves in order; raises NotATree."""
    below = children(m, tree)
    return [tree] if below is None else [x for c in below for x in leaves(m, c)]


def map_tree(m: Any, f: Callable[..., Value], tree: Value, *rest: Value) -> Value:
    """The tree with `f` of each leaf (and of the leaves of `rest` in its place); raises NotATree."""
    below = children(m, tree)
    if below is None:
        return f(tree, *rest)
    others = [children(m, t) for t in rest]
    if any(o is None or len(o) != len(below) for o in others):
        raise NotATree
    columns = [o for o in others if o is not None]
    return _rebuilt(m, tree, [map_tree(m, f, *row) for row in zip(below, *columns, strict=True)])


def _rebuilt(m: Any, tree: Value, parts: list[Value]) -> Value:
    if tree is None:
        return None
    if type(tree) is tuple:
        return tuple(parts)
    if isinstance(tree, ListCell):
        return ListCell({"items": tuple(parts)})
    if isinstance(tree, DictCell):
        rows = zip(_entries(m, tree), parts, strict=True)
        return DictCell({"items": {k: (key, part) for (k, (key, _)), part in rows}})
    return Instance(tree.cls, dict(zip(tree.slots, parts, strict=True)), tree.frozen)
