"""The environment class of every sport: Isaac Lab's manager-based one, with guards."""

from __future__ import annotations

import contextlib
import logging
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from isaaclab.envs import ManagerBasedRLEnv
from isaaclab.envs.mdp import reset_scene_to_default
from isaaclab.sim import SimulationContext

from sportsuite.envs.offscreen import add_offscreen_viewer
from sportsuite.envs.overrides import check_cfg
from sportsuite.errors import BadInputError, SportSuiteError
from sportsuite.physics import presets
from sportsuite.physics.contacts import make_touch_tracker
from sportsuite.physics.kernels import forward_kernels_only
from sportsuite.physics.soles import soles_hook

if TYPE_CHECKING:
    from sportsuite.envs.sport_env_cfg import SportEnvCfg
    from sportsuite.physics.contacts import TouchTracker

logger = logging.getLogger(__name__)


class SportEnv(ManagerBasedRLEnv):
    """Vectorised environment of one task.

    Beyond Isaac Lab's class: contact pairs and equality rows are added per world, ball contacts are tracked in every
    substep (:attr:`touch`), a world that turns NaN is reset alone, actions may be numpy arrays, ``render()`` returns a
    frame when ``render_mode="rgb_array"``, and a second environment in one process is refused with a clear error.
    """

    cfg: SportEnvCfg

    touch: TouchTracker
    """Impulses between the ball and each body since the start of the current step; only where ``cfg.ball_name`` is
    set.
    """

    fallen_start: torch.Tensor
    """Worlds whose episode began on the ground. Shape is (num_envs,), bool."""

    reference: Any = None
    """Reference motion that a term of the task has loaded (:class:`sportsuite.motion.reference.ReferenceMotion`)."""

    def __init__(self, cfg: SportEnvCfg, render_mode: str | None = None, **kwargs: Any):
        """Build the scene and the managers.

        Args:
            cfg: Config of the task, presets resolved. It is finalized here.
            render_mode: ``"rgb_array"`` for frames from :meth:`render`, or None.
            **kwargs: Ignored; Isaac Lab passes what gymnasium registered.

        Raises:
            SportSuiteError: If this process already has an environment.
            BadInputError: If the config has a stray field or rates that don't divide.
        """
        if SimulationContext.instance() is not None:
            raise SportSuiteError("this process already has an environment: close() it before making another one")
        check_cfg(cfg)
        if render_mode == "rgb_array" and not cfg.sim.visualizer_cfgs:
            add_offscreen_viewer(cfg)
        cfg.finalize()
        forward_kernels_only()
        self.nonfinite_count = 0
        self._dumped = False
        self.fallen_start = torch.zeros(cfg.scene.num_envs, dtype=torch.bool, device=cfg.sim.device)
        with _world_hooks(cfg):
            super().__init__(cfg, render_mode=None, **kwargs)
        self.render_mode = render_mode
        # On Newton the velocity limits are zero until after the first reset, which clamps the velocities it writes:
        # spend that reset here, then seed again so that the first real one draws what the seed says.
        self.reset()
        if self.cfg.seed is not None:
            self.seed(self.cfg.seed)

    def load_managers(self) -> None:
        """Set up the contact tracker, which the managers' terms read, then the managers."""
        if self.cfg.ball_name is not None:
            self.touch = make_touch_tracker(self)
        super().load_managers()

    def step(self, action: torch.Tensor | np.ndarray) -> tuple:
        """Step all worlds.

        Args:
            action: Actions, torch or numpy. Shape is (num_envs, action_dim).

        Returns:
            Observations by group, rewards (num_envs,), terminated (num_envs,), truncated (num_envs,), extras. Time
            limits count as truncations. ``extras["final_obs"]`` is there only in steps in which some world ended.

        Raises:
            BadInputError: If the action's shape or device is wrong.
        """
        action = self._as_action(action)
        if self.cfg.ball_name is not None:
            self.touch.clear()
        result = super().step(action)
        if not self.reset_buf.any():
            self.extras.pop("final_obs", None)
        return result

    def reference_windows(self, num: int, frames: int) -> torch.Tensor:
        """Draw windows of the reference motion's features, for discriminators and encoders.

        Args:
            num: Number of windows.
            frames: Consecutive control steps per window.

        Returns:
            Shape (num, frames, features).

        Raises:
            SportSuiteError: If the task has no reference motion.
        """
        if self.reference is None:
            raise SportSuiteError("this task has no reference motion: add an event term ResetToReference")
        return self.reference.windows(num, frames)

    def _as_action(self, action: torch.Tensor | np.ndarray) -> torch.Tensor:
        if isinstance(action, np.ndarray):
            action = torch.as_tensor(action, dtype=torch.float32, device=self.device)
        if not isinstance(action, torch.Tensor):
            raise BadInputError(f"action: expected a torch tensor or a numpy array, got {type(action).__name__}")
        expected = (self.num_envs, self.action_manager.total_action_dim)
        if tuple(action.shape) != expected:
            raise BadInputError(f"action: expected shape {expected} (num_envs, action_dim), got {tuple(action.shape)}")
        if action.device.type != torch.device(self.device).type:
            raise BadInputError(
                f"action: expected device {self.device}, got {action.device}; move it with .to(env.device)"
            )
        return action

    def _reset_idx(self, env_ids: torch.Tensor | slice) -> None:
        super()._reset_idx(env_ids)
        self.extras["log"]["Physics/nonfinite_worlds"] = self.nonfinite_count

    def handle_nonfinite_worlds(self) -> torch.Tensor:
        """Find worlds with NaN or infinite state, dump the first one ever seen, put them all to their default state.

        Returns:
            The worlds found. Shape is (num_envs,), bool.
        """
        total = torch.zeros(self.num_envs, device=self.device)
        for tensor in self._state_tensors().values():
            total += tensor.reshape(self.num_envs, -1).sum(dim=1)
        bad = ~torch.isfinite(total)
        if bad.any():
            ids = bad.nonzero().flatten()
            self.nonfinite_count += len(ids)
            self._dump_once(int(ids[0]))
            reset_scene_to_default(self, ids)
            self.action_manager.reset(ids)  # type: ignore[arg-type]
        return bad

    def _state_tensors(self) -> dict[str, torch.Tensor]:
        state = {}
        for name, asset in {**self.scene.articulations, **self.scene.rigid_objects}.items():
            state[f"{name}.root_pose_w"] = asset.data.root_link_pose_w.torch
            state[f"{name}.root_vel_w"] = asset.data.root_com_vel_w.torch
        for name, robot in self.scene.articulations.items():
            state[f"{name}.joint_pos"] = robot.data.joint_pos.torch
            state[f"{name}.joint_vel"] = robot.data.joint_vel.torch
        return state

    def _dump_once(self, world: int) -> None:
        if self._dumped or not self.cfg.dump_nonfinite:
            return
        self._dumped = True
        arrays = {name: tensor[world].cpu().numpy() for name, tensor in self._state_tensors().items()}
        arrays["action"] = self.action_manager.action[world].cpu().numpy()
        folder = Path(self.cfg.log_dir or tempfile.gettempdir())
        path = folder / f"sportsuite_nonfinite_{time.strftime('%Y%m%d-%H%M%S')}_world{world}.npz"
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(path, allow_pickle=False, step=self.common_step_counter, world=world, **arrays)
        logger.warning("world %d turned NaN at step %d; its last state is in %s", world, self.common_step_counter, path)

    def render(self, recompute: bool = False) -> np.ndarray | None:
        """Return the current frame.

        Returns:
            An RGB image of shape (height, width, 3), uint8, if ``render_mode="rgb_array"``, else None.
        """
        if self.render_mode != "rgb_array":
            return super().render(recompute)
        return np.ascontiguousarray(self.sim.visualizers[0].render_rgb_array())

    def close(self) -> None:
        """Free the simulation, so that another environment can be made in this process."""
        if not self._is_closed and self.cfg.ball_name is not None:
            self.touch.close()
        super().close()


@contextlib.contextmanager
def _world_hooks(cfg: SportEnvCfg):
    """Install a config's per-world model additions while the scene is being built."""
    from isaaclab_newton.cloner import newton_builder_world_hook

    # soles come after hooks that pair colliders, such as the ball's: those must not pair them
    hooks: list[Callable] = [*cfg.world_hooks(), soles_hook(), *cfg.late_world_hooks()]
    if not presets.is_newton(cfg.sim.physics):
        hooks = []
    if type(cfg.sim.physics).__name__ == "OvPhysxCfg":
        from sportsuite.physics.ovphysx_cpu import allow_ovphysx_without_cuda

        allow_ovphysx_without_cuda()
    with contextlib.ExitStack() as stack:
        for hook in hooks:
            stack.enter_context(newton_builder_world_hook(hook))
        yield
