"""The evidence: campaigns, independent oracles, recorded verdicts, the ledger of errata.

Importing it prepares the environment, because every module here starts JAX.
"""

from theorysim.environment import prepare

prepare()
