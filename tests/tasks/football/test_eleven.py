"""Eleven against eleven: the plan, and a few steps of all twenty-two in one world."""

import numpy as np
import pytest
import torch
from isaaclab_newton.physics import NewtonManager

from sportsuite_tasks.football.eleven import tactics
from tests.tasks.football.fake_skills import write_fake_skill


def test_formation_is_mirrored():
    home = tactics.home_positions(0.5)
    assert home.shape == (22, 2) and torch.allclose(home[:11, 0], -home[11:, 0]) and home[:11, 0].max() < 0
    assert (torch.cdist(home, home) + 10 * torch.eye(22)).min() > 1.0


def test_the_nearest_of_each_team_goes_for_the_ball():
    positions = tactics.home_positions().unsqueeze(0)
    mask = tactics.chasers(positions, torch.tensor([[-18.0, 7.0]]))
    assert mask.sum() == 2 and mask[0, 7] and mask[0, 11:].sum() == 1
    direction, speed, going = tactics.orders(
        positions, torch.tensor([[-18.0, 7.0]]), positions[0], torch.tensor([[1.0, 0.5]])
    )
    assert torch.equal(going, mask)
    assert torch.allclose(direction[0, 7], torch.tensor([0.0, 1.0]), atol=1e-5)
    # one metre away: half a metre above where it would stand; the others follow the ball by 0.3 of its way
    assert speed[0, 7] == pytest.approx(0.5, abs=1e-4)
    assert speed[0, 0] == pytest.approx(5.0) and speed[0, 21] <= 2.5


def test_shots_go_to_the_goal():
    velocity = tactics.shots(torch.tensor([[[40.0, 10.0], [-40.0, 0.0]]]), torch.tensor([52.5, -52.5]))
    assert torch.allclose(velocity.norm(dim=-1), torch.full((1, 2), 20.0), atol=1e-4)
    assert torch.allclose(velocity[0, 0, 1] / velocity[0, 0, 0], torch.tensor(-10.0 / 12.5), atol=1e-4)
    assert velocity[0, 1, 0] < 0 and abs(velocity[0, 1, 1]) < 1e-4


def test_twenty_two_step_together(make, tmp_path):
    skills = {
        skill: str(write_fake_skill(tmp_path / f"{skill}.pt", skill)) for skill in ("move", "trap", "dribble", "kick")
    }
    env = make("SportSuite-ElevenASide-v0", num_envs=1, **{"actions.team.skills": skills})
    obs, _ = env.reset(seed=0)
    assert obs["policy"].shape == (1, 2 + 44)
    for _ in range(10):
        obs, reward, *_ = env.step(torch.zeros(1, 2))
    assert torch.isfinite(obs["policy"]).all() and env.nonfinite_count == 0 and reward.item() == pytest.approx(1.0)
    model = NewtonManager._solver.mj_model
    kinds, counts = np.unique(np.stack((model.geom_contype, model.geom_conaffinity)), axis=1, return_counts=True)
    found = {tuple(kind): int(count) for kind, count in zip(kinds.T.tolist(), counts, strict=True)}
    # ball, soles, boots, other bodies, ground
    assert found == {(0, 0): 1, (0, 2): 44, (1, 1): 44, (1, 3): 352, (2, 0): 1}
    # they stand on their soles, nobody hangs or sinks
    heights = torch.stack([env.scene[f"player_{number:02d}"].data.root_link_pos_w.torch[0, 2] for number in range(22)])
    assert (heights - heights[0]).abs().max() < 0.02
    # two of them overlap: their colliders meet, although there are more than Newton's own masks can tell apart
    first, second = env.scene["player_00"], env.scene["player_11"]
    pose = first.data.root_link_pose_w.torch.clone()
    pose[:, 0] += 0.15
    second.write_root_link_pose_to_sim_index(root_pose=pose)
    for _ in range(4):
        env.step(torch.zeros(1, 2))
    gap = second.data.root_link_pos_w.torch[0, 0] - first.data.root_link_pos_w.torch[0, 0]
    assert gap > 0.22
