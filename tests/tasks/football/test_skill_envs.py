"""Move, Dribble and Kick in the simulator."""

import math

import pytest
import torch
from tensordict import TensorDict

from sportsuite.errors import BadInputError
from sportsuite.mdp.frames import angle_between, heading_from_quat
from sportsuite.mdp.symmetry import group_map, mirror_samples
from sportsuite_tasks.football.mdp.goals import planar
from sportsuite_tasks.football.move import degcl
from tests.tasks.football.prior import write_prior

SIZES = {"Move": 227, "Dribble": 238, "Kick": 239}
WORLDS = 16


def run(env, steps=40):
    """Random actions; everything stays finite. Returns the mean reward per step."""
    total = 0.0
    for _ in range(steps):
        obs, reward, *_ = env.step(0.3 * torch.randn(WORLDS, env.action_manager.total_action_dim))
        assert all(torch.isfinite(value).all() for value in obs.values()) and torch.isfinite(reward).all()
        total += float(reward.mean())
    assert env.nonfinite_count == 0
    return total / steps


@pytest.mark.parametrize("skill", SIZES)
def test_random_actions_do_no_harm_and_no_step_pays_more_than_one(make, skill):
    env = make(f"SportSuite-{skill}-v0", num_envs=WORLDS)
    obs, _ = env.reset(seed=0)
    assert obs["policy"].shape == (WORLDS, SIZES[skill]) and obs["prior"].shape == (WORLDS, 125)
    assert env.reference_windows(3, 2).shape == (3, 2, 125)
    assert run(env) <= 1.0
    weights = [env.reward_manager.get_term_cfg(name).weight for name in env.reward_manager.active_terms]
    assert sum(weights) * env.step_dt == pytest.approx(1.0)


def test_dribble_goals_and_starts(make):
    env = make("SportSuite-Dribble-v0", num_envs=WORLDS)
    env.reset(seed=1)
    command = env.command_manager.get_term("dribble")
    speed = command.velocity_w.norm(dim=1)
    assert speed.min() >= 0.0 and 3.5 < speed.max() <= 7.0
    heading = heading_from_quat(env.scene["robot"].data.root_link_quat_w.torch)
    assert torch.allclose(command.command, planar(command.velocity_w, heading))
    offset = (env.scene["ball"].data.root_link_pos_w.torch - env.scene["robot"].data.root_link_pos_w.torch)[:, :2]
    assert (offset.norm(dim=1) > 0.39).all() and (offset.norm(dim=1) < 1.8).all()
    bodies = env.scene["robot"].data.body_link_pos_w.torch[:, :15, :2]
    assert ((bodies - env.scene["ball"].data.root_link_pos_w.torch[:, None, :2]).norm(dim=-1) > 0.299).all()
    ahead = planar(offset, heading)
    assert (torch.atan2(ahead[:, 1], ahead[:, 0]).abs() < math.radians(60.5)).all()
    turns = angle_between(offset, command.velocity_w)
    assert turns.abs().max() > 1.5  # any direction
    command.cfg.turn_range = 0.3
    command.draw(torch.arange(WORLDS))
    turns = angle_between(offset, command.velocity_w)
    assert 0.1 < turns.abs().max() <= 0.3001


def test_a_ball_beyond_three_metres_ends_the_dribble(make):
    env = make("SportSuite-Dribble-v0", num_envs=WORLDS)
    env.reset(seed=2)
    pose = env.scene["ball"].data.root_link_pose_w.torch.clone()
    pose[:8, 0] += 6.0
    env.scene["ball"].write_root_pose_to_sim_index(root_pose=pose)
    env.step(torch.zeros(WORLDS, 28))
    assert env.termination_manager.get_term("ball_too_far").tolist() == [True] * 8 + [False] * 8


def test_a_kick_is_judged_by_the_ball_after_the_contact(make):
    """A ball thrown at the shin: contact, then ten steps that pay, then the end."""
    standing = {
        "events.character.params.fallen_fraction": 0.0,
        "events.character.params.reference_fraction": 0.0,
    }
    env = make("SportSuite-Kick-v0", num_envs=WORLDS, **standing)
    env.reset(seed=3)
    robot = env.scene["robot"]
    shin = robot.data.body_com_pos_w.torch[:, robot.body_names.index("left_shin")]
    heading = heading_from_quat(robot.data.root_link_quat_w.torch)
    pose = torch.zeros(WORLDS, 7)
    pose[:, :3], pose[:, 6] = shin, 1.0
    pose[:, :2] += 0.3 * heading
    velocity = torch.zeros(WORLDS, 6)
    velocity[:, :2] = -4.0 * heading + robot.data.root_link_lin_vel_w.torch[:, :2]
    env.scene["ball"].write_root_pose_to_sim_index(root_pose=pose)
    env.scene["ball"].write_root_velocity_to_sim_index(root_velocity=velocity)
    command = env.command_manager.get_term("kick")
    paid, ended, fastest = torch.zeros(WORLDS), torch.zeros(WORLDS), torch.zeros(WORLDS)
    alive = torch.ones(WORLDS, dtype=torch.bool)
    for _ in range(16):
        _, reward, terminated, truncated, _ = env.step(torch.zeros(WORLDS, 28))
        paid += alive * (reward > 0.0)
        ended += alive * env.termination_manager.get_term("kick_over")
        alive &= ~(terminated | truncated)
        fastest = torch.where(alive, command.kicked_w.norm(dim=1), fastest)
    over = ended > 0
    assert over.float().mean() > 0.7 and (paid[over] == 10).all()
    # thrown at 4 m/s, the ball comes back from the shin at some speed, and no faster
    assert (fastest[over] > 0.3).all() and (fastest[over] < 8.0).all()
    assert (command.kicked_w[over].norm(dim=1) < fastest[over]).any(), "a new episode begins without a kick"


def test_kick_goals_lie_in_the_texts_ranges(make):
    env = make("SportSuite-Kick-v0", num_envs=WORLDS, **{"events.character.params.fallen_fraction": 0.0})
    env.reset(seed=4)
    goal = env.command_manager.get_command("kick")
    speed = goal.norm(dim=1)
    assert speed.min() >= 5.0 and 20.0 < speed.max() <= 35.0
    azimuth, elevation = torch.atan2(goal[:, 1], goal[:, 0]), torch.asin(goal[:, 2] / speed)
    assert azimuth.abs().max() <= math.pi / 4 + 1e-3
    assert elevation.min() >= -1e-4 and elevation.max() <= math.pi / 4 + 1e-4


@pytest.mark.parametrize("skill", SIZES)
def test_mirroring_twice_changes_nothing_and_keeps_what_is_symmetric(make, skill):
    env = make(f"SportSuite-{skill}-v0", num_envs=WORLDS)
    obs, _ = env.reset(seed=5)
    index, sign = group_map(env, "policy")
    once = obs["policy"][:, index] * sign
    assert torch.equal(once[:, index] * sign, obs["policy"])
    both, _ = mirror_samples(env, TensorDict(dict(obs), batch_size=[WORLDS]), None)
    assert torch.equal(both["policy"][WORLDS:], once)
    goal = {"Move": (223, 4), "Dribble": (236, 2), "Kick": (236, 3)}[skill]
    before, after = obs["policy"][:, goal[0] :], once[:, goal[0] :]
    # forward stays, sideways flips
    assert torch.equal(after[:, 0], before[:, 0]) and torch.equal(after[:, 1], -before[:, 1])
    assert before.shape[1] == goal[1]


def test_feet_zones_and_air_are_options_of_kick(make):
    env = make("SportSuite-Kick-v0", num_envs=WORLDS, pass_zone=True, foot_choice=True, magnus=True, foot="box")
    obs, _ = env.reset(seed=6)
    assert obs["policy"].shape[1] == 236 + 3 + 2 and env.reward_manager.active_terms[0] == "zone"
    assert "air" in env.action_manager.active_terms
    assert "box" in env.cfg.scene.robot.spawn.usd_path
    zone = obs["policy"][:, 236:239]
    assert (zone[:, :2].norm(dim=1) > 4.9).all() and (zone[:, :2].norm(dim=1) < 20.1).all()
    assert obs["policy"][:, 239:].sum(dim=1).tolist() == [1.0] * WORLDS
    run(env, 20)


@pytest.fixture(scope="module")
def prior(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prior")
    path = write_prior(folder / "prior.pt")
    from sportsuite.motion.library import resolve_clip

    pairs = degcl.goal_latents([resolve_clip("isaaclab:walk"), resolve_clip("isaaclab:run")], path)
    degcl.write_goal_latents(folder / "degcl.npz", pairs)
    return folder


@pytest.mark.parametrize("skill", ["Trap", "Kick"])
def test_one_switch_makes_latents_the_actions(make, prior, skill):
    env = make(f"SportSuite-{skill}-v0", num_envs=WORLDS, low_level=str(prior / "prior.pt"))
    obs, _ = env.reset(seed=7)
    assert env.action_manager.total_action_dim == 64 and "joint_pos" not in env.action_manager.active_terms
    assert set(obs) == {"policy"}
    run(env, 20)


def test_degcl_guides_most_episodes_and_pays_for_the_reference_latent(make, prior):
    changes = {
        "commands.move.degcl": str(prior / "degcl.npz"),
        "events.character.params.fallen_fraction": 0.0,
    }
    env = make("SportSuite-Move-v0", num_envs=WORLDS, low_level=str(prior / "prior.pt"), **changes)
    shares = []
    for seed in range(12):
        env.reset(seed=seed)
        shares.append(env.command_manager.get_term("move").guided.float().mean().item())
    assert sum(shares) / 12 == pytest.approx(0.8, abs=0.09)
    command, guided = env.command_manager.get_term("move"), env.command_manager.get_term("move").guided.clone()
    # goals are those of the clips, turned: speeds of walk and run, facing along the movement
    speeds = command.buffer.velocity_h.norm(dim=1).unique()
    assert torch.isclose(command.velocity_w[guided].norm(dim=1).unsqueeze(1), speeds, atol=1e-4).any(dim=1).all()
    cos = (command.velocity_w * command.facing_w).sum(dim=1)[guided] / command.velocity_w.norm(dim=1)[guided]
    assert (cos > 0.95).all()
    env.step(torch.where(guided.unsqueeze(1), command.latent, torch.randn(WORLDS, 64)))
    index = env.reward_manager.active_terms.index("latent_similarity")
    paid = env.reward_manager._step_reward[:, index] * env.step_dt
    # the reference latent's clamp to [-1, 1] changes nothing: it is a unit vector
    alive = guided & ~env.reset_buf
    assert alive.any() and paid[alive].tolist() == pytest.approx([0.5] * int(alive.sum()), abs=1e-4)
    assert paid[~guided & ~env.reset_buf].abs().sum() == 0.0


def test_degcl_without_latents_is_refused(make, prior):
    make.close()
    with pytest.raises(BadInputError, match="set low_level"):
        make("SportSuite-Move-v0", num_envs=2, **{"commands.move.degcl": str(prior / "degcl.npz")})
