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
        last: Outcome of the last finished episode of each world, for evaluation; each of shape (num_envs,):
            ``touched`` (any contact), ``success`` (contact before the ball hit the ground), ``hand`` (that contact involved
            hand or arm), ``relative_speed`` (ball against root at the end of the window, or of the episode if that came
            first [m/s], NaN without contact).
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
        self._relative_speed = torch.full((self.num_envs,), torch.nan, device=self.device)
        self.last = {
            "touched": torch.zeros(self.num_envs, dtype=torch.bool, device=self.device),
            "success": torch.zeros(self.num_envs, dtype=torch.bool, device=self.device),
            "hand": torch.zeros(self.num_envs, dtype=torch.bool, device=self.device),
            "relative_speed": torch.full((self.num_envs,), torch.nan, device=self.device),
        }
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
        """Record how the episode ended, then draw a new body part."""
        ids = slice(None) if env_ids is None else env_ids
        touch = self.first_touch
        self._measure()
        self.last["touched"][ids] = touch.touched[ids]
        self.last["success"][ids] = (touch.touched & ~touch.bounced)[ids]
        self.last["hand"][ids] = touch.bodies[:, self._arms].any(dim=1)[ids]
        self.last["relative_speed"][ids] = self._relative_speed[ids]
        self.metrics["success_rate"][ids] = self.last["success"][ids].float()
        self.metrics["touch_rate"][ids] = self.last["touched"][ids].float()
        self.metrics["hand_rate"][ids] = self.last["hand"][ids].float()
        logged = super().reset(env_ids)
        touch.reset(ids)
        self._relative_speed[ids] = torch.nan
        return logged

    def _measure(self) -> None:
        """Keep the ball's speed against the root until the window after the first touch is over."""
        ball = self._env.scene["ball"].data.root_link_lin_vel_w.torch
        root = self._env.scene["robot"].data.root_link_lin_vel_w.torch
        steps = self.first_touch.refresh().steps_since
        inside = (steps >= 0) & (steps <= round(self.cfg.window_s / self._env.step_dt))
        self._relative_speed = torch.where(inside, (ball - root).norm(dim=-1), self._relative_speed)

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
