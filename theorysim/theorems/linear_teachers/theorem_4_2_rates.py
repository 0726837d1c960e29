"""The two terms of the risk bound decay as powers of the number of samples.

Prose below Theorem 4.2 of Shachaf et al. (2021): g depends on n as n^(-0.5), the term of the top
span decreases like n^(-1.5), that of the bottom span like n^(-0.5); and so does ||S - Sigma|| of
drawn samples. The rates of g and of both terms are those of formulas, as in print; the risk itself
is theorem-4.2-risk-rates. Section 3 has n < d, and with it Theorem 4.2. Here n is far above d,
where g, both terms and the sample covariance are defined as well: many samples, those beyond the
effective rank and delta, would ask for a large d. theorem-4.2-few-samples has the rates for few
samples, n < d.
"""

from theorysim import claims
from theorysim.theorems.linear_teachers import _rates as rates

MANY = (1e3, 1e4, 1e5, 1e6)

MEASURED = claims.scales_as(
    "measured |S - Sigma|", lambda r: r.mean(r.sim), over={"samples": MANY}, exponent=-0.5
)
SWAPPED = rates.rates(MANY, g=-0.5, top=-0.5, bottom=-1.5)
FASTER = (*rates.rates(MANY, g=-1.0), MEASURED.with_exponent(-1.0))

theorem = claims.Theorem(
    space=rates.space(claims.Size(6, low=2, high=64), int(MANY[-1])),
    simulate=rates.estimation_error,
    predict=rates.bound,
    claims=(*rates.rates(MANY, g=-0.5, top=-1.5, bottom=-0.5), MEASURED),
    source=rates.PROSE,
    printed="many samples",
    note="of the formulas, for more samples than dimensions, which Section 3 does not have",
    mutants=(
        claims.Mutant("the two spans swapped", claims=SWAPPED),
        claims.Mutant("g at the rate 1 / n", claims=FASTER),
    ),
    keys=64,
    instances=16,
)
