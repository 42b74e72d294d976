"""Networks that know how a ball flies."""

from __future__ import annotations

from typing import Any

import torch
from rsl_rl.models import MLPModel
from torch import nn

from sportsuite_tasks.football.projectile import GRAVITY

BALL_START = 223
"""Where the 13 numbers of the ball begin in a football observation, after the 223 of the character."""

NUM_FEATURES = 7


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


class InterceptInput(nn.Module):
    """The usual observation normaliser, followed by :func:`intercept_features` of the raw observation."""

    def __init__(self, normalizer: nn.Module, ball_start: int):
        super().__init__()
        self.normalizer = normalizer
        self.ball_start = ball_start

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """Normalise (N, D) and append the features: (N, D + 7)."""
        ball = obs[:, self.ball_start : self.ball_start + 13]
        return torch.cat((self.normalizer(obs), intercept_features(ball)), dim=-1)

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

    def __init__(self, *args: Any, ball_start: int = BALL_START, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.obs_normalizer = InterceptInput(self.obs_normalizer, ball_start)

    def _get_latent_dim(self) -> int:
        return self.obs_dim + NUM_FEATURES
