"""What the latents of a CALM policy mean, whether it does what they say, and whether it gets up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from sportsuite.characters.spec import BODY_NAMES
from sportsuite.errors import BadInputError
from sportsuite.evaluation.protocol import Metric, mean_metric, rate_metric
from sportsuite.evaluation.rollout import run_episodes
from sportsuite.learning.policy import Policy
from sportsuite.motion.features import layout
from sportsuite.priors.latent import strided

if TYPE_CHECKING:
    from sportsuite.motion.library import MotionLibrary

RECOVERY_S = 5.0
"""Time for getting up [s]."""

STANDING_PELVIS, STANDING_HEAD = 0.65, 1.2
"""Heights above which a character stands [m] (ours; upright they are 0.88 and 1.5 m)."""

SETTLE_S, HOLD_S = 2.0, 1.0
"""Time a motion may take to begin, and time after which another window of the clip is commanded [s] (ours)."""

WINDOWS = 64
"""Windows per clip by which latents are compared (ours)."""

Encode = Callable[[torch.Tensor], torch.Tensor]
"""From windows (n, frames, features) to unit vectors (n, latent_dim)."""


class RecoveryProbe:
    """Notes when each character first stands."""

    def __init__(self, env: Any) -> None:
        self._first = torch.full((env.num_envs,), torch.inf, device=env.device)
        self._ids = [BODY_NAMES.index("pelvis"), BODY_NAMES.index("head")]

    def observe(self, env: Any, ids: torch.Tensor) -> None:
        """Take one step of some worlds into account."""
        height = env.scene["robot"].data.body_link_pos_w.torch[:, self._ids, 2] - env.scene.env_origins[:, 2:3]
        upright = (height[ids, 0] > STANDING_PELVIS) & (height[ids, 1] > STANDING_HEAD)
        now = env.episode_length_buf[ids] * env.step_dt
        self._first[ids] = torch.where(upright, torch.minimum(self._first[ids], now), self._first[ids])

    def finish(self, env: Any, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        """Whether the character stood in time."""
        first = self._first[ids].clone()
        self._first[ids] = torch.inf
        return {"recovered": (first <= RECOVERY_S).float()}


def latent_similarity(latents: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean cosine of two windows' latents within each clip, and between each clip and the others.

    Args:
        latents: Unit vectors of n windows of C clips, shape (C, n, dim).

    Returns:
        Within and between, each of shape (C,).
    """
    clips, count, _ = latents.shape
    sums = latents.sum(dim=1)
    within = (sums.square().sum(dim=1) - count) / (count * (count - 1))
    others = (sums @ sums.T).fill_diagonal_(0.0).sum(dim=1) / (count * count * max(clips - 1, 1))
    return within, others


def nearest_clip(latents: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """Index of the clip whose mean latent (C, dim) is nearest to each of the latents (..., dim), by cosine."""
    return (latents @ torch.nn.functional.normalize(centres, dim=-1).T).argmax(dim=-1)


@dataclass(frozen=True)
class CommandedMotion:
    """What characters did that were told to do a clip, a row per world.

    Attributes:
        clip: Index of the clip, shape (num_envs,).
        matched: Share of windows that look like the clip, shape (num_envs,).
        speed_error: Difference of mean planar velocity from the clip's, heading frame, shape (num_envs,) [m/s].
    """

    clip: torch.Tensor
    matched: torch.Tensor
    speed_error: torch.Tensor


@dataclass
class _Recorder:
    """Features of the last frames of every world, without windows that cross a reset."""

    frames: int
    rows: list[torch.Tensor] = field(default_factory=list)

    def add(self, features: torch.Tensor) -> torch.Tensor | None:
        """Take one frame (num_envs, features); returns windows (num_envs, frames, features) once there are enough."""
        self.rows = [*self.rows[-(self.frames - 1) :], features.clone()]
        return torch.stack(self.rows, dim=1) if len(self.rows) == self.frames else None


class LatentProtocol:
    """Latents of windows, clips on command, getting up."""

    name = "latent"
    default_episodes = 200

    def configure(self, env_cfg: Any) -> None:
        """No falls end an episode: the character shall get up."""
        env_cfg.terminations.fallen = None
        env_cfg.episode_length_s = 10.0

    def run(
        self, env: Any, policy: Policy, episodes: int, seed: int, progress: Callable[[int, int], None]
    ) -> dict[str, Metric]:
        """Measure, see :class:`EvaluationProtocol`.

        Raises:
            BadInputError: If the policy has no encoder of windows.
        """
        encoder = getattr(policy.actor, "encoder", None)
        if encoder is None:
            raise BadInputError("this evaluation needs a policy with an encoder of reference windows (CALM's)")
        command = env.command_manager.get_term("latent").cfg

        @torch.no_grad()
        def encode(windows: torch.Tensor) -> torch.Tensor:
            return encoder(strided(windows, command.window_stride))

        params = env.event_manager.get_term_cfg("character").params
        params.update(fallen_fraction=1.0)
        lying = run_episodes(env, policy, episodes, seed, RecoveryProbe(env), progress)
        params.update(fallen_fraction=0.0, reference_fraction=0.0)
        library = env.reference.library
        latents = _clip_latents(library, encode, command.window_frames, env.step_dt)
        motion = follow_clips(env, policy, encode, latents.mean(dim=1), command.window_frames, seed + 1)
        return _latent_metrics(latents) | _motion_metrics(motion, library.names) | _recovery(lying)


def follow_clips(
    env: Any, policy: Policy, encode: Encode, centres: torch.Tensor, frames: int, seed: int, seconds: float = 8.0
) -> CommandedMotion:
    """Command each world one clip, by latents of its windows, and look at what comes out.

    Args:
        env: The environment.
        policy: A policy with an observation group ``latent``.
        encode: The policy's encoder.
        centres: Mean latent of each clip, shape (C, latent_dim).
        frames: Frames of a window.
        seed: Seed of the environment.
        seconds: How long.
    """
    library: MotionLibrary = env.reference.library
    clip = torch.arange(env.num_envs, device=env.device) % len(library)
    recorder, hits, wholes = _Recorder(frames), torch.zeros(env.num_envs), 0
    velocity, steps = torch.zeros(env.num_envs, 2), 0
    columns = layout()["root_lin_vel"]
    latents = centres[clip]
    obs, _ = env.reset(seed=seed)
    for step in range(round(seconds / env.step_dt)):
        if step % round(HOLD_S / env.step_dt) == 0:
            times = library.sample_times(clip, (frames - 1) * env.step_dt)
            latents = encode(library.windows(clip, times, frames, env.step_dt))
        obs, *_ = env.step(policy({**_groups(obs), "latent": latents}))
        window = recorder.add(obs["prior"])
        if step * env.step_dt < SETTLE_S or window is None:
            continue
        velocity += obs["prior"][:, columns][:, :2].cpu()
        steps += 1
        if step % 5 == 0:
            hits += (nearest_clip(encode(window), centres) == clip).float().cpu()
            wholes += 1
    wanted = _clip_velocities(library)[clip].cpu()
    error = (velocity / max(steps, 1) - wanted).norm(dim=1)
    return CommandedMotion(clip.cpu(), hits / max(wholes, 1), error)


def _groups(obs: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: obs[name] for name in obs.keys()}  # noqa: SIM118 (a TensorDict iterates over rows)


def _clip_latents(library: MotionLibrary, encode: Encode, frames: int, dt: float) -> torch.Tensor:
    """Latents of random windows of every clip, shape (C, WINDOWS, latent_dim)."""
    rows = []
    for index in range(len(library)):
        clips = torch.full((WINDOWS,), index, device=library.device)
        times = library.sample_times(clips, (frames - 1) * dt)
        rows.append(encode(library.windows(clips, times, frames, dt)))
    return torch.stack(rows)


def _clip_velocities(library: MotionLibrary) -> torch.Tensor:
    """Mean planar velocity of each clip's root in its heading frame, shape (C, 2) [m/s]."""
    columns = layout()["root_lin_vel"]
    rows = []
    for index in range(len(library)):
        frames = int(float(library.durations[index]) * 30.0) + 1
        window = library.windows(torch.tensor([index]), torch.zeros(1), frames, 1.0 / 30.0)
        rows.append(window[0, :, columns][:, :2].mean(dim=0))
    return torch.stack(rows)


def _latent_metrics(latents: torch.Tensor) -> dict[str, Metric]:
    within, between = latent_similarity(latents)
    windows = f"mean over {WINDOWS} random windows of each clip"
    return {
        "latent_within": mean_metric(
            within.cpu(), "1", None, f"cosine of the latents of two windows of one clip, {windows}", "higher"
        ),
        "latent_between": mean_metric(
            between.cpu(), "1", None, f"cosine of the latents of windows of two clips, {windows}", "lower"
        ),
    }


def _motion_metrics(motion: CommandedMotion, names: tuple[str, ...]) -> dict[str, Metric]:
    match = "share of produced windows whose latent is nearest to the commanded clip's mean latent"
    figures = {
        "clip_match": mean_metric(motion.matched, "1", None, f"{match}, mean over worlds", "higher"),
        "velocity_error": mean_metric(
            motion.speed_error,
            "m/s",
            None,
            "difference of the mean planar velocity, heading frame, from the commanded clip's",
            "lower",
        ),
    }
    rates = [motion.matched[motion.clip == index].mean() for index in range(len(names))]
    good = sum(bool(rate >= 0.5) for rate in rates)
    figures["clips_on_command"] = Metric(
        float(good), "1", None, f"clips (of {len(names)}, mirrored ones included) that are matched in half the windows"
    )
    for index, name in enumerate(names):
        figures[f"clip_match/{name}"] = mean_metric(
            motion.matched[motion.clip == index], "1", None, f"{match}, {name}", "higher"
        )
    return figures


def _recovery(lying: dict[str, torch.Tensor]) -> dict[str, Metric]:
    definition = f"share of starts on the ground that stand (pelvis above {STANDING_PELVIS} m) within {RECOVERY_S:g} s"
    return {"recovery": rate_metric(lying["recovered"], None, definition, "higher")}


def latent_protocol() -> LatentProtocol:
    """The evaluation protocol of SportSuite-Imitate-v0."""
    return LatentProtocol()
