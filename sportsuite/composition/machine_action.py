"""An action term in which frozen skills play, chosen per world by a state machine; its action is the user's command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, Protocol

import torch
from isaaclab.managers import ActionTerm, ActionTermCfg, ObservationGroupCfg, ObservationManager
from isaaclab.utils import configclass
from isaaclab.utils.configclass import instantiate

from sportsuite.composition.state_machine import Guard, MachineTable, StateMachine, Transition
from sportsuite.errors import BadInputError, unknown_name
from sportsuite.learning.plain import to_plain
from sportsuite.skills.skill import Skill, find_policy, load_skill

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv

__all__ = ["Director", "MachineAction", "MachineActionCfg", "SkillCfg"]


class Director(Protocol):
    """The command term that stands between the user and the skills."""

    input_dim: int
    """Numbers of the user's command."""

    def receive(self, actions: torch.Tensor) -> None:
        """Take the user's command of this step.

        Args:
            actions: The environment's action, shape (num_envs, input_dim).
        """

    def look(self) -> Any:
        """Return what guards look at, now: states, contacts and commands."""

    def direct(self, machine: StateMachine, switched: torch.Tensor) -> None:
        """Set the skills' goals from the user's command, after the machine has moved.

        Args:
            machine: The machine.
            switched: Worlds whose skill begins now. Shape is (num_envs,), bool.
        """


class MachineAction(ActionTerm):
    """Plays skills: the user commands, the machine chooses, the chosen skill acts, all within one control step.

    Every skill sees its own observations, computed here, and acts in the worlds that are in its state. Skills may
    differ in what their actions mean (joint targets, latents of a low-level policy): each goes to the action term it
    was trained with.

    Attributes:
        machine: The state machine; ``machine.state`` says which skill plays where.
        skills: The skills by state.

    Raises:
        BadInputError: If a policy is missing, or was trained with other observations, actions or at another rate.
    """

    cfg: MachineActionCfg

    def __init__(self, cfg: MachineActionCfg, env: SportEnv):
        super().__init__(cfg, env)
        self._director: Director = env.command_manager.get_term(cfg.director)  # type: ignore[assignment]
        table = MachineTable(tuple(cfg.states), tuple(Transition(*row) for row in cfg.transitions))
        self.machine = StateMachine(table, cfg.guards, env.num_envs, env.device)
        self.skills = _load_skills(cfg, str(env.device))
        self._observations: dict[str, ObservationManager] = {}
        self._layout_of: dict[str, str] = {}
        for state, skill in self.skills.items():
            self._observations[state] = ObservationManager(dict(cfg.skills[state].observations), env)
            here = {name: to_plain(group) for name, group in cfg.skills[state].observations.items()}
            skill.check_observations(here, self._observations[state].group_obs_dim)  # type: ignore[arg-type]
            skill.check_rate(1.0 / env.step_dt)
            self._layout_of[state] = skill.layout({name: to_plain(term) for name, term in cfg.layouts.items()})
        # a layout that no skill uses may name a policy that isn't there
        used = dict.fromkeys(self._layout_of.values())
        self._layouts: dict[str, ActionTerm] = {name: instantiate(cfg.layouts[name], env) for name in used}
        self._check_sizes()
        self._raw_actions = torch.zeros(self.num_envs, self._director.input_dim, device=self.device)
        self._robot = env.scene[cfg.asset_name]

    @property
    def action_dim(self) -> int:
        """Numbers of the user's command."""
        return self._director.input_dim

    @property
    def raw_actions(self) -> torch.Tensor:
        """The user's command as it came, shape (num_envs, input_dim)."""
        return self._raw_actions

    @property
    def processed_actions(self) -> torch.Tensor:
        """Which skill plays, one-hot in the order of the machine's states. Shape is (num_envs, states)."""
        return torch.nn.functional.one_hot(self.machine.state, len(self.machine.states)).float()

    def process_actions(self, actions: torch.Tensor) -> None:
        """Take the user's command, switch skills, and let those in charge act.

        Args:
            actions: Shape (num_envs, input_dim).
        """
        self._raw_actions.copy_(actions)
        self._director.receive(actions)
        switched = self.machine.step(self._director.look())
        self._forget(switched)
        self._director.direct(self.machine, switched)
        self._act()

    def apply_actions(self) -> None:
        """Set the joint targets of every world by the layout of its skill."""
        if len(self._layouts) == 1:
            next(iter(self._layouts.values())).apply_actions()
            return
        targets = None
        for name, term in self._layouts.items():
            term.apply_actions()
            own = self._robot.data.joint_pos_target.torch
            targets = own.clone() if targets is None else torch.where(self._in_layout(name).unsqueeze(1), own, targets)
        self._robot.set_joint_position_target_index(target=targets)

    def reset(self, env_ids: Sequence[int] | torch.Tensor | slice | None = None) -> None:
        """Put worlds back to the first state, and forget what their skills remember."""
        ids = slice(None) if env_ids is None else env_ids
        self.machine.reset(ids)  # type: ignore[arg-type]
        everywhere = torch.zeros(self.num_envs, dtype=torch.bool, device=self.device)
        everywhere[ids] = True
        for term in self._layouts.values():
            term.reset(env_ids)  # type: ignore[arg-type]
        for state in self.skills:
            self._observations[state].reset(env_ids)  # type: ignore[arg-type]
            self.skills[state].reset(everywhere)

    def _forget(self, switched: torch.Tensor) -> None:
        if not switched.any():
            return
        for number, state in enumerate(self.machine.states):
            begins = switched & (self.machine.state == number)
            if begins.any():
                self._observations[state].reset(begins.nonzero().squeeze(-1))  # type: ignore[arg-type]
                self.skills[state].reset(begins)

    def _act(self) -> None:
        raw = {
            name: torch.zeros(self.num_envs, term.action_dim, device=self.device)
            for name, term in self._layouts.items()
        }
        for number, state in enumerate(self.machine.states):
            here = self.machine.state == number
            if not here.any():
                continue
            skill, manager = self.skills[state], self._observations[state]
            groups = {name: manager.compute_group(name, update_history=True) for name in skill.groups}
            # all worlds at once: a recurrent network keeps a memory per row
            actions = skill(groups)  # type: ignore[arg-type]
            raw[self._layout_of[state]][here] = actions[here]
        for name, term in self._layouts.items():
            term.process_actions(raw[name])

    def _in_layout(self, name: str) -> torch.Tensor:
        numbers = [number for number, state in enumerate(self.machine.states) if self._layout_of[state] == name]
        return torch.isin(self.machine.state, torch.tensor(numbers, device=self.device))

    def _check_sizes(self) -> None:
        for state, skill in self.skills.items():
            term = self._layouts[self._layout_of[state]]
            if term.action_dim != skill.manifest.num_actions:
                raise BadInputError(
                    f"skill {state!r} ({skill.manifest.file}) gives {skill.manifest.num_actions} actions, "
                    f"{self._layout_of[state]!r} takes {term.action_dim}"
                )


@configclass
class SkillCfg:
    """Where a skill comes from and what it sees."""

    policy: str = MISSING  # type: ignore[assignment]
    """Checkpoint, whole or stripped: a file, or the name of a shipped one such as ``policies/trap.pt``."""

    observations: dict[str, ObservationGroupCfg] = MISSING  # type: ignore[assignment]
    """Its observation groups by name."""

    packages: tuple[str, ...] = ()
    """Packages, besides ours, whose network classes the checkpoint may name."""


@configclass
class MachineActionCfg(ActionTermCfg):
    """Config of :class:`MachineAction`."""

    class_type: type = MachineAction

    director: str = MISSING  # type: ignore[assignment]
    """Name of the command term that speaks for the user, a :class:`Director`."""

    states: tuple[str, ...] = MISSING  # type: ignore[assignment]
    """Names of the skills; worlds start in the first."""

    transitions: tuple[tuple[str, str, str, str], ...] = MISSING  # type: ignore[assignment]
    """From, to, name of the guard, label; see :meth:`~sportsuite.composition.state_machine.MachineTable.rows`."""

    guards: dict[str, Guard] = MISSING  # type: ignore[assignment]
    """Guards by name."""

    skills: dict[str, SkillCfg] = MISSING  # type: ignore[assignment]
    """A skill per state."""

    layouts: dict[str, ActionTermCfg] = MISSING  # type: ignore[assignment]
    """Action terms that skills may have been trained with, by name."""


def _load_skills(cfg: MachineActionCfg, device: str) -> dict[str, Skill]:
    skills = {}
    for state in cfg.states:
        if state not in cfg.skills:
            raise unknown_name("skill", state, cfg.skills)
        given = cfg.skills[state]
        try:
            path = find_policy(given.policy)
        except BadInputError as error:
            raise BadInputError(f"skill {state!r}: {error}") from None
        skills[state] = load_skill(path, device, given.packages)
    return skills
