"""Who runs where in eleven against eleven: a plain plan, so that everybody moves (ours)."""

from __future__ import annotations

import torch

from sportsuite_tasks.football.mdp.commands import kick_velocity

FORMATION = (
    (-45.0, 0.0),
    (-30.0, -18.0),
    (-32.0, -6.0),
    (-32.0, 6.0),
    (-30.0, 18.0),
    (-16.0, -18.0),
    (-18.0, -6.0),
    (-18.0, 6.0),
    (-16.0, 18.0),
    (-6.0, -5.0),
    (-6.0, 5.0),
)
"""4-4-2 of the team that plays towards +x: goalkeeper first [m]; the other team has it mirrored."""

PITCH_M = (105.0, 68.0)
"""Length and width of the pitch [m]."""

TEAM = len(FORMATION)


def home_positions(scale: float = 1.0) -> torch.Tensor:
    """Places of both teams at kick-off [m]. Shape is (22, 2).

    Args:
        scale: Factor on all lengths, for smaller pitches.
    """
    home = torch.tensor(FORMATION) * scale
    return torch.cat((home, home * torch.tensor([-1.0, 1.0])))


def chasers(positions: torch.Tensor, ball: torch.Tensor) -> torch.Tensor:
    """Find the player of each team who is nearest to the ball.

    Args:
        positions: Of all players, the first half being one team [m]. Shape is (E, P, 2).
        ball: Shape is (E, 2) [m].

    Returns:
        Shape is (E, P), bool, two per row.
    """
    distance = (positions - ball.unsqueeze(1)).norm(dim=-1)
    half = positions.shape[1] // 2
    mask = torch.zeros_like(distance, dtype=torch.bool)
    for start in (0, half):
        nearest = distance[:, start : start + half].argmin(dim=1, keepdim=True) + start
        mask.scatter_(1, nearest, True)
    return mask


def orders(
    positions: torch.Tensor, ball: torch.Tensor, home: torch.Tensor, tempo: torch.Tensor, top_speed: float = 5.0
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Tell all players what to do: the nearest of each team goes for the ball, the others keep their place.

    Args:
        positions: Shape is (E, P, 2) [m].
        ball: Shape is (E, 2) [m].
        home: Places at kick-off [m]. Shape is (P, 2).
        tempo: Factor on the speed of each team. Shape is (E, 2).
        top_speed: Fastest order [m/s].

    Returns:
        Directions, unit vectors (E, P, 2), speeds (E, P) [m/s], and who goes for the ball (E, P), bool.
    """
    going = chasers(positions, ball)
    # the team moves up and down with the ball
    place = home.unsqueeze(0) + 0.3 * ball.unsqueeze(1)
    goal = torch.where(going.unsqueeze(-1), ball.unsqueeze(1).expand_as(place), place)
    way = goal - positions
    distance = way.norm(dim=-1)
    direction = way / distance.clamp_min(1e-3).unsqueeze(-1)
    half = positions.shape[1] // 2
    factor = tempo.repeat_interleave(half, dim=1)
    # within half a metre of its place a player stands
    speed = (distance - 0.5).clamp(0.0, top_speed) * factor
    return direction, speed.clamp(0.0, top_speed), going


def shots(positions: torch.Tensor, goal_x: torch.Tensor, speed: float = 20.0) -> torch.Tensor:
    """Velocity of a shot at the opponents' goal, 15 degrees up [m/s]. Shape is (E, P, 3).

    Args:
        positions: Shape is (E, P, 2) [m].
        goal_x: Where the goal is that each player shoots at [m]. Shape is (P,).
        speed: Of the ball [m/s].
    """
    way_x, way_y = goal_x - positions[..., 0], -positions[..., 1]
    yaw = torch.atan2(way_y, way_x)
    fast = torch.full_like(yaw, speed)
    steep = torch.full_like(yaw, 0.26)
    flat = kick_velocity(fast.flatten(), yaw.flatten(), steep.flatten())
    return flat.reshape(*yaw.shape, 3)
