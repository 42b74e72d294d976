"""Makes rsl_rl's runner write and read the checkpoints of our algorithm our way (docs/adr/0003-checkpoints.md)."""

from __future__ import annotations

import functools
from typing import Any

from rsl_rl.runners import OnPolicyRunner

from sportsuite.learning.checkpoint import check_task, read_checkpoint, restore_rng, write_checkpoint

__all__ = ["install_checkpoint_io"]

_MARK = "_sportsuite_checkpoint_io"


def install_checkpoint_io(runner_class: type[OnPolicyRunner], algorithm_class: type) -> None:
    """Replace the runner's ``save`` and ``load``, once per process.

    Runners of other algorithms keep rsl_rl's behaviour: the replacements hand over to the originals.

    Args:
        runner_class: rsl_rl's runner.
        algorithm_class: The algorithm whose checkpoints are written atomically and read without unpickling code.
    """
    if getattr(runner_class, _MARK, False):
        return
    rsl_save, rsl_load = runner_class.save, runner_class.load

    @functools.wraps(rsl_save)
    def save(self: OnPolicyRunner, path: str, infos: dict | None = None) -> None:
        if not isinstance(self.alg, algorithm_class):
            return rsl_save(self, path, infos)
        content = self.alg.save() | {"iter": self.current_learning_iteration, "infos": infos}
        write_checkpoint(path, content)
        self.logger.save_model(path, self.current_learning_iteration)
        return None

    @functools.wraps(rsl_load)
    def load(
        self: OnPolicyRunner,
        path: str,
        load_cfg: dict | None = None,
        strict: bool = True,
        map_location: str | None = None,
    ) -> Any:
        if not isinstance(self.alg, algorithm_class):
            return rsl_load(self, path, load_cfg, strict, map_location)
        content = read_checkpoint(path, map_location or self.device)
        check_task(content, self.alg.provenance["task"], path)
        if self.alg.load(content, load_cfg, strict):
            self.current_learning_iteration = content["iter"]
        # a runner without a log folder plays: the seed it was given stays in force
        if self.logger.log_dir is not None and "rng" in content:
            restore_rng(content["rng"])
        return content["infos"]

    runner_class.save = save  # type: ignore[method-assign]
    runner_class.load = load  # type: ignore[method-assign]
    setattr(runner_class, _MARK, True)
