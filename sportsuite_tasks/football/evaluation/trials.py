"""A user who brings about one switch of skills per episode and then waits to see what comes of it.

Every episode of SportSuite-Football-v0 is a trial of one scenario. The user leads up to the switch, at a random time
and with random goals; the state machine takes it by its own guards, as in play. From then on the new skill is judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from isaaclab.utils import configclass

from sportsuite.composition.state_machine import StateMachine
from sportsuite.errors import unknown_name
from sportsuite.mdp.frames import heading_from_quat
from sportsuite_tasks.football.evaluation.kick import seconds_to_touch
from sportsuite_tasks.football.evaluation.matching import Hold, MatchRule, velocity_matched
from sportsuite_tasks.football.mdp.commands import kick_velocity
from sportsuite_tasks.football.mdp.events import reset_ball_near, reset_ball_pass
from sportsuite_tasks.football.mdp.goals import polar
from sportsuite_tasks.football.mdp.user_command import UserCommand, UserCommandCfg

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv

__all__ = [
    "SCENARIOS",
    "TrialSettings",
    "TrialUser",
    "TrialUserCfg",
    "kick_trial_over",
    "trap_trial_over",
    "trial_over",
]

SCENARIOS: dict[str, tuple[str, str]] = {
    "trap_to_dribble": ("trap", "dribble"),
    "move_to_dribble": ("move", "dribble"),
    "move_to_trap": ("move", "trap"),
    "dribble_to_kick": ("dribble", "kick"),
}
"""Switches that PhysicsFC measures: from and to."""

_FAR_M = 20.0
"""Where the ball lies while it plays no part [m] (ours): out of every guard's reach."""


@dataclass
class TrialSettings:
    """What leads up to a switch, and how long it is waited for. What no text gives is marked ours."""

    prepare_s: float = 10.0
    """Time after which a trial without the switch is given up [s] (ours)."""
    goal_limit_s: float = 30.0
    """Time for a dribble goal after the switch [s] (ours, after the name DGAR30)."""
    contact_limit_s: float = 10.0
    """Time for a trap's or a kick's contact after the switch [s] (ours)."""
    goal_speed: tuple[float, float] = (0.0, 7.0)
    """Speeds of the dribble goals [m/s] (PhysicsFC: the task's)."""
    kick_speed: tuple[float, float] = (5.0, 35.0)
    """Speeds of the kicks [m/s] (PhysicsFC: the task's)."""
    kick_azimuth_deg: tuple[float, float] = (-45.0, 45.0)
    """Directions of the kicks against the heading at the command [deg] (PhysicsFC: the task's)."""
    kick_elevation_deg: tuple[float, float] = (0.0, 45.0)
    """Elevations of the kicks [deg] (PhysicsFC: the task's)."""
    wait_s: tuple[float, float] = (0.5, 2.0)
    """How long Move plays before a pass, and Dribble before a kick [s] (ours)."""
    move_speed: tuple[float, float] = (0.0, 3.0)
    """Speeds of Move before a pass [m/s] (ours)."""
    dribble_speed: tuple[float, float] = (0.0, 4.0)
    """Speeds of Dribble before a kick [m/s] (ours)."""
    approach_speed: tuple[float, float] = (1.0, 4.0)
    """Speeds towards the ball [m/s] (ours)."""
    ball_distance: tuple[float, float] = (3.0, 6.0)
    """How far the ball lies that Move goes to [m] (ours)."""
    near_distance: tuple[float, float] = (0.6, 1.2)
    """How far the ball lies that is dribbled before a kick [m] (ours)."""
    lob_speed: tuple[float, float] = (10.0, 20.0)
    """Launch speeds of passes [m/s]; PhysicsFC has up to 30 (ours: as in the evaluation of Trap)."""
    lob_elevation_deg: tuple[float, float] = (10.0, 45.0)
    """Launch angles of passes [deg] (PhysicsFC)."""
    azimuth_deg: tuple[float, float] = (-180.0, 180.0)
    """Where passes come from, against the heading; 0 is from the front [deg] (ours: all around)."""


def trap_trial_over(
    touched: torch.Tensor, judged: torch.Tensor, bounced: torch.Tensor, trapping: torch.Tensor
) -> torch.Tensor:
    """Whether a trap is decided: the window after its touch is over, or the ball bounced or was given up untouched.

    Args:
        touched: The ball has been touched. Shape is (N,), bool; so are the others.
        judged: The window after the touch is over.
        bounced: The ball hit the ground before the touch.
        trapping: The skill still plays.
    """
    return torch.where(touched, judged, bounced | ~trapping)


def kick_trial_over(touched: torch.Tensor, judged: torch.Tensor, kicking: torch.Tensor) -> torch.Tensor:
    """Whether a kick is decided: the window after its contact is over, or it was given up without one.

    Args:
        touched: The ball has been touched. Shape is (N,), bool; so are the others.
        judged: The window after the contact is over.
        kicking: The skill still plays.
    """
    return torch.where(touched, judged, ~kicking)


class TrialUser(UserCommand):
    """The user of one trial per episode; the environment's action is ignored.

    Attributes:
        scenario: One of :data:`SCENARIOS`. Set it, then reset all worlds.
        match: When a dribble goal counts as reached.
        switched_at: Step of the episode in which the switch was taken, -1 before. Shape is (num_envs,), long.
        goal: Velocity that the ball shall have after a switch to Dribble, world frame [m/s]. Shape is (num_envs, 2).
    """

    cfg: TrialUserCfg

    def __init__(self, cfg: TrialUserCfg, env: SportEnv):
        super().__init__(cfg, env)
        self.scenario, self.match = "move_to_dribble", MatchRule()
        n, device = self.num_envs, self.device
        self.switched_at, self._entered_at = (torch.full((n,), -1, dtype=torch.long, device=device) for _ in range(2))
        self.goal, self._lead = torch.zeros(n, 2, device=device), torch.zeros(n, 2, device=device)
        self._wait_s, self._approach = torch.zeros(n, device=device), torch.zeros(n, device=device)
        self._hold = Hold(n, self.match.hold_steps, device)
        self._judged_at = -1

    @property
    def switched(self) -> torch.Tensor:
        """Worlds in which the switch has been taken. Shape is (num_envs,), bool."""
        return self.switched_at >= 0

    @property
    def _game(self) -> StateMachine:
        return self._env.action_manager.get_term(self.cfg.action_name).machine

    @property
    def _time(self) -> torch.Tensor:
        return self._env.episode_length_buf * self._env.step_dt + 1e-6

    def choose(self, scenario: str, match: MatchRule) -> None:
        """Say what the coming episodes try.

        Raises:
            BadInputError: If there is no such scenario.
        """
        if scenario not in SCENARIOS:
            raise unknown_name("scenario", scenario, SCENARIOS)
        self.scenario, self.match = scenario, match
        self._hold = Hold(self.num_envs, match.hold_steps, self.device)

    def receive(self, actions: torch.Tensor) -> None:
        """Command what leads up to the switch, then what the new skill is judged by."""
        fresh = (self._env.episode_length_buf == 0).nonzero().squeeze(-1)
        if len(fresh):
            self._begin(fresh)
        self.trap[:], self.kick[:], self.cancel[:], self.to_ball[:] = False, False, False, False
        getattr(self, f"_lead_{self.scenario}")()
        self._aim_at_ball()

    def direct(self, machine: StateMachine, switched: torch.Tensor) -> None:
        """Note the switch that is waited for, and give its goal to the new skill in the same step."""
        source, target = SCENARIOS[self.scenario]
        row = next(n for n, r in enumerate(machine.table.transitions) if (r.source, r.target) == (source, target))
        now = (machine.taken == row) & ~self.switched
        self.switched_at[now] = self._env.episode_length_buf[now]
        begins = switched & (machine.state == machine.index("dribble"))
        self._entered_at[begins] = self._env.episode_length_buf[begins]
        if target == "dribble":
            self._set_velocity(now, self.goal)
        elif self.scenario == "dribble_to_kick":
            self._set_velocity(begins & ~self.switched, self._lead)
        super().direct(machine, switched)

    def judge(self) -> torch.Tensor:
        """Take the step into account, once, and say which trials are decided. Shape is (num_envs,), bool."""
        if self._judged_at != self._env.common_step_counter:
            self._judged_at = self._env.common_step_counter
            self._see_goal()
        since = (self._env.episode_length_buf - self.switched_at) * self._env.step_dt
        unprepared = self._time >= self.cfg.settings.prepare_s
        too_late = torch.where(self.switched, since >= self._limit_s() - 1e-6, unprepared)
        return too_late | (self.switched & self._decided())

    def outcome(self, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        """How trials went, each of shape (n,).

        Returns:
            ``switched`` (0 or 1), and what the scenario's new skill is judged by: ``reached`` and ``reach_s`` [s]; or
            ``success`` and ``relative_speed`` [m/s]; or ``touched``, ``direction_error_deg``, ``speed_error`` [m/s] and
            ``seconds`` [s].
        """
        figures = {"switched": self.switched[ids].float()}
        _, target = SCENARIOS[self.scenario]
        if target == "dribble":
            return figures | {
                "reached": self._hold.reached[ids].float(),
                "reach_s": self._hold.seconds(ids, self._env.step_dt),
            }
        term = self._env.command_manager.get_term(target)
        if target == "kick":
            # no reward looks at the kick here, and the command's own turn comes after the reset
            term.measure()
        seen = {name: value.float() for name, value in term.outcome(ids).items()}
        if target == "trap":
            return figures | {name: seen[name] for name in ("success", "relative_speed")}
        steps = self._env.episode_length_buf[ids] - self.switched_at[ids]
        seconds = seconds_to_touch(steps, term.first_touch.steps_since[ids], self._env.step_dt)
        return figures | seen | {"seconds": seconds}

    def reset(self, env_ids: torch.Tensor | slice | None = None) -> dict[str, torch.Tensor]:
        """Forget the trials of worlds that begin anew."""
        ids = slice(None) if env_ids is None else env_ids
        self.switched_at[ids], self._entered_at[ids] = -1, -1
        self._hold.forget(ids)  # type: ignore[arg-type]
        return super().reset(env_ids)

    def _begin(self, ids: torch.Tensor) -> None:
        """Draw the trial's times and goals, and put the ball where the scenario needs it."""
        cfg = self.cfg.settings
        self.goal[ids] = self._drawn_velocity(ids, cfg.goal_speed)
        lead = cfg.move_speed if self.scenario == "move_to_trap" else cfg.dribble_speed
        self._lead[ids] = self._drawn_velocity(ids, lead)
        self._wait_s[ids] = self._drawn(ids, cfg.wait_s)
        self._approach[ids] = self._drawn(ids, cfg.approach_speed)
        if self.scenario == "trap_to_dribble":
            self._throw(ids)
            return
        far = (_FAR_M, _FAR_M)
        distance = {"move_to_dribble": cfg.ball_distance, "dribble_to_kick": cfg.near_distance}.get(self.scenario, far)
        angle = 45.0 if self.scenario == "dribble_to_kick" else 180.0
        reset_ball_near(self._env, ids, distance, angle, (0.0, 0.0), (0.0, 0.0), rest_fraction=1.0)  # type: ignore[arg-type]

    def _throw(self, ids: torch.Tensor) -> None:
        cfg = self.cfg.settings
        reset_ball_pass(
            self._env,  # type: ignore[arg-type]
            ids,
            lob_speed=cfg.lob_speed,
            lob_elevation_deg=cfg.lob_elevation_deg,
            azimuth_deg=cfg.azimuth_deg,
        )

    def _lead_trap_to_dribble(self) -> None:
        waiting = ~self.switched
        self.trap[waiting] = True
        self.speed[waiting] = 0.0
        self._return_to_ball(self.switched)

    def _lead_move_to_dribble(self) -> None:
        waiting = ~self.switched
        self.to_ball[waiting] = True
        self.speed[waiting] = self._approach[waiting]
        self._return_to_ball(self.switched)

    def _lead_move_to_trap(self) -> None:
        time = self._env.episode_length_buf
        throw_at = (self._wait_s / self._env.step_dt).round().long()
        thrown = (time == throw_at).nonzero().squeeze(-1)
        if len(thrown):
            self._throw(thrown)
        self._set_velocity(~self.switched, self._lead)
        self.trap[:] = (time >= throw_at) & ~self.switched

    def _lead_dribble_to_kick(self) -> None:
        machine = self._game
        dribbling = machine.state == machine.index("dribble")
        long_enough = self._env.episode_length_buf - self._entered_at >= self._wait_s / self._env.step_dt
        asks = dribbling & long_enough & ~self.switched
        self.kick[:] = asks
        if asks.any():
            self._draw_kick(asks.nonzero().squeeze(-1))
        self._return_to_ball(~self.switched)

    def _return_to_ball(self, where: torch.Tensor) -> None:
        """In some worlds: go to the ball while it isn't dribbled, then with the goal again."""
        machine = self._game
        lost = where & (machine.state == machine.index("move"))
        self.to_ball[lost] = True
        self.speed[lost] = self._approach[lost]
        goal = self.goal if SCENARIOS[self.scenario][1] == "dribble" else self._lead
        self._set_velocity(where & ~lost, goal)

    def _set_velocity(self, where: torch.Tensor, velocity: torch.Tensor) -> None:
        speed = velocity.norm(dim=1)
        self.speed[where] = speed[where]
        self.direction_w[where] = (velocity / speed.clamp_min(1e-6).unsqueeze(1))[where]

    def _draw_kick(self, ids: torch.Tensor) -> None:
        cfg = self.cfg.settings
        heading = heading_from_quat(self._robot.root_link_quat_w.torch[ids])
        yaw = torch.deg2rad(self._drawn(ids, cfg.kick_azimuth_deg)) + torch.atan2(heading[:, 1], heading[:, 0])
        elevation = torch.deg2rad(self._drawn(ids, cfg.kick_elevation_deg))
        self.kick_w[ids] = kick_velocity(self._drawn(ids, cfg.kick_speed), yaw, elevation)
        self.kick_free[ids] = False

    def _see_goal(self) -> None:
        ids = self.switched.nonzero().squeeze(-1)
        velocity = self._ball.root_link_lin_vel_w.torch[ids, :2]
        self._hold.see(ids, velocity_matched(self.goal[ids], velocity, self.match))

    def _limit_s(self) -> float:
        cfg = self.cfg.settings
        return cfg.goal_limit_s if SCENARIOS[self.scenario][1] == "dribble" else cfg.contact_limit_s

    def _decided(self) -> torch.Tensor:
        _, target = SCENARIOS[self.scenario]
        if target == "dribble":
            return self._hold.reached
        term: Any = self._env.command_manager.get_term(target)
        touch = term.first_touch.refresh()
        judged = touch.steps_since >= round(term.cfg.window_s / self._env.step_dt)
        machine = self._game
        playing = machine.state == machine.index(target)
        if target == "trap":
            return trap_trial_over(touch.touched, judged, touch.bounced, playing)
        return kick_trial_over(touch.touched, judged, playing)

    def _drawn(self, ids: torch.Tensor, bounds: tuple[float, float]) -> torch.Tensor:
        return torch.empty(len(ids), device=self.device).uniform_(*bounds)

    def _drawn_velocity(self, ids: torch.Tensor, speeds: tuple[float, float]) -> torch.Tensor:
        return polar(self._drawn(ids, speeds), self._drawn(ids, (-math.pi, math.pi)))


@configclass
class TrialUserCfg(UserCommandCfg):
    """Config of :class:`TrialUser`."""

    class_type: type = TrialUser

    action_name: str = "play"
    """Action term of the state machine."""

    settings: TrialSettings = TrialSettings()
    """What is tried."""


def trial_over(env: SportEnv, command_name: str = "user") -> torch.Tensor:
    """The trial is decided, see :meth:`TrialUser.judge`. Shape is (num_envs,), bool."""
    return env.command_manager.get_term(command_name).judge()
