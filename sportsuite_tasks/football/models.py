"""Networks that know how a ball flies, and where it lies as seen along the goal."""

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
    """:func:`aim_features` of an observation."""

    size = 18

    def __init__(self, ball_start: int):
        super().__init__()
        self.ball_start = ball_start
        self.columns: list[int] = list(_AIM_COLUMNS)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """Features of shape (N, 18) of an observation of shape (N, D)."""
        return aim_features(obs, self.ball_start, self.columns)


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
        ball_start: Index of the ball's first number in the observation.
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
