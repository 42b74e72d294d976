"""What the user of SportSuite-Football-v0 asks for: typed in, written as a script, drawn at random, or by a person."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import torch
from isaaclab.managers import CommandTerm, CommandTermCfg
from isaaclab.utils import configclass

from sportsuite.composition.state_machine import StateMachine
from sportsuite.errors import BadInputError, unknown_name
from sportsuite.mdp.frames import heading_from_quat
from sportsuite.viewer.controls import Control, Value
from sportsuite_tasks.football.mdp.commands import kick_velocity
from sportsuite_tasks.football.mdp.guards import Play
from sportsuite_tasks.football.mdp.steering import CONTROLS, MAX_KICK, MAX_SPEED, Steering

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv

SOURCES = ("action", "person", "script", "random")
"""Who commands: the environment's action, calls of :meth:`UserCommand.ask`, a script, or chance."""

INPUT_DIM = 9
"""Direction (2), speed (1), trap, kick, cancel (3), velocity of the kicked ball (3)."""


@dataclass(frozen=True)
class Order:
    """One command, as scripts and persons give it. Angles are about the vertical, 0 along the world's x axis."""

    direction_deg: float = 0.0
    """Where to go [deg]."""
    speed: float = 0.0
    """How fast [m/s]; of the player, or of the ball that is dribbled."""
    to_ball: bool = False
    """Go to the ball instead of in a direction, while it isn't at the foot."""
    trap: bool = False
    """Receive the ball when it comes."""
    kick: bool = False
    """Kick as soon as the ball is dribbled."""
    cancel: bool = False
    """Break off a trap or a kick."""
    kick_speed: float = 12.0
    """How fast the ball shall leave [m/s]."""
    kick_azimuth_deg: float | None = None
    """Where to [deg]; None: where the player faces when the kick begins."""
    kick_elevation_deg: float = 15.0
    """How steeply [deg]."""


def order_of(given: Mapping[str, Any] | Order) -> Order:
    """Make an order of what a script says.

    Raises:
        BadInputError: If it names something that orders don't have, or gives it a value of another type.
    """
    if isinstance(given, Order):
        return given
    known = {entry.name: entry.default for entry in fields(Order)}
    for name, value in given.items():
        if name not in known:
            raise unknown_name("part of an order", name, known)
        flag = isinstance(known[name], bool)
        if isinstance(value, bool) != flag or not isinstance(value, (bool, int, float)):
            raise BadInputError(f"order {name}={value!r}: expected {'true or false' if flag else 'a number'}")
    return Order(**given)


class UserCommand(CommandTerm):
    """Takes the user's command and drives the skills' goals with it.

    It is the :class:`~sportsuite.composition.machine_action.Director` of the football machine: Move's velocity and
    facing, Dribble's velocity and Kick's velocity come from here; Trap's body part is drawn by its own term.
    It is :class:`~sportsuite.viewer.controls.Steerable`: in the browser a person takes over with the first key.

    Attributes:
        direction_w: Where to go, unit vector, world frame. Shape is (num_envs, 2).
        speed: How fast [m/s]. Shape is (num_envs,).
        trap: Shape is (num_envs,), bool; so are ``kick`` and ``cancel``.
        kick_w: Velocity that a kicked ball shall have, world frame [m/s]. Shape is (num_envs, 3).
        kick_free: Worlds where a kick goes where the player faces when it begins. Shape is (num_envs,), bool.
        touched: Ball and character touched in the last step. Shape is (num_envs,), bool.

    Raises:
        BadInputError: If the source is unknown or the script can't be read.
    """

    cfg: UserCommandCfg
    input_dim = INPUT_DIM

    def __init__(self, cfg: UserCommandCfg, env: SportEnv):
        super().__init__(cfg, env)
        if cfg.source not in SOURCES:
            raise unknown_name("source of commands", cfg.source, SOURCES)
        self._script = read_script(cfg.script)
        n, device = self.num_envs, self.device
        self._robot, self._ball = env.scene["robot"].data, env.scene["ball"].data
        self.direction_w = torch.zeros(n, 2, device=device)
        self.direction_w[:, 0] = 1.0
        self.speed = torch.zeros(n, device=device)
        self.trap, self.kick, self.cancel, self.touched, self.kick_free, self.to_ball = (
            torch.zeros(n, dtype=torch.bool, device=device) for _ in range(6)
        )
        self.kick_w = torch.zeros(n, 3, device=device)
        self.facing_w = self.direction_w.clone()
        self._steering: Steering | None = None
        self._machine: StateMachine | None = None

    @property
    def command(self) -> torch.Tensor:
        """Direction (2), speed (1), trap, kick, cancel (3), kick velocity (3), world frame. Shape is (num_envs, 9)."""
        flags = torch.stack((self.trap, self.kick, self.cancel), dim=1).float()
        return torch.cat((self.direction_w, self.speed.unsqueeze(1), flags, self.kick_w), dim=1)

    def receive(self, actions: torch.Tensor) -> None:
        """Take the command of this step: the action, or what the script says for now.

        Args:
            actions: Shape (num_envs, 9), in the order of :attr:`command`. A flag counts as set above 0.5; a direction
                of length 0 keeps the last one; speeds are clamped to what the skills know.
        """
        if self._steering is not None:
            self._go(order_of(self._steering.order()), slice(None))
        elif self.cfg.source == "action":
            self._take(actions)
        elif self.cfg.source == "script":
            self._follow_script()
        self._aim_at_ball()
        # who cancels doesn't ask for the same in the same step: the machine would go back and forth
        self.kick &= ~self.cancel
        self.trap &= ~self.cancel

    def ask(self, order: Order | Mapping[str, Any], env_ids: torch.Tensor | slice | None = None) -> None:
        """Give an order that stands until the next one; for persons, with ``source="person"``.

        Args:
            order: The order.
            env_ids: Worlds; all if None.

        Raises:
            BadInputError: If the order can't be read.
        """
        order = order_of(order)
        ids = slice(None) if env_ids is None else env_ids
        self._go(order, ids)
        self.trap[ids], self.kick[ids], self.cancel[ids] = order.trap, order.kick, order.cancel

    def controls(self) -> tuple[Control, ...]:
        """Return what a person can set in the browser."""
        return CONTROLS

    def set_control(self, name: str, value: Value) -> None:
        """Set a control, in all worlds; the person commands from now on, whatever the source was.

        A trap or a kick that is asked for stands until it begins, the episode ends or it is cancelled.

        Raises:
            BadInputError: If there is no such control, or it can't have that value.
        """
        steering = self._steering or Steering()
        steering.set(name, value)
        if self._steering is None:
            self.trap[:], self.kick[:], self.cancel[:] = False, False, False
        self._steering = steering
        if name in ("trap", "kick"):
            getattr(self, name)[:] = True
        elif name == "cancel":
            self.trap[:], self.kick[:], self.cancel[:] = False, False, True

    def status(self) -> dict[str, str]:
        """Return what the first world's player does: skill, what waits, speeds and distance."""
        root, ball = self._robot.root_link_lin_vel_w.torch[0, :2], self._ball.root_link_lin_vel_w.torch[0]
        offset = (self._ball.root_link_pos_w.torch - self._robot.root_link_pos_w.torch)[0, :2]
        waiting = [name for name in ("trap", "kick") if getattr(self, name)[0]]
        return {
            "Skill": "none" if self._machine is None else self._machine.names()[0],
            "Asked for": " and ".join(waiting) or "nothing",
            "Player": f"{float(root.norm()):.1f} m/s of {float(self.speed[0]):.1f} m/s",
            "Ball": f"{float(ball.norm()):.1f} m/s, {float(offset.norm()):.1f} m away",
        }

    def _go(self, order: Order, ids: torch.Tensor | slice) -> None:
        """Take an order, but for what it asks for."""
        angle = math.radians(order.direction_deg)
        self.direction_w[ids] = torch.tensor([math.cos(angle), math.sin(angle)], device=self.device)
        self.speed[ids] = min(max(order.speed, 0.0), MAX_SPEED)
        self.to_ball[ids] = order.to_ball
        self.kick_free[ids] = order.kick_azimuth_deg is None
        numbers = (min(order.kick_speed, MAX_KICK), order.kick_azimuth_deg or 0.0, order.kick_elevation_deg)
        speed, azimuth, elevation = torch.tensor(numbers, device=self.device).unsqueeze(1)
        self.kick_w[ids] = kick_velocity(speed, torch.deg2rad(azimuth), torch.deg2rad(elevation))

    def look(self) -> Play:
        """Return what the guards look at."""
        return Play(
            self._robot.root_link_pos_w.torch[:, :2],
            self._robot.root_link_lin_vel_w.torch[:, :2],
            self._ball.root_link_pos_w.torch[:, :2],
            self._ball.root_link_lin_vel_w.torch[:, :2],
            self.touched,
            self.trap,
            self.kick,
            self.cancel,
        )

    def direct(self, machine: StateMachine, switched: torch.Tensor) -> None:
        """Set the goals of the skills; a kick keeps the goal that it began with.

        Args:
            machine: The machine.
            switched: Shape (num_envs,), bool.
        """
        terms = self._env.command_manager
        velocity = self.speed.unsqueeze(1) * self.direction_w
        move, dribble, kick = (terms.get_term(name) for name in ("move", "dribble", "kick"))
        self.facing_w = torch.where(self.speed.unsqueeze(1) > 0.0, self.direction_w, self.facing_w)
        move.velocity_w[:], move.facing_w[:] = velocity, self.facing_w
        dribble.velocity_w[:] = velocity
        for name in ("kick", "trap"):
            begins = switched & (machine.state == machine.index(name))
            if begins.any():
                terms.get_term(name).first_touch.reset(begins)
                if name == "kick":
                    kick.velocity_w[begins] = self._kick_goal()[begins]
                    kick.kicked_w[begins] = 0.0
                if self._steering is not None:
                    getattr(self, name)[begins] = False
        self._machine = machine
        if self._steering is not None:
            self.cancel[:] = False

    def reset(self, env_ids: torch.Tensor | slice | None = None) -> dict[str, torch.Tensor]:
        """Forget orders and contacts of worlds that begin anew; face where the player faces."""
        ids = slice(None) if env_ids is None else env_ids
        for value in (self.speed, self.trap, self.kick, self.cancel, self.touched, self.to_ball, self.kick_free):
            value[ids] = 0
        heading = heading_from_quat(self._robot.root_link_quat_w.torch[ids])
        self.direction_w[ids] = heading
        self.facing_w[ids] = heading
        return super().reset(env_ids)  # type: ignore[arg-type, return-value]

    def _resample_command(self, env_ids: torch.Tensor | slice) -> None:
        if self.cfg.source == "random" and self._steering is None:
            self._draw(torch.arange(self.num_envs, device=self.device)[env_ids].long())

    def _update_command(self) -> None:
        # the tracker starts anew before the next command is taken, so the contact is kept here
        touched = self._env.touch.touched.any(dim=1)  # type: ignore[attr-defined]
        self.touched = touched & (self._env.episode_length_buf > 0)

    def _update_metrics(self) -> None:
        """Nothing is measured: evaluation does that."""

    def _take(self, actions: torch.Tensor) -> None:
        direction, speed, flags, kick = actions.split((2, 1, 3, 3), dim=1)
        length = direction.norm(dim=1, keepdim=True)
        self.direction_w = torch.where(length > 1e-3, direction / length.clamp_min(1e-3), self.direction_w)
        self.speed = speed.squeeze(1).clamp(0.0, MAX_SPEED)
        self.trap, self.kick, self.cancel = (flags > 0.5).unbind(dim=1)
        fast = kick.norm(dim=1, keepdim=True)
        self.kick_free = fast.squeeze(1) < 1e-3
        self.kick_w = kick * (MAX_KICK / fast.clamp_min(MAX_KICK))
        # a kick without a velocity: PhysicsFC's mean speed, straight ahead
        self.kick_w[self.kick_free] = torch.tensor([20.0, 0.0, 0.0], device=self.device)

    def _follow_script(self) -> None:
        time = self._env.episode_length_buf * self._env.step_dt + 1e-6
        for start, end, order in self._script:
            now = (time >= start) & (time < end)
            if now.any():
                self.ask(order, now.nonzero().squeeze(-1))

    def _draw(self, ids: torch.Tensor) -> None:
        n = len(ids)
        angle, speed, azimuth, elevation, fast, chance = (
            torch.empty(n, device=self.device).uniform_(low, high)
            for low, high in (
                (-math.pi, math.pi),
                self.cfg.speed_range,
                (-math.pi / 4, math.pi / 4),
                (0.0, math.pi / 4),
                self.cfg.kick_speed_range,
                (0.0, 1.0),
            )
        )
        self.direction_w[ids] = torch.stack((angle.cos(), angle.sin()), dim=1)
        self.speed[ids] = speed
        self.to_ball[ids], self.trap[ids], self.cancel[ids] = True, chance < 0.5, False
        self.kick[ids] = chance < self.cfg.kick_fraction
        heading = heading_from_quat(self._robot.root_link_quat_w.torch[ids])
        azimuth = azimuth + torch.atan2(heading[:, 1], heading[:, 0])
        self.kick_w[ids] = kick_velocity(fast, azimuth, elevation)
        self.kick_free[ids] = True

    def _aim_at_ball(self) -> None:
        offset = (self._ball.root_link_pos_w.torch - self._robot.root_link_pos_w.torch)[:, :2]
        distance = offset.norm(dim=1, keepdim=True)
        chasing = self.to_ball.unsqueeze(1) & (distance > self.cfg.at_foot_m)
        self.direction_w = torch.where(chasing, offset / distance.clamp_min(1e-3), self.direction_w)

    def _kick_goal(self) -> torch.Tensor:
        """The kick's velocity; where its direction is free, turned to where the player faces. Shape is (N, 3)."""
        flat = self.kick_w[:, :2].norm(dim=1, keepdim=True)
        ahead = flat * heading_from_quat(self._robot.root_link_quat_w.torch)
        horizontal = torch.where(self.kick_free.unsqueeze(1), ahead, self.kick_w[:, :2])
        return torch.cat((horizontal, self.kick_w[:, 2:]), dim=1)


@configclass
class UserCommandCfg(CommandTermCfg):
    """Config of :class:`UserCommand`."""

    class_type: type = UserCommand

    source: str = "action"
    """Who commands, one of :data:`SOURCES`."""

    script: list = []
    """With ``source="script"``: pairs of a time in the episode [s] and an order, each standing until the next, such as
    ``[[0.0, {speed: 3.0, to_ball: true}], [4.0, {kick: true}]]``."""

    resampling_time_range: tuple[float, float] = (2.0, 5.0)
    """With ``source="random"``: time between orders [s] (ours)."""

    speed_range: tuple[float, float] = (0.0, 4.0)
    """With ``source="random"``: speeds [m/s] (ours)."""

    kick_speed_range: tuple[float, float] = (5.0, 20.0)
    """With ``source="random"``: speeds of kicks [m/s] (ours)."""

    kick_fraction: float = 0.3
    """With ``source="random"``: share of orders that ask for a kick (ours)."""

    at_foot_m: float = 1.0
    """Distance up to which a player that goes to the ball is told its own direction [m] (ours)."""


def read_script(script: Sequence[Any]) -> list[tuple[float, float, Order]]:
    """Read a script.

    Args:
        script: Pairs of a time [s] and an order, in the order of time.

    Returns:
        For each order from when and until when it stands [s].

    Raises:
        BadInputError: If an entry is no such pair, or the times don't rise.
    """
    times, orders = [], []
    for entry in script:
        if not isinstance(entry, (list, tuple)) or len(entry) != 2 or not isinstance(entry[1], (Mapping, Order)):
            raise BadInputError(f"script entry {entry!r}: expected a time and an order, such as [2.0, {{trap: true}}]")
        time = entry[0]
        if isinstance(time, bool) or not isinstance(time, (int, float)) or (times and time <= times[-1]):
            raise BadInputError(f"script entry {entry!r}: expected a time in seconds that is later than the last one's")
        times.append(float(time))
        orders.append(order_of(entry[1]))
    return list(zip(times, [*times, math.inf][1:], orders, strict=True))
