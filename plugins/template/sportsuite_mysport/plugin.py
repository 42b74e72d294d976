"""What MySport offers, as strings: declaring it must import neither torch nor a simulator."""

from sportsuite.plugins import SportPlugin, TaskSpec

STAND = TaskSpec(
    id="MySport-Stand-v0",
    env_cfg="sportsuite_mysport.stand.stand_env_cfg:StandEnvCfg",
    agent_cfgs={size: f"sportsuite_mysport.stand.agents:{size}" for size in ("smoke", "cpu", "gpu")},
    description="Stand upright.",
)

PLUGIN = SportPlugin(
    name="mysport",
    api_version=1,
    description="MySport: so far, standing.",
    tasks=(STAND,),
    terms={
        "rewards": "sportsuite_mysport.mdp.rewards",
        "terminations": "sportsuite_mysport.mdp.terminations",
    },
)
