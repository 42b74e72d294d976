"""A person at the controls of SportSuite-Football-v0: without a simulator, in it, and through a browser."""

import importlib.util
import math
import time

import pytest
import torch

from sportsuite.envs.make_env import load_env_cfg
from sportsuite.errors import BadInputError
from sportsuite.plugins.manager import find_task
from sportsuite.viewer.browser import ADDRESS, _is_free, show_in_browser
from sportsuite.viewer.controls import check_controls, steerable_term
from sportsuite_tasks.football.mdp.steering import CONTROLS, Steering
from tests.tasks.football.fake_skills import write_fake_skill
from tests.viewer.chromium import BINARY, open_page

TASK = "SportSuite-Football-v0"
BIAS = {"move": 0.0, "trap": 0.1, "dribble": 0.0, "kick": 0.6}
PORT = 8479
PATIENCE_S = 120.0  # a software renderer on a busy machine
VISER = importlib.util.find_spec("viser") is not None


def test_keys_are_used_once():
    assert check_controls(CONTROLS) == CONTROLS


def test_orders_of_a_person():
    steering = Steering()
    assert steering.order()["speed"] == 0.0 and not steering.order()["to_ball"]
    steering.set("direction", (0.0, 1.0))
    assert steering.order()["direction_deg"] == pytest.approx(90.0) and steering.order()["speed"] == 2.0
    steering.set("run", True)
    assert steering.order()["speed"] == 4.0
    steering.set("run_speed", 5.5)
    assert steering.order()["speed"] == 5.5
    steering.set("run", False)
    steering.set("speed", 1.5)
    steering.set("to_ball", True)
    # a direction goes before the way to the ball
    assert steering.order()["speed"] == 1.5 and not steering.order()["to_ball"]
    steering.set("direction", (0.0, 0.0))
    assert steering.order()["speed"] == 1.5 and steering.order()["to_ball"]
    steering.set("to_ball", False)
    assert steering.order()["speed"] == 0.0 and steering.order()["direction_deg"] == pytest.approx(90.0)
    steering.set("kick_speed", 20.0)
    steering.set("kick_elevation", 30.0)
    assert (steering.order()["kick_speed"], steering.order()["kick_elevation_deg"]) == (20.0, 30.0)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("sped", 1.0, "unknown control 'sped': did you mean 'speed'"),
        ("speed", 8.0, "control 'speed': 8.0: expected 0.0 to 7.0"),
        ("kick_speed", math.nan, "expected 0.0 to 35.0"),
        ("direction", 1.0, "expected x and y"),
    ],
)
def test_bad_values_are_refused(name, value, message):
    with pytest.raises(BadInputError, match=message):
        Steering().set(name, value)


@pytest.fixture(scope="module")
def skills(tmp_path_factory):
    folder = tmp_path_factory.mktemp("skills")
    return {skill: str(write_fake_skill(folder / f"{skill}.pt", skill, bias)) for skill, bias in BIAS.items()}


@pytest.fixture(scope="module")
def options(skills):
    """One environment for all tests, with the viewer where there is one; a script commands at first."""
    cfg = load_env_cfg(find_task(TASK).spec.env_cfg)
    if VISER:
        show_in_browser(cfg, next(port for port in range(PORT, PORT + 100) if _is_free(port)))
    script = [[0.0, {"speed": 3.0, "direction_deg": 90, "kick": True}]]
    user = {"commands.user.source": "script", "commands.user.script": script}
    return {"cfg": cfg, "num_envs": 1, "device": "cpu", "skills": skills} | user | {"terminations.fallen": None}


def put_ball(env, distance, approach=0.0):
    """Put the ball at a distance [m] along x from every root, coming nearer with a speed [m/s]."""
    pose, speed = torch.zeros(env.num_envs, 7), torch.zeros(env.num_envs, 6)
    pose[:, :2] = env.scene["robot"].data.root_link_pos_w.torch[:, :2] + torch.tensor([distance, 0.0])
    pose[:, 2], pose[:, 6], speed[:, 0] = 0.11, 1.0, -approach
    env.scene["ball"].write_root_pose_to_sim_index(root_pose=pose)
    env.scene["ball"].write_root_velocity_to_sim_index(root_velocity=speed)


def test_a_person_takes_over(make, options):
    env = make(TASK, **options)
    env.reset(seed=0)
    user, game = steerable_term(env), env.action_manager.get_term("play").machine
    assert user is env.command_manager.get_term("user")

    def step(distance=6.0, approach=3.0):
        put_ball(env, distance, approach)
        env.step(torch.zeros(1, 9))
        return game.names()[0]

    step()
    assert user.speed.tolist() == [3.0] and user.kick.all()
    user.set_control("direction", (1.0, 0.0))
    step()
    assert user.speed.tolist() == [2.0] and user.direction_w[0].tolist() == [1.0, 0.0]
    assert not user.kick.any()  # what the script asked for is no longer wanted
    # a trap begins at once, a kick with the next dribble; neither is asked for twice
    user.set_control("trap", True)
    assert step() == "trap" and not user.trap.any()
    user.set_control("cancel", True)
    assert step() == "move" and not user.cancel.any()
    assert step() == "move"
    user.set_control("kick_speed", 10.0)
    user.set_control("kick_elevation", 30.0)
    user.set_control("kick", True)
    assert step() == "move" and user.status()["Asked for"] == "kick"
    assert step(1.8, 3.0) == "dribble"
    assert step(1.7, 0.0) == "kick" and user.status()["Skill"] == "kick" and user.status()["Asked for"] == "nothing"
    goal = env.command_manager.get_term("kick").velocity_w[0]
    assert goal.norm() == pytest.approx(10.0, abs=1e-4) and goal[2] == pytest.approx(5.0, abs=1e-4)
    user.set_control("cancel", True)
    assert step(1.7, 0.0) == "dribble"
    assert step(1.7, 0.0) == "dribble"
    # what waits is forgotten with the episode
    user.set_control("trap", True)
    env.reset()
    assert not user.trap.any()


@pytest.mark.skipif(not VISER, reason="the extra 'viser' is not installed")
@pytest.mark.skipif(BINARY is None, reason="no Chromium is installed (apt-get install chromium)")
def test_play_is_steered_in_a_browser(make, options, tmp_path):
    from sportsuite.cli.play import _controls

    env = make(TASK, **options)
    env.reset(seed=0)
    robot, terms = env.scene["robot"].data, env.command_manager
    user, look_after_controls = terms.get_term("user"), _controls(env)

    def play_until(holds, what, distance=6.0, approach=0.0):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            put_ball(env, distance, approach)
            look_after_controls()
            env.step(torch.zeros(1, 9))
            if holds():
                return
        raise AssertionError(f"never: {what}")

    port = env.cfg.sim.visualizer_cfgs[0].port
    with open_page(f"http://{ADDRESS}:{port}", tmp_path) as page:

        def shows(text):
            return lambda: text in page.text()

        play_until(lambda: shows("Skill: move")() and page.listens(), "the panel is shown")
        (client,) = env.sim.visualizers[0]._viewer._server.get_clients().values()

        def goes_ahead():
            x, y, _ = client.camera.look_at - client.camera.position
            ahead = torch.tensor([x, y], dtype=torch.float32) / math.hypot(x, y)
            return torch.allclose(terms.get_term("move").velocity_w[0], 2.0 * ahead, atol=1e-2)

        page.press("KeyW")
        play_until(goes_ahead, "walking to where the camera looks")
        page.press("ShiftLeft")
        play_until(lambda: user.speed[0] == 4.0, "running")
        page.release("ShiftLeft")
        page.release("KeyW")
        play_until(lambda: user.speed[0] == 0.0, "standing")

        play_until(shows("Skill: dribble"), "the ball is dribbled", 1.7, 0.5)
        before = robot.joint_pos.torch.clone()
        page.press("KeyK")
        page.release("KeyK")
        play_until(shows("Skill: kick"), "the kick", 1.7)
        for _ in range(5):
            play_until(lambda: True, "a step", 1.7)
        # the skill in charge moves the joints
        assert (robot.joint_pos.torch - before).abs().max() > 0.1
        goal = terms.get_term("kick").velocity_w[0]
        assert goal.norm() == pytest.approx(12.0, abs=1e-3)
        assert goal[2] == pytest.approx(12.0 * math.sin(math.radians(15.0)), abs=1e-3)
        page.press("KeyC")
        page.release("KeyC")
        play_until(shows("Skill: dribble"), "the kick is cancelled", 1.7)
        play_until(shows("Skill: move"), "the ball is lost")
        page.press("KeyT")
        page.release("KeyT")
        play_until(shows("Skill: trap"), "the trap", 6.0, 3.0)
        page.screenshot(tmp_path / "steered.png")
    play_until(lambda: True, "a step without the browser")
