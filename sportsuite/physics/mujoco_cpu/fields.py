"""Names of the MuJoCo fields that pass between Newton's batched arrays and the threads' own models and data.

Newton keeps MuJoCo's model and state in MJWarp's layout: float32, one row per world. Both sides use MuJoCo's names and
the same order of values inside a row, which :mod:`thread_models` checks by size.
"""

from __future__ import annotations

# State that MuJoCo needs going in. The compiled loop relies on the order of the first three.
INPUT_FIELDS = (
    "qpos",
    "qvel",
    "qacc_warmstart",
    "act",
    "ctrl",
    "qfrc_applied",
    "xfrc_applied",
    "mocap_pos",
    "mocap_quat",
)

# What a step leaves behind for Newton, Isaac Lab and our terms to read.
OUTPUT_FIELDS = (
    "qpos",
    "qvel",
    "qacc_warmstart",
    "act",
    "qacc",
    "xpos",
    "xquat",
    "xipos",
    "subtree_com",
    "cvel",
    "qfrc_actuator",
    "qfrc_constraint",
    "actuator_force",
    "sensordata",
)

# Only computed when a state asks for body accelerations or joint reaction wrenches.
RNE_FIELDS = ("cacc", "cfrc_int", "cfrc_ext")

# Model values that other code writes straight into the arrays between steps (grasps, a ball's friction), so they are
# read at every step.
LIVE_FIELDS = (
    "eq_data",
    "eq_solref",
    "eq_solimp",
    "pair_solref",
    "pair_solreffriction",
    "pair_solimp",
    "pair_margin",
    "pair_gap",
    "pair_friction",
)

# Model values that Newton keeps per world; pushed into the threads' models when Newton reports a change.
MODEL_FIELDS = (
    "qpos0",
    "qpos_spring",
    "body_pos",
    "body_quat",
    "body_ipos",
    "body_iquat",
    "body_mass",
    "body_subtreemass",
    "body_inertia",
    "body_invweight0",
    "body_gravcomp",
    "jnt_solref",
    "jnt_solimp",
    "jnt_pos",
    "jnt_axis",
    "jnt_stiffness",
    "jnt_range",
    "jnt_actfrcrange",
    "jnt_margin",
    "dof_armature",
    "dof_damping",
    "dof_invweight0",
    "dof_frictionloss",
    "dof_solimp",
    "dof_solref",
    "geom_solmix",
    "geom_solref",
    "geom_solimp",
    "geom_size",
    "geom_rbound",
    "geom_pos",
    "geom_quat",
    "geom_friction",
    "geom_margin",
    "geom_gap",
    "site_pos",
    "site_quat",
    "actuator_gainprm",
    "actuator_biasprm",
    "actuator_dynprm",
    "actuator_ctrlrange",
    "actuator_forcerange",
    "actuator_actrange",
    "actuator_gear",
    "actuator_acc0",
    "actuator_lengthrange",
)

OPTION_VECTORS = ("gravity", "wind", "magnetic")
OPTION_SCALARS = ("tolerance", "ls_tolerance", "ccd_tolerance", "density", "viscosity")

# What mj_setConst derives the constants below from.
CONSTANT_INPUTS = (
    "qpos0",
    "qpos_spring",
    "body_pos",
    "body_quat",
    "body_ipos",
    "body_iquat",
    "body_mass",
    "body_inertia",
    "body_gravcomp",
    "jnt_pos",
    "jnt_axis",
    "dof_armature",
    "site_pos",
    "site_quat",
    "actuator_gear",
    "actuator_gainprm",
    "actuator_biasprm",
    "eq_data",
)

DERIVED_FIELDS = (
    "body_subtreemass",
    "body_invweight0",
    "dof_invweight0",
    "actuator_acc0",
    "actuator_biasprm",
    "eq_data",
)
