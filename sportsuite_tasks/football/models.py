"""Networks that know how a ball flies, where it lies as seen along the goal, and what a walker would be told."""

from __future__ import annotations

from typing import Any

import torch
from rsl_rl.models import MLPModel
from torch import nn

from sportsuite.characters.spec import BODY_NAMES, FEET, NUM_BODIES
from sportsuite.learning.models import MultiHeadCritic
from sportsuite_tasks.football.projectile import GRAVITY

BALL_START = 223
"""Where the 13 numbers of the ball begin in a football observation, after the 223 of the character."""

_VELOCITIES = 1 + 3 * (NUM_BODIES - 1) + 6 * NUM_BODIES
"""Where the linear velocities begin in the 223 numbers of :func:`~sportsuite.mdp.observations.body_features_h`."""

_AIM_COLUMNS = [
    _VELOCITIES,
    *(1 + 3 * (BODY_NAMES.index(name) - 1) for name in FEET),
    *(_VELOCITIES + 3 * BODY_NAMES.index(name) for name in FEET),
]
"""Where the root's velocity and the feet's positions and velocities begin in them."""


def intercept_features(
    ball: torch.Tensor, radius: float = 0.11, gravity: float = GRAVITY, reach: float = 3.0, horizon: float = 3.0
) -> torch.Tensor:
    """Where and when a flying ball comes down and comes by, from its state in the heading frame.

    Ballistic flight: ``p + v t - g t^2 / 2``. A network can work this out from the state alone, but spends most of its
    samples on it; the numbers hold nothing that the observation does not.

    Args:
        ball: Position relative to the root, height above the ground [m] (3), orientation xyzw (4), linear velocity
            [m/s] (3), angular velocity [rad/s] (3). Shape is (N, 13).
        radius: Radius of the ball [m].
        gravity: Acceleration of gravity [m/s^2].
        reach: Limit on the lengths [m] (ours).
        horizon: Limit on the times [s] (ours).

    Returns:
        Landing point (2) [m], point of closest horizontal approach to the root (3) [m], time to the landing (1) and to
        the closest approach (1) [s]. Shape is (N, 7).
    """
    position, velocity = ball[:, :3], ball[:, 7:10]
    drop = (position[:, 2] - radius).clamp_min(0.0)
    climb = velocity[:, 2]
    landing_time = ((climb + torch.sqrt(climb.square() + 2.0 * gravity * drop)) / gravity).clamp(0.0, horizon)
    landing = position[:, :2] + velocity[:, :2] * landing_time.unsqueeze(-1)
    speed_squared = velocity[:, :2].square().sum(-1).clamp_min(1e-2)
    passing_time = (-(position[:, :2] * velocity[:, :2]).sum(-1) / speed_squared).clamp(0.0, horizon)
    passing = position + velocity * passing_time.unsqueeze(-1)
    fallen = torch.stack((torch.zeros_like(climb), torch.zeros_like(climb), 0.5 * gravity * passing_time.square()), -1)
    points = torch.cat((landing, passing - fallen), dim=-1).clamp(-reach, reach)
    return torch.cat((points, landing_time.unsqueeze(-1), passing_time.unsqueeze(-1)), dim=-1)


def aim_features(
    obs: torch.Tensor, ball_start: int, columns: list[int], slowest: float = 0.5, reach: float = 3.0
) -> torch.Tensor:
    """The ball, the feet and the root as seen along the goal, from an observation in the heading frame.

    A player has to get behind the ball, against the direction in which it shall go. That is a product of the goal with
    positions, on which a network spends most of its samples; the numbers hold nothing that the observation does not.

    Args:
        obs: Observation: 223 numbers of the character, 13 of the ball, the goal, whose first two are a horizontal
            velocity or offset in the heading frame. Shape is (N, D).
        ball_start: Index of the ball's first number.
        columns: Where begin: the root's velocity, the position of either foot from the root, the velocity of either.
        slowest: Speed below which a goal is normalised as if it were this fast [m/s] (as the rewards do it).
        reach: Limit on all numbers (ours).

    Returns:
        Along the goal and to its left: ball from the root [m], ball's velocity [m/s], its error relative to the goal,
        root's velocity [m/s], each foot from the ball [m], each foot's velocity [m/s]; the goal's length and its
        inverse. Shape is (N, 18).
    """
    goal = obs[:, ball_start + 13 : ball_start + 15]
    length = goal.square().sum(dim=1, keepdim=True).sqrt()
    ahead = goal / length.clamp_min(1e-3)
    scale = length.clamp_min(slowest)
    ball, velocity = obs[:, ball_start : ball_start + 2], obs[:, ball_start + 7 : ball_start + 9]
    parts = [obs[:, start : start + 2] for start in columns]
    seen = [ball, velocity, (velocity - goal) / scale, parts[0], parts[1] - ball, parts[2] - ball, parts[3], parts[4]]
    vectors = torch.stack(seen, dim=1)
    along = (vectors * ahead.unsqueeze(1)).sum(-1)
    aside = vectors[..., 1] * ahead[:, :1] - vectors[..., 0] * ahead[:, 1:]
    return torch.cat((along, aside, length, 1.0 / scale), dim=1).clamp(-reach, reach)


def heading_command(velocity: torch.Tensor, fastest: float = 4.0) -> torch.Tensor:
    """What a walker of the target heading task would be told, to move with a given velocity.

    As a network's last inputs it lets a training begin with that walker: see
    :func:`~sportsuite.learning.warm_start.warm_start`.

    Args:
        velocity: Horizontal velocity in the heading frame [m/s]. Shape is (N, 2).
        fastest: Limit on the speed [m/s].

    Returns:
        Direction in the heading frame (2), straight ahead where the velocity is zero, and speed [m/s]. Shape is (N, 3).
    """
    speed = velocity.square().sum(dim=1, keepdim=True).sqrt()
    ahead = torch.cat((torch.ones_like(speed), torch.zeros_like(speed)), dim=1)
    direction = torch.where(speed > 1e-3, velocity / speed.clamp_min(1e-3), ahead)
    return torch.cat((direction, speed.clamp(max=fastest)), dim=1)


def chase(
    obs: torch.Tensor, ball_start: int, behind: float = 0.3, rate: float = 2.0, most: float = 2.5
) -> torch.Tensor:
    """Velocity with which the root would come to behind the ball and follow it (ours).

    The goal's own velocity, and a part that closes the distance to the point ``behind`` the ball against the goal.

    Args:
        obs: As for :func:`aim_features`. Shape is (N, D).
        ball_start: Index of the ball's first number.
        behind: Distance of that point from the ball [m].
        rate: Speed per distance to it [1/s].
        most: Limit on the goal's part [m/s]: a kick's goal is faster than a player.

    Returns:
        Horizontal, in the heading frame [m/s]. Shape is (N, 2).
    """
    goal = obs[:, ball_start + 13 : ball_start + 15]
    length = goal.square().sum(dim=1, keepdim=True).sqrt()
    ahead = goal / length.clamp_min(1e-3)
    return ahead * length.clamp(max=most) + rate * (obs[:, ball_start : ball_start + 2] - behind * ahead)


class InterceptFeatures(nn.Module):
    """:func:`intercept_features` of an observation."""

    size = 7

    def __init__(self, ball_start: int):
        super().__init__()
        self.ball_start = ball_start

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """Features of shape (N, 7) of an observation of shape (N, D)."""
        return intercept_features(obs[:, self.ball_start : self.ball_start + 13])


class AimFeatures(nn.Module):
    """:func:`aim_features` of an observation, and a walker's command to chase the ball."""

    size = 21
    walker = "heading"
    """Command that the last numbers stand for."""

    def __init__(self, ball_start: int):
        super().__init__()
        self.ball_start = ball_start
        self.columns: list[int] = list(_AIM_COLUMNS)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """Features of shape (N, 21) of an observation of shape (N, D)."""
        command = heading_command(chase(obs, self.ball_start))
        return torch.cat((aim_features(obs, self.ball_start, self.columns), command), dim=1)


class MoveFeatures(nn.Module):
    """Root velocity's error as seen along the goal, and a walker's command between the goal's velocity and facing.

    A walker faces where it goes. It is told the direction of the velocity plus 1 m/s along the facing (ours), and the
    velocity's share of it: it turns to the facing where the goal is slow or behind it, and else rather goes.

    The observation is 223 numbers of the character, the goal's velocity (2) and facing (2), in the heading frame.
    """

    size = 7
    walker = "heading"

    def __init__(self, goal_start: int):
        super().__init__()
        self.goal_start = goal_start
        self.root_velocity = _VELOCITIES

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """Features of shape (N, 7) of an observation of shape (N, D)."""
        goal = obs[:, self.goal_start : self.goal_start + 2]
        facing = obs[:, self.goal_start + 2 : self.goal_start + 4]
        velocity = obs[:, self.root_velocity : self.root_velocity + 2]
        ahead = heading_command(goal)[:, :2]
        seen = torch.stack((velocity - goal, facing), dim=1)
        along = (seen * ahead.unsqueeze(1)).sum(-1)
        aside = seen[..., 1] * ahead[:, :1] - seen[..., 0] * ahead[:, 1:]
        course = heading_command(goal + facing)[:, :2]
        command = torch.cat((course, (goal * course).sum(dim=1, keepdim=True).clamp(0.0, 4.0)), dim=1)
        return torch.cat((along, aside, command), dim=1)


class FeatureInput(nn.Module):
    """The usual observation normaliser, followed by features of the raw observation."""

    def __init__(self, normalizer: nn.Module, features: nn.Module):
        super().__init__()
        self.normalizer = normalizer
        self.features = features

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """Normalise (N, D) and append the F features: (N, D + F)."""
        return torch.cat((self.normalizer(obs), self.features(obs)), dim=-1)

    @torch.jit.unused
    def update(self, obs: torch.Tensor) -> None:
        """Update the normaliser's statistics."""
        self.normalizer.update(obs)  # type: ignore[operator]


class InterceptModel(MLPModel):
    """An MLP that also sees where and when the ball comes down and comes by (ours).

    Args:
        *args: See :class:`rsl_rl.models.MLPModel`.
        ball_start: Index in the observation of the first number after those of the character.
        **kwargs: See :class:`rsl_rl.models.MLPModel`.
    """

    features_type: type[nn.Module] = InterceptFeatures

    def __init__(self, *args: Any, ball_start: int = BALL_START, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.obs_normalizer = FeatureInput(self.obs_normalizer, self.features_type(ball_start))

    def _get_latent_dim(self) -> int:
        return self.obs_dim + self.features_type.size  # type: ignore[operator]


class AimModel(InterceptModel):
    """An MLP that also sees the ball, the feet and the root along the goal (ours)."""

    features_type = AimFeatures


class AimCritic(AimModel, MultiHeadCritic):
    """A critic that sees what :class:`AimModel` sees, with an output per objective."""


class MoveModel(InterceptModel):
    """An MLP that also sees the root's error along the goal and a walker's command (ours)."""

    features_type = MoveFeatures


class MoveCritic(MoveModel, MultiHeadCritic):
    """A critic that sees what :class:`MoveModel` sees, with an output per objective."""
