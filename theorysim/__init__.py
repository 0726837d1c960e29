"""Theorems about learning dynamics as objects that can be verified, falsified and swept.

Importing theorysim imports no JAX, changes no global JAX setting and no environment variable.
Programs that run batched linear algebra on a CPU should set `NPROC=32` in their environment, as the
command does: with the number of threads that XLA chooses, they can deadlock.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from theorysim.loaded import LOADED as LOADED

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from theorysim.engine.certify.certify import certify as certify
    from theorysim.engine.certify.report import CertifyReport as CertifyReport
    from theorysim.engine.falsify.falsify import falsify as falsify
    from theorysim.engine.falsify.report import FalsifyReport as FalsifyReport
    from theorysim.engine.many.review_all import review_all as review_all
    from theorysim.engine.many.reviewed import Reviewed as Reviewed
    from theorysim.engine.many.reviewed import Reviews as Reviews
    from theorysim.engine.many.verified import Verifications as Verifications
    from theorysim.engine.many.verified import Verified as Verified
    from theorysim.engine.many.verify_all import verify_all as verify_all
    from theorysim.engine.registry.entries import Catalogue as Catalogue
    from theorysim.engine.registry.entries import Entry as Entry
    from theorysim.engine.registry.index import catalogue as catalogue
    from theorysim.engine.registry.index import theorem as theorem
    from theorysim.engine.reproduce.referee import ExperimentReview as ExperimentReview
    from theorysim.engine.reproduce.referee import referee as referee
    from theorysim.engine.reproduce.reproduce import Reproduction as Reproduction
    from theorysim.engine.reproduce.reproduce import reproduce as reproduce
    from theorysim.engine.review.review import Review as Review
    from theorysim.engine.review.review import review as review
    from theorysim.engine.sweep.sweep import sweep as sweep
    from theorysim.engine.verify.mutation import Mutation as Mutation
    from theorysim.engine.verify.mutation import mutation as mutation
    from theorysim.engine.verify.report import Report as Report
    from theorysim.engine.verify.verify import verify as verify
    from theorysim.numerics.infinite_width import infinite_kernels as infinite_kernels
    from theorysim.numerics.tangent_work import empirical_ntk as empirical_ntk
    from theorysim.systems.fine_tuning import fine_tune as fine_tune
    from theorysim.systems.layer_selection import rank_layers as rank_layers
    from theorysim.systems.linearized import linearize as linearize
    from theorysim.systems.linearized import train_linearized as train_linearized
    from theorysim.systems.task_transfer import task_similarity as task_similarity
    from theorysim.systems.task_transfer import transfer_report as transfer_report

# Where the public names are defined; a module is imported when one of its names is first used.
_HOMES = {
    "Catalogue": "theorysim.engine.registry.entries",
    "CertifyReport": "theorysim.engine.certify.report",
    "Entry": "theorysim.engine.registry.entries",
    "ExperimentReview": "theorysim.engine.reproduce.referee",
    "FalsifyReport": "theorysim.engine.falsify.report",
    "Mutation": "theorysim.engine.verify.mutation",
    "Report": "theorysim.engine.verify.report",
    "Reproduction": "theorysim.engine.reproduce.reproduce",
    "Review": "theorysim.engine.review.review",
    "Reviewed": "theorysim.engine.many.reviewed",
    "Reviews": "theorysim.engine.many.reviewed",
    "Verifications": "theorysim.engine.many.verified",
    "Verified": "theorysim.engine.many.verified",
    "catalogue": "theorysim.engine.registry.index",
    "certify": "theorysim.engine.certify.certify",
    "empirical_ntk": "theorysim.numerics.tangent_work",
    "falsify": "theorysim.engine.falsify.falsify",
    "fine_tune": "theorysim.systems.fine_tuning",
    "infinite_kernels": "theorysim.numerics.infinite_width",
    "linearize": "theorysim.systems.linearized",
    "mutation": "theorysim.engine.verify.mutation",
    "rank_layers": "theorysim.systems.layer_selection",
    "referee": "theorysim.engine.reproduce.referee",
    "reproduce": "theorysim.engine.reproduce.reproduce",
    "review": "theorysim.engine.review.review",
    "review_all": "theorysim.engine.many.review_all",
    "sweep": "theorysim.engine.sweep.sweep",
    "task_similarity": "theorysim.systems.task_transfer",
    "theorem": "theorysim.engine.registry.index",
    "train_linearized": "theorysim.systems.linearized",
    "transfer_report": "theorysim.systems.task_transfer",
    "verify": "theorysim.engine.verify.verify",
    "verify_all": "theorysim.engine.many.verify_all",
}

__all__ = [
    "Catalogue",
    "CertifyReport",
    "Entry",
    "ExperimentReview",
    "FalsifyReport",
    "Mutation",
    "Report",
    "Reproduction",
    "Review",
    "Reviewed",
    "Reviews",
    "Verifications",
    "Verified",
    "catalogue",
    "certify",
    "empirical_ntk",
    "falsify",
    "fine_tune",
    "infinite_kernels",
    "linearize",
    "mutation",
    "rank_layers",
    "referee",
    "reproduce",
    "review",
    "review_all",
    "sweep",
    "task_similarity",
    "theorem",
    "train_linearized",
    "transfer_report",
    "verify",
    "verify_all",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'theorysim' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
