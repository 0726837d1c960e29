"""What `theorysim advise` is asked about: copy this file and put your own model and data in.

theorysim advise layers template_advise.py --measure
theorysim advise transfer template_advise.py
theorysim advise strength template_advise.py
theorysim advise length template_advise.py

Each question reads the names that it needs; the others may be left out.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)

# A module of Flax nnx (after .eval()) or Equinox; or a Flax linen module or a function
# model(params, x), with its parameters as `params`.
model = eqx.nn.MLP(8, 3, 16, 2, activation=jnp.tanh, key=jax.random.key(0))

# The task: stacked inputs and, for classification, integers; else numbers like the outputs.
inputs = rng.normal(size=(60, 8))
targets = np.argmax(inputs[:, :3], axis=1)

# Optional: held-out data. A quarter of the above is held out unless given.
others = rng.normal(size=(100, 8))
test = (others, np.argmax(others[:, :3], axis=1))

# Optional, for layers: what is tuned together, and what is tuned anyway.
# groups = "block"                       # or patterns: {"first": "layers/0/*", ...}
# base = "layers/2"

# For transfer: tasks to pretrain on, as pairs; or checkpoints of the same model.
sources = {
    "like it": (others, np.argmax(others[:, :3], axis=1)),
    "unlike it": (others, np.argmax(others[:, 3:6], axis=1)),
}

# For length: checkpoints by steps or tokens. `inputs` and `targets` are then of the old task, and
# `new` (optional) is the task that follows.
checkpoints = {
    steps: eqx.nn.MLP(8, 3, 16, 2, activation=jnp.tanh, key=jax.random.key(steps))
    for steps in (100, 200, 400)
}
new = sources["unlike it"]
