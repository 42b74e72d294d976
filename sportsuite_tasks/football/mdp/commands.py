"""Football's commands: what the user asks of a skill, and the skill's progress towards it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from isaaclab.managers import CommandTerm, CommandTermCfg
from isaaclab.utils import configclass

from sportsuite.characters.spec import ARMS, BODY_NAMES
from sportsuite.composition.buffer_events import start_extra
from sportsuite.errors import unknown_name
from sportsuite.mdp.frames import rotate_to_heading
from sportsuite.mdp.touch import FirstTouch
from sportsuite_tasks.football.kick.strikes import AZIMUTH
from sportsuite_tasks.football.mdp.goals import GoalCommand, kick_velocity, planar, polar, window_open
from sportsuite_tasks.football.move.degcl import load_goal_latents
from sportsuite_tasks.football.projectile import pass_distance

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


class DribbleCommand(GoalCommand):
    """The velocity that the ball shall have (PhysicsFC's Dribble): speed and direction uniform.

    Attributes:
        velocity_w: Horizontal target velocity of the ball, world frame [m/s]. Shape is (num_envs, 2).
    """

    cfg: DribbleCommandCfg

    def __init__(self, cfg: DribbleCommandCfg, env: SportEnv):
        super().__init__(cfg, env, ("relative_error", "ball_distance"))
        self._ball = env.scene["ball"].data
        self.velocity_w = torch.zeros(self.num_envs, 2, device=self.device)

    @property
    def command(self) -> torch.Tensor:
        """Target velocity in the heading frame [m/s] (2), one-hot of the foot (2) where it is asked for."""
        return self._with_foot(planar(self.velocity_w, self.heading))

    def mirror_map(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Index and sign of the mirrored command, see :mod:`sportsuite.mdp.symmetry`."""
        return self._mirror_with_foot([1.0, -1.0])

    def draw(self, ids: torch.Tensor) -> None:
        """Draw speed, and direction against that in which the ball lies."""
        speed = torch.empty(len(ids), device=self.device).uniform_(*self.cfg.speed_range)
        turn = torch.empty(len(ids), device=self.device).uniform_(-self.cfg.turn_range, self.cfg.turn_range)
        offset = (self._ball.root_link_pos_w.torch - self._robot.root_link_pos_w.torch)[ids]
        self.velocity_w[ids] = polar(speed, torch.atan2(offset[:, 1], offset[:, 0]) + turn)

    def _update_metrics(self) -> None:
        velocity = self._ball.root_link_lin_vel_w.torch[:, :2]
        offset = (self._ball.root_link_pos_w.torch - self._robot.root_link_pos_w.torch)[:, :2]
        speed = self.velocity_w.norm(dim=1).clamp_min(0.5)
        self.metrics["relative_error"] += (self.velocity_w - velocity).norm(dim=1) / speed
        self.metrics["ball_distance"] += offset.norm(dim=1)
        self._measured += 1.0


@configclass
class DribbleCommandCfg(CommandTermCfg):
    """Config of :class:`DribbleCommand`."""

    class_type: type = DribbleCommand

    resampling_time_range: tuple[float, float] = (3.0, 6.0)
    """Time between changes [s] (ours; PhysicsFC evaluates with 5 s)."""

    speed_range: tuple[float, float] = (0.0, 7.0)
    """Target speeds [m/s] (PhysicsFC)."""

    turn_range: float = math.pi
    """Largest angle of the target to the direction from the player to the ball [rad]: by default any direction, as in
    PhysicsFC; less, to begin a training with (ours)."""

    foot_choice: bool = False
    """Whether a foot is asked for (ours). Set ``foot_choice`` of the environment's config."""


class MoveCommand(GoalCommand):
    """Where to move and where to face meanwhile (PhysicsFC's Move).

    With a DEGCL file a share of the episodes asks for what a reference clip does, and knows the clip's latent.

    Attributes:
        velocity_w: Horizontal target velocity of the root, world frame [m/s]. Shape is (num_envs, 2).
        facing_w: Target facing, unit vector in the ground plane, world frame. Shape is (num_envs, 2).
        guided: Worlds in a DEGCL episode. Shape is (num_envs,), bool.
        latent: Reference latent of those worlds, without meaning elsewhere. Shape is (num_envs, latent size).
    """

    cfg: MoveCommandCfg

    def __init__(self, cfg: MoveCommandCfg, env: SportEnv):
        super().__init__(cfg, env, ("relative_error", "facing_error_deg"))
        self.velocity_w = torch.zeros(self.num_envs, 2, device=self.device)
        self.facing_w = torch.zeros(self.num_envs, 2, device=self.device)
        self.facing_w[:, 0] = 1.0
        self.guided = torch.zeros(self.num_envs, dtype=torch.bool, device=self.device)
        self.buffer = None if cfg.degcl is None else load_goal_latents(cfg.degcl, str(self.device))
        size = 0 if self.buffer is None else self.buffer.latents.shape[1]
        self.latent = torch.zeros(self.num_envs, size, device=self.device)

    @property
    def command(self) -> torch.Tensor:
        """Target velocity [m/s] (2) and facing (2) in the heading frame. Shape is (num_envs, 4)."""
        heading = self.heading
        return torch.cat((planar(self.velocity_w, heading), planar(self.facing_w, heading)), dim=1)

    @property
    def task_share(self) -> torch.Tensor:
        """What the task rewards are worth: 0.5 in a DEGCL episode (PhysicsFC), else 1. Shape is (num_envs,)."""
        return 1.0 - self.cfg.degcl_weight * self.guided

    def mirror_map(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Index and sign of the mirrored command, see :mod:`sportsuite.mdp.symmetry`."""
        return self._mirror_with_foot([1.0, -1.0, 1.0, -1.0])

    def draw(self, ids: torch.Tensor) -> None:
        """Draw goals; an episode's first may fit the state it starts from, or come from the DEGCL buffer.

        In a DEGCL episode every goal comes from the buffer (PhysicsFC: 80 % of the episodes).
        """
        n = len(ids)
        speed = torch.empty(n, device=self.device).uniform_(*self.cfg.speed_range)
        speed[torch.rand(n, device=self.device) < self.cfg.stand_fraction] = 0.0
        angles = torch.empty(2, n, device=self.device).uniform_(-math.pi, math.pi)
        self.velocity_w[ids] = polar(speed, angles[0])
        self.facing_w[ids] = polar(torch.ones_like(speed), angles[1])
        if self._starting:
            self._fit_start(ids[torch.rand(n, device=self.device) < self.cfg.fitting_fraction])
        if self.buffer is not None:
            self._draw_guided(ids, angles[1])

    def _fit_start(self, ids: torch.Tensor) -> None:
        self.velocity_w[ids] = self._robot.root_link_lin_vel_w.torch[ids, :2]
        self.facing_w[ids] = self.heading[ids]

    def _draw_guided(self, ids: torch.Tensor, yaw: torch.Tensor) -> None:
        assert self.buffer is not None
        if self._starting:
            self.guided[ids] = torch.rand(len(ids), device=self.device) < self.cfg.degcl_fraction
        chosen = self.guided[ids]
        ids, yaw = ids[chosen], yaw[chosen]
        row = torch.randint(len(self.buffer.latents), (len(ids),), device=self.device)
        # the inverse of a rotation into the frame turned by -yaw
        turn = torch.stack((yaw.cos(), -yaw.sin()), dim=1)
        self.velocity_w[ids] = planar(self.buffer.velocity_h[row], turn)
        self.facing_w[ids] = planar(self.buffer.facing_h[row], turn)
        self.latent[ids] = self.buffer.latents[row]

    def _update_metrics(self) -> None:
        velocity = self._robot.root_link_lin_vel_w.torch[:, :2]
        settled = self.steps_since_change * self._env.step_dt >= self.cfg.settling_s
        error = (self.velocity_w - velocity).norm(dim=1) / self.velocity_w.norm(dim=1).clamp_min(0.5)
        cos = (self.heading * self.facing_w).sum(dim=1).clamp(-1.0, 1.0)
        self.metrics["relative_error"] += error * settled
        self.metrics["facing_error_deg"] += cos.acos().rad2deg() * settled
        self._measured += settled


@configclass
class MoveCommandCfg(CommandTermCfg):
    """Config of :class:`MoveCommand`."""

    class_type: type = MoveCommand

    resampling_time_range: tuple[float, float] = (3.0, 6.0)
    """Time between changes [s] (ours)."""

    speed_range: tuple[float, float] = (0.0, 7.0)
    """Target speeds [m/s] (PhysicsFC)."""

    stand_fraction: float = 0.05
    """Probability of the speed 0 (ours): drawn from a range it would never come up."""

    fitting_fraction: float = 0.5
    """Probability that an episode's first goal is the velocity and facing that it starts with (ours)."""

    settling_s: float = 2.0
    """Time after a change that the metrics leave out [s] (ours)."""

    degcl: str | None = None
    """File of (goal, latent) pairs, see :mod:`sportsuite_tasks.football.move.degcl`; None for no guidance."""

    degcl_fraction: float = 0.8
    """Share of guided episodes (PhysicsFC)."""

    degcl_weight: float = 0.5
    """Weight of the latents' similarity in a guided episode; the task has the rest (PhysicsFC)."""


class KickCommand(GoalCommand):
    """The velocity that the ball shall leave the foot with (PhysicsFC's Kick).

    Attributes:
        velocity_w: Target velocity of the ball, world frame [m/s]. Shape is (num_envs, 3).
        first_touch: The first ball-character contact of the episode.
        kicked_w: Fastest velocity of the ball in the window after the contact, world frame [m/s]; zero before it.
            Shape is (num_envs, 3).
    """

    cfg: KickCommandCfg

    def __init__(self, cfg: KickCommandCfg, env: SportEnv):
        super().__init__(cfg, env, ("contact_rate", "direction_error_deg", "speed_error"))
        self._ball = env.scene["ball"].data
        self.first_touch = FirstTouch(env)
        self.velocity_w = torch.zeros(self.num_envs, 3, device=self.device)
        self.kicked_w = torch.zeros(self.num_envs, 3, device=self.device)

    @property
    def command(self) -> torch.Tensor:
        """Target velocity in the heading frame [m/s] (3), one-hot of the foot (2) where it is asked for."""
        return self._with_foot(rotate_to_heading(self.velocity_w, self.heading))

    @property
    def aim_w(self) -> torch.Tensor:
        """Horizontal direction of the target, a unit vector in the world frame. Shape is (num_envs, 2)."""
        return torch.nn.functional.normalize(self.velocity_w[:, :2], dim=1)

    @property
    def in_window(self) -> torch.Tensor:
        """Worlds within the window after the contact. Shape is (num_envs,), bool."""
        return window_open(self.first_touch.refresh().steps_since, self.cfg.window_s, self._env.step_dt)

    def mirror_map(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Index and sign of the mirrored command, see :mod:`sportsuite.mdp.symmetry`."""
        return self._mirror_with_foot([1.0, -1.0, 1.0])

    def draw(self, ids: torch.Tensor) -> None:
        """Draw speed, azimuth against the heading and elevation; a start out of a clip's kick has its azimuth."""
        speed, azimuth, elevation = (
            torch.empty(len(ids), device=self.device).uniform_(*bounds)
            for bounds in (self.cfg.speed_range, self.cfg.azimuth_deg, self.cfg.elevation_deg)
        )
        strike = start_extra(self._env, AZIMUTH, ids)
        azimuth = torch.where(strike.isnan(), azimuth, strike + self.cfg.strike_spread * azimuth)
        heading = self.heading[ids]
        yaw = torch.deg2rad(azimuth) + torch.atan2(heading[:, 1], heading[:, 0])
        self.velocity_w[ids] = kick_velocity(speed, yaw, torch.deg2rad(elevation))

    def reset(self, env_ids: torch.Tensor | slice | None = None) -> dict[str, torch.Tensor]:
        """Log how the kicks of the episode went, then draw a goal."""
        ids = slice(None) if env_ids is None else env_ids
        outcome = self.outcome(ids)
        self.metrics["contact_rate"][ids] = outcome["touched"].float()
        for metric in ("direction_error_deg", "speed_error"):
            self.metrics[metric][ids] = outcome[metric].nan_to_num(0.0)
        self._measured[ids] = 1.0
        logged = super().reset(env_ids)
        touched = outcome["touched"].float().mean().clamp_min(1e-6)
        # means over the kicks that met the ball
        for metric in ("direction_error_deg", "speed_error"):
            logged[metric] = logged[metric] / touched
        self.first_touch.reset(ids)
        self.kicked_w[ids] = 0.0
        return logged

    def outcome(self, ids: torch.Tensor | slice) -> dict[str, torch.Tensor]:
        """How the kick went so far in the given worlds, each of shape (n,).

        Returns:
            ``touched`` (bool), ``direction_error_deg`` and ``speed_error`` [m/s] of the fastest velocity in the window
            against the target, NaN without a contact.
        """
        touched = self.first_touch.touched[ids]
        target, actual = self.velocity_w[ids], self.kicked_w[ids]
        cos = torch.nn.functional.cosine_similarity(target, actual, dim=1).clamp(-1.0, 1.0)
        nothing = torch.full_like(cos, torch.nan)
        speed = (target.norm(dim=1) - actual.norm(dim=1)).abs()
        return {
            "touched": touched,
            "direction_error_deg": torch.where(touched, cos.acos().rad2deg(), nothing),
            "speed_error": torch.where(touched, speed, nothing),
        }

    def measure(self) -> None:
        """Keep the ball's fastest velocity in the window. Calling it twice in a step changes nothing."""
        velocity = self._ball.root_link_lin_vel_w.torch
        touched = self.first_touch.refresh().steps_since == 0
        faster = (self.in_window | touched) & (velocity.norm(dim=1) > self.kicked_w.norm(dim=1))
        self.kicked_w = torch.where(faster.unsqueeze(1), velocity, self.kicked_w)

    def _update_metrics(self) -> None:
        self.measure()


@configclass
class KickCommandCfg(CommandTermCfg):
    """Config of :class:`KickCommand`."""

    class_type: type = KickCommand

    resampling_time_range: tuple[float, float] = (1.0e9, 1.0e9)
    """One goal per episode."""

    speed_range: tuple[float, float] = (5.0, 35.0)
    """Target speeds [m/s] (PhysicsFC)."""

    azimuth_deg: tuple[float, float] = (-45.0, 45.0)
    """Direction against the heading at the start [deg] (PhysicsFC)."""

    elevation_deg: tuple[float, float] = (0.0, 45.0)
    """Angle above the ground [deg] (PhysicsFC)."""

    strike_spread: float = 0.3
    """Share of the drawn azimuth that is added to a clip's, where an episode starts out of its kick, see
    :mod:`sportsuite_tasks.football.kick.strikes` (ours)."""

    window_s: float = 1.0 / 3.0
    """How long after the contact the kick is judged [s] (PhysicsFC)."""

    foot_choice: bool = False
    """Whether a foot is asked for (ours). Set ``foot_choice`` of the environment's config."""


class PassZoneCommand(GoalCommand):
    """A zone on the ground that the ball shall be passed to (ours), in place of a velocity.

    Attributes:
        centre_w: Centre of the zone, world frame [m]. Shape is (num_envs, 2).
        radius: Radius of the zone [m]. Shape is (num_envs,).
        first_touch: The first ball-character contact of the episode.
        miss: How far from the zone's rim the ball will pass or come down, at best so far in the window after the
            contact [m]; infinite before it, 0 inside. Shape is (num_envs,).
    """

    cfg: PassZoneCommandCfg

    def __init__(self, cfg: PassZoneCommandCfg, env: SportEnv):
        super().__init__(cfg, env, ("contact_rate", "hit_rate"))
        self._ball = env.scene["ball"].data
        self.first_touch = FirstTouch(env)
        self.centre_w = torch.zeros(self.num_envs, 2, device=self.device)
        self.radius = torch.ones(self.num_envs, device=self.device)
        self.miss = torch.full((self.num_envs,), torch.inf, device=self.device)

    @property
    def command(self) -> torch.Tensor:
        """Centre from the root in the heading frame (2), radius (1) [m], one-hot of the foot (2) where asked for."""
        offset = self.centre_w - self._robot.root_link_pos_w.torch[:, :2]
        return self._with_foot(torch.cat((planar(offset, self.heading), self.radius.unsqueeze(1)), dim=1))

    @property
    def aim_w(self) -> torch.Tensor:
        """Horizontal direction from the ball to the zone, a unit vector in the world frame. Shape is (num_envs, 2)."""
        return torch.nn.functional.normalize(self.centre_w - self._ball.root_link_pos_w.torch[:, :2], dim=1)

    @property
    def in_window(self) -> torch.Tensor:
        """Worlds within the window after the contact. Shape is (num_envs,), bool."""
        return window_open(self.first_touch.refresh().steps_since, self.cfg.window_s, self._env.step_dt)

    def mirror_map(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Index and sign of the mirrored command, see :mod:`sportsuite.mdp.symmetry`."""
        return self._mirror_with_foot([1.0, -1.0, 1.0])

    def draw(self, ids: torch.Tensor) -> None:
        """Draw distance and azimuth from the player, and the radius."""
        distance, azimuth, radius = (
            torch.empty(len(ids), device=self.device).uniform_(*bounds)
            for bounds in (self.cfg.distance, self.cfg.azimuth_deg, self.cfg.radius)
        )
        heading = self.heading[ids]
        yaw = torch.deg2rad(azimuth) + torch.atan2(heading[:, 1], heading[:, 0])
        self.centre_w[ids] = self._robot.root_link_pos_w.torch[ids, :2] + polar(distance, yaw)
        self.radius[ids] = radius

    def predicted_miss(self) -> torch.Tensor:
        """Distance from the zone's rim at which the ball will come down or pass by now [m]. Shape is (num_envs,)."""
        position = self._ball.root_link_pos_w.torch - self._env.scene.env_origins
        centre = self.centre_w - self._env.scene.env_origins[:, :2]
        distance = pass_distance(position, self._ball.root_link_lin_vel_w.torch, centre, self._env.cfg.ball.radius)
        return (distance - self.radius).clamp_min(0.0)

    def measure(self) -> None:
        """Keep the least miss in the window. Calling it twice in a step changes nothing."""
        closer = torch.minimum(self.miss, self.predicted_miss())
        self.miss = torch.where(self.in_window, closer, self.miss)

    def reset(self, env_ids: torch.Tensor | slice | None = None) -> dict[str, torch.Tensor]:
        """Log whether the passes of the episode came, then draw a zone."""
        ids = slice(None) if env_ids is None else env_ids
        self.metrics["contact_rate"][ids] = self.first_touch.touched[ids].float()
        self.metrics["hit_rate"][ids] = (self.miss[ids] == 0.0).float()
        self._measured[ids] = 1.0
        logged = super().reset(env_ids)
        self.first_touch.reset(ids)
        self.miss[ids] = torch.inf
        return logged

    def _update_metrics(self) -> None:
        self.measure()


@configclass
class PassZoneCommandCfg(CommandTermCfg):
    """Config of :class:`PassZoneCommand`; all of it is ours."""

    class_type: type = PassZoneCommand

    resampling_time_range: tuple[float, float] = (1.0e9, 1.0e9)
    """One zone per episode."""

    distance: tuple[float, float] = (5.0, 20.0)
    """Distance of the centre from the player at the start [m]."""

    azimuth_deg: tuple[float, float] = (-45.0, 45.0)
    """Direction against the heading at the start [deg]."""

    radius: tuple[float, float] = (0.5, 2.0)
    """Radius of the zone [m]."""

    window_s: float = 1.0 / 3.0
    """How long after the contact the pass is judged [s]."""

    foot_choice: bool = False
    """Whether a foot is asked for. Set ``foot_choice`` of the environment's config."""
