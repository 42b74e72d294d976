"""How well a character goes where it is told, and how it looks doing so."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from sportsuite.evaluation.protocol import Metric, mean_metric, rate_metric
from sportsuite.evaluation.rollout import run_episodes
from sportsuite.mdp import feet

if TYPE_CHECKING:
    from sportsuite.learning.policy import Policy
    from sportsuite.mdp.commands import HeadingCommand

CHANGE_S = 5.0
"""Time between two commands [s] (ours): two per episode of ten seconds."""

SETTLING_S = 2.0
"""Time after a command that isn't measured [s] (ours)."""

WINDOW_S = 1.0
"""Speeds are averages over this time [s] (ours): within a step the pelvis is faster and slower than the character."""

PUSH_AT_S = 4.0
"""When a character is pushed [s] (ours)."""

PUSH_SPEED = 0.5
"""Change of the horizontal velocity by the push, in a random direction [m/s]."""


class HeadingProbe:
    """Accumulates per episode: errors of speed and heading, slide of the feet; may push once.

    Args:
        env: The environment.
        push_speed: Size of the push [m/s]; 0 for none.
    """

    def __init__(self, env: Any, push_speed: float = 0.0) -> None:
        self._window = round(WINDOW_S / env.step_dt)
        self._settled = round(SETTLING_S / env.step_dt)
        self._push_step = round(PUSH_AT_S / env.step_dt)
        self._push_speed = push_speed
        zeros = torch.zeros(env.num_envs, device=env.device)
        self._along = zeros.repeat(self._window, 1)
        self._sums = {name: zeros.clone() for name in ("speed", "windows", "heading", "steps", "slide", "corners")}

    def observe(self, env: Any, ids: torch.Tensor) -> None:
        """Take one step of some worlds into account."""
        command: HeadingCommand = env.command_manager.get_term("heading")
        self._along[:, ids] = self._along[:, ids].roll(-1, dims=0)
        self._along[-1, ids] = command.speed_along()[ids]
        since = command.steps_since_change[ids]
        settled = since >= self._settled
        whole = since >= self._settled + self._window
        error = (self._along[:, ids].mean(dim=0) - command.goal_speed[ids]).abs()
        height, speed = (part[ids] for part in feet.sole_motion(env))
        slide, corners = feet.slide_speed(height, speed)
        for name, value in (
            ("speed", error * whole),
            ("windows", whole),
            ("heading", command.heading_error()[ids].rad2deg() * settled),
            ("steps", settled),
            ("slide", slide * corners),
            ("corners", corners),
        ):
            self._sums[name][ids] += value
        if self._push_speed:
            self._push(env, ids[env.episode_length_buf[ids] == self._push_step])

    def _push(self, env: Any, ids: torch.Tensor) -> None:
        if len(ids) == 0:
            return
        robot = env.scene["robot"]
        angle = 2.0 * torch.pi * torch.rand(len(ids), device=env.device)
        velocity = robot.data.root_com_vel_w.torch[ids].clone()
        velocity[:, 0] += self._push_speed * angle.cos()
        velocity[:, 1] += self._push_speed * angle.sin()
        robot.write_root_com_velocity_to_sim_index(root_velocity=velocity, env_ids=ids)

    def finish(self, env: Any, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        """Means of the episodes that end now; NaN where an episode was too short to measure."""
        sums = {name: value[ids].clone() for name, value in self._sums.items()}
        for value in self._sums.values():
            value[ids] = 0.0
        return {
            "speed_error": sums["speed"] / sums["windows"],
            "heading_error": sums["heading"] / sums["steps"],
            "slide": sums["slide"] / sums["corners"],
        }


class HeadingProtocol:
    """Standing starts, two commands of 0 to 4 m/s in any direction per episode of ten seconds; then pushed ones."""

    name = "heading"
    default_episodes = 500

    def configure(self, env_cfg: Any) -> None:
        """Constant commands, standing starts, no pushes but the protocol's own."""
        heading = env_cfg.commands.heading
        heading.resampling_time_range = (CHANGE_S, CHANGE_S)
        heading.fitting_fraction = 0.0
        env_cfg.events.character.params.update(reference_fraction=0.0, fallen_fraction=0.0)
        env_cfg.events.push = None
        env_cfg.curriculum.level = None
        env_cfg.episode_length_s = 10.0

    def run(
        self, env: Any, policy: Policy, episodes: int, seed: int, progress: Callable[[int, int], None]
    ) -> dict[str, Metric]:
        """Play ``episodes`` episodes without pushes and as many with one, see :class:`EvaluationProtocol`."""
        plain = run_episodes(env, policy, episodes, seed, HeadingProbe(env), progress)
        pushed = run_episodes(env, policy, episodes, seed + 1, HeadingProbe(env, PUSH_SPEED), progress)
        return heading_metrics(plain, pushed)


def heading_metrics(plain: dict[str, torch.Tensor], pushed: dict[str, torch.Tensor]) -> dict[str, Metric]:
    """Figures of episodes without and with a push, columns of shape (episodes,)."""
    return {
        "falls": rate_metric(plain["end:fallen"], None, "share of ten-second episodes that end in a fall", "lower"),
        "speed_error": mean_metric(
            plain["speed_error"],
            "m/s",
            None,
            "difference of the speed along the commanded direction, averaged over 1 s, from the command, 3 s after a "
            "change and later, mean over the episodes",
            "lower",
        ),
        "heading_error": mean_metric(
            plain["heading_error"],
            "deg",
            None,
            "angle between facing and commanded direction, 2 s after a change and later, mean over the episodes",
            "lower",
        ),
        "foot_slide": mean_metric(
            plain["slide"],
            "m/s",
            None,
            "horizontal speed of sole corners lower than 8 mm, mean over corners and steps, then episodes",
            "lower",
        ),
        "push_survival": rate_metric(
            1.0 - pushed["end:fallen"], None, "share of episodes with a push of 0.5 m/s at 4 s without a fall", "higher"
        ),
    }


def heading_protocol() -> HeadingProtocol:
    """The evaluation protocol of SportSuite-ImitateHeading-v0."""
    return HeadingProtocol()
