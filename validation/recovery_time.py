"""Steps until fine-tuning finds its direction, over d and epsilon, on the reduced chain.

    python -m validation.recovery_time

prints the exponents measured for Theorems 4 and 5 of Dayi and Chen (2024) beside the printed ones.
It takes minutes, which is why theorem-4 and theorem-5 leave it to this campaign.
"""

from theorysim.claims import Instance, Reading, Real, Theorem
from theorysim.engine.verify import verify
from theorysim.environment import prepare
from theorysim.theorems.low_rank._recovery import Setting, odd, recovery_claims, recovery_space


def scaled(x: Instance):
    """xi = xi_bar sqrt(k)."""
    return x.xi_bar * x.k**0.5


SETTINGS = {
    "Theorem 4, xi = 1": (Setting(True, lambda x: 1.0, odd), {}),
    "Theorem 5, xi = xi_bar sqrt(k)": (Setting(True, scaled, odd), {"xi_bar": Real(0.3, 0.6)}),
}


def statement(setting: Setting, fields: dict) -> Theorem:
    """At most linear in d (with one logarithm), at most epsilon^-4."""
    return Theorem(
        space=recovery_space(**fields),
        simulate=setting.steps,
        claims=recovery_claims(),
        hypotheses=setting.hypotheses(),
        wrong=Reading("square root of d, epsilon^-0.2", claims=recovery_claims(0.5, -0.2)),
        keys=64,
        instances=16,
    )


if __name__ == "__main__":
    prepare()
    for name, (setting, fields) in SETTINGS.items():
        for claim in verify(statement(setting, fields)).readings[0].claims:
            print(f"{name}, {claim.name}: {claim.verdict}, printed {claim.rhs:g}, {claim.note}")
