"""What the sprint offers, as strings: declaring it imports neither torch nor a simulator."""

from sportsuite.plugins import SportPlugin, TaskSpec

DASH = TaskSpec(
    id="Sprint-60m-v0",
    env_cfg="sportsuite_sprint.dash.dash_env_cfg:DashEnvCfg",
    agent_cfgs={size: f"sportsuite_sprint.dash.agents:{size}" for size in ("smoke", "cpu", "gpu")},
    evaluation="sportsuite_sprint.evaluation:DashProtocol",
    description="Run 60 m down a lane from a standing start.",
)

PLUGIN = SportPlugin(
    name="sprint",
    api_version=1,
    description="The 60 m sprint.",
    tasks=(DASH,),
    terms={kind: f"sportsuite_sprint.mdp.{kind}" for kind in ("observations", "rewards", "terminations", "events")},
)
