"""Writes numbers, element types and transforms the many ways in which people write them, and the definitions that these need."""

# ruff: noqa: E501 - lines of generated code stay whole

from __future__ import annotations

from .choices import Choices
from .styles import STYLES

IMPORTS = """\
import dataclasses
import enum
import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu
"""


class Writer:
    """A file in the making: definitions of the module, of a second module, and of one config class."""

    def __init__(self, c: Choices) -> None:
        self.c = c
        self.head: list[str] = []
        self.other: list[str] = []
        self.imported: list[str] = []
        self.fields: list[tuple[str, int]] = []
        self.config = c.pick(("dataclass", "given", "namedtuple", "replace", "property", "enum", "class", "dict"))
        self.params: list[tuple[str, str]] | None = None
        self._count = 0
        self._helpers: dict[str, str] = {}

    def fresh(self, prefix: str) -> str:
        """A name that is not taken."""
        self._count += 1
        return f"{prefix}{self._count}"

    # -- numbers -----------------------------------------------------------------------------------------------------------

    def number(self, n: int) -> str:
        """An expression for a number, in code of the factory or of the body."""
        if self.params is not None and self.c.chance(20):
            name = self.fresh("n")
            self.params.append((name, self.outer(n)))
            return name
        return self.outer(n)

    def outer(self, n: int) -> str:
        """An expression for a number, of names of the module."""
        how = self.c.pick(
            (self._literal, self._literal, self._literal, self._constant, self._constant, self._product, self._field, self._imported,
             self._helper, self._choice, self._element, self._sum, self._builtin, self._lookup, self._styled, self._styled, self._styled)
        )  # fmt: skip
        return how(n)

    def _literal(self, n: int) -> str:
        return str(n)

    def _constant(self, n: int) -> str:
        name = self.fresh("N")
        self.head.append(f"{name} = {n}")
        return name

    def _product(self, n: int) -> str:
        factor = next((f for f in (16, 8, 4, 2, 3) if n and n % f == 0), 1)
        base = self._constant(n // factor)
        return self.c.pick((f"({base} * {factor})", f"({factor} * {base})", f"({base} * {factor * 2} // 2)"))

    def _field(self, n: int) -> str:
        name = self.fresh("tile_")
        self.fields.append((name, n))
        return {"enum": f"Config.{name}.value", "dict": f'CFG["{name}"]'}.get(self.config, f"CFG.{name}")

    def _imported(self, n: int) -> str:
        name = self.fresh("T")
        self.other.append(f"{name} = {n}")
        if self.c.chance(50):
            self.imported.append(name)
            return name
        return f"tiles.{name}"

    def _helper(self, n: int) -> str:
        kind = self.c.pick(("round_up", "halve", "identity", "pick", "checked", "kwonly", "lambda"))
        if kind not in self._helpers:
            self._helpers[kind] = name = self.fresh(f"{kind}_")
            self.head += HELPERS[kind].format(name=name).splitlines()
        name = self._helpers[kind]
        return {
            "round_up": f"{name}({n - 1}, {n or 1})" if n > 0 else str(n),
            "halve": f"{name}({n * 2})",
            "identity": f"{name}({n})",
            "pick": f"{name}(True, {n}, {n + 8})",
            "checked": f"{name}({n})" if n > 0 else str(n),
            "kwonly": f"{name}(scale={n})",
            "lambda": f"{name}({n})",
        }[kind]

    def _choice(self, n: int) -> str:
        flag = self.flag(True)
        return f"({n} if {flag} else {n * 2 + 8})"

    def _element(self, n: int) -> str:
        name = self.fresh("SIZES")
        self.head.append(f"{name} = (7, {n}, 9)")
        return self.c.pick((f"{name}[1]", f"{name}[-2]", f"tuple({name})[1]"))

    def _sum(self, n: int) -> str:
        return self.c.pick((f"({n - 1} + 1)", f"({n + 2} - 2)", f"sum(({n - 1}, 1))", f"(-(-{n} // 1))"))

    def _builtin(self, n: int) -> str:
        options = [
            f"max({n}, 0)",
            f"min({n}, 4096)",
            f"math.prod(({n}, 1))",
            f"pl.cdiv({n * 2}, 2)",
            f"int({n})",
            f"abs({n})",
        ]
        if n > 0:
            options += [f"len(range({n}))", f"math.gcd({n}, {n * 3})", f"divmod({n * 2}, 2)[0]"]
        return self.c.pick(options)

    def _lookup(self, n: int) -> str:
        name = self.fresh("TABLE")
        self.head.append(
            self.c.pick(
                (
                    f'{name} = {{"a": {n}, "b": 1}}',
                    f"{name} = dict(a={n})",
                    f'{name} = {{k: v for k, v in (("a", {n}),)}}',
                )
            )
        )
        return self.c.pick((f'{name}["a"]', f'{name}.get("a")', f'{name}.get("a", 3)'))

    def _styled(self, n: int) -> str:
        definitions, use = self.c.pick(STYLES)
        names = {"name": self.fresh("k"), "n": n, "n1": n + 3, "n2": n + 9}
        where = self.other if self.c.chance(10) else self.head
        where += definitions.format(**names).splitlines()
        text = use.format(**names)
        return (
            f"tiles.{text}"
            if where is self.other and text.isidentifier()
            else text
            if where is self.head
            else self._reexported(text)
        )

    def _reexported(self, text: str) -> str:
        name = self.fresh("r")
        self.other.append(f"{name} = {text}")
        return f"tiles.{name}"

    def flag(self, value: bool) -> str:
        """The name of a module's flag."""
        name = self.fresh("USE_")
        self.head.append(
            f"{name} = {self.c.pick((str(value), f'not {not value}', f'bool({int(value)})', '3 > 2' if value else '3 < 2'))}"
        )
        return name

    # -- shapes, element types, transforms ---------------------------------------------------------------------------------

    def shape(self, shape: tuple[int, ...]) -> str:
        """An expression for a shape."""
        inner = ", ".join(self.number(n) for n in shape) + ("," if len(shape) == 1 else "")
        text = f"({inner})"
        how = self.c.below(8)
        if how == 5 and len(shape) > 1:
            return f"(*({self.number(shape[0])},), {', '.join(self.number(n) for n in shape[1:])})"
        if how == 6 and len(shape) > 1:
            return f"({self.number(shape[0])},) + ({', '.join(self.number(n) for n in shape[1:])},)"
        if how == 7 and self.params is None:
            name = self.fresh("SHAPE")
            self.head.append(f"{name} = {text}")
            return name
        return text

    def dtype(self, name: str) -> str:
        """An expression for an element type."""
        how = self.c.below(7)
        if how == 3:
            return f'jnp.dtype("{name}")'
        if how == 4 and name[0] in "if":
            constant = self.fresh("DTYPE")
            self.head.append(f"{constant} = jnp.{name}")
            return constant
        if how == 5:
            constant = self.fresh("DT")
            self.other.append(f"{constant} = jnp.{name}")
            return f"tiles.{constant}"
        return f"jnp.{name}"

    def transforms(self, tiling: tuple[int, ...] | None, swizzle: int | None, columns: int, dtype: str) -> str:
        """A keyword argument for the transforms of a buffer; empty where there are none and nothing is to be said of it."""
        if tiling is None and swizzle is None:
            return self.c.pick(("", ", transforms=()", ", transforms=[]"))
        if (
            tiling is not None
            and swizzle is not None
            and self._is_standard(tiling, swizzle, columns, dtype)
            and self.c.chance(35)
        ):
            return f", transforms={self._found(columns, dtype)}"
        parts: list[str] = []
        if tiling is not None:
            parts.append(f"plgpu.TilingTransform({self.shape(tiling)})")
        if swizzle is not None:
            parts.append(f"plgpu.SwizzleTransform({self.number(swizzle)})")
        joined = ", ".join(parts) + ("," if len(parts) == 1 else "")
        if self.params is None and self.c.chance(30):
            name = self.fresh("TRANSFORMS")
            self.head.append(f"{name} = ({joined})")
            return f", transforms={name}"
        return f", transforms={self.c.pick((f'({joined})', f'[{joined}]', f'tuple([{joined}])'))}"

    def _is_standard(self, tiling: tuple[int, ...], swizzle: int, columns: int, dtype: str) -> bool:
        bits = columns * BITS_OF[dtype]
        widest = next((s for s in (128, 64, 32) if bits % (8 * s) == 0), 0)
        return swizzle == widest and tiling == (8, 8 * swizzle // BITS_OF[dtype])

    def _found(self, columns: int, dtype: str) -> str:
        kind = self.c.pick(("transforms_of", "transforms_by_bits", "imported_transforms"))
        if kind not in self._helpers:
            self._helpers[kind] = name = self.fresh(f"{kind}_")
            where = self.other if kind == "imported_transforms" else self.head
            where += HELPERS[kind].format(name=name).splitlines()
        name = self._helpers[kind]
        if kind == "transforms_by_bits":
            return f"{name}({self.number(columns * BITS_OF[dtype])}, {BITS_OF[dtype]})"
        module = "tiles." if kind == "imported_transforms" else ""
        return f"{module}{name}((8, {self.number(columns)}), {self.dtype(dtype)})"

    # -- the file ----------------------------------------------------------------------------------------------------------

    def text(self, rest: list[str]) -> dict[str, str]:
        """The modules."""
        lines = [IMPORTS]
        if self.other:
            lines.append("import tiles")
        if self.imported:
            lines.append(f"from tiles import {', '.join(self.imported)}")
        lines += ["", *self._config_class(), *self.head, "", *rest]
        texts = {"main": "\n".join(lines) + "\n"}
        if self.other:
            texts["tiles"] = "\n".join([IMPORTS, *self.other]) + "\n"
        return texts

    def _config_class(self) -> list[str]:
        if not self.fields:
            return []
        values = [f"{n}={v}" for n, v in self.fields]
        plain = [f"    {n}: int = {v}" for n, v in self.fields]
        wrong = [f"    {n}: int = {v + 1}" for n, v in self.fields]
        bare = [f"    {n}: int" for n, _ in self.fields]
        frozen = ["@dataclasses.dataclass(frozen=True)", "class Config:"]
        return {
            "dataclass": [*frozen, *plain, "CFG = Config()"],
            "given": [*frozen, *bare, f"CFG = Config({', '.join(values)})"],
            "namedtuple": ["class Config(NamedTuple):", *plain, "CFG = Config()"],
            "replace": [*frozen, *wrong, f"CFG = dataclasses.replace(Config(), {', '.join(values)})"],
            "property": [
                *frozen,
                "    unit: int = 1",
                *(x for n, v in self.fields for x in _property(n, v)),
                "CFG = Config()",
            ],
            "enum": ["class Config(enum.Enum):", *(f"    {n} = {v}" for n, v in self._distinct())],
            "class": [
                "class Config:",
                "    def __init__(self, unit):",
                *(f"        self.{n} = unit * {v}" for n, v in self.fields),
                "CFG = Config(1)",
            ],
            "dict": [f"CFG = dict({', '.join(values)})"],
        }[self.config]

    def _distinct(self) -> list[tuple[str, int]]:
        return self.fields  # equal values make aliases, whose `.value` is the same


def _property(name: str, value: int) -> list[str]:
    return ["    @property", f"    def {name}(self):", f"        return {value} * self.unit"]


BITS_OF = {
    "float16": 16, "float32": 32, "bfloat16": 16, "int32": 32, "int8": 8, "uint32": 32, "float8_e4m3fn": 8, "uint8": 8, "int16": 16,
}  # fmt: skip

HELPERS = {
    "round_up": "def {name}(n, by):\n    return (n + by - 1) // by * by\n",
    "halve": "def {name}(n, parts=2):\n    each, rest = divmod(n, parts)\n    if rest:\n        raise ValueError(f'{{n}} is odd')\n    return each\n",
    "identity": "def {name}(n: int) -> int:\n    return n\n",
    "pick": "def {name}(flag, a, b):\n    if flag:\n        return a\n    else:\n        return b\n",
    "checked": "def {name}(n):\n    assert n > 0, n\n    try:\n        return n\n    except ValueError:\n        return 0\n",
    "kwonly": "def {name}(*, scale, unit=1, **unused):\n    return scale * unit\n",
    "lambda": "{name} = lambda n: n\n",
    "transforms_of": (
        "def {name}(shape, dtype):\n    bits = jnp.dtype(dtype).itemsize * 8\n    swizzle = plgpu.find_swizzle(shape[-1] * bits)\n"
        "    return (plgpu.TilingTransform((8, 8 * swizzle // bits)), plgpu.SwizzleTransform(swizzle))\n"
    ),
    "transforms_by_bits": (
        "def {name}(row_bits, bits):\n    swizzle = plgpu.find_swizzle(row_bits, 'buffer')\n    out = []\n"
        "    out.append(plgpu.TilingTransform((8, swizzle * 8 // bits)))\n    if swizzle > 16:\n        out.append(plgpu.SwizzleTransform(swizzle))\n"
        "    return tuple(out)\n"
    ),
    "imported_transforms": (
        "def {name}(shape, dtype, cap=128):\n    info = jnp.finfo if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo\n    bits = info(dtype).bits\n"
        "    swizzle = min(cap, plgpu.find_swizzle(shape[-1] * bits))\n"
        "    return plgpu.TilingTransform((8, 8 * swizzle // bits)), plgpu.SwizzleTransform(swizzle)\n"
    ),
}
