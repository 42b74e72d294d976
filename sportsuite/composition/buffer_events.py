"""The event term that starts episodes in recorded states."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from isaaclab.managers import EventTermCfg, ManagerTermBase

from sportsuite.composition.state_buffer import StateBuffer, read_buffer
from sportsuite.errors import BadInputError
from sportsuite.mdp import frames
from sportsuite.mdp.events import world_indices, yaw_quat
from sportsuite.motion.kinematics import quat_multiply

if TYPE_CHECKING:
    from isaaclab.envs import ManagerBasedEnv

    from sportsuite.envs.sport_env import SportEnv

__all__ = ["ResetToBuffer", "check_shares", "draw_sources", "start_extra", "turned", "write_states"]


class ResetToBuffer(ManagerTermBase):
    """Start episodes in random states of recorded buffers: PhysicsFC's state initialisation (STI).

    Put it after the terms that reset character and ball: where no buffer is drawn, it leaves what they wrote. Where the
    ball has to be aimed at the character (Trap's passes), put the ball's term after this one and set ``ball`` to False.

    Attributes:
        buffers: The buffers, in the order of the config.
        source: Buffer that each world's episode started from, -1 for none. Shape is (num_envs,), long.
        row: State in it. Shape is (num_envs,), long.

    Raises:
        BadInputError: If a file can't be read, or the shares don't add up to at most 1.
    """

    def __init__(self, cfg: EventTermCfg, env: SportEnv):
        super().__init__(cfg, env)
        shares: Mapping[str, float] = cfg.params.get("buffers", {})  # type: ignore[assignment]
        check_shares(shares)
        self._names = tuple(shares)
        self.buffers = [read_buffer(path, env.device) for path in shares]
        self.source = torch.full((env.num_envs,), -1, dtype=torch.long, device=env.device)
        self.row = torch.zeros(env.num_envs, dtype=torch.long, device=env.device)

    def __call__(
        self,
        env: SportEnv,
        env_ids: torch.Tensor | slice | None,
        buffers: Mapping[str, float],
        random_yaw: bool = False,
        ball: bool = True,
    ) -> None:
        """Write the start states.

        Args:
            env: The environment.
            env_ids: Worlds to reset.
            buffers: Share of the episodes that starts from each file, by path; the rest starts as the terms before
                say. PhysicsFC's Dribble: 0.5 of Trap's and 0.5 of Move's; its Kick: 0.7 of Dribble's. The files are
                read when the environment is built. Empty: none.
            random_yaw: Turn each state about the vertical by a random angle. Without it states replay bit for bit.
            ball: Whether the ball starts as recorded as well.
        """
        if not self.buffers:
            return
        ids = world_indices(env, env_ids)
        self.source[ids] = draw_sources([float(buffers[name]) for name in self._names], len(ids), env.device)
        for number, buffer in enumerate(self.buffers):
            chosen = ids[self.source[ids] == number]
            if len(chosen):
                self.row[chosen] = torch.randint(len(buffer), (len(chosen),), device=env.device)
                write_states(env, chosen, buffer.rows(self.row[chosen]), random_yaw, ball)
                env.fallen_start[chosen] = False


def start_extra(env: ManagerBasedEnv, name: str, ids: torch.Tensor) -> torch.Tensor:
    """Number that the buffers keep with the states that episodes started from.

    Args:
        env: The environment; it may have no :class:`ResetToBuffer`.
        name: Name of the extra, one number per state.
        ids: Worlds, shape (n,), long.

    Returns:
        Shape is (n,), NaN where an episode started otherwise or the buffer has no such number.
    """
    found = torch.full((len(ids),), torch.nan, device=env.device)
    for term in env.event_manager.active_terms.get("reset", []):
        function = env.event_manager.get_term_cfg(term).func
        if isinstance(function, ResetToBuffer):
            for number, buffer in enumerate(function.buffers):
                if name in buffer.extras:
                    chosen = function.source[ids] == number
                    found[chosen] = buffer.extras[name][function.row[ids[chosen]]]
    return found


def check_shares(shares: Any) -> None:
    """Refuse shares that aren't a distribution.

    Raises:
        BadInputError: If it is no mapping, a share isn't in [0, 1] or they add up to more than 1.
    """
    if not isinstance(shares, Mapping):
        raise BadInputError(f"buffers={shares!r}: expected a mapping from file to share, such as {{move.npz: 0.5}}")
    for path, share in shares.items():
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0.0 <= share <= 1.0:
            raise BadInputError(f"buffers: the share of {path} is {share!r}, expected a number from 0 to 1")
    if sum(shares.values()) > 1.0 + 1e-6:
        raise BadInputError(f"buffers: the shares add up to {sum(shares.values()):g}, expected at most 1")


def draw_sources(shares: list[float], count: int, device: str | torch.device) -> torch.Tensor:
    """Draw which buffer each episode starts from.

    Args:
        shares: Probability of each buffer, together at most 1.
        count: How many to draw.
        device: Torch device.

    Returns:
        Index of the buffer, -1 for none. Shape is (count,), long.
    """
    edges = torch.tensor(shares, device=device).cumsum(0)
    drawn = torch.bucketize(torch.rand(count, device=device), edges, right=True)
    return torch.where(drawn < len(shares), drawn, -1)


def write_states(
    env: SportEnv, ids: torch.Tensor, states: StateBuffer, random_yaw: bool = False, ball: bool = True
) -> None:
    """Put worlds into recorded states.

    Args:
        env: The environment.
        ids: Worlds, shape (n,), long.
        states: n states.
        random_yaw: Turn each state about its root's vertical by a random angle.
        ball: Whether the ball is written, where the states and the environment have one.
    """
    if random_yaw:
        angle = torch.empty(len(ids), device=env.device).uniform_(-math.pi, math.pi)
        states = turned(states, angle)
    _write_body(env.scene["robot"], env, ids, states.root_pose, states.root_velocity)
    env.scene["robot"].write_joint_position_to_sim_index(position=states.joint_pos, env_ids=ids)
    env.scene["robot"].write_joint_velocity_to_sim_index(velocity=states.joint_vel, env_ids=ids)
    if ball and env.cfg.ball_name is not None and states.ball_pose is not None:
        assert states.ball_velocity is not None
        _write_body(env.scene[env.cfg.ball_name], env, ids, states.ball_pose, states.ball_velocity)


def turned(states: StateBuffer, angle: torch.Tensor) -> StateBuffer:
    """Turn states about the vertical through their root.

    Args:
        states: n states.
        angle: Shape (n,) [rad].
    """
    pivot = states.root_pose[:, :2]
    changes = {
        "root_pose": _turned_pose(states.root_pose, angle, pivot),
        "root_velocity": _turned_velocity(states.root_velocity, angle),
    }
    if states.ball_pose is not None and states.ball_velocity is not None:
        changes["ball_pose"] = _turned_pose(states.ball_pose, angle, pivot)
        changes["ball_velocity"] = _turned_velocity(states.ball_velocity, angle)
    return replace(states, **changes)


def _write_body(asset: Any, env: SportEnv, ids: torch.Tensor, pose: torch.Tensor, velocity: torch.Tensor) -> None:
    placed = pose.clone()
    placed[:, :3] += env.scene.env_origins[ids]
    asset.write_root_link_pose_to_sim_index(root_pose=placed, env_ids=ids)
    asset.write_root_com_velocity_to_sim_index(root_velocity=velocity.contiguous(), env_ids=ids)


def _turned_pose(pose: torch.Tensor, angle: torch.Tensor, pivot: torch.Tensor) -> torch.Tensor:
    place = frames.turn(pose[:, :2] - pivot, angle) + pivot
    return torch.cat((place, pose[:, 2:3], quat_multiply(yaw_quat(angle), pose[:, 3:])), dim=1)


def _turned_velocity(velocity: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
    linear, angular = frames.turn(velocity[:, :2], angle), frames.turn(velocity[:, 3:5], angle)
    return torch.cat((linear, velocity[:, 2:3], angular, velocity[:, 5:6]), dim=1)
