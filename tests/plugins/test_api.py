"""Declarations are checked where they are written, with the field and the expectation in the message."""

from __future__ import annotations

import pytest

from sportsuite.plugins import PluginError, SportPlugin, TaskSpec

TASK = {"id": "Bow-Shoot-v0", "env_cfg": "bow.cfg:EnvCfg", "description": "Hit the gold."}
SPORT = {"name": "bow", "api_version": 1, "description": "Archery."}


def test_a_task_needs_no_more_than_id_cfg_and_description() -> None:
    task = TaskSpec(**TASK)
    assert (task.agent_cfgs, task.default_size, task.evaluation, task.policy) == ({}, "cpu", None, None)


def test_declarations_can_not_be_changed() -> None:
    agents = {"cpu": "bow.agents:cpu"}
    task = TaskSpec(**TASK, agent_cfgs=agents)
    agents["gpu"] = "changed behind its back"
    assert dict(task.agent_cfgs) == {"cpu": "bow.agents:cpu"}
    with pytest.raises(TypeError):
        task.agent_cfgs["gpu"] = "x"  # type: ignore[index]
    with pytest.raises(AttributeError):
        task.id = "Other-v0"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "Bow-Shoot"}, "task id 'Bow-Shoot'"),
        ({"id": "Bow Shoot-v0"}, "task id 'Bow Shoot-v0'"),
        ({"env_cfg": "bow.cfg"}, "env_cfg = 'bow.cfg': expected 'package.module:attribute'"),
        ({"env_cfg": object}, "env_cfg = "),
        ({"description": "two\nlines"}, "description"),
        ({"description": " "}, "description"),
        ({"agent_cfgs": {"CPU": "bow.agents:cpu"}}, "agent cfg name 'CPU'"),
        ({"agent_cfgs": {"cpu": "bow.agents.cpu"}}, r"agent_cfgs\['cpu'\] = 'bow.agents.cpu'"),
        ({"agent_cfgs": {"gpu": "bow.agents:gpu"}}, "default_size 'cpu' is no entry of agent_cfgs"),
        ({"agent_cfgs": {"smoke": "a:b"}, "default_size": "smok"}, "did you mean 'smoke'"),
        ({"evaluation": "protocol"}, "evaluation = 'protocol'"),
        ({"policy": "/abs/shoot.pt"}, "policy '/abs/shoot.pt'"),
        ({"policy": "../shoot.pt"}, "policy"),
        ({"policy": "shoot.onnx"}, "policy"),
    ],
)
def test_malformed_tasks_name_the_field(change: dict, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        TaskSpec(**{**TASK, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Bow"}, "sport name 'Bow'"),
        ({"name": "sportsuite"}, "reserved"),
        ({"api_version": "1"}, "api_version '1': expected an integer"),
        ({"api_version": True}, "api_version True"),
        ({"description": ""}, "description"),
        ({"tasks": ("Bow-Shoot-v0",)}, "expected a TaskSpec"),
        ({"tasks": (TaskSpec(**TASK), TaskSpec(**TASK))}, "Bow-Shoot-v0 is declared twice"),
        ({"terms": {"reward": "bow.mdp.rewards"}}, "did you mean 'rewards'"),
        ({"terms": {"rewards": "bow.mdp:rewards"}}, "expected a module name"),
    ],
)
def test_malformed_sports_name_the_field(change: dict, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        SportPlugin(**{**SPORT, **change})
