import pytest
import torch
from tensordict import TensorDict

from sportsuite_tasks.football.models import InterceptModel, intercept_features


def ball(position, velocity):
    row = torch.zeros(1, 13)
    row[0, :3], row[0, 7:10], row[0, 6] = torch.tensor(position), torch.tensor(velocity), 1.0
    return row


def test_a_dropped_ball_lands_below_itself():
    out = intercept_features(ball([0.5, 0.2, 0.11 + 4.905], [0.0, 0.0, 0.0]))[0]
    assert out[:2].tolist() == pytest.approx([0.5, 0.2]) and out[5].item() == pytest.approx(1.0)


def test_a_lob_from_the_front_by_hand():
    """10 m away at 10 m/s towards the root, thrown up at 9.81 m/s from the ground: lands after 2 s, 10 m behind."""
    out = intercept_features(ball([10.0, 0.3, 0.11], [-10.0, 0.0, 9.81]))[0]
    assert out[:2].tolist() == pytest.approx([-3.0, 0.3])  # limited to 3 m
    assert out[5].item() == pytest.approx(2.0)
    # it passes the root after 1 s, at the top of its flight: 4.905 m up, limited to 3 m
    assert out[2:5].tolist() == pytest.approx([0.0, 0.3, 3.0], abs=1e-5) and out[6].item() == pytest.approx(1.0)


def test_a_ball_that_leaves_is_closest_now():
    out = intercept_features(ball([1.0, 0.0, 0.5], [5.0, 0.0, 0.0]))[0]
    assert out[6].item() == 0.0 and out[2:5].tolist() == pytest.approx([1.0, 0.0, 0.5])


def test_the_exported_network_sees_the_same():
    torch.manual_seed(0)
    obs = TensorDict({"policy": torch.randn(5, 242)}, batch_size=5)
    model = InterceptModel(obs, {"actor": ["policy"]}, "actor", 28, [16], obs_normalization=True)
    model.update_normalization(obs)
    model.eval()
    exported = torch.jit.script(model.as_jit())
    assert torch.allclose(exported(obs["policy"]), model(obs), atol=1e-6)
    moved = obs.clone()
    moved["policy"][:, 223] += 0.5
    assert not torch.allclose(model(moved), model(obs))
