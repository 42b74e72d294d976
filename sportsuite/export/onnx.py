"""Writes a policy as an ONNX file that says what it sees and does, and compares it with the original."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from rsl_rl.models import MLPModel

from sportsuite.errors import BadInputError, SportSuiteError
from sportsuite.learning.policy import load_actor

__all__ = ["export_onnx", "largest_difference"]

_SAMPLES = 16
"""Random observations that the two are compared on."""

_TOLERANCE = 1e-4
"""Largest difference of an action that counts as equal [action units] (ours; 32-bit arithmetic in another order)."""


def export_onnx(checkpoint: str | Path, output: str | Path, packages: tuple[str, ...] = ()) -> dict[str, Any]:
    """Write a checkpoint's policy, its mean actions, as ONNX.

    The model has one input ``obs`` (batch, numbers), the observation groups one after another, and one output
    ``actions`` (batch, actions). The file's metadata hold, as JSON, what this function returns.

    Args:
        checkpoint: A checkpoint, whole or stripped.
        output: The file to write; an existing one is replaced in one step.
        packages: Packages, besides ours, whose network classes the checkpoint may name.

    Returns:
        ``task``, ``observations`` (terms and sizes by group, in order), ``actions`` (the env cfg's action terms),
        ``control_hz``, ``samples``, ``versions``, and ``difference``, the largest one found [action units].

    Raises:
        BadInputError: If the checkpoint can't be read or its network isn't feed-forward.
        SportSuiteError: If what was written acts differently from the original.
    """
    actor, about = load_actor(checkpoint, packages=packages)
    if actor.is_recurrent:
        raise BadInputError(f"{checkpoint}: its network has a memory; only feed-forward ones are exported")
    output = Path(output)
    temporary = output.with_name(f".{output.name}.{os.getpid()}.tmp")
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        _write(actor, temporary)
        described = _description(actor, about) | {"difference": largest_difference(actor, temporary)}
        if described["difference"] > _TOLERANCE:
            raise SportSuiteError(f"{output}: its actions differ by {described['difference']:.1e} from the policy's")
        _add_metadata(temporary, described)
        os.replace(temporary, output)
    finally:
        temporary.unlink(missing_ok=True)
    return described


def largest_difference(actor: MLPModel, path: str | Path, seed: int = 0) -> float:
    """Largest difference between a network's actions and those of an ONNX file, on random observations.

    Args:
        actor: The network.
        path: The file.
        seed: Seed of the observations, normal with standard deviation 1.
    """
    from onnx.reference import ReferenceEvaluator

    original: Any = actor.as_onnx(verbose=False).eval()
    obs = torch.randn(
        _SAMPLES, *original.get_dummy_inputs()[0].shape[1:], generator=torch.Generator().manual_seed(seed)
    )
    with torch.no_grad():
        expected = original(obs)
    (actions,) = ReferenceEvaluator(str(path)).run(None, {"obs": obs.numpy()})
    return float((torch.as_tensor(actions) - expected).abs().max())


def _write(actor: MLPModel, path: Path) -> None:
    model: Any = actor.as_onnx(verbose=False).eval()
    torch.onnx.export(
        model,
        model.get_dummy_inputs(),
        str(path),
        input_names=model.input_names,
        output_names=model.output_names,
        dynamic_axes={name: {0: "batch"} for name in (*model.input_names, *model.output_names)},
        opset_version=18,
        dynamo=False,
        verbose=False,
    )


def _description(actor: MLPModel, about: Mapping[str, Any]) -> dict[str, Any]:
    groups = about["env_cfg"].get("observations", {})
    observations = [
        {"group": name, "size": about["observations"][name][-1], "terms": _terms(groups.get(name) or {})}
        for name in actor.obs_groups
    ]
    return {
        "task": about["task"],
        "observations": observations,
        "actions": about["env_cfg"].get("actions", {}),
        "control_hz": about["env_cfg"].get("control_hz"),
        "samples": about.get("samples"),
        "versions": about["versions"],
    }


def _terms(group: Mapping[str, Any]) -> list[str]:
    return [name for name, term in group.items() if isinstance(term, Mapping) and "func" in term]


def _add_metadata(path: Path, described: Mapping[str, Any]) -> None:
    import onnx

    model = onnx.load(str(path))
    onnx.helper.set_model_props(model, {"sportsuite": json.dumps(described)})
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
