"""Powers, limits and constants over ladders: and what comes near them."""

import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from tests.engine.statements import no_edge, theorem
from theorysim.claims import Real, Space, Verdict, exists_constant, scales_as, tends_to
from theorysim.claims.evidence import Evidence, Measurement
from theorysim.engine.verify.verify import verify

RUNGS = (64.0, 128.0, 256.0, 512.0, 1024.0)
LADDER = Space(a=Real(1, 2), b=Real(1, 1024, log=True))


POWERS = [
    (2.0, "equal", Verdict.HOLDS),
    (1.5, "equal", Verdict.VIOLATED),
    (2.5, "at_most", Verdict.HOLDS),
    (2.0, "at_most", Verdict.HOLDS),
    (1.5, "at_most", Verdict.VIOLATED),
    (1.5, "at_least", Verdict.HOLDS),
    (2.5, "at_least", Verdict.VIOLATED),
]


@pytest.mark.parametrize(
    ("printed", "relation", "expected", "over"),
    [
        *((*power, "b") for power in POWERS),
        *((*power, "n") for power in (POWERS[0], POWERS[-1])),
        *(thorough(*power, "n") for power in POWERS[1:-1]),
    ],
)
def test_exponents_over_sizes_and_values(printed, relation, expected, over):
    rungs = (4, 8, 16, 32) if over == "n" else (1.0, 1.25, 1.5, 2.0)

    def quantity(r):
        return r.theory["a"] * jnp.asarray(getattr(r.x, over), float) ** 2

    statement = theorem(
        scales_as("power", quantity, over={over: rungs}, exponent=printed, relation=relation)
    )
    assert verify(statement).verdict is expected


def test_a_power_without_scatter_is_known_to_rounding_only():
    """Fits of exact powers agree between instances to all digits, and with the power to most."""
    statement = theorem(
        scales_as(
            "power",
            lambda r: (r.theory["a"] / jnp.sqrt(r.x.b)) ** 3,
            over={"b": (1.0, 1.25, 1.5, 2.0)},
            exponent=-1.5,
        )
    )
    for seed in range(20):
        assert verify(statement, seed=seed).verdict is Verdict.HOLDS


def test_a_wide_interval_below_the_printed_power_holds():
    def scattered(r):
        return r.theory["a"] * r.x.b * (1 + 0.9 * jnp.sin(1e4 * r.theory["a"] * r.x.b))

    def judge(exponent):
        claim = scales_as(
            "power",
            scattered,
            over={"b": (1.0, 1.25, 1.5, 2.0)},
            exponent=exponent,
            relation="at_most",
        )
        return verify(theorem(claim), instances=8).readings[0].claims[0]

    attained = judge(1.0)
    assert attained.error > 0.25
    assert attained.verdict is Verdict.INCONCLUSIVE
    assert judge(20.0).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        (lambda n: 1 / n, Verdict.HOLDS),
        (lambda n: 0.5 + 1 / n, Verdict.INCONCLUSIVE),  # it may go on falling
        (lambda n: 0.5 + 1 / n**2, Verdict.VIOLATED),  # it has come to rest
        thorough(lambda n: 0.5 + 0 * n, Verdict.VIOLATED),
        thorough(lambda n: 0.5 - 1 / n**3, Verdict.VIOLATED),
        thorough(lambda n: n**-0.1, Verdict.HOLDS),
        (lambda n: 1 / jnp.log(n), Verdict.INCONCLUSIVE),  # it may come to rest at a third
        thorough(lambda n: 1 / (20 + jnp.log(n)), Verdict.INCONCLUSIVE),
    ],
)
def test_a_limit_over_a_ladder_is_distinguished_from_a_floor(distance, expected):
    statement = theorem(
        tends_to(
            "limit",
            lambda r: r.theory["a"] * (1 + distance(r.x.b)),
            lambda r: r.theory["a"],
            over={"b": (4.0, 8.0, 16.0, 32.0, 64.0)},
        ),
        space=LADDER,
    )
    assert verify(statement).verdict is expected


def test_a_growing_distance_refutes_a_limit():
    statement = theorem(
        tends_to(
            "limit",
            lambda r: r.theory["a"] * (1 + r.x.n),
            lambda r: r.theory["a"],
            over={"n": (4, 8, 16)},
        )
    )
    assert verify(statement).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("growth", "expected"),
    [(0.0, Verdict.HOLDS), thorough(-1.0, Verdict.HOLDS), (0.5, Verdict.VIOLATED)],
)
def test_constants_must_stay_bounded_over_every_ladder(growth, expected):
    statement = theorem(
        exists_constant(
            "constant",
            lambda r: r.theory["a"] * jnp.asarray(r.x.n, float) ** growth,
            lambda r: 1.0,
            over={"b": (1.0, 1.5, 2.0), "n": (4, 16, 64)},
        )
    )
    assert verify(statement).verdict is expected


@pytest.mark.parametrize(
    ("quantity", "printed", "relation"),
    [
        (lambda m: m**-0.5 * (1 - m**-0.5), -0.5, "at_most"),
        (lambda m: m**-0.5 * (1 + m**-0.5), -0.5, "at_least"),
        (lambda m: m**-0.5 * (1 + 8 * m**-0.5), -0.5, "equal"),
        (lambda m: m**-0.5 * (1 + 5 / jnp.log(m)), -0.5, "at_least"),
    ],
)
def test_exponents_that_move_towards_the_printed_one_refute_nothing(quantity, printed, relation):
    """All of these tend to the printed power; on no rung do they have it."""
    claim = scales_as(
        "power",
        lambda r: r.theory["a"] * quantity(r.x.b),
        over={"b": RUNGS},
        exponent=printed,
        relation=relation,
    )
    report = verify(theorem(claim, space=LADDER))
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "move towards the printed one" in report.readings[0].claims[0].note


def measured(quantity):
    """What is measured exactly of a positive quantity, instance by instance."""
    zero = np.zeros_like(quantity)
    return Measurement(
        lhs=quantity,
        rhs=np.ones_like(quantity),
        applies=np.ones_like(quantity, bool),
        edge=no_edge(len(quantity)),
        probability=zero,
        rounding=zero,
        integrator=zero,
        limit=zero,
        sampling=zero,
        skewness=zero,
        bias=zero,
        extremes=np.zeros((len(quantity), 0)),
        by_key=np.zeros(len(quantity), bool),
    )


def verdicts_of_scatter(exponent, relation="equal", seeds=200, rows=16):
    """Verdicts on d^-1.5 where it is d^exponent (1 + 2 / d), and scatters by two in a hundred."""
    ladder_of = {"over": {"b": RUNGS}, "exponent": -1.5, "relation": relation}
    claim = scales_as("power", lambda r: r.sim, **ladder_of)
    rng, rungs = np.random.default_rng(0), np.array(RUNGS)
    found = []
    for _ in range(seeds):
        values = rungs**exponent * (1 + 2 / rungs) * np.exp(0.02 * rng.normal(size=(rows, 5)))
        ladder = [(rung, measured(values[:, i])) for i, rung in enumerate(RUNGS)]
        found.append(claim.judge(Evidence(ladder[0][1], {"b": ladder})).verdict)
    return found


def test_a_power_that_is_missed_by_little_and_not_surely_to_the_end_is_not_refuted():
    """The mean exponent over 64 to 1024 is off by 0.007, that at the end by 0.002.

    Before the scatter of the last rungs was asked for, one seed in forty refuted it.
    """
    assert Verdict.VIOLATED not in verdicts_of_scatter(-1.5)
    assert verdicts_of_scatter(-1.5).count(Verdict.HOLDS) >= 190
    assert verdicts_of_scatter(-1.63).count(Verdict.VIOLATED) >= 190
    assert Verdict.VIOLATED not in verdicts_of_scatter(-1.5, relation="at_least")
    assert verdicts_of_scatter(-1.63, relation="at_least").count(Verdict.VIOLATED) >= 190


@pytest.mark.parametrize("excess", [lambda m: m**0.06, jnp.log])
def test_exponents_that_stay_away_refute_a_power(excess):
    claim = scales_as(
        "power",
        lambda r: r.theory["a"] * r.x.b**-0.5 * excess(r.x.b),
        over={"b": RUNGS},
        exponent=-0.5,
        relation="at_most",
    )
    assert verify(theorem(claim, space=LADDER)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    "distance", [lambda m: 0.1 + m**-0.5, lambda m: 1 + m**-0.1, lambda m: 1 + 1 / jnp.log(m)]
)
def test_a_distance_that_falls_to_a_floor_shows_no_limit(distance):
    """It falls at a rate that hardly slows, and rests at a third of what it was, or more."""
    claim = tends_to("limit", lambda r: distance(r.x.b), lambda r: 0.0, over={"b": RUNGS})
    report = verify(theorem(claim, space=LADDER))
    assert report.verdict is not Verdict.HOLDS
    assert "come to rest" in report.readings[0].claims[0].note
