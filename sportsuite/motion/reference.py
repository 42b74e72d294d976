"""Reference motion of an environment: which clips, how they are drawn, and how an episode starts from them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from isaaclab.managers import EventTermCfg, ManagerTermBase, SceneEntityCfg
from isaaclab.utils import configclass

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.mdp import frames
from sportsuite.mdp.events import ResetCharacter, world_indices, yaw_quat
from sportsuite.motion.features import frame_features
from sportsuite.motion.kinematics import quat_multiply
from sportsuite.motion.library import MotionLibrary, MotionStates, resolve_clip
from sportsuite.motion.mirror import mirror_clip

if TYPE_CHECKING:
    from isaaclab.envs import ManagerBasedEnv

    from sportsuite.envs.sport_env import SportEnv

LYING_HEIGHT = 0.6
"""Height of the pelvis below which a state of a clip counts as on the ground [m] (ours: it walks at 0.83 m)."""

_ROBOT = SceneEntityCfg("robot")
_KEY_IDS = [spec.BODY_NAMES.index(name) for name in spec.KEY_BODIES]
_PELVIS = spec.BODY_NAMES.index("pelvis")


@configclass
class ReferenceMotionCfg:
    """Which clips a task imitates and how they are drawn."""

    clips: list[str] = ["isaaclab:walk", "isaaclab:run"]
    """Clips by name or path, see :func:`sportsuite.motion.library.resolve_clip`."""

    weights: list[float] | None = None
    """How often each is drawn; by duration if None."""

    mirror: bool = True
    """Whether the mirrored clips are used as well."""

    speed_range: tuple[float, float] | None = None
    """Where set, clips are drawn for a speed from this range [m/s]: one whose mean speed is near it, played faster or
    slower to match (within :attr:`retime`). Otherwise by weight, at their own speed."""

    spread: float = 0.35
    """Where :attr:`speed_range` is set: clips whose ratio to the speed is at most exp(spread) worse than the nearest
    clip's take turns by their weight (ours)."""

    retime: tuple[float, float] = (0.5, 1.6)
    """Limits of the playback speed where :attr:`speed_range` is set (ours: beyond them a gait looks wrong)."""

    stand_fraction: float = 0.1
    """Probability of the speed 0 where :attr:`speed_range` is set and a clip is slower than 0.2 m/s (ours)."""


class ReferenceMotion:
    """Draws moments and windows of a library as a task wants them.

    Args:
        cfg: Which clips and how.
        dt: Time between two frames of a window: the control step [s].
        device: Torch device.
    """

    def __init__(self, cfg: ReferenceMotionCfg, dt: float, device: str) -> None:
        clips = [resolve_clip(name) for name in cfg.clips]
        weights = cfg.weights
        if weights is not None and len(weights) != len(clips):
            raise BadInputError(f"reference motion: {len(weights)} weights for {len(clips)} clips")
        if cfg.mirror:
            clips += [mirror_clip(clip) for clip in clips]
            weights = None if weights is None else weights + weights
        self.cfg = cfg
        self.dt = dt
        self.library = MotionLibrary(clips, weights, device)
        self._still = self.library.speeds < 0.2

    def draw(self, num: int, frames: int = 1) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Draw moments from which ``frames`` frames follow.

        Returns:
            Clip (num,), time in the clip (num,) [s] and playback speed (num,).
        """
        clips, speed = self._clips(num)
        needed = (frames - 1) * self.dt * speed
        return clips, self.library.sample_times(clips, needed), speed

    def windows(self, num: int, frames: int) -> torch.Tensor:
        """Features of random windows, shape (num, frames, 125)."""
        clips, times, speed = self.draw(num, frames)
        return self.library.windows(clips, times, frames, self.dt, speed)

    def states(self, num: int) -> MotionStates:
        """Random states."""
        clips, times, speed = self.draw(num)
        return self.library.states(clips, times, speed)

    def _clips(self, num: int) -> tuple[torch.Tensor, torch.Tensor]:
        library, device = self.library, self.library.device
        if self.cfg.speed_range is None:
            return library.sample_clips(num), torch.ones(num, device=device)
        wanted = torch.empty(num, device=device).uniform_(*self.cfg.speed_range)
        if self._still.any():
            wanted[torch.rand(num, device=device) < self.cfg.stand_fraction] = 0.0
        speeds = library.speeds.clamp_min(0.05)
        distance = (wanted.clamp_min(0.05).unsqueeze(1) / speeds).log().abs()
        near = distance <= distance.amin(dim=1, keepdim=True) + self.cfg.spread
        clips = torch.multinomial(near * library.weights + 1e-12, 1).squeeze(1)
        speed = (wanted / speeds[clips]).clamp(*self.cfg.retime)
        return clips, torch.where(self._still[clips], torch.ones_like(speed), speed)


def prior_features_h(env: ManagerBasedEnv, asset_cfg: SceneEntityCfg = _ROBOT) -> torch.Tensor:
    """One frame of what discriminators see, :func:`sportsuite.motion.features.frame_features`: (num_envs, 125)."""
    data, origins = env.scene[asset_cfg.name].data, env.scene.env_origins
    return frame_features(
        data.root_link_pos_w.torch - origins,
        data.root_link_quat_w.torch,
        # not root_link_lin_vel_w: isaaclab_ov 3.0.0 gives the velocity of the pelvis' centre of mass under that name
        data.body_link_lin_vel_w.torch[:, _PELVIS],
        data.root_link_ang_vel_w.torch,
        data.joint_pos.torch,
        data.joint_vel.torch,
        data.body_link_pos_w.torch[:, _KEY_IDS] - origins.unsqueeze(1),
    )


class ResetToReference(ManagerTermBase):
    """Start an episode in a random state of the reference motion, or standing or lying like ``ResetCharacter``.

    It gives the environment its :attr:`~sportsuite.envs.sport_env.SportEnv.reference`. ASE and CALM start half of the
    episodes from the reference and half from the default pose, AMP all of them from the reference; fallen starts with
    probability 0.1 are ASE's and CALM's.
    """

    def __init__(self, cfg: EventTermCfg, env: SportEnv):
        super().__init__(cfg, env)
        self.reference = ReferenceMotion(cfg.params["motion"], env.step_dt, env.device)  # type: ignore[arg-type]
        env.reference = self.reference
        # a config of its own: a term fills its defaults into the parameters it is given
        params = {"fallen_states": cfg.params["fallen_states"]}
        other = EventTermCfg(func=ResetCharacter, params=params)  # type: ignore[arg-type]
        self._other = ResetCharacter(other, env)

    def __call__(
        self,
        env: SportEnv,
        env_ids: torch.Tensor | slice | None,
        motion: ReferenceMotionCfg,
        fallen_states: str,
        reference_fraction: float = 1.0,
        fallen_fraction: float = 0.0,
        joint_noise: float = 0.02,
        lift: float = 0.0,
    ) -> None:
        """Write the start states.

        Args:
            env: The environment.
            env_ids: Worlds to reset.
            motion: The reference motion; read when the environment is built.
            fallen_states: Asset with fallen states, see :class:`~sportsuite.mdp.events.ResetCharacter`.
            reference_fraction: Probability of a start from the reference among those that don't begin lying.
            fallen_fraction: Probability of a start on the ground.
            joint_noise: Standard deviation of noise on the joint angles [rad] (ours).
            lift: Height added to reference states [m], so that noise pushes no foot into the ground (ours).
        """
        ids = world_indices(env, env_ids)
        chance = torch.rand(len(ids), device=env.device)
        lying = chance < fallen_fraction
        copied = ~lying & (torch.rand(len(ids), device=env.device) < reference_fraction)
        if not copied.all():
            rest = ids[~copied]
            share = float(lying.sum()) / len(rest)
            self._other(env, rest, fallen_states, fallen_fraction=share, joint_noise=joint_noise)
        if copied.any():
            states = self.reference.states(int(copied.sum()))
            env.fallen_start[ids[copied]] = states.root_pos[:, 2] < LYING_HEIGHT
            write_states(env, ids[copied], states, joint_noise=joint_noise, lift=lift, random_yaw=True)


def write_states(
    env: SportEnv,
    ids: torch.Tensor,
    states: MotionStates,
    joint_noise: float = 0.0,
    lift: float = 0.0,
    random_yaw: bool = False,
) -> None:
    """Put characters into states of a clip, at the origins of their worlds.

    Args:
        env: The environment.
        ids: Worlds, shape (n,), long.
        states: n states.
        joint_noise: Standard deviation of noise on the joint angles [rad].
        lift: Height added [m].
        random_yaw: Turn each state about the vertical by a random angle.
    """
    robot = env.scene["robot"]
    quat, lin_vel, ang_vel = states.root_quat, states.root_lin_vel, states.root_ang_vel
    if random_yaw:
        yaw = torch.empty(len(ids), device=env.device).uniform_(-math.pi, math.pi)
        quat = quat_multiply(yaw_quat(yaw), quat)
        lin_vel, ang_vel = frames.turn(lin_vel, yaw), frames.turn(ang_vel, yaw)
    position = env.scene.env_origins[ids].clone()
    position[:, 2] += states.root_pos[:, 2] + lift
    joint_pos = states.joint_pos + joint_noise * torch.randn_like(states.joint_pos)
    robot.write_root_link_pose_to_sim_index(root_pose=torch.cat((position, quat), dim=1), env_ids=ids)
    robot.write_root_link_velocity_to_sim_index(root_velocity=torch.cat((lin_vel, ang_vel), dim=1), env_ids=ids)
    robot.write_joint_position_to_sim_index(position=joint_pos, env_ids=ids)
    robot.write_joint_velocity_to_sim_index(velocity=states.joint_vel.contiguous(), env_ids=ids)
