"""Whether every claim can fail: it refutes a mutant, or the theorem says why it does not."""

from __future__ import annotations

from theorysim.claims.theorem import Theorem
from theorysim.engine.check.step import MISTAKE, Step, Subject
from theorysim.engine.verify.mutation import Mutation, mutation

NAME = "mutants"


def mutants(subject: Subject) -> Step:
    """Try the mutants of the primary reading."""
    found = mutation(subject.theorem, seed=subject.seed)
    if unrefuting := claims_that_refute_none(subject.theorem, found):
        return Step(NAME, mend=_remedy(found, unrefuting[0]), code=MISTAKE)
    if killing := refuting_survivors(subject.theorem, found):
        text = f"“{killing[0]}” stands among the survivors, but refutes a mutant: take it out there"
        return Step(NAME, mend=text, code=MISTAKE)
    told = (
        f"“{claim}” refutes {', '.join(f'“{name}”' for name in found.killed_by(claim))}"
        for claim in found.verdicts
        if found.killed_by(claim)
    )
    return Step(NAME, "; ".join(told) or "no claim has to refute one")


def claims_that_refute_none(theorem: Theorem, found: Mutation) -> list[str]:
    """The claims that refute no mutant, and of which the theorem does not say why."""
    return [claim for claim in found.survivors if claim not in theorem.survivors]


def refuting_survivors(theorem: Theorem, found: Mutation) -> list[str]:
    """The claims that are said to refute none, and do."""
    explained = (claim for claim in theorem.survivors if claim in found.verdicts)
    return [claim for claim in explained if found.killed_by(claim)]


def _remedy(found: Mutation, claim: str) -> str:
    tried = found.verdicts[claim]
    if not tried:
        return (
            f"no mutant changes “{claim}”, so nothing shows that it can fail: add one, "
            'mutants=(Mutant("the square of it", predict=lambda x: predict(x) ** 2),)'
        )
    verdicts = ", ".join(f"“{name}” {verdict}" for name, verdict in tried.items())
    return (
        f"“{claim}” refutes no mutant ({verdicts}): strengthen the claim, give a mutant that is "
        f"false on this space, or say in survivors={{{claim!r}: ...}} why none can be"
    )
