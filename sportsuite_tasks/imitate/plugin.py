"""Motion priors as tasks."""

from sportsuite.plugins.api import SportPlugin, TaskSpec

_HERE = "sportsuite_tasks.imitate"

HEADING = TaskSpec(
    id="SportSuite-ImitateHeading-v0",
    env_cfg=f"{_HERE}.imitate_env_cfg:ImitateHeadingEnvCfg",
    agent_cfgs={size: f"{_HERE}.agents:heading_{size}" for size in ("smoke", "cpu", "gpu")},
    description="Stand, walk and run where told, in the style of reference clips (AMP).",
    evaluation=f"{_HERE}.evaluation:heading_protocol",
)

PLUGIN = SportPlugin(
    name="imitate",
    api_version=1,
    description="Motion priors from reference clips, without a ball.",
    tasks=(HEADING,),
)
