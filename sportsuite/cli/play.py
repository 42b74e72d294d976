"""Play a policy: in a video file, in the browser or in a window.

  sportsuite play SportSuite-Trap-v0 --pretrained --video trap.mp4 --seconds 10
  sportsuite play SportSuite-Trap-v0 --checkpoint latest --viz viser
  sportsuite play SportSuite-Football-v0 --viz viser   (steered with the keyboard in the browser)

Without --pretrained, --checkpoint or --untrained, the shipped policy is played. The video is made without a display.
A task that takes commands shows its controls in the browser viewer.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sportsuite.cli import _output
from sportsuite.cli._ablations import add_ablation_option, with_ablations
from sportsuite.cli._playing import add_policy_options, find_checkpoint, make_policy, open_env, results_only
from sportsuite.cli._run_options import add_run_options, check_run_options, positive, prepare_process, split_overrides
from sportsuite.errors import BadInputError, SportSuiteError
from sportsuite.plugins.manager import find_task

if TYPE_CHECKING:
    from sportsuite.learning.policy import Policy

_VIEWERS = ("none", "viser", "newton_gl")
_DEFAULT_SECONDS = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_run_options(parser)
    add_policy_options(parser)
    add_ablation_option(parser)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--steps", type=int, metavar="N", help="how many steps to play")
    length.add_argument("--seconds", type=float, metavar="S", help="how long to play, in simulated time (default 10)")
    parser.add_argument("--video", type=Path, metavar="FILE.mp4", help="film the first world into a file")
    parser.add_argument(
        "--viz", choices=_VIEWERS, default="none", help="viewer; plays until Ctrl-C unless a length is given"
    )
    parser.add_argument("--port", type=int, default=8080, metavar="P", help="port of the browser viewer on 127.0.0.1")
    parser.add_argument("overrides", nargs="*", metavar="env.X=Y", help="changes to the env cfg")


def run(args: argparse.Namespace) -> int:
    """Play and say what came out."""
    prepare_process()
    task = find_task(args.id)
    check_run_options(args)
    for name in ("steps", "seconds"):
        positive(f"--{name.replace('_', '-')}", getattr(args, name))
    (overrides,) = split_overrides(args.overrides, ("env",))
    overrides = with_ablations(args, task, overrides)
    show = _viewer(args)
    with results_only():
        checkpoint = find_checkpoint(args, task)
        # a task without a policy of its own waits for commands
        num_envs = args.num_envs or (1 if args.video or not task.spec.agent_cfgs else 4)
        with open_env(args, task, checkpoint, num_envs, overrides, show) as env:
            policy = make_policy(checkpoint, env, task, args.seed or 0)
            tally = _Tally()
            _play(args, env, policy, tally)
            lines = tally.lines(env)
    for line in lines + ([f"video {args.video}"] if args.video else []):
        _output.write_line(line)
    return 0


def _viewer(args: argparse.Namespace) -> Callable[[Any], None]:
    """Check that the viewer can be had, and return what adds it to the env cfg."""
    if args.video is not None:
        if args.viz != "none":
            raise BadInputError(f"--viz {args.viz} and --video: expected one of them")
        from sportsuite.envs.offscreen import add_offscreen_viewer
        from sportsuite.viewer.video import check_offscreen, check_video_path

        check_video_path(args.video)
        check_offscreen()
        return add_offscreen_viewer
    if args.viz == "viser":
        from sportsuite.viewer.browser import ADDRESS, check_port, show_in_browser

        port = check_port(args.port)
        sys.stderr.write(f"open http://{ADDRESS}:{port} in a browser once the task has started; Ctrl-C ends it\n")
        return lambda cfg: show_in_browser(cfg, port)
    if args.viz == "newton_gl":
        if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            raise SportSuiteError(
                "--viz newton_gl opens a window and there is no display: use --viz viser or --video FILE.mp4"
            )
        return _show_window
    return lambda cfg: None


def _show_window(env_cfg: Any) -> None:
    from isaaclab_visualizers.newton import NewtonGLVisualizerCfg

    env_cfg.sim.visualizer_cfgs = [NewtonGLVisualizerCfg()]


def _play(args: argparse.Namespace, env: Any, policy: Policy, tally: _Tally) -> None:
    seconds = args.seconds if args.steps is None else args.steps * env.step_dt
    if args.video is not None:
        from sportsuite.viewer.video import record

        record(env, policy, args.video, seconds or _DEFAULT_SECONDS, tally.add)
        return
    watched = args.viz != "none"
    steps = math.inf if watched and seconds is None else round((seconds or _DEFAULT_SECONDS) / env.step_dt)
    obs, _ = env.reset()
    look_after_controls = _controls(env) if args.viz == "viser" else lambda: None
    # Ctrl-C is how a viewer is left
    with contextlib.suppress(KeyboardInterrupt) if watched else contextlib.nullcontext():
        while tally.steps < steps and not _closed(env):
            start = time.monotonic()
            look_after_controls()
            step = env.step(policy(obs))
            obs = step[0]
            policy.reset(step[2] | step[3])
            tally.add(step)
            if watched:
                time.sleep(max(0.0, env.step_dt - (time.monotonic() - start)))


def _controls(env: Any) -> Callable[[], None]:
    """Show the controls of a task that can be steered; what is returned is called before every step."""
    from sportsuite.viewer.camera import subjects_of
    from sportsuite.viewer.control_panel import panel_of

    panel = panel_of(env)
    return (lambda: None) if panel is None else lambda: panel.update(subjects_of(env)[0])


def _closed(env: Any) -> bool:
    viewers = env.sim.visualizers
    return bool(viewers) and not any(viewer.is_running() for viewer in viewers)


class _Tally:
    """Counts what happened while a policy was played."""

    def __init__(self) -> None:
        self.steps = 0
        self._reward = 0.0
        self._terminated = 0
        self._timed_out = 0

    def add(self, step: Any) -> None:
        """Take in what ``env.step`` returned."""
        _, reward, terminated, truncated, _ = step
        self.steps += 1
        self._reward += float(reward.mean())
        self._terminated += int(terminated.sum())
        self._timed_out += int((truncated & ~terminated).sum())

    def lines(self, env: Any) -> list[str]:
        """Return the result as text."""
        length = f"{self.steps} steps ({self.steps * env.step_dt:.1f} s) of {env.num_envs} worlds"
        reward = f"mean reward per step {self._reward / max(1, self.steps):.4f}"
        return [f"{length}, {reward}, {self._terminated} episodes terminated, {self._timed_out} timed out"]
