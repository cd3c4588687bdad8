"""Each rule on its own kernels: it finds the fault of the bad one where it is marked, and JAX agrees with it.

Kernels are lowered as they stand, with the default semantics of the release unless they name others.
"""

from __future__ import annotations

import pytest

from pallas_ls.domain.finding import Severity
from pallas_ls.domain.target import MEASURED, NEWEST, JaxVersion, Semantics, Target
from pallas_ls.rules.registry import RETIRED, all_rules
from pallas_ls.rules.rule import REFUSED, Rule
from tests.oracle.answers import findings, line_of
from tests.oracle.verdict import quotes, read, show

from .places import KERNELS, TABLE

RULES = all_rules()
RECORDED = read(TABLE)

#: Where a release refuses a bad kernel for another fault than the rule's: the rule that we name then.
#: Lane, the default up to 0.10, looks for transforms first.
OTHERWISE = {
    ("async-store-bytes", JaxVersion(0, 10, 2)): "async-store-transforms",
    ("max-registers-range", JaxVersion(0, 10, 2)): "max-registers",
    ("wgmma-rows", JaxVersion(0, 10, 2)): "accumulator-type",
    ("concatenated-layouts", JaxVersion(0, 10, 2)): "unlowered-primitive",
}


def lacks(rule: Rule, version: JaxVersion) -> bool:
    """Whether a release does not have what the rule is about: its good kernel fails there for a missing name."""
    theirs = RECORDED[f"{rule.id}.good.py", version]
    missing = theirs is not None and theirs.type == "AttributeError"
    return missing and rule.since is not None and version < rule.since


def by_id(rules: tuple[Rule, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("rule", rules, ids=[r.id for r in rules])


def test_ids_are_unique_and_kernels_belong_to_rules() -> None:
    ids = [r.id for r in RULES]
    assert len(set(ids)) == len(ids)
    assert {p.name for p in KERNELS.glob("*.py")} == {f"{i}.{kind}.py" for i in ids for kind in ("bad", "good")}


def test_a_retired_id_is_no_rule_and_names_one_that_is() -> None:
    assert not {r.id for r in RULES} & set(RETIRED)
    assert set(RETIRED.values()) <= {r.id for r in RULES}


def newest(rule: Rule) -> JaxVersion:
    """The newest measured release for which a rule holds."""
    held = [v for v in MEASURED if rule.holds_for(v, rule.semantics or Target(v).default_semantics())]
    return held[-1] if held else NEWEST


@by_id(RULES)
def test_the_bad_kernel_has_this_finding_on_the_marked_line(rule: Rule) -> None:
    text = rule.example("bad")
    [found] = findings("kernel.py", text, newest(rule))
    [marked] = [n for n, line in enumerate(text.splitlines(), 1) if line.endswith(REFUSED)]
    assert (found.code, line_of(found, text)) == (rule.id, marked)


@pytest.mark.parametrize("version", MEASURED, ids=str)
@by_id(RULES)
def test_the_good_kernel_has_no_finding(rule: Rule, version: JaxVersion) -> None:
    if lacks(rule, version):
        pytest.skip(f"JAX {version} does not have what {rule.id} is about")
    assert findings("kernel.py", rule.example("good"), version) == ()
    assert REFUSED not in rule.example("good")
    assert RECORDED[f"{rule.id}.good.py", version] is None


@pytest.mark.parametrize("version", MEASURED, ids=str)
@by_id(RULES)
def test_the_answer_for_a_release_is_what_it_was_recorded_to_say(rule: Rule, version: JaxVersion) -> None:
    if lacks(rule, version):
        pytest.skip(f"JAX {version} does not have what {rule.id} is about")
    theirs = RECORDED[f"{rule.id}.bad.py", version]
    found = findings("kernel.py", rule.example("bad"), version)
    if theirs is None and rule.severity is Severity.WARNING:
        [ours] = found
        assert (ours.code, ours.severity, ours.jax) == (rule.id, Severity.WARNING, None)
        return
    if theirs is None:
        assert found == ()
        assert not rule.holds_for(version, Target(version).default_semantics())
        return
    [ours] = found
    assert ours.code == OTHERWISE.get((rule.id, version), rule.id)
    assert ours.jax is not None
    assert quotes(ours.jax, theirs), f"{show(ours.jax)!r} is not {show(theirs)!r}"


@pytest.mark.parametrize("kind", ["bad", "good"])
@by_id(RULES)
def test_the_installed_jax_agrees(rule: Rule, kind: str) -> None:
    live = pytest.importorskip("tests.oracle.live", reason="JAX is not installed", exc_type=ImportError)
    theirs = live.verdict(KERNELS / f"{rule.id}.{kind}.py")
    if live.VERSION in MEASURED and lacks(rule, live.VERSION):
        pytest.skip(f"JAX {live.VERSION} does not have what {rule.id} is about")
    found = [f for f in findings("kernel.py", rule.example(kind), live.VERSION) if f.severity is Severity.ERROR]
    assert len(found) == (theirs is not None)
    for ours in found:
        assert ours.jax is not None
        assert quotes(ours.jax, theirs), f"{show(ours.jax)!r} is not {show(theirs)!r}"


@by_id(tuple(r for r in RULES if r.semantics is not None))
def test_a_rule_of_one_semantics_shows_a_kernel_of_it(rule: Rule) -> None:
    named = {Semantics.LANE: "LoweringSemantics.Lane", Semantics.WARPGROUP: "LoweringSemantics.Warpgroup"}
    assert rule.semantics is not None
    assert named[rule.semantics] in rule.example("bad")
