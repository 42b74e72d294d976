"""Motion priors as tasks."""

from sportsuite.plugins.api import SportPlugin, TaskSpec

_HERE = "sportsuite_tasks.imitate"

HEADING = TaskSpec(
    id="SportSuite-ImitateHeading-v0",
    env_cfg=f"{_HERE}.imitate_env_cfg:ImitateHeadingEnvCfg",
    agent_cfgs={size: f"{_HERE}.agents:heading_{size}" for size in ("smoke", "cpu", "gpu")},
    description="Stand, walk and run where told, in the style of reference clips (AMP).",
    evaluation=f"{_HERE}.evaluation:heading_protocol",
    policy="policies/imitate_heading.pt",
)

_SIZES = ("smoke", "cpu", "gpu")

LATENT = TaskSpec(
    id="SportSuite-Imitate-v0",
    env_cfg=f"{_HERE}.imitate_env_cfg:ImitateEnvCfg",
    agent_cfgs={size: f"{_HERE}.agents:calm_{size}" for size in _SIZES}
    | {f"ase_{size}": f"{_HERE}.agents:ase_{size}" for size in _SIZES},
    description="Latents of a motion prior without a ball: the low-level policy of ASE and CALM.",
    evaluation=f"{_HERE}.latent_evaluation:latent_protocol",
)

PLUGIN = SportPlugin(
    name="imitate",
    api_version=1,
    description="Motion priors from reference clips, without a ball.",
    tasks=(LATENT, HEADING),
)
