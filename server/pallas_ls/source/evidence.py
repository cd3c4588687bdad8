"""Signs, short of proof, that a line starts a statement although a bracket or a string before it is still open."""

from __future__ import annotations

import re

_MARGIN = re.compile(r"[ \t\f]*+")
_AT_OR_LEFT_OF_STATEMENT = re.compile(r"@|[^\W\d]\w*(?!\w*[ \t]*[,)\]}])")
_CONTINUES = re.compile(r"(?:if|else|for|in|is|and|or|not|async|await|lambda|yield|from)\b")
_BLOCK_OPENER = re.compile(r"(?:if|for|async[ \t]+for|match|else|case)\b[^\r\n]*:[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")
_ASSIGNMENT = re.compile(r"[^\W\d][\w.]*(?:[ \t]*,[ \t]*[\w.*]+)*(?:\[[^\r\n=]*\])?[ \t]+[-+*/%&|^@]?=[ \t][^\r\n]*")
_ANNOTATED = re.compile(r"[^\W\d][\w.]*[ \t]*:[ \t]*[^\r\n=:]+[ \t]=[ \t]")
_CALL_OR_STRING = re.compile(r"[^\W\d][\w.]*[.(]|[rR]?(?:\"\"\"|''')|[^\W\d][\w.]*\[")
_PROSE = re.compile(r"(?!(?:if|in|for|and|or|is|not|else|as|async)\b)[^\W\d]")
_CODE_IN_STRING = re.compile(
    r"(?:\r\n|\r|\n)([ \t]*)(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|class[ \t]+\w+[^\r\n]*:[ \t]*(?=[\r\n])|@[^\W\d]"
    r"|import[ \t]+\w+|from[ \t]+[\w.]+[ \t]+import\b|[^\W\d][\w.]*[ \t]=[ \t]\S"
    r"|return(?:[ \t]+[\w.]+[(\[]|[ \t]*(?=[\r\n]))|(?:if|for|while|with|elif|else)\b[^\r\n]*:[ \t]*(?=[\r\n]))"
)


def starts_statement(text: str, at: int, indent: int, word: str) -> bool:
    """Whether the physical line at `at` looks like a statement, seen from inside an open bracket of a statement that
    is indented by `indent` columns and begins with `word`."""
    margin = _MARGIN.match(text, at)
    code = margin.end() if margin else at
    if _BLOCK_OPENER.match(text, code):
        return True
    assignment = _ASSIGNMENT.match(text, code)
    if assignment and not assignment[0].rstrip().endswith((",", "(", "[", "{")):
        return True
    if len(text[at:code].expandtabs(8)) <= indent:
        return bool(_AT_OR_LEFT_OF_STATEMENT.match(text, code)) and not _CONTINUES.match(text, code)
    # A parameter list holds neither calls nor docstrings at the start of a line, and nothing else holds `a: int = 1`.
    return bool((_CALL_OR_STRING if word == "def" else _ANNOTATED).match(text, code))


def annotated(text: str, at: int) -> bool:
    """Whether the physical line at `at` reads `a: int = 1`: a field of a class, or a parameter."""
    margin = _MARGIN.match(text, at)
    return bool(_ANNOTATED.match(text, margin.end() if margin else at))


def follows_header(text: str, line_end: int, at: int, indent: int) -> bool:
    """Whether the physical line at `at` is deeper than its statement and the one before it, which ends at `line_end`,
    ends in a colon."""
    margin = _MARGIN.match(text, at)
    code = margin.end() if margin else at
    return text[max(line_end - 1, 0)] == ":" and len(text[at:code].expandtabs(8)) > indent


def embedded_code(text: str, start: int, end: int, indent: int) -> bool:
    """Whether a string at text[start:end] holds a line that looks like code no deeper than the string's statement."""
    return any(len(match[1].expandtabs(8)) <= indent for match in _CODE_IN_STRING.finditer(text, start, end))


def follows_like_prose(text: str, at: int) -> bool:
    """Whether a word follows at once, as where a docstring's opening quotes were taken for closing ones."""
    return bool(_PROSE.match(text, at))
