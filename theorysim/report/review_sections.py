"""A review in sentences, section by section, without formatting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from theorysim.claims.verdict import Verdict
from theorysim.engine.review.demands import Demand, in_words
from theorysim.engine.review.necessity import HypothesisNeed, Necessity, Need
from theorysim.engine.review.readings import ReadingVerdict
from theorysim.engine.review.recommendations import held_without, quoted, violation
from theorysim.engine.review.review import Review
from theorysim.engine.review.sharpness import Constant
from theorysim.engine.review.words import count, instance, number, share, sizes_in_words

# Names that a line lists before it counts the others.
LISTED = 4


@dataclass(frozen=True)
class Section:
    """A heading and its sentences."""

    title: str
    lines: tuple[str, ...]


def sections(review: Review) -> tuple[Section, ...]:
    """What every stage found; stages with nothing to say are left out."""
    found = {
        "Verdicts": verdicts(review),
        "Adversary": adversary(review),
        "Hypotheses, each dropped in turn": hypotheses(review),
        "Constants": constants(review),
        "Measured beside printed": measured(review),
        "What the hypotheses ask for": demands(review),
        "Planted errors": planted_errors(review),
        "Not checked": not_checked(review),
    }
    whole = (Section(title, tuple(lines)) for title, lines in found.items())
    return tuple(section for section in whole if section.lines)


def listed(names: list[str]) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def verdicts(review: Review) -> Iterator[str]:
    """A line per reading: its verdict, and the claims that decide it; the theorem's own first."""
    for reading in sorted(review.readings.readings, key=_rank):
        refuted = {one.claim for one in review.adversary.of(reading.name) if one.refuted}
        verdict = Verdict.VIOLATED if refuted else reading.verdict
        decisive = [c.name for c in reading.claims if c.verdict is verdict or c.name in refuted]
        which = count(len(decisive), "claim") if verdict is Verdict.HOLDS else listed(decisive)
        changed = f"; changed: {reading.place}" if reading.kind == "corrected" else ""
        kind = "" if reading.name.startswith(reading.kind) else f", {reading.kind}"
        yield f"{reading.named}{kind}: {verdict} ({which}){changed}"


def _rank(reading: ReadingVerdict) -> tuple[bool, bool]:
    return not reading.primary, reading.kind != "printed"


def adversary(review: Review) -> Iterator[str]:
    """A line per reading that was attacked, and one per claim that was refuted."""
    for reading in review.readings.examined:
        outcomes = review.adversary.of(reading.name)
        refuted = [outcome for outcome in outcomes if outcome.refuted]
        for one in refuted:
            numbers = violation(reading.claim(one.claim), one)
            over = reading.claim(one.claim).over
            where = f", at {instance(one.instance, over)}" if one.instance is not None else ""
            yield f"{reading.name}: refuted {quoted(one.claim)}: {numbers}{where}"
        standing = [outcome for outcome in outcomes if not outcome.refuted]
        if standing:
            reached = min(outcome.evaluations for outcome in standing)
            runs = min(outcome.runs for outcome in standing)
            spent = f" ({count(runs, 'run')})" if runs != reached else ""
            claims = count(len(standing), "claim")
            yield (
                f"{reading.name}: {claims} not refuted at {count(reached, 'point')} that meet the "
                f"hypotheses{spent}"
            )


def hypotheses(review: Review) -> Iterator[str]:
    """A line per hypothesis of the primary reading, needed ones first."""
    found = review.necessity
    if not review.readings.primary.hypotheses:
        yield "The statement has none beyond its space."
    elif not found.claims:
        yield "Not examined: no claim of the primary reading stands."
    for need in (Need.NEEDED, Need.NOT_NEEDED, Need.IMPLIED, Need.UNDECIDED, Need.ALWAYS_MET):
        for one in found.of(need):
            yield f"{one.need}: {one.hypothesis}. {because(review, one)}"


def because(review: Review, one: HypothesisNeed) -> str:
    """Why a hypothesis of the primary reading is judged so."""
    return why(review.readings.primary, review.necessity, review.readings.sizes, one)


def why(
    verdict: ReadingVerdict, found: Necessity, sizes: Mapping[str, int], one: HypothesisNeed
) -> str:
    """Why a hypothesis of a reading, verified at these sizes, is judged so."""
    if one.need is Need.NEEDED:
        return _needed(verdict, found, one)
    if one.need is Need.NOT_NEEDED:
        said = held_without(one)
        return f"{said[:1].upper()}{said[1:]}."
    searched = f", and a search of {count(one.points, 'point')} reached none that fails it alone"
    searched = searched if one.points else ""
    if one.need is Need.IMPLIED:
        return f"Each of {count(one.fails, 'draw')} that fail it fails another one{searched}."
    if one.need is Need.ALWAYS_MET:
        return f"{_always_met(sizes, one)}{searched}."
    if not one.undecided:
        return f"Too little was seen: {one.note}."
    reason = f" ({one.note})" if one.note else ""
    names = listed([quoted(name) for name in one.undecided])
    return f"Where it fails, {names} could not be judged{reason}."


def _needed(verdict: ReadingVerdict, found: Necessity, one: HypothesisNeed) -> str:
    """What fails without a hypothesis, and what was not seen to fail."""
    claim = verdict.claim(one.claim)
    where = f", at {instance(one.instance, claim.over)}" if one.instance is not None else ""
    said = f"Without it {quoted(one.claim)} fails: {violation(claim, one)}{where}."
    if one.besides:
        said += f" So {'does' if len(one.besides) == 1 else 'do'} {_quoted(one.besides)}."
    others = [n for n in found.claims if n not in (one.claim, *one.besides)]
    return said + (f" Not seen to fail without it: {_quoted(others)}." if others else "")


def _quoted(names: Iterable[str]) -> str:
    return listed([quoted(name) for name in names])


def _always_met(sizes: Mapping[str, int], one: HypothesisNeed) -> str:
    at = f" at {sizes_in_words([sizes])}" if sizes else ""
    also = f", and some hundred at each of {count(one.tried, 'other size')}" if one.tried else ""
    return f"Of {count(one.drawn, 'draw')}{at}{also}, all that meet the others meet it"


def constants(review: Review) -> Iterator[str]:
    """A line per inequality, loose ones first; those that are attained share a line."""
    found = review.sharpness.constants
    told = [one for one in found if one.known and not one.attained]
    for one in sorted(told, key=lambda one: one.ratio):
        where = f"; largest ratio at {instance(one.instance)}" if one.instance else ""
        yield f"{_whose(review, one)}: {could_be(one)}{where}"
    attained = list(dict.fromkeys(one.claim for one in found if one.known and one.attained))
    if attained:
        yield f"attained within 1 %: {', '.join(map(quoted, attained))}"
    silent = list(dict.fromkeys(one.claim for one in found if not one.known))
    if silent:
        yield f"no ratio, as the sides were never both positive: {', '.join(map(quoted, silent))}"
    apart = list(dict.fromkeys(one.claim for one in found if one.ties))
    if apart:
        yield (
            f"left out, as both sides are equal at every draw there (such as the start of a path): "
            f"some points of {', '.join(map(quoted, apart))}"
        )


def could_be(one: Constant) -> str:
    """What constant an inequality would bear as far as was searched, if that is far enough."""
    points = count(one.points, "searched point")
    if one.exists:
        return f"its constant is at least {number(one.factor)}"
    if not one.offered:
        return f"ratio {number(one.ratio)} at most; {points} tell too little to offer a constant"
    verb = "could be multiplied by" if one.upper else "could be raised to"
    factor = f"{number(one.factor)}{'' if one.upper else ' times what it is'}"
    return f"the right side {verb} {factor}, as far as {points} tell (no proof)"


def _whose(review: Review, one: Constant) -> str:
    primary = one.reading == review.readings.primary.name
    return one.claim if primary else f"{one.reading}, {one.claim}"


def measured(review: Review) -> Iterator[str]:
    """A line per claim over a ladder or over many runs."""
    for one in review.measured.found:
        yield f"{one.reading}, {one.claim}: {one.sentence}"


def demands(review: Review) -> Iterator[str]:
    """Per reading: the share of draws that meets its hypotheses, and what these need."""
    seen: set[str] = set()
    for demand in review.demands.readings:
        for line in _demands(demand):
            if line not in seen:
                yield line if len(review.demands.readings) == 1 else f"{demand.reading}: {line}"
            seen.add(line)


def _demands(demand: Demand) -> Iterator[str]:
    if not demand.hypotheses:
        return
    for requirement in demand.requirements:
        yield in_words(requirement)
    met = share(demand.satisfying, demand.drawn)
    failed = [
        f"{one.name}: {share(one.satisfied, one.drawn)}"
        for one in demand.hypotheses
        if one.satisfied < one.drawn
    ]
    each = f" ({'; '.join(failed)})" if failed else ""
    yield f"{met} of {count(demand.drawn, 'draw')} meet all hypotheses{each}"


def planted_errors(review: Review) -> Iterator[str]:
    """Which claims refute some planted error, and which none."""
    found = review.mutants.claims
    told = [one for one in found if one.refutes]
    if told:
        errors = {name for one in found for name in (*one.refutes, *one.survives)}
        missed = errors - {name for one in told for name in one.refutes}
        claims = count(len({one.claim for one in told}), "claim")
        caught = f"{len(errors) - len(missed)} of {count(len(errors), 'planted error')}"
        yield f"{claims} {'refutes' if claims == '1 claim' else 'together refute'} {caught}" + (
            f"; missed: {listed(sorted(missed))}" * bool(missed)
        )
    for one in found:
        if not one.refutes:
            yield f"{one.claim} refutes none{f': {one.reason}' if one.reason else ''}"


def not_checked(review: Review) -> Iterator[str]:
    """A line per gap."""
    for gap in review.unchecked.gaps:
        yield f"{gap.about}: {gap.sentence}"
