"""Whole files around `plgpu.async_store_smem`, in the styles that people write."""

# ruff: noqa: E501 - lines of generated code stay whole

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .choices import Choices
from .spec import Buffer, Plan, Store, plan
from .values import Scratch, Values
from .writer import Writer

KINDS = ("barrier", "data", "cluster_barrier", "gmem", "value")


@dataclass(frozen=True, slots=True)
class Generated:
    """A file, the module that it imports, and what was meant."""

    texts: dict[str, str]
    plan: Plan
    row: tuple[int, ...]


def generate(c: Choices) -> Generated:
    """One file."""
    p = plan(c)
    texts = _File(c, p).texts()
    return Generated(texts, p, tuple(c.made))


def indented(lines: Sequence[str], depth: int = 1) -> list[str]:
    """Lines further in."""
    return ["    " * depth + line if line else line for line in lines]


class _File:
    def __init__(self, c: Choices, p: Plan) -> None:
        self.c = c
        self.p = p
        self.w = Writer(c)
        self.scratch: Scratch = []
        self.form = c.pick(("module", "module", "factory", "factory", "operand", "decorator", "partial", "curried"))
        self.threads = c.chance(10)
        if self.form in ("factory", "operand"):
            self.w.params = []

    def texts(self) -> dict[str, str]:
        body = self._statements()
        for b in self.p.spare:
            self.scratch.append((self.w.fresh("spare"), self._smem(b)))
        operand = self.form == "operand"
        header, unpack, keyword = self._scratch_style()
        first = ["x_gmem", "o_gmem"] if operand else ["o_gmem"]
        signature = ", ".join([*first, *header])
        definition = self._definition(signature, [*unpack, *body])
        launch = self._launch_options(keyword)
        return self.w.text([*self._noise(), *self._written(definition, launch)])

    def _definition(self, signature: str, lines: list[str]) -> list[str]:
        how = (
            self.c.pick(("function", "function", "function", "method", "callable", "wrapped", "static", "lambda"))
            if self.form != "decorator"
            else ""
        )
        plain = [f"def body({signature}):", *indented(lines)]
        own = f"self, {signature}" if signature else "self"
        if how == "method":
            return [
                "class Kernel:",
                "    def __init__(self, name):",
                "        self.name = name",
                f"    def run({own}):",
                *indented(lines, 2),
                'body = Kernel("store").run',
            ]
        if how == "callable":
            return ["class Kernel:", f"    def __call__({own}):", *indented(lines, 2), "body = Kernel()"]
        if how == "static":
            return [
                "class Kernel:",
                "    @staticmethod",
                f"    def run({signature}):",
                *indented(lines, 2),
                "body = Kernel.run",
            ]
        if how == "wrapped":
            return [
                "def named(f):",
                "    @functools.wraps(f)",
                "    def inner(*args, **kwargs):",
                "        return f(*args, **kwargs)",
                "    return inner",
                "@named",
                *plain,
            ]
        if how == "lambda":
            return [f"def work({signature}):", *indented(lines), "body = lambda *args, **kwargs: work(*args, **kwargs)"]
        return plain

    # -- the body ----------------------------------------------------------------------------------------------------------

    def _statements(self) -> list[str]:
        lines = ['i = lax.axis_index("c")']
        if self.c.chance(10):
            lines.append(f'g = {self.c.pick(("jax.lax", "lax"))}.axis_index("g")')
        for s in self.p.stores:
            lines += self._store(s)
        return lines

    def _store(self, s: Store) -> list[str]:
        scoped: Scratch = []
        target = self.scratch if self.c.chance(75) else scoped
        buf, bar = self.w.fresh("buf"), self.w.fresh("bar")
        union = self.c.chance(8) and not s.view
        smem = self._smem(s.buffer)
        if union:
            smem = f"plgpu.RefUnion({smem}, plgpu.SMEM((64,), jnp.float32))"
        target.append((buf, smem))
        barrier = self._barrier(s, bar, target)
        values = Values(self.w, s, self.scratch)
        value = values.value()
        lines = list(values.lines)
        if union:
            whole, buf = buf, self.w.fresh("member")
            lines.append(self.c.pick((f"[{buf}, _] = {whole}", f"{buf}, _ = {whole}")))
        slots = s.buffer.lead[0] if s.buffer.lead else 0
        wrapper = self.c.pick(
            (
                "",
                "",
                "",
                "when",
                "if",
                "nested",
                "range",
                "loop",
                "fori",
                "dead",
                "try",
                "with",
                "lambda",
                "cond",
                "unknown",
                "continue",
                "return",
            )
        )
        slot = self._slot(wrapper, slots)
        ref = self._ref(s, buf, slot)
        if barrier is None:
            barrier = "o_gmem" if s.barrier == "gmem" else self.c.pick(("i", "None"))
        elif s.barriers > 1 and s.slot:
            barrier = f"{barrier}.at[{slot if slots and s.barriers >= slots else self.c.pick(('0', '1'))}]"
        if self.c.chance(25):
            name = self.w.fresh("dst")
            call = [f"{name} = {ref}", *self._call(s, value, name, barrier)]
        else:
            call = self._call(s, value, ref, barrier)
        lines += self._wrapped(wrapper, call, slots)
        return self._scoped(lines, scoped) if scoped else lines

    def _slot(self, wrapper: str, slots: int) -> str:
        if wrapper in ("range", "loop", "fori") and slots:
            return "step"
        return self.c.pick(
            ("0", f"{max(slots - 1, 0)}", "i", f"lax.rem(i, {max(slots, 1)})", f"(i + 1) % {max(slots, 1)}")
        )

    def _ref(self, s: Store, buf: str, slot: str) -> str:
        ref = buf
        lead = s.buffer.lead
        rest = s.buffer.shape
        rows = ""
        if s.rows is not None:
            start, size, step = s.rows
            if step == 1:
                rows = self.c.pick((f"pl.ds({self.w.number(start)}, {self.w.number(size)})", f"{start}:{start + size}"))
            else:
                rows = f"pl.ds({start}, {size}, {step})"
        if lead:
            index = ", ".join([slot, *("0" for _ in lead[1:])])
            if rows and self.c.chance(50):
                return self._viewed(s, f"{ref}.at[{index}, {rows}]")
            ref = f"{ref}.at[{index}]"
        if rows:
            ref = f"{ref}.at[{self.c.pick((rows, f'{rows}, :' if len(rest) == 2 else rows))}]"
        elif self.c.chance(10):
            ref = f"{ref}.at[...]"
        return self._viewed(s, ref)

    def _viewed(self, s: Store, ref: str) -> str:
        return {
            "": ref,
            "T": f"{ref}.T",
            "transpose back": f"{ref}.T.T",
            "tile index": f"{ref}.at[0]",
            "value": f"{ref}[...]",
            "gmem": "o_gmem",
            "cluster": f'plgpu.cluster_ref({ref}, {{"c": 1 - i}})',
        }[s.view]

    def _call(self, s: Store, value: str, ref: str, barrier: str) -> list[str]:
        keywords = {"cluster_idx": s.index, "cluster_dim": f'"{s.axis}"'}
        if s.drop:
            for name in ("cluster_idx", "cluster_dim") if s.drop == "both" else (s.drop,):
                del keywords[name]
        if s.optimized is not None:
            keywords["optimized"] = str(s.optimized)
        if s.atomic is not None:
            keywords["atomic"] = f'"{s.atomic}"'
        if s.extra:
            name, _, text = s.extra.partition("=")
            keywords[name] = text
        return self._written_call(value, ref, barrier, keywords)

    def _written_call(self, value: str, ref: str, barrier: str, keywords: dict[str, str]) -> list[str]:
        how = self.c.pick(("plain", "plain", "named", "opts", "partial", "helper", "star", "split"))
        given = ", ".join(f"{k}={v}" for k, v in keywords.items())
        tail = f", {given}" if given else ""
        if how == "named":
            return [f"plgpu.async_store_smem(src={value}, ref={ref}, barrier={barrier}{tail})"]
        if how == "opts":
            name = self.w.fresh("opts")
            shown = ", ".join(f'"{k}": {v}' for k, v in keywords.items())
            return [f"{name} = {{{shown}}}", f"plgpu.async_store_smem({value}, {ref}, {barrier}, **{name})"]
        if how == "partial" and "cluster_dim" in keywords:
            name = self.w.fresh("send")
            rest = "".join(f", {k}={v}" for k, v in keywords.items() if k != "cluster_dim")
            bound = f"functools.partial(plgpu.async_store_smem, cluster_dim={keywords['cluster_dim']})"
            if self.c.chance(50):
                self.w.head.append(f"{name} = {bound}")
                return [f"{name}({value}, {ref}, {barrier}{rest})"]
            return [f"{name} = {bound}", f"{name}({value}, {ref}, {barrier}{rest})"]
        if how == "helper":
            name = self.w.fresh("store")
            self.w.head += [
                f"def {name}(ref, value, barrier, **options):",
                "    plgpu.async_store_smem(value, ref, barrier, **options)",
            ]
            return [f"{name}({ref}, {value}, {barrier}{tail})"]
        if how == "star":
            name = self.w.fresh("args")
            return [f"{name} = ({value}, {ref}, {barrier})", f"plgpu.async_store_smem(*{name}{tail})"]
        if how == "split":
            name = self.w.fresh("v")
            return [
                f"{name} = {value}",
                "plgpu.async_store_smem(",
                f"    {name},",
                f"    {ref},",
                f"    {barrier},",
                *([f"    {given},"] if given else []),
                ")",
            ]
        return [f"plgpu.async_store_smem({value}, {ref}, {barrier}{tail})"]

    def _wrapped(self, wrapper: str, call: list[str], slots: int) -> list[str]:
        count = self.w.number(slots or 2)
        name = self.w.fresh("inner")
        if wrapper == "when":
            return [
                f"@pl.when({self.c.pick(('i == 0', 'i > 0', 'True', '(i + 1) % 2 == 0'))})",
                "def _():",
                *indented(call),
            ]
        if wrapper == "if":
            return [f"if {self.w.flag(True)}:", *indented(call), "else:", "    raise NotImplementedError"]
        if wrapper == "nested":
            return [f"def {name}():", *indented(call), f"{name}()"]
        if wrapper == "range":
            return [f"for step in range({count}):", *indented(call)]
        if wrapper == "loop":
            return [f"@pl.loop(0, {count})", "def _(step):", *indented(call)]
        if wrapper == "fori":
            return [
                f"def {name}(step, carry):",
                *indented([*call, "return carry"]),
                f"lax.fori_loop(0, {count}, {name}, None)",
            ]
        if wrapper == "dead":
            return [
                f"if {self.w.flag(False)}:",
                "    plgpu.async_store_smem(jnp.zeros((3,), jnp.int8), o_gmem, i, cluster_idx=0, cluster_dim='nowhere')",
                *call,
            ]
        if wrapper == "try":
            return ["try:", *indented(call), "finally:", "    pass"]
        if wrapper == "lambda":
            return [f"def {name}():", *indented(call), f"pl.when(i >= 0)(lambda: {name}())"]
        if wrapper == "cond":
            return [f"def {name}(_):", *indented([*call, "return 0"]), f"lax.cond(i == 0, {name}, lambda _: 1, None)"]
        if wrapper == "unknown":
            bad = "plgpu.async_store_smem(jnp.zeros((3,), jnp.int8), o_gmem, i, cluster_idx=0, cluster_dim='nowhere')"
            return ["import os", "if os.environ.get('PALLAS_FUZZ_NEVER'):", f"    {bad}", *call]
        if wrapper == "continue":
            return ["for k in (0, 1):", "    if k == 0:", "        continue", *indented(call)]
        if wrapper == "return":
            return [
                f"def {name}():",
                "    if i is None:",
                "        return",
                *indented(call),
                "    return",
                f"    {call[-1] if len(call) == 1 else 'pass'}",
                f"{name}()",
            ]
        if wrapper == "with":
            return ['with jax.named_scope("store"):', *indented(call)]
        return call

    def _scoped(self, lines: list[str], scoped: Scratch) -> list[str]:
        name = self.w.fresh("scope")
        names = ", ".join(n for n, _ in scoped)
        how = self.c.pick(("positional", "keyword", "decorator"))
        typed = ", ".join(f"{n}={t}" for n, t in scoped)
        if self.threads:
            typed += ', collective_axes="wg"'
        if how == "decorator":
            return [f"@functools.partial(pl.run_scoped, {typed})", f"def {name}({names}):", *indented(lines)]
        given = ", ".join(t for _, t in scoped) if how == "positional" and not self.threads else typed
        return [f"def {name}({names}):", *indented(lines), f"pl.run_scoped({name}, {given})"]

    # -- buffers -----------------------------------------------------------------------------------------------------------

    def _smem(self, b: Buffer) -> str:
        shape = self.w.shape((*b.lead, *b.shape))
        columns = b.shape[-1] if b.shape else 1
        transforms = self.w.transforms(b.tiling, b.swizzle, columns, b.dtype)
        return f"plgpu.SMEM({shape}, {self.w.dtype(b.dtype)}{transforms})"

    def _barrier(self, s: Store, name: str, target: Scratch) -> str | None:
        if s.barrier in ("gmem", "value"):
            return None
        options = [f"num_arrivals={self.w.number(s.arrivals)}"] if s.arrivals != 1 or self.c.chance(20) else []
        if s.barriers != 1 or self.c.chance(10):
            options.append(f"num_barriers={self.w.number(s.barriers)}")
        if s.barrier == "data":
            target.append((name, "plgpu.SMEM((1,), jnp.int32)"))
        elif s.barrier == "cluster_barrier":
            given = ", ".join(['collective_axes=("c",)', *options])
            target.append((name, f"plgpu.ClusterBarrier({given})"))
        else:
            target.append((name, f"plgpu.Barrier({', '.join(options)})"))
        return name

    def _scratch_style(self) -> tuple[list[str], list[str], str]:
        """(parameters, statements that unpack them, the expression for `scratch_types`)."""
        names = [n for n, _ in self.scratch]
        types = [t for _, t in self.scratch]
        how = self.c.pick(
            ("list", "list", "tuple", "dict", "dict()", "star", "kwargs", "nested", "built", "comprehension", "updated")
        )
        listed = f"[{', '.join(types)}]"
        if not names:
            return [], [], "[]"
        if how == "tuple":
            return names, [], f"({', '.join(types)},)"
        if how == "dict":
            return (
                ["*", *names] if self.c.chance(50) else names,
                [],
                "{" + ", ".join(f'"{n}": {t}' for n, t in self.scratch) + "}",
            )
        if how == "dict()":
            return names, [], f"dict({', '.join(f'{n}={t}' for n, t in self.scratch)})"
        if how == "star":
            return (
                ["*refs"],
                [f"{', '.join(names)}, = refs" if len(names) == 1 else f"{', '.join(names)} = refs"],
                listed,
            )
        if how == "kwargs":
            return (
                ["**refs"],
                [f'{n} = refs["{n}"]' for n in names],
                "{" + ", ".join(f'"{n}": {t}' for n, t in self.scratch) + "}",
            )
        if how == "nested" and len(names) > 1:
            return (
                ["refs", names[-1]],
                [f"{', '.join(names[:-1])}, = refs"],
                f"[({', '.join(types[:-1])},), {types[-1]}]",
            )
        if how == "built":
            return names, [], f"[*[{types[0]}], {', '.join(types[1:])}]"
        if how == "comprehension":
            return names, [], f"[t for t in {listed}]"
        if how == "updated":
            return (
                names,
                [],
                "{" + f"**dict({names[0]}={types[0]}), " + ", ".join(f'"{n}": {t}' for n, t in self.scratch[1:]) + "}",
            )
        return names, [], listed

    # -- the launch --------------------------------------------------------------------------------------------------------

    def _launch_options(self, scratch: str) -> list[str]:
        options = [
            f"out_type={self.c.pick(('jax.ShapeDtypeStruct((128,), jnp.float32)', 'jax.ShapeDtypeStruct(shape=(128,), dtype=jnp.float32)'))}",
            f"scratch_types={scratch}",
            f"grid=({self.w.number(2)},)",
            'grid_names=("g",)',
            f"cluster=({self.w.number(2)},)",
            'cluster_names=("c",)',
        ]
        if self.threads:
            options += ["num_threads=1", 'thread_name="wg"']
        if self.p.semantics is not None:
            given = f"plgpu.LoweringSemantics.{self.p.semantics}"
            if self.c.chance(25):
                name = self.w.fresh("SEMANTICS")
                self.w.head.append(f"{name} = {given}")
                given = name
            options.append(f"compiler_params=plgpu.CompilerParams(lowering_semantics={given})")
        return options

    def _noise(self) -> list[str]:
        """Code that never runs, or does nothing."""
        out: list[str] = []
        if self.c.chance(10):
            out += [
                "def never_called(x, ref, barrier):",
                "    m, n = x.shape",
                "    plgpu.async_store_smem(x, ref, barrier, cluster_idx=0, cluster_dim='q')",
                "",
            ]
        if self.c.chance(10):
            out += ["if False:", "    plgpu.SwizzleTransform(17)", ""]
        if self.c.chance(10):
            out += ["try:", "    plgpu.SwizzleTransform(17)", "except ValueError:", "    pass", ""]
        if self.c.chance(10):
            out += [
                "def sizes_for(swizzle=128):",
                "    if swizzle not in (32, 64, 128):",
                "        raise ValueError(swizzle)",
                "    return plgpu.SwizzleTransform(swizzle)",
                "",
            ]
        return out

    def _written(self, definition: list[str], options: list[str]) -> list[str]:
        joined = ", ".join(options)
        if self.form == "module":
            kernel = [*definition, "", "kernel = plgpu.kernel(", "    body,", *(f"    {o}," for o in options), ")"]
            return [*kernel, *self._run("kernel", "")]
        if self.form == "decorator":
            return [
                f"@plgpu.kernel({joined})" if self.c.chance(50) else f"@functools.partial(plgpu.kernel, {joined})",
                *definition,
                *self._run("body", ""),
            ]
        if self.form == "partial":
            split = self.c.below(len(options))
            return [
                *definition, "", f"launch = functools.partial(plgpu.kernel, {', '.join(options[:split])})", f"kernel = launch(body, {', '.join(options[split:])})",
                *self._run("kernel", ""),
            ]  # fmt: skip
        if self.form == "curried":
            return [
                *definition, "", "def run():", f"    options = dict({joined})", "    kernel = plgpu.kernel(body, **options)", "    return kernel()",
                *self._run("run", ""),
            ]  # fmt: skip
        if self.form == "operand":
            return self._with_operand(definition, joined)
        return self._with_factory(definition, joined)

    def _with_factory(self, definition: list[str], joined: str) -> list[str]:
        params = self.w.params or []
        style = self.c.pick(("positional", "keyword", "defaults", "cached"))
        names = [n for n, _ in params]
        if style == "defaults":
            header, given = ", ".join(f"{n}={v}" for n, v in params), ""
            if self.c.chance(50):  # defaults that nobody uses
                header, given = ", ".join(f"{n}=5" for n in names), ", ".join(v for _, v in params)
        else:
            header = ", ".join(["*", *names] if style == "keyword" and names else names)
            given = ", ".join(f"{n}={v}" if style == "keyword" else v for n, v in params)
        top = ["@functools.cache"] if style == "cached" else []
        asserts = [f"assert {names[0]} >= 0"] if names and self.c.chance(30) else []
        attempt: list[str] = []
        if names and style != "defaults" and self.c.chance(25):  # a configuration that may fail, and is expected to
            wrong = ", ".join(f"{n}=7" if style == "keyword" else "7" for n in names)
            lowering = f'jax.jit(make({wrong})).trace().lower(lowering_platforms=("cuda",))'
            attempt = self.c.pick((
                ["try:", f"    {lowering}", "except Exception as error:", "    print(end='')"],
                ["import contextlib", "with contextlib.suppress(Exception):", f"    {lowering}"],
                ["for attempt in range(2):", "    try:", f"        {lowering}", "    except (ValueError, AssertionError, TypeError, NotImplementedError, ZeroDivisionError, KeyError, LookupError, AttributeError):", "        continue"],
            ))  # fmt: skip
        return [
            *top, f"def make({header}):", *indented([*asserts, *definition, f"return plgpu.kernel(body, {joined})"]), "",
            *attempt, *self._run(f"make({given})", ""),
        ]  # fmt: skip

    def _with_operand(self, definition: list[str], joined: str) -> list[str]:
        shape = self.p.stores[0].shape
        params = self.w.params or []
        dims = [f"d{i}" for i in range(len(shape))]
        local = [f"{', '.join(dims)}, = x.shape"] if dims else []
        for name, text in params:
            literal = int(text) if text.isdigit() else None
            local.append(f"{name} = {dims[shape.index(literal)] if literal in shape and self.c.chance(70) else text}")
        guard = (
            [f"if {dims[0]} % 8:", "    raise ValueError('rows')"]
            if dims and shape[0] % 8 == 0 and self.c.chance(30)
            else []
        )
        lines = ["def run(x):", *indented([*local, *guard, *definition, f"return plgpu.kernel(body, {joined})(x)"]), ""]
        operand = f"jax.ShapeDtypeStruct({shape}, jnp.float32)"
        return [*lines, *self._run("run", operand)]

    def _run(self, callee: str, args: str) -> list[str]:
        lowering = f'jax.jit({callee}).trace({args}).lower(lowering_platforms=("cuda",))'
        how = self.c.pick(("plain", "plain", "main", "function", "names"))
        if how == "main":
            return ["", 'if __name__ == "__main__":', f"    {lowering}"]
        if how == "function":
            return ["", "def main():", f"    {lowering}", "", "main()"]
        if how == "names":
            return [
                "",
                f"FN = {callee}",
                f"ARGS = [{args}]",
                'jax.jit(FN).trace(*ARGS).lower(lowering_platforms=("cuda",))',
            ]
        return ["", lowering]
