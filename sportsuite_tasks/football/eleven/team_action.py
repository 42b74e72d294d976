"""The skills of many players in one world, batched over players: eleven against eleven under one state machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from isaaclab.managers import ActionTerm, ActionTermCfg
from isaaclab.utils import configclass
from isaaclab.utils.configclass import instantiate

from sportsuite.characters.spec import BODY_NAMES
from sportsuite.composition.state_machine import StateMachine
from sportsuite.errors import BadInputError
from sportsuite.learning.plain import to_plain
from sportsuite.mdp.actions import joint_targets_cfg
from sportsuite.mdp.frames import heading_from_quat, rotate_to_heading
from sportsuite.mdp.observations import body_features_h, object_features_h
from sportsuite.physics.contacts import track_touches
from sportsuite.skills.skill import Skill, load_skill
from sportsuite_tasks.football.eleven import tactics
from sportsuite_tasks.football.mdp.commands import TRAP_BODIES, planar
from sportsuite_tasks.football.mdp.guards import GUARDS, TABLE, Play

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv

_BODY_STATE = "sportsuite.mdp.observations:body_state_h"
_BALL_STATE = "sportsuite.mdp.observations:object_state_h"
_GOAL = "isaaclab.envs.mdp.observations:generated_commands"

_DRIBBLE_S = 1.5
"""Time for which a player dribbles before it shoots [s] (ours)."""


class TeamAction(ActionTerm):
    """All players' skills: one machine and one network pass per skill over all players of all worlds.

    A plain plan commands: the nearest of each team goes for the ball, traps, dribbles towards the goal and shoots. The
    action is the tempo of each team: its speed is multiplied by ``1 + action``. Rows are ordered by world, then player.

    Attributes:
        machine: The state machine over all players, ``num_envs * players`` rows.

    Raises:
        BadInputError: If a policy is missing, or sees or does something else than the football skills.
    """

    cfg: TeamActionCfg

    def __init__(self, cfg: TeamActionCfg, env: SportEnv):
        super().__init__(cfg, env)
        self._players = [env.scene[name] for name in cfg.players]
        self._count = len(cfg.players)
        self._bodies = [robot.find_bodies(list(BODY_NAMES), preserve_order=True)[0] for robot in self._players]
        self._ball = env.scene["ball"].data
        self._targets = [instantiate(_targets_of(name), env) for name in cfg.players]
        layouts = {"joint_targets": to_plain(joint_targets_cfg())}
        self._skills = {state: load_skill(cfg.skills[state], str(env.device)) for state in TABLE.states}
        for skill in self._skills.values():
            skill.check_rate(1.0 / env.step_dt)
            skill.layout(layouts)
            _terms(skill)
        self.machine = StateMachine(TABLE, GUARDS, env.num_envs * self._count, env.device)
        self._touch = track_touches(env.scene, ball="ball", robots=cfg.players)
        self._home = tactics.home_positions(cfg.scale).to(env.device)
        self._facing = torch.zeros(env.num_envs * self._count, 2, device=env.device)
        self._shot = torch.zeros(env.num_envs * self._count, 3, device=env.device)
        self._raw_actions = torch.zeros(env.num_envs, 2, device=env.device)

    @property
    def action_dim(self) -> int:
        """The tempo of two teams."""
        return 2

    @property
    def raw_actions(self) -> torch.Tensor:
        """Actions as they came, shape (num_envs, 2)."""
        return self._raw_actions

    @property
    def processed_actions(self) -> torch.Tensor:
        """Skill of every player, its index. Shape is (num_envs, players)."""
        return self.machine.state.reshape(self.num_envs, self._count)

    def process_actions(self, actions: torch.Tensor) -> None:
        """Move the machine, and let every player's skill act.

        Args:
            actions: Shape (num_envs, 2).
        """
        self._raw_actions.copy_(actions)
        bodies = self._body_states()
        root_pos, root_quat = bodies[0][:, 0], bodies[1][:, 0]
        ball = self._ball_rows()
        local = root_pos[:, :2].reshape(self.num_envs, self._count, 2)
        tempo = (1.0 + actions).clamp(0.0, 2.0)
        ball_place = ball[0][:: self._count, :2]
        direction, speed, going = tactics.orders(local, ball_place, self._home, tempo)
        switched = self.machine.step(self._play(bodies, ball, going.flatten()))
        goals = self._goals(local, direction.flatten(0, 1), speed.flatten(), root_quat, switched)
        seen = {_BODY_STATE: body_features_h(*bodies), _BALL_STATE: object_features_h(root_pos, root_quat, *ball)}
        self._act(seen, goals)
        self._touch.clear()

    def apply_actions(self) -> None:
        """Set the joint targets of all players."""
        for term in self._targets:
            term.apply_actions()

    def reset(self, env_ids: Sequence[int] | torch.Tensor | slice | None = None) -> None:
        """Put the players of some worlds back to their first skill."""
        rows = torch.arange(len(self.machine.state), device=self.device).reshape(self.num_envs, self._count)
        ids = slice(None) if env_ids is None else env_ids
        chosen = rows[ids].flatten()
        self.machine.reset(chosen)
        self._facing[chosen] = 0.0
        self._touch.clear(ids)  # type: ignore[arg-type]
        for term in self._targets:
            term.reset(env_ids)  # type: ignore[arg-type]

    def _body_states(self) -> tuple[torch.Tensor, ...]:
        """Positions, orientations, linear and angular velocities of all players' bodies, each (rows, 15, n)."""
        origins = self._env.scene.env_origins.unsqueeze(1)
        parts: list[list[torch.Tensor]] = [[], [], [], []]
        for robot, ids in zip(self._players, self._bodies, strict=True):
            data = robot.data
            parts[0].append(data.body_link_pos_w.torch[:, ids] - origins)
            parts[1].append(data.body_link_quat_w.torch[:, ids])
            parts[2].append(data.body_link_lin_vel_w.torch[:, ids])
            parts[3].append(data.body_link_ang_vel_w.torch[:, ids])
        return tuple(torch.stack(part, dim=1).flatten(0, 1) for part in parts)

    def _ball_rows(self) -> tuple[torch.Tensor, ...]:
        """Position, orientation, linear and angular velocity of the ball, a row per player."""
        ball = self._ball
        values = (
            ball.root_link_pos_w.torch - self._env.scene.env_origins,
            ball.root_link_quat_w.torch,
            ball.root_link_lin_vel_w.torch,
            ball.root_link_ang_vel_w.torch,
        )
        return tuple(value.repeat_interleave(self._count, dim=0) for value in values)

    def _play(self, bodies: tuple[torch.Tensor, ...], ball: tuple[torch.Tensor, ...], going: torch.Tensor) -> Play:
        touched = self._touch.touched.reshape(self.num_envs, self._count, -1).any(dim=2).flatten()
        dribbled = self.machine.steps * self._env.step_dt > _DRIBBLE_S
        in_dribble = self.machine.state == self.machine.index("dribble")
        root_pos, root_vel = bodies[0][:, 0, :2], bodies[2][:, 0, :2]
        return Play(root_pos, root_vel, ball[0][:, :2], ball[2][:, :2], touched, going, in_dribble & dribbled, ~going)

    def _goals(
        self,
        local: torch.Tensor,
        direction: torch.Tensor,
        speed: torch.Tensor,
        root_quat: torch.Tensor,
        switched: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        """Goals of the skills in the heading frame, by the name of the command that they see."""
        heading = heading_from_quat(root_quat)
        unset = self._facing.norm(dim=1) < 0.5
        self._facing = torch.where(unset.unsqueeze(1), heading, self._facing)
        self._facing = torch.where((speed > 0.0).unsqueeze(1), direction, self._facing)
        half = tactics.PITCH_M[0] / 2.0 * self.cfg.scale
        goal_x = torch.full((self._count,), half, device=self.device)
        goal_x[self._count // 2 :] = -half
        shots = tactics.shots(local, goal_x).flatten(0, 1)
        begins = switched & (self.machine.state == self.machine.index("kick"))
        self._shot = torch.where(begins.unsqueeze(1), shots, self._shot)
        velocity = planar(speed.unsqueeze(1) * direction, heading)
        towards = F.normalize(shots[:, :2], dim=1) * self.cfg.dribble_speed
        foot = torch.zeros(len(speed), len(TRAP_BODIES), device=self.device)
        foot[:, TRAP_BODIES.index("right_foot")] = 1.0
        return {
            "move": torch.cat((velocity, planar(self._facing, heading)), dim=1),
            "dribble": planar(towards, heading),
            "kick": rotate_to_heading(self._shot, heading),
            "trap": foot,
        }

    def _act(self, seen: dict[str, torch.Tensor], goals: dict[str, torch.Tensor]) -> None:
        raw = torch.zeros(len(self.machine.state), self._targets[0].action_dim, device=self.device)
        for number, state in enumerate(TABLE.states):
            rows = (self.machine.state == number).nonzero().squeeze(-1)
            if not len(rows):
                continue
            skill = self._skills[state]
            parts = [seen[func][rows] if func in seen else goals[name][rows] for func, name in _terms(skill)]
            raw[rows] = skill({skill.groups[0]: torch.cat(parts, dim=1)})
        raw = raw.reshape(self.num_envs, self._count, -1)
        for player, term in enumerate(self._targets):
            term.process_actions(raw[:, player])


@configclass
class TeamActionCfg(ActionTermCfg):
    """Config of :class:`TeamAction`."""

    class_type: type = TeamAction

    asset_name: str = "ball"

    players: tuple[str, ...] = MISSING  # type: ignore[assignment]
    """Scene entities; the first half is the team that plays towards +x."""

    skills: dict = MISSING  # type: ignore[assignment]
    """Policy of each skill: a file, or the name of a shipped one. Their actions are joint targets."""

    scale: float = 1.0
    """Size of the pitch against 105 m x 68 m."""

    dribble_speed: float = 3.0
    """Speed of a dribbled ball [m/s] (ours)."""


def _targets_of(player: str) -> Any:
    return joint_targets_cfg().replace(asset_name=player)  # type: ignore[attr-defined]


def _terms(skill: Skill) -> list[tuple[str, str]]:
    """Function and command of each observation term, in order.

    Raises:
        BadInputError: If the skill sees something that isn't known of players here.
    """
    manifest = skill.manifest
    if len(skill.groups) != 1:
        raise BadInputError(f"skill {manifest.file}: it sees {', '.join(skill.groups)}, expected one group")
    found = []
    for name, term in manifest.observations[skill.groups[0]].items():
        if not (isinstance(term, dict) and "func" in term):
            continue
        func, command = str(term["func"]), str((term.get("params") or {}).get("command_name", ""))
        if func not in (_BODY_STATE, _BALL_STATE) and not (func == _GOAL and command in TABLE.states):
            raise BadInputError(f"skill {manifest.file}: it sees {name} ({func}), which players here don't have")
        found.append((func, command))
    return found
