"""The last steps of the check: what verification finds, what an attack finds, how tight it is."""

from __future__ import annotations

import math
from collections.abc import Iterator

from theorysim.claims.kinds import AtLeast, AtMost, BoundedConstant
from theorysim.claims.verdict import Verdict
from theorysim.engine.check.step import Step, Subject, Verdicts
from theorysim.engine.falsify.falsify import falsify
from theorysim.engine.falsify.report import Attack, FalsifyReport
from theorysim.engine.review.sharpness import ATTAINED
from theorysim.engine.review.words import instance, number
from theorysim.engine.verify.report import EXIT_CODES, ClaimReport, Report
from theorysim.engine.verify.verify import verify

# Points of the attack: enough for the corners of a space, a fraction of what `falsify` tries.
BUDGET = 2_000
CHANGED = EXIT_CODES[Verdict.VIOLATED]


def verification(subject: Subject, recording: bool = False) -> tuple[Step, Report]:
    """Verify all readings; the primary one must hold, or all verdicts be the expected ones.

    Where they are recorded, none is expected.
    """
    report = verify(subject.theorem, seed=subject.seed)
    found = {r.name: {c.name: str(c.verdict) for c in r.claims} for r in report.readings}
    told = f"{report.verdict} on {report.instances} instances"
    name = "verify"
    if subject.expected is not None:
        if changes := list(differences(subject.expected, found)):
            return Step(name, told, mend=_changed(changes), code=CHANGED, verdicts=found), report
        return Step(name, f"{told}, as recorded", report.warnings, verdicts=found), report
    if report.verdict is not Verdict.HOLDS and not recording:
        mend = _why(subject, report)
        return Step(name, told, mend=mend, code=report.exit_code, verdicts=found), report
    return Step(name, told, report.warnings, verdicts=found), report


def differences(recorded: Verdicts, found: Verdicts) -> Iterator[str]:
    """What is not as recorded: verdicts, and claims that came or went."""
    for reading in {**recorded, **found}:
        before, now = recorded.get(reading, {}), found.get(reading, {})
        for claim in {**before, **now}:
            old, new = before.get(claim, "not there"), now.get(claim, "not there")
            if old != new:
                yield f"{reading}, “{claim}”: recorded {old}, now {new}"


def _changed(changes: list[str]) -> str:
    more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    return f"{changes[0]}{more}: mend it, or record the new verdicts (--record FILE)"


def _why(subject: Subject, report: Report) -> str:
    """The first claim of the primary reading that does not hold, and what to do."""
    primary = next(r for r in report.readings if r.name == subject.primary.name)
    claim = next(c for c in primary.claims if c.verdict is primary.verdict)
    return f"“{claim.name}” {_found(claim)}: {_remedy(subject, claim.verdict)}"


def _remedy(subject: Subject, verdict: Verdict) -> str:
    return REMEDIES[verdict].format(file=subject.entry.handle)


def _found(claim: ClaimReport) -> str:
    if claim.verdict is not Verdict.VIOLATED:
        return f"is {claim.verdict} ({claim.note})"
    note = claim.note.partition(",")[0]
    return f"is violated ({note}), worst at {instance(claim.worst_instance)}"


MEND = "mend claim or space, or keep it as printed and add corrected(...)"
REMEDIES = {
    Verdict.VIOLATED: f"{MEND}; `theorysim verify {{file}} --plot check.png` shows it",
    Verdict.VACUOUS: "it says nothing of these draws: widen the space, or mend `where`",
    Verdict.INCONCLUSIVE: "nothing decides it: more instances=, keys=, a longer ladder, or a space "
    "in which the sides differ by more than their error",
}


def attack(subject: Subject) -> tuple[Step, FalsifyReport]:
    """Attack the primary reading with a small budget."""
    report = falsify(
        subject.theorem, reading=subject.primary.name, budget=BUDGET, seed=subject.seed
    )
    name = "falsify"
    for found in report.attacks:
        if found.refuted:
            return Step(
                name, "refuted", mend=_refuted(subject, found), code=report.exit_code
            ), report
    return Step(name, f"withstands {report.budget:,} points"), report


def _refuted(subject: Subject, found: Attack) -> str:
    where = f" at {instance(found.instance)}" if found.instance is not None else f" ({found.note})"
    command = f"theorysim falsify {subject.entry.handle} --out counterexample.json"
    return (
        f"“{found.claim}” is violated{where}, where draws do not come: {MEND}; `{command}` shows it"
    )


def tightness(subject: Subject, report: Report, attacked: FalsifyReport) -> Step:
    """How much of their bounds the inequalities of the primary reading use; nothing to mend."""
    primary = next(r for r in report.readings if r.name == subject.primary.name)
    drawn = {claim.name: claim for claim in primary.claims}
    told = [
        _use(found.claim, max((r for r in _ratios(found, drawn[found.claim])), default=math.nan))
        for found in attacked.attacks
        if isinstance(drawn[found.claim].claim, AtMost | AtLeast)
        and not isinstance(drawn[found.claim].claim, BoundedConstant)
    ]
    return Step("tightness", ", ".join(told) or "no claim of this kind is tight or loose")


def _ratios(found: Attack, drawn: ClaimReport) -> Iterator[float]:
    """The ratios that were met; those of sides that are equal by construction tell nothing."""
    if not drawn.ties and math.isfinite(found.ratio):
        yield found.ratio
    if math.isfinite(drawn.tightness):
        yield drawn.tightness


def _use(claim: str, ratio: float) -> str:
    if math.isnan(ratio):
        return f"“{claim}” has no ratio"
    if ratio >= 1 - ATTAINED:
        return f"“{claim}” is attained"
    return f"“{claim}” uses {number(100 * ratio)} % of its bound: the constant has room"
