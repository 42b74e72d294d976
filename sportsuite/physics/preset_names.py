"""Names of the physics presets, for commands that check them before a simulator is loaded."""

PRESET_NAMES = ("mujoco_cpu", "newton_mjwarp", "ovphysx", "isaacsim_physx", "physx")
"""Names that ``physics=`` accepts."""
