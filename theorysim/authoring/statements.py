"""The first statement of an author: a system and a kind of claim, as a file that runs."""

from __future__ import annotations

from dataclasses import dataclass

from theorysim.authoring.rendering import render
from theorysim.errors import UsageError

# What happens, by the name of a system.
SYSTEMS = {
    "quadratic": "gradient descent on a quadratic",
    "linear_regression": "gradient descent of linear regression",
    "kernel": "gradient descent on fixed features, seen through their kernel",
    "two_layer_linear": "descent on a two-layer linear network",
    "sgd": "SGD on a quadratic, with noise drawn from a key",
    "plain": "a map that is iterated, without a loss",
}
# What is claimed, by the name of a kind.
KINDS = {
    "at_most": "is at most a bound",
    "at_least": "is at least a bound",
    "equal": "is equal to a formula",
    "decreasing": "decreases",
    "scales_as": "is a power of a scale",
    "limit": "tends to a limit",
    "exists_constant": "is at most a constant times a rate",
    "with_probability": "is at most a bound with a probability",
}
# Why no true statement of this kind is offered for a system.
WITHOUT = {
    ("sgd", "decreasing"): "single runs with noise go up and down",
    ("sgd", "at_most"): "averages over runs come nearer to its bounds than their sampling error",
    ("sgd", "at_least"): "averages over runs come nearer to its bounds than their sampling error",
    ("sgd", "exists_constant"): "its averages over runs do not resolve how a constant grows",
    ("sgd", "limit"): "averages over runs come no nearer to a limit than their sampling error",
    **{
        (system, "with_probability"): "it draws nothing at random"
        for system in SYSTEMS
        if system != "sgd"
    },
}
DEFAULT_SYSTEM, DEFAULT_KIND = "quadratic", "at_most"
DISTANCE = {"sgd": "mean squared distance", "linear_regression": "residual", "kernel": "residual"}


@dataclass(frozen=True)
class Statement:
    """What a new file states: the kind of a claim on a system, under a title."""

    system: str
    kind: str
    title: str = ""

    def __post_init__(self):
        for name, given, known in (("system", self.system, SYSTEMS), ("kind", self.kind, KINDS)):
            if given not in known:
                raise UsageError(f"no {name} {given!r}: choose one of {', '.join(known)}")
        if {"\n", "\\"} & set(self.title) or '"""' in self.title:
            raise UsageError(
                f"title {self.title!r}: expected one line without a backslash or quotes"
            )
        if why := WITHOUT.get((self.system, self.kind)):
            raise UsageError(
                f"{self.kind} does not go with {self.system}: {why}; with it go "
                f"{', '.join(kinds_of(self.system))}"
            )

    @property
    def subject(self) -> str:
        """What the claim is about."""
        if self.kind == "with_probability":
            return "squared distance"
        return DISTANCE.get(self.system, "distance")

    @property
    def sentence(self) -> str:
        """The title, or one that says what the file states."""
        what = f"The {self.subject} of {SYSTEMS[self.system].split(',')[0]}"
        return self.title or f"{what} {KINDS[self.kind]}."

    def text(self, file: str) -> str:
        """The file, as it is to be called `file`."""
        return render(
            f"systems/{self.system}.jinja",
            title=self.sentence,
            name=self.subject,
            kind=self.kind,
            file=file,
        )


def kinds_of(system: str) -> list[str]:
    """The kinds of claims of which a system has a true one."""
    return [kind for kind in KINDS if (system, kind) not in WITHOUT]


def statements() -> list[Statement]:
    """Every statement that is offered."""
    return [Statement(system, kind) for system in SYSTEMS for kind in kinds_of(system)]
