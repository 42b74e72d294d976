import socket
from types import SimpleNamespace

import numpy as np
import pytest

from sportsuite.errors import BadInputError
from sportsuite.viewer import browser

viser = pytest.importorskip("viser", reason="the extra 'viser' is not installed")


@pytest.fixture
def taken_port():
    with socket.socket() as server:
        server.bind((browser.ADDRESS, 0))
        server.listen()
        yield server.getsockname()[1]


def test_port_in_use_names_a_free_one(taken_port):
    with pytest.raises(BadInputError, match=rf"{taken_port} is in use; nearest free one: \d+"):
        browser.check_port(taken_port)


@pytest.mark.parametrize("port", [0, 80, 70000])
def test_ports_out_of_range(port):
    with pytest.raises(BadInputError, match="expected 1024 to 65535"):
        browser.check_port(port)


def test_viewer_listens_on_this_machine_only():
    view = SimpleNamespace(eye=(1.0, 2.0, 3.0), lookat=(0.0, 0.0, 1.0))
    cfg = SimpleNamespace(sim=SimpleNamespace(default_visualizer_cfg=view, visualizer_cfgs=[]))
    browser.show_in_browser(cfg, 8123, worlds=2)
    (made,) = cfg.sim.visualizer_cfgs
    assert (made.bind_address, made.port, made.share) == ("127.0.0.1", 8123, False)
    assert made.eye == (1.0, 2.0, 3.0) and made.visible_env_indices == [0, 1]


def test_planes_are_shown(taken_port):
    import newton
    import warp as wp
    from isaaclab_visualizers.viser.viser_visualizer import NewtonViewerViser

    browser.repair_planes()
    builder = newton.ModelBuilder()
    builder.add_ground_plane()
    builder.add_shape_box(builder.add_body(xform=wp.transform((0.0, 0.0, 1.0), wp.quat_identity())))
    model = builder.finalize(device="cpu")
    free = browser.check_port(next(port for port in range(taken_port + 1, 65535) if browser._is_free(port)))
    viewer = NewtonViewerViser(port=free, bind_address=browser.ADDRESS, verbose=False)
    try:
        viewer.set_model(model)
        for _ in range(2):  # the second time takes the path for planes that did not move
            viewer.begin_frame(0.0)
            viewer.log_state(model.state())
            viewer.end_frame()
        assert sum(len(handles) for handles in viewer._plane_handles.values()) == 1
        assert np.isfinite(model.state().body_q.numpy()).all()
    finally:
        viewer.close()
