"""SportSuite-Football-v0 in the simulator, with skills of fresh weights: who plays when, and towards what."""

import math

import pytest
import torch
import yaml
from isaaclab.envs.mdp import RelativeJointPositionActionCfg

from sportsuite.characters.spec import JOINT_NAMES
from sportsuite.envs.make_env import load_env_cfg
from sportsuite.errors import BadInputError
from sportsuite.learning.checkpoint import read_checkpoint, write_checkpoint
from sportsuite.learning.plain import to_plain
from sportsuite.mdp.frames import heading_from_quat
from tests.tasks.football.fake_skills import write_fake_skill

TASK = "SportSuite-Football-v0"
SKILLS = ("move", "trap", "dribble", "kick")
BIAS = {"move": 0.0, "trap": 0.02, "dribble": 0.04, "kick": 0.06}
STILL = torch.zeros(4, 9)
TRAP, KICK, CANCEL = (torch.zeros(4, 9).index_fill(1, torch.tensor([column]), 1.0) for column in (3, 4, 5))


@pytest.fixture(scope="module")
def skills(tmp_path_factory):
    folder = tmp_path_factory.mktemp("skills")
    return {skill: str(write_fake_skill(folder / f"{skill}.pt", skill, bias)) for skill, bias in BIAS.items()}


@pytest.fixture
def env(make, skills):
    env = make(TASK, num_envs=4, skills=skills)
    env.reset(seed=0)
    return env


def machine(env):
    return env.action_manager.get_term("play").machine


def put_ball(env, offset, velocity=(0.0, 0.0), height=0.11):
    """Put the ball at an offset [m] from the root, moving with a velocity [m/s], both along the world's axes."""
    pose = torch.zeros(4, 7)
    pose[:, :2] = env.scene["robot"].data.root_link_pos_w.torch[:, :2] + torch.tensor(offset)
    pose[:, 2], pose[:, 6] = height, 1.0
    speed = torch.zeros(4, 6)
    speed[:, :2] = torch.tensor(velocity)
    env.scene["ball"].write_root_pose_to_sim_index(root_pose=pose)
    env.scene["ball"].write_root_velocity_to_sim_index(root_velocity=speed)


def throw_at_body(env):
    """Let the ball hit the character in the coming step."""
    robot = env.scene["robot"].data
    heading = heading_from_quat(robot.root_link_quat_w.torch)
    pose = torch.zeros(4, 7)
    pose[:, :3] = robot.root_link_pos_w.torch
    pose[:, :2] += 0.4 * heading
    pose[:, 6] = 1.0
    speed = torch.zeros(4, 6)
    speed[:, :2] = -8.0 * heading
    env.scene["ball"].write_root_pose_to_sim_index(root_pose=pose)
    env.scene["ball"].write_root_velocity_to_sim_index(root_velocity=speed)


def test_each_of_the_eight_transitions(env):
    game = machine(env)
    taken = []

    def step(action=STILL):
        env.step(action)
        assert len(set(game.names())) == 1
        if (game.taken >= 0).any():
            row = game.table.transitions[int(game.taken[0])]
            taken.append((row.source, row.target))
        return game.names()[0]

    put_ball(env, (6.0, 0.0), (-3.0, 0.0))
    assert step() == "move" and not taken
    put_ball(env, (6.0, 0.0), (-3.0, 0.0))
    assert step(TRAP) == "trap"
    put_ball(env, (6.0, 0.0), (-3.0, 0.0))
    assert step(CANCEL) == "move"
    put_ball(env, (6.0, 0.0), (-3.0, 0.0))
    assert step(TRAP) == "trap"
    throw_at_body(env)
    assert step(TRAP) == "trap"  # the contact happens within this step
    assert step() == "dribble"
    put_ball(env, (1.2, 0.0))
    assert step(KICK) == "kick"
    put_ball(env, (1.2, 0.0))
    assert step(CANCEL) == "dribble"
    put_ball(env, (1.2, 0.0))
    assert step(KICK) == "kick"
    throw_at_body(env)
    assert step(KICK) == "kick"
    assert step() == "move"
    put_ball(env, (1.5, 0.0), (-2.0, 0.0))
    assert step() == "dribble"
    put_ball(env, (2.5, 0.0))
    assert step() == "move"
    assert set(taken) == {(row.source, row.target) for row in game.table.transitions} and len(set(taken)) == 8


def test_the_chosen_skill_acts_in_the_step_of_the_switch(env):
    term = env.action_manager.get_term("play")
    put_ball(env, (6.0, 0.0), (-3.0, 0.0))
    action = STILL.clone()
    action[2, 3] = 1.0
    env.step(action)
    assert machine(env).names() == ["move", "move", "trap", "move"]
    joints = term._layouts["joint_targets"].raw_actions
    expected = torch.tensor([0.0, 0.0, 0.02, 0.0]).unsqueeze(1).expand(4, 28)
    assert torch.allclose(joints, expected)
    assert term.processed_actions.argmax(dim=1).tolist() == [0, 0, 1, 0]
    assert list(term._layouts) == ["joint_targets"]  # nobody needs a low-level policy


def test_goals_follow_the_users_command(env):
    action = STILL.clone()
    action[:, :3] = torch.tensor([0.0, 2.0, 3.5])  # a direction needs no unit length
    env.step(action)
    terms = env.command_manager
    heading = heading_from_quat(env.scene["robot"].data.root_link_quat_w.torch)
    seen = terms.get_command("move")
    # 3.5 m/s along the world's y axis, in the heading frame
    assert torch.allclose(seen[:, 0], 3.5 * heading[:, 1], atol=1e-5)
    assert torch.allclose(seen[:, 1], 3.5 * heading[:, 0], atol=1e-5)
    assert torch.allclose(seen[:, 2:].norm(dim=1), torch.ones(4), atol=1e-5)
    assert torch.equal(terms.get_term("dribble").velocity_w, torch.tensor([[0.0, 3.5]]).expand(4, 2))
    # standing: the facing stays
    env.step(STILL)
    assert torch.allclose(terms.get_term("move").facing_w, torch.tensor([[0.0, 1.0]]).expand(4, 2))
    assert terms.get_term("move").velocity_w.abs().max() == 0
    # speeds that no skill was trained for are clamped
    action[:, 2] = 50.0
    env.step(action)
    assert terms.get_term("move").velocity_w.norm(dim=1).max() == pytest.approx(7.0)


def test_a_kick_keeps_the_goal_that_it_began_with(env):
    kick = env.command_manager.get_term("kick")
    put_ball(env, (1.5, 0.0), (-2.0, 0.0))
    env.step(STILL)
    put_ball(env, (1.2, 0.0))
    action = KICK.clone()
    action[:, 6:] = torch.tensor([10.0, 0.0, 5.0])
    env.step(action)
    assert machine(env).names() == ["kick"] * 4
    assert torch.allclose(kick.velocity_w, torch.tensor([10.0, 0.0, 5.0]).expand(4, 3))
    put_ball(env, (1.2, 0.0))
    action[:, 6:] = torch.tensor([0.0, 60.0, 0.0])
    env.step(action)
    assert torch.allclose(kick.velocity_w, torch.tensor([10.0, 0.0, 5.0]).expand(4, 3))
    # the next one is another, clamped to 35 m/s
    put_ball(env, (1.2, 0.0))
    env.step(CANCEL)
    put_ball(env, (1.2, 0.0))
    env.step(action)
    assert torch.allclose(kick.velocity_w, torch.tensor([0.0, 35.0, 0.0]).expand(4, 3), atol=1e-4)


def test_a_kick_without_a_velocity_goes_where_the_player_faces(env):
    put_ball(env, (1.5, 0.0), (-2.0, 0.0))
    env.step(STILL)
    put_ball(env, (1.2, 0.0))
    heading = heading_from_quat(env.scene["robot"].data.root_link_quat_w.torch)
    env.step(KICK)
    kick = env.command_manager.get_term("kick").velocity_w
    assert torch.allclose(kick[:, :2], 20.0 * heading, atol=1e-4) and kick[:, 2].abs().max() < 1e-5


def test_contacts_of_the_last_episode_are_forgotten(env):
    throw_at_body(env)
    env.step(STILL)
    user = env.command_manager.get_term("user")
    assert user.touched.all()
    env.reset()
    assert not user.touched.any() and machine(env).names() == ["move"] * 4


def test_another_ball_comes_when_it_is_gone(env):
    put_ball(env, (40.0, 0.0))
    for _ in range(16):
        env.step(STILL)
    offset = (env.scene["ball"].data.root_link_pos_w.torch - env.scene["robot"].data.root_link_pos_w.torch)[:, :2]
    assert offset.norm(dim=1).max() < 30.0


def test_skills_with_different_actions_play_side_by_side(make, skills, tmp_path):
    """A kick whose actions are offsets from the present pose, beside skills whose actions are targets."""
    content = read_checkpoint(skills["kick"])
    saved = yaml.safe_load(content["sportsuite"]["env_cfg"])
    relative = RelativeJointPositionActionCfg(
        asset_name="robot", joint_names=list(JOINT_NAMES), preserve_order=True, scale=0.5
    )
    saved["actions"]["joint_pos"] = to_plain(relative)
    content["sportsuite"]["env_cfg"] = yaml.safe_dump(saved, sort_keys=False)
    write_checkpoint(tmp_path / "kick.pt", content)
    cfg = load_env_cfg("sportsuite_tasks.football.football.football_play_env_cfg:FootballPlayEnvCfg")
    cfg.actions.play.layouts["relative"] = relative
    cfg.skills = skills | {"kick": str(tmp_path / "kick.pt")}
    make.close()
    env = make(TASK, fresh=True, cfg=cfg, num_envs=4, device="cpu")
    env.reset(seed=0)
    put_ball(env, (1.5, 0.0), (-2.0, 0.0))
    env.step(STILL)
    put_ball(env, (1.2, 0.0))
    robot = env.scene["robot"].data
    pose, default = robot.joint_pos.torch.clone(), robot.default_joint_pos.torch
    action = STILL.clone()
    action[1, 4] = 1.0
    env.step(action)
    assert machine(env).names() == ["dribble", "kick", "dribble", "dribble"]
    targets = robot.joint_pos_target.torch
    scale = env.action_manager.get_term("play")._layouts["joint_targets"]._scale
    assert torch.allclose(targets[0], (default + 0.04 * scale)[0], atol=1e-5)
    assert torch.allclose(targets[1], pose[1] + 0.5 * 0.06, atol=1e-5)


@pytest.mark.parametrize("source", ["script", "random", "person"])
def test_other_users(make, skills, source):
    script = [[0.0, {"speed": 2.0, "direction_deg": 90}], [0.5, {"to_ball": True, "speed": 1.0}]]
    env = make(TASK, num_envs=4, skills=skills, **{"commands.user.source": source, "commands.user.script": script})
    env.reset(seed=1)
    user = env.command_manager.get_term("user")
    ignored = torch.full((4, 9), 3.0)
    env.step(ignored)
    if source == "person":
        assert user.speed.max() == 0
        user.ask({"speed": 3.0, "direction_deg": 180, "kick": True}, torch.tensor([1]))
        put_ball(env, (6.0, 0.0))
        env.step(ignored)
        assert user.speed.tolist() == [0, 3, 0, 0] and user.kick.tolist() == [False, True, False, False]
        assert torch.allclose(user.direction_w[1], torch.tensor([-1.0, 0.0]), atol=1e-6)
    elif source == "script":
        assert torch.allclose(user.direction_w, torch.tensor([[0.0, 1.0]]).expand(4, 2), atol=1e-6)
        assert user.speed.tolist() == [2.0] * 4
        for _ in range(16):
            put_ball(env, (3.0, 4.0))
            env.step(ignored)
        assert torch.allclose(user.direction_w, torch.tensor([[0.6, 0.8]]).expand(4, 2), atol=0.02)
        assert user.speed.tolist() == [1.0] * 4
    else:
        assert 0 < user.speed.max() <= 4.0 and len(user.speed.unique()) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"commands.user.source": "scrip"}, "unknown source of commands 'scrip': did you mean 'script'"),
        ({"commands.user.script": [[0.0, {"spede": 1}]]}, "unknown part of an order 'spede': did you mean 'speed'"),
        ({"commands.user.script": [[0.0, {"kick": 1}]]}, "order kick=1: expected true or false"),
        ({"commands.user.script": [[1.0, {}], [0.5, {}]]}, "later than the last"),
        ({"commands.user.script": [3]}, "expected a time and an order"),
        ({"skills": {"move": "nowhere/move.pt"}}, "skill 'move': policy nowhere/move.pt: there is neither such a file"),
        ({"control_hz": 20.0}, "acts at 30 Hz, here actions are taken at 20 Hz"),
        ({"commands.kick.foot_choice": True}, r"kick.pt .*\[239\] numbers in the policy's training, \[241\] here"),
        ({"actions.play.layouts.joint_targets.use_default_offset": False}, "use_default_offset is True .*, False here"),
    ],
)
def test_bad_input_is_one_clear_error(make, skills, options, message):
    make.close()
    chosen = {"skills": skills} | options
    if "skills" in options:
        chosen["skills"] = skills | options["skills"]
    with pytest.raises(BadInputError, match=message):
        make(TASK, fresh=True, num_envs=4, **chosen)


def test_angles_of_orders():
    from sportsuite_tasks.football.mdp.commands import kick_velocity

    one = torch.ones(1)
    velocity = kick_velocity(10 * one, math.radians(90) * one, math.radians(30) * one)
    assert torch.allclose(velocity, torch.tensor([[0.0, 10 * math.cos(math.radians(30)), 5.0]]), atol=1e-5)
