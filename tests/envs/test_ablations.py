"""Named variants: every one of every task can be applied, and changes something."""

import argparse

import pytest

from sportsuite.cli._ablations import with_ablations
from sportsuite.envs.ablations import ablation_overrides, split_names
from sportsuite.envs.make_env import load_env_cfg
from sportsuite.envs.overrides import apply_overrides
from sportsuite.errors import BadInputError
from sportsuite.learning.plain import to_plain
from sportsuite.plugins import manager

VARIANTS = [
    (task.spec.id, task.spec.env_cfg, name)
    for task in manager.inventory().tasks.values()
    for name in load_env_cfg(task.spec.env_cfg).ablations()
]


@pytest.mark.parametrize(("task", "entry", "name"), VARIANTS, ids=lambda value: value if "-v" in value else "")
def test_a_variant_changes_the_config(task, entry, name):
    changed, plain = load_env_cfg(entry), load_env_cfg(entry)
    apply_overrides(changed, ablation_overrides(changed, [name], task))
    if name == "no_degcl":  # the default is without; it takes a file back
        changed.commands.move.degcl = None
        assert to_plain(changed) == to_plain(plain)
        return
    assert to_plain(changed) != to_plain(plain)


def test_the_texts_tables_are_all_there():
    known = {}
    for task, entry, name in VARIANTS:
        known.setdefault(task, set()).add(name)
        assert entry
    dribble = {"no_ball_vel", "no_ball_root_pos", "no_root_vel", "no_distance_end", "box_foot", "no_nts", "no_fallen"}
    assert dribble <= known["SportSuite-Dribble-v0"]
    assert {"no_degcl", "no_dir", "no_vel", "no_nts"} <= known["SportSuite-Move-v0"]
    assert {"no_nts", "box_foot"} <= known["SportSuite-Kick-v0"]
    assert {"no_before", "no_after", "no_hand_end", "no_projectile"} <= known["SportSuite-Trap-v0"]


def test_wrong_names_are_refused_with_the_nearest():
    cfg = load_env_cfg("sportsuite_tasks.football.kick.kick_env_cfg:KickEnvCfg")
    with pytest.raises(BadInputError, match="'box_fot': did you mean 'box_foot'"):
        ablation_overrides(cfg, ["box_fot"], "SportSuite-Kick-v0")
    assert split_names("a, b") == ["a", "b"]
    with pytest.raises(BadInputError, match="separated by commas"):
        split_names("a,,b")


def test_typed_overrides_prevail_over_variants():
    task = manager.find_task("SportSuite-Dribble-v0")
    args = argparse.Namespace(ablate="no_distance_end,few_samples")
    overrides = with_ablations(args, task, ("rewards.root_velocity.params.scale=5.0",))
    cfg = load_env_cfg(task.spec.env_cfg)
    apply_overrides(cfg, overrides)
    assert cfg.terminations.ball_too_far is None and cfg.commands.dribble.speed_range == (0.0, 4.0)
    assert cfg.rewards.ball_velocity.params["scale"] == 2.0 and cfg.rewards.root_velocity.params["scale"] == 5.0
    assert with_ablations(argparse.Namespace(ablate=None), task, ("a=1",)) == ("a=1",)
