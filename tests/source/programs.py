"""Random programs of a small grammar, and random edits of them."""

from __future__ import annotations

from hypothesis import strategies as st

NAMES = ("a", "b", "tile_m", "größe", "acc_smem")
EXPRESSIONS = (
    "1",
    "a + b",
    "f(a, b)",
    "f(\n    a,\n  b=2,\n)",
    "(a\n if b\n else 1)",
    '"text # no comment"',
    "'größe → \U0001f600'",
    'f"{a!r:>{b}} {{x}}"',
    "f'{d[\"k\"]}'",
    '"""one\n  two\ndef not_code():\n"""',
    "'''x'''",
    "[x for x in\n range(3)]",
    "{'k': (1, [2]), 'l': 3}",
    "a \\\n    + b",
    "lambda x: {x: 1}",
    "rb'\\d\"'",
)
HEADERS = ("if a:", "for x in f(b):", "while a:", "with f(a) as b:", "if (a and\n        b):")


@st.composite
def simple(draw: st.DrawFn) -> list[str]:
    name, value = draw(st.sampled_from(NAMES)), draw(st.sampled_from(EXPRESSIONS))
    form = draw(
        st.sampled_from(("{n} = {v}", "{n}.x[0] += {v}", "{v}", "assert {v}", "{n}: int = {v}", "a = 1; {n} = {v}"))
    )
    comment = draw(st.sampled_from(("", "", "  # a ( comment")))
    return [form.format(n=name, v=value) + comment]


def indented(lines: list[str], margin: str = "    ") -> list[str]:
    """Indents statements. Line breaks inside a statement (brackets, strings) get no margin: Python allows it."""
    return [margin + line if line and not line.isspace() else line for line in lines]


@st.composite
def block(draw: st.DrawFn, depth: int) -> list[str]:
    statements = draw(st.lists(statement(depth + 1), min_size=1, max_size=3))
    return [line for lines in statements for line in indented(lines)]


@st.composite
def function(draw: st.DrawFn, depth: int) -> list[str]:
    decorators = draw(st.lists(st.sampled_from(("@dec", "@plgpu.kernel(\n  a, b)")), max_size=2))
    name = draw(st.sampled_from(("kernel", "body", "größe")))
    head = draw(
        st.sampled_from(("def {n}(a, *, b=1):", "async def {n}():", "def {n}(\n    a: int,\n    b=(1, 2),\n) -> int:"))
    )
    return [*decorators, head.format(n=name), *draw(block(depth))]


@st.composite
def compound(draw: st.DrawFn, depth: int) -> list[str]:
    body = [draw(st.sampled_from(HEADERS)), *draw(block(depth))]
    if body[0].startswith("if") and draw(st.booleans()):
        body += ["elif b:", *draw(block(depth))]
    if not body[0].startswith("with") and draw(st.booleans()):
        body += ["", "else:", *draw(block(depth))]
    return body


@st.composite
def trial(draw: st.DrawFn, depth: int) -> list[str]:
    return ["try:", *draw(block(depth)), "except (A, B) as e:", *draw(block(depth)), "finally:", *draw(block(depth))]


@st.composite
def choice(draw: st.DrawFn, depth: int) -> list[str]:
    return ["match a:", "    case 1:", *indented(draw(block(depth))), "    case _:", *indented(draw(block(depth)))]


@st.composite
def klass(draw: st.DrawFn, depth: int) -> list[str]:
    head = draw(st.sampled_from(("class Config:", "class Test(Base):", "class Größe(\n    Base):")))
    decorators = draw(st.lists(st.just("@dataclass"), max_size=1))
    return [*decorators, head, *draw(block(depth))]


def statement(depth: int = 0) -> st.SearchStrategy[list[str]]:
    if depth >= 3:
        return simple()
    nested = [simple(), simple(), function(depth), compound(depth), klass(depth), trial(depth), choice(depth)]
    fillers = [st.just(["# comment"]), st.just([""]), st.just(["", "# pallas: ignore", ""])]
    return st.one_of(*nested) if depth else st.one_of(*nested, *fillers)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Valid programs, with line ends of any one kind."""
    statements = draw(st.lists(statement(), max_size=6))
    text = "\n".join(line for lines in statements for line in lines)
    text = text + draw(st.sampled_from(("", "\n", "\n\n# end")))
    return text.replace("\n", draw(st.sampled_from(("\n", "\n", "\n", "\r\n", "\r"))))


SNIPPETS = (
    "(", ")", "[", "]", "{", "}", '"', "'", '"""', "'''", "\\", "\n", "\r", "\r\n", " ", "    ", "\t", "\f", ":", "@",
    "#", "else:", "\nelse:\n    x\n", "def f(", "\ndef f():\n    pass\n", "class X:\n", "x", "x = ", "\nN = 3\n",
    "if x:\n", "f\"{", "f'{x", "é", "\U0001f600", "\0", "@dec\n", "try:", "\nexcept:\n", "case 1:", "return", ";",
    "\ufeff", "async ",
)  # fmt: skip


@st.composite
def edits(draw: st.DrawFn, text: str) -> str:
    """The text after one replacement of a stretch by a snippet."""
    start = draw(st.integers(0, len(text)))
    length = draw(st.sampled_from((0, 0, 0, 1, 2, 5, 40)))
    return text[:start] + draw(st.sampled_from(("", *SNIPPETS))) + text[start + length :]
