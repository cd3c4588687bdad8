"""Writes the stored value: constants, loads, casts, arithmetic, reductions, loops with a carry."""

# ruff: noqa: E501 - lines of generated code stay whole

from __future__ import annotations

from collections.abc import Callable

from .spec import BITS, Store
from .writer import Writer

Scratch = list[tuple[str, str]]


class Values:
    """Statements of the body and the expression of a value; `scratch` takes the buffers that are loaded from."""

    def __init__(self, w: Writer, s: Store, scratch: Scratch) -> None:
        self.w = w
        self.c = w.c
        self.s = s
        self.scratch = scratch
        self.lines: list[str] = []

    def value(self) -> str:
        """An expression, with `lines` before it."""
        if BITS[self.s.dtype] < 16:  # no arithmetic
            return self.c.pick((self._cast, self._named, self._helper, self._chosen, self._converted))()
        makers: list[Callable[[], str]] = [
            self._cast, self._cast, self._arithmetic, self._named, self._where, self._carried, self._helper, self._converted, self._chosen,
            self._literal_scalar,
        ]  # fmt: skip
        if len(self.s.shape) == 2:
            makers += [self._loaded, self._loaded_cast, self._broadcast]
        return self.c.pick(makers)()

    # -- parts -------------------------------------------------------------------------------------------------------------

    def _filled(self, dtype: str | None = None) -> str:
        d, shape = self.w.dtype(dtype or self.s.dtype), self.w.shape(self.s.shape)
        return self.c.pick(
            (
                f"jnp.zeros({shape}, {d})",
                f"jnp.ones({shape}, dtype={d})",
                f"jnp.full({shape}, 1, {d})",
                f"lax.full({shape}, 1, {d})",
            )
        )

    def _layout(self) -> str:
        name = self.s.layout
        if name == "TCGEN05_TMEM_NATIVE":
            return f"plgpu.Layout.{name}"
        if name == "STRIDED":
            return f"plgpu.Layout.WG_STRIDED({self.s.shape}, vec_size=2)"
        if name == "TCGEN05_M64_COLLECTIVE":
            return f"plgpu.Layout.{name}({self.s.shape[-1] if self.s.shape else 8})"
        how = self.c.below(4)
        if how == 2:
            constant = self.w.fresh("LAYOUT")
            self.w.head.append(f"{constant} = plgpu.Layout.{name}")
            return constant
        return f"plgpu.Layout.{name}"

    def _cast(self, dtype: str | None = None) -> str:
        filled = self._filled(dtype)
        if self.s.layout == "SPLAT":
            return filled
        return f"plgpu.layout_cast({filled}, {self._layout()})"

    def _bind(self, text: str) -> str:
        name = self.w.fresh("x")
        self.lines.append(f"{name} = {text}")
        return name

    # -- kinds -------------------------------------------------------------------------------------------------------------

    def _named(self) -> str:
        return self._bind(self._cast())

    def _arithmetic(self) -> str:
        a = self._bind(self._cast())
        return self.c.pick(
            (f"{a} + {a}", f"{a} * 2", f"({a} + 1)", f"jnp.maximum({a}, {a})", f"{a} - {a} * {a}", f"2 * {a}")
        )

    def _literal_scalar(self) -> str:
        a = self._bind(self._cast())
        return self._bind(f"{a} + jnp.asarray(1, {self.w.dtype(self.s.dtype)})")

    def _where(self) -> str:
        a = self._bind(self._cast())
        return f"jnp.where({a} > 0, {a}, {a})"

    def _carried(self) -> str:
        a = self._bind(self._cast())
        count = self.w.number(4)
        return self.c.pick(
            (
                f"lax.fori_loop(0, {count}, lambda step, acc: acc + {a}, {a})",
                f"lax.fori_loop(0, {count}, lambda step, acc: acc * acc, {a})",
            )
        )

    def _helper(self) -> str:
        name = self.w.fresh("make_")
        self.w.head += [
            f"def {name}(shape, dtype, layout=plgpu.Layout.WGMMA):",
            "    return plgpu.layout_cast(jnp.zeros(shape, dtype), layout)",
        ]
        layout = "" if self.s.layout in ("WGMMA", "SPLAT") else f", layout={self._layout()}"
        return f"{name}({self.w.shape(self.s.shape)}, {self.w.dtype(self.s.dtype)}{layout})"

    def _converted(self) -> str:
        other = "float32" if self.s.dtype != "float32" else "int32"
        a = self._bind(self._cast(other))
        return self.c.pick(
            (
                f"{a}.astype({self.w.dtype(self.s.dtype)})",
                f"lax.convert_element_type({a}, {self.w.dtype(self.s.dtype)})",
            )
        )

    def _chosen(self) -> str:
        value = self.c.chance(50)
        right, wrong = self._cast(), "jnp.zeros((3,), jnp.int8)"
        flag = self.w.flag(value)
        name = self.w.fresh("x")
        yes, no = (right, wrong) if value else (wrong, right)
        self.lines += [f"if {flag}:", f"    {name} = {yes}", "else:", f"    {name} = {no}"]
        return name

    def _source(self) -> str:
        name = self.w.fresh("src")
        b = self.s.buffer
        transforms = self.w.transforms(b.tiling, b.swizzle, self.s.shape[-1], self.s.dtype)
        self.scratch.append(
            (name, f"plgpu.SMEM({self.w.shape(self.s.shape)}, {self.w.dtype(self.s.dtype)}{transforms})")
        )
        return name

    def _loaded(self) -> str:
        if self.s.layout in ("SPLAT", "STRIDED"):
            return self._bind(f"{self._source()}[...]")
        return self._bind(
            f"plgpu.load({self._source()}, layout={self._layout()}{self.c.pick(('', ', optimized=False'))})"
        )

    def _loaded_cast(self) -> str:
        a = self._bind(f"{self._source()}[...]")
        return a if self.s.layout == "SPLAT" else f"plgpu.layout_cast({a}, {self._layout()})"

    def _broadcast(self) -> str:
        if self.s.layout not in ("WGMMA", "TCGEN05") or self.s.dtype not in ("float32", "float16", "bfloat16"):
            return self._cast()
        a = self._bind(self._cast("float32"))
        axis = self.c.pick((1, 1, 0)) if self.s.layout == "WGMMA" else 1
        row = self._bind(
            f"jnp.{self.c.pick(('sum', 'max'))}({a}, axis={axis})" if axis == 1 else f"jnp.sum({a}, axis=0)"
        )
        wide = self._bind(f"lax.broadcast_in_dim({row}, {self.w.shape(self.s.shape)}, [{1 - axis}])")
        return f"{wide}.astype({self.w.dtype(self.s.dtype)})"
