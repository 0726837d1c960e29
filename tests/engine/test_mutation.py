"""Which mutants a claim refutes, for kinds that are themselves judged beside their mutants."""

from theorysim.claims import Mutant, Real, Space, Theorem, equal
from theorysim.engine.verify.mutation import mutation

DOUBLED = equal("doubled", lambda r: r.sim, lambda r: r.x.size + r.x.size)

theorem = Theorem(
    space=Space(size=Real(1, 2)),
    simulate=lambda x, key: 2 * x.size,
    claims=(DOUBLED,),
    mutants=(Mutant("half of it", claims=(DOUBLED.scaled(0.5),)),),
    instances=4,
    mutant_instances=4,
)


def test_an_equality_refutes_its_mutant():
    found = mutation(theorem.with_id("local/doubled", "Doubled"))
    assert found.killed_by("doubled") == ("half of it",)
