"""What a verification says, in sentences: is it true as printed, where does it break, how loose."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from theorysim.claims.kinds import RELATIONS, Attack, Pointwise
from theorysim.claims.kinds.inequality import Inequality
from theorysim.claims.source import Corrected, Finding, Printed, Source
from theorysim.claims.verdict import Verdict
from theorysim.engine.registry.notation import Notation
from theorysim.engine.verify.report import CONFIDENCE, ClaimReport, ReadingReport, Report

# A bound is attained where the sides come nearer than this.
ATTAINED = 0.99


@dataclass(frozen=True)
class Place:
    """The verdict on one reading: a printed place, a correction or a finding of ours.

    `kind` is "printed", "corrected" or "finding"; `place` is empty where nothing is printed.
    `words` are those of the print, the change of a correction, or what a finding is about; `why`
    says what decided a verdict other than "holds". `refuted` names the violated claims. `primary`
    marks the one that decides the theorem's verdict.
    """

    reading: str
    kind: str
    place: str
    words: str
    verdict: Verdict
    why: str
    refuted: tuple[str, ...]
    primary: bool

    @property
    def where(self) -> str:
        """The reading and its place: "main text (Theorem 4.7)"."""
        if self.kind != "printed" or self.place in ("", self.reading):
            return self.reading
        return self.place if self.reading == "as printed" else f"{self.reading} ({self.place})"

    @property
    def sentence(self) -> str:
        """Such as "main text (Theorem 4.7): holds"."""
        return f"{self.where}: {self.verdict}" + (f", {self.why}" if self.why else "")


@dataclass(frozen=True)
class Answer:
    """What a verification says, one sentence each; what is empty has nothing to say.

    `simulated` is what was run, `worst` the worst case, `tightness` how near the sides come,
    `excluded` the share of violations that the draws exclude, `next` a command.
    """

    theorem: str
    title: str
    verdict: Verdict
    printed: tuple[Place, ...]
    corrected: tuple[Place, ...]
    findings: tuple[Place, ...]
    correction: str
    simulated: str
    worst: str
    tightness: str
    excluded: str
    next: str
    warnings: tuple[str, ...]


def answer(report: Report, notation: Notation | None = None, handle: str = "") -> Answer:
    """The answer to what users ask of a verification.

    `notation` says what was run, `handle` what commands call the theorem, if not by its id.
    """
    handle = handle or report.theorem
    places = [_place(reading) for reading in report.readings]
    of_kind = {
        kind: tuple(p for p in places if p.kind == kind)
        for kind in ("printed", "corrected", "finding")
    }
    decisive = decisive_reading(report)
    return Answer(
        theorem=report.theorem,
        title=report.title,
        verdict=report.verdict,
        printed=of_kind["printed"],
        corrected=of_kind["corrected"],
        findings=of_kind["finding"],
        correction=notation.corrected if notation else "",
        simulated=_simulated(report, notation, handle),
        worst=_worst(_worst_reading(report, decisive)),
        tightness=_of(decisive, report, _tightness(decisive.claims)),
        excluded=_of(decisive, report, _excluded(decisive, report)),
        next=_next(report, of_kind["printed"], handle),
        warnings=report.warnings,
    )


def _of(reading: ReadingReport, report: Report, said: str) -> str:
    """What is said of one reading, with its name where there are others."""
    return f"{reading.name}: {said}" if said and len(report.readings) > 1 else said


def decisive_reading(report: Report) -> ReadingReport:
    """The primary reading, or the only one that was verified."""
    return next((r for r in report.readings if r.primary), report.readings[0])


def decisive_claim(report: Report) -> ClaimReport | None:
    """The claim that decides the verdict, if a single instance shows it."""
    reading = decisive_reading(report)
    deciding = (c for c in reading.claims if c.verdict is reading.verdict)
    return next((c for c in deciding if c.worst_instance is not None), None)


def quoted(name: str) -> str:
    """The name of a claim within a sentence."""
    return f"\u201c{name}\u201d"


def number(value: float) -> str:
    """A number with three digits; a dash where there is none."""
    return "-" if math.isnan(value) else f"{value + 0.0:.3g}"


def apart(left: float, right: float) -> tuple[str, str]:
    """Two numbers with three digits, or with as many as tell them from each other."""
    for digits in range(3, 17):
        shown = f"{left + 0.0:.{digits}g}", f"{right + 0.0:.{digits}g}"
        if shown[0] != shown[1]:
            return shown
    return number(left), number(right)


def count(many: int, noun: str) -> str:
    """Such as "1 instance" and "64 instances"."""
    return f"{many:,} {noun}" if many == 1 else f"{many:,} {noun}s"


def facing(left: float, must: str, right: float, error: float) -> str:
    """Both sides, as in "2, must be at most 1 (error 1e-16)"."""
    shown = apart(left, right)
    return f"{shown[0]}, must be {must} {shown[1]} (error {number(error)})"


def excluded(shares: Iterable[tuple[str, float, int]], draw: str, sizes: str = "") -> str:
    """What draws say of violations that they did not meet, for the claim that says least.

    Args:
        shares: of each claim the name, the share that is excluded (NaN where none is), and how
            many draws exclude it.
        draw: what one draw is called.
        sizes: which sizes all draws are of, such as "these sizes"; "" where the space has none.
    """
    known = [each for each in shares if not math.isnan(each[1])]
    if not known:
        return ""
    name, share, draws = max(known, key=lambda each: each[1])
    whose = f", the fewest for {quoted(name)}" if len(known) > 1 else ""
    where = f" at {sizes}" if sizes else ""
    return (
        f"violations on more than {100 * share:.2g} % of the space{where} "
        f"({100 * CONFIDENCE:.0f} % sure, {count(draws, draw)}{whose})"
    )


def _place(reading: ReadingReport) -> Place:
    source = reading.source
    return Place(
        reading=reading.name,
        kind=source.kind,
        place=source.place if isinstance(source, Printed) else "",
        words=_words(source),
        verdict=reading.verdict,
        why=_why(reading),
        refuted=tuple(c.name for c in reading.claims if c.verdict is Verdict.VIOLATED),
        primary=reading.primary,
    )


def _words(source: Source) -> str:
    match source:
        case Printed():
            return source.words
        case Corrected():
            return source.change
        case Finding():
            return source.about


def _why(reading: ReadingReport) -> str:
    """Why a reading does not simply hold: its note, else what decided its first such claim."""
    if reading.verdict is Verdict.HOLDS:
        return ""
    if reading.verdict is Verdict.VACUOUS:
        return f"none of {count(reading.drawn, 'drawn instance')} meets the hypotheses"
    if reading.verdict is Verdict.VIOLATED and reading.note:
        return reading.note
    claim = next(c for c in reading.claims if c.verdict is reading.verdict)
    return f"{quoted(claim.name)}: {claim.note}" if claim.note else quoted(claim.name)


def _simulated(report: Report, notation: Notation | None, handle: str) -> str:
    drawn = f"{count(report.instances, 'instance')}, seed {report.seed}"
    sizes = ", ".join(f"{name} = {size}" for name, size in report.sizes.items())
    how = f"{drawn}, {sizes}" if sizes else drawn
    if not (notation and notation.simulated):
        return how
    first, *rest = notation.simulated.split("; ")
    more = f" (more: theorysim show {handle})" if rest else ""
    return f"{how}: {first}{more}"


def _worst_reading(report: Report, decisive: ReadingReport) -> ReadingReport:
    """The decisive reading if it fails, else the first printed one that does, else the decisive."""
    printed = (r for r in report.readings if isinstance(r.source, Printed))
    failing = (r for r in (decisive, *printed) if r.verdict is Verdict.VIOLATED)
    return next(failing, decisive)


def _worst(reading: ReadingReport) -> str:
    """The violation that decided a reading, or what comes nearest to one."""
    violated = [c for c in reading.claims if c.verdict is Verdict.VIOLATED]
    if violated:
        return f"{reading.name}, {_violation(violated[0])}"
    nearest = [c for c in reading.claims if isinstance(c.claim, Inequality) and c.slack > 0]
    if not nearest:
        return ""
    claim = min(nearest, key=lambda c: c.slack / (abs(c.lhs) + abs(c.rhs)))
    return f"nearest to failing is {quoted(claim.name)}: {sides(claim)}"


def _violation(claim: ClaimReport) -> str:
    """What was measured against what it must be, on how many instances, how confirmed."""
    if not isinstance(claim.claim, Pointwise):
        return f"{quoted(claim.name)}: {claim.note}"
    return f"{quoted(claim.name)}: {sides(claim)}; {claim.note}"


def sides(claim: ClaimReport) -> str:
    """Both sides of a pointwise claim: what was measured, what it must be, the error."""
    if claim.claim.labels[1] == "next entry":
        left, right = apart(claim.lhs, claim.rhs)
        return f"{left} is followed by {right} (error {number(claim.error)})"
    must = RELATIONS[claim.claim.relation or "equal"][claim.claim.strict]
    return facing(claim.lhs, must, claim.rhs, claim.error)


def _tightness(claims: Sequence[ClaimReport]) -> str:
    """Which bounds are attained, and by how much the loosest one is not."""
    bounds = [
        c
        for c in claims
        if isinstance(c.claim, Inequality) and 0 < c.tightness < math.inf and _stands(c)
    ]
    if not bounds:
        return ""
    attained = [c for c in bounds if c.tightness >= ATTAINED]
    loosest = min(bounds, key=lambda c: c.tightness)
    parts = []
    if attained:
        parts.append(f"attained: {_several([quoted(c.name) for c in attained])}")
    if loosest not in attained:
        factor = number(1 / loosest.tightness)
        parts.append(f"loosest: {quoted(loosest.name)}, off by a factor of at least {factor}")
    ties = max(c.ties for c in bounds)
    if ties:
        parts.append(f"ties by construction ({count(ties, 'point')} of a path) are left out")
    return "; ".join(parts)


def _several(names: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _excluded(reading: ReadingReport, report: Report) -> str:
    """What the draws say of violations that they did not meet, for the claim that says least."""
    standing = [c for c in reading.claims if _stands(c)]
    shares = [(c.name, c.excluded, c.resolved) for c in standing]
    sizes = "these sizes" if report.sizes else ""
    said = excluded(shares, "draw", sizes) or _together(standing)
    violated = len(reading.claims) - len(standing)
    return f"of the claims that are not violated: {said}" if said and violated else said


def _stands(claim: ClaimReport) -> bool:
    return claim.verdict is not Verdict.VIOLATED


def _together(claims: Iterable[ClaimReport]) -> str:
    """Claims that many runs decide together exclude no share."""
    together = any(c.claim.attack is not Attack.SEARCH for c in claims)
    return "no share of violations: many runs decide together" if together else ""


def _next(report: Report, printed: Sequence[Place], handle: str) -> str:
    """The command that tells more: what the hypotheses are, a counterexample, the adversary."""
    if report.is_experiment:
        return f"theorysim review {handle}"
    if report.verdict is Verdict.VACUOUS:
        return f"theorysim show {handle}"
    bad = next((p for p in printed if p.verdict is Verdict.VIOLATED), None)
    if bad is None:
        return f"theorysim falsify {handle}"
    reading = "" if len(report.readings) == 1 else f" --reading {shlex.quote(bad.reading)}"
    return f"theorysim falsify {handle}{reading} --out FILE"
