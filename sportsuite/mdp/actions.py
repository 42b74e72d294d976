"""Action terms that any sport can use."""

from __future__ import annotations

from isaaclab.envs import mdp

from sportsuite.characters.spec import JOINT_NAMES, action_mapping


def joint_targets_cfg() -> mdp.JointPositionActionCfg:
    """Actions as PD targets around the standing pose, with the reach that ASE and CALM give each joint.

    Those works centre hinges on the middle of their range, which bends the knees at rest. Without a motion prior a
    policy should start out standing, so the offset is the default pose (ours).
    """
    reach = dict(zip(JOINT_NAMES, action_mapping().scale, strict=True))
    return mdp.JointPositionActionCfg(
        asset_name="robot", joint_names=list(JOINT_NAMES), preserve_order=True, scale=reach, use_default_offset=True
    )
