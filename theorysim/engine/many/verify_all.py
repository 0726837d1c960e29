"""Verifying every statement of the catalogue: one after the other, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from theorysim.counts import checked_count, checked_seed
from theorysim.engine.many.cluster import RETRIES
from theorysim.engine.many.every import Every, chosen, code_with
from theorysim.engine.many.verification import Verification
from theorysim.engine.many.verified import Verifications, Verified
from theorysim.engine.registry.index import Files
from theorysim.progress import Progress, silent

if TYPE_CHECKING:
    from distributed import Client

Tell = Callable[[Verified], None]


def verify_all(
    only: str = "",
    *,
    instances: int | None = None,
    seed: int = 0,
    theorems: Files = (),
    kept: Path | None = None,
    fresh: bool = False,
    client: Client | None = None,
    retries: int = RETRIES,
    progress: Progress = silent,
    tell: Tell | None = None,
) -> Verifications:
    """Verify every statement of the catalogue; one that raises does not stop the others.

    Args:
        only: only statements whose ids contain this text.
        instances: as for `verify`; experiments, which have runs instead, are not asked for it.
        seed: seed of instances and simulations.
        theorems: further files of theorems, which all machines of a cluster find at one place.
        kept: a folder in which finished reports are kept: a run that was interrupted goes on
            there, as long as seed, versions and code are the same.
        fresh: verify again what is kept.
        client: of a Dask cluster (package `distributed`), whose workers are processes with one
            thread each; those with other versions or code are left out with a warning. Without it
            statements are verified one after the other in this process.
        retries: how often a task is tried again whose machine had too little memory or a bad disk.
            What a lost worker did is done by others in any case.
        progress: called with the statements that are done, all of them, and the one at hand.
        tell: called with every result as it comes.

    Raises:
        UsageError: where no id contains the text, for a bad seed or number of instances, and for a
            cluster none of whose workers has the same versions and code.
    """
    seed = checked_seed(seed)
    if instances is not None:
        instances = checked_count(instances, f"{instances!r} instances")
    code = code_with(theorems)
    tasks = [
        Verification(entry.id, code, seed, None if entry.is_experiment else instances)
        for entry in chosen(only, code.files)
    ]
    every = Every(Verified, kept, fresh, client, retries, progress, tell)
    return Verifications(every.results(tasks))
