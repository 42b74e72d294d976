"""Football's commands: what the user asks of a skill, and the skill's progress towards it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from isaaclab.managers import CommandTerm, CommandTermCfg
from isaaclab.utils import configclass

from sportsuite.characters.spec import ARMS, BODY_NAMES
from sportsuite.errors import unknown_name
from sportsuite.mdp.touch import FirstTouch

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv

TRAP_BODIES = ("head", "torso", "left_thigh", "right_thigh", "left_foot", "right_foot")
"""Body parts that a trap can be asked of. PhysicsFC names no list; this one is ours."""


class TrapCommand(CommandTerm):
    """Which body part shall receive the ball, one-hot, drawn once per episode.

    Attributes:
        first_touch: The first ball-character contact of the episode.
        relative_speed: Speed of the ball against the root [m/s] until the window after the first contact is over, then
            kept; NaN before the contact. Shape is (num_envs,).
    """

    cfg: TrapCommandCfg

    def __init__(self, cfg: TrapCommandCfg, env: SportEnv):
        super().__init__(cfg, env)
        for name in cfg.bodies:
            if name not in BODY_NAMES:
                raise unknown_name("body", name, BODY_NAMES)
        self.body_ids = torch.tensor([BODY_NAMES.index(name) for name in cfg.bodies], device=self.device)
        self.choice = torch.zeros(self.num_envs, dtype=torch.long, device=self.device)
        self._one_hot = torch.zeros(self.num_envs, len(cfg.bodies), device=self.device)
        self.first_touch = FirstTouch(env)
        self._arms = torch.tensor([env.touch.body_names.index(name) for name in ARMS], device=self.device)
        self.relative_speed = torch.full((self.num_envs,), torch.nan, device=self.device)
        for name in ("success_rate", "hand_rate", "touch_rate"):
            self.metrics[name] = torch.zeros(self.num_envs, device=self.device)

    @property
    def command(self) -> torch.Tensor:
        """One-hot of the chosen body part. Shape is (num_envs, len(bodies))."""
        return self._one_hot

    @property
    def target_body(self) -> torch.Tensor:
        """Index of the chosen body among the character's bodies. Shape is (num_envs,), long."""
        return self.body_ids[self.choice]

    def reset(self, env_ids: torch.Tensor | slice | None = None) -> dict[str, torch.Tensor]:
        """Log how the episode ended, then draw a new body part."""
        ids = slice(None) if env_ids is None else env_ids
        outcome = self.outcome(ids)
        for metric, name in (("success_rate", "success"), ("touch_rate", "touched"), ("hand_rate", "hand")):
            self.metrics[metric][ids] = outcome[name].float()
        logged = super().reset(env_ids)  # type: ignore[arg-type]
        self.first_touch.reset(ids)
        self.relative_speed[ids] = torch.nan
        return logged

    def outcome(self, ids: torch.Tensor | slice) -> dict[str, torch.Tensor]:
        """How the episode went so far in the given worlds, each of shape (n,).

        Returns:
            ``touched`` (any contact), ``success`` (contact before the ball hit the ground), ``hand`` (the first contact
            involved hand or arm), all bool, and ``relative_speed`` [m/s].
        """
        self._measure()
        touch = self.first_touch
        return {
            "touched": touch.touched[ids],
            "success": (touch.touched & ~touch.bounced)[ids],
            "hand": touch.bodies[:, self._arms].any(dim=1)[ids],
            "relative_speed": self.relative_speed[ids],
        }

    def _measure(self) -> None:
        """Keep the ball's speed against the root until the window after the first touch is over."""
        ball = self._env.scene["ball"].data.root_link_lin_vel_w.torch
        root = self._env.scene["robot"].data.root_link_lin_vel_w.torch
        steps = self.first_touch.refresh().steps_since
        inside = (steps >= 0) & (steps <= round(self.cfg.window_s / self._env.step_dt))
        self.relative_speed = torch.where(inside, (ball - root).norm(dim=-1), self.relative_speed)

    def _update_metrics(self) -> None:
        self._measure()

    def _resample_command(self, env_ids: torch.Tensor | slice) -> None:
        self.choice[env_ids] = torch.randint_like(self.choice[env_ids], len(self.cfg.bodies))
        self._one_hot[env_ids] = torch.nn.functional.one_hot(self.choice[env_ids], len(self.cfg.bodies)).float()

    def _update_command(self) -> None:
        pass  # the choice stands for the whole episode


@configclass
class TrapCommandCfg(CommandTermCfg):
    """Config of :class:`TrapCommand`."""

    class_type: type = TrapCommand
    resampling_time_range: tuple[float, float] = (1.0e9, 1.0e9)
    bodies: tuple[str, ...] = TRAP_BODIES
    """Body parts to choose from (ours; PhysicsFC does not list them)."""
    window_s: float = 1.0 / 6.0
    """How long after the first contact the trap is judged [s] (PhysicsFC: 1/6 s)."""
