"""How a grid is cut where nobody says how."""

import pytest

from theorysim.sweeps.tiles import default_cells


@pytest.mark.parametrize("platform", ["cpu", "gpu", "tpu"])
def test_a_small_grid_is_cut_for_several_devices_on_every_platform(platform):
    assert default_cells((10, 16), platform) == 10


def test_a_large_grid_has_few_tiles_on_an_accelerator_where_every_step_is_a_call():
    shape = (4096, 4096)
    tiles = {platform: 4096**2 / default_cells(shape, platform) for platform in ("cpu", "gpu")}
    assert tiles["gpu"] == 16 and tiles["cpu"] >= 512
