"""What football offers: its tasks and the terms that other sports may use."""

from sportsuite.plugins.api import SportPlugin, TaskSpec

_HERE = "sportsuite_tasks.football"

TRAP = TaskSpec(
    id="SportSuite-Trap-v0",
    env_cfg=f"{_HERE}.trap.trap_env_cfg:TrapEnvCfg",
    agent_cfgs={size: f"{_HERE}.trap.agents:{size}" for size in ("smoke", "cpu", "gpu")},
    description="Bring an incoming ball under control with the feet.",
    evaluation=f"{_HERE}.evaluation:trap_protocol",
    policy="policies/trap.pt",
)

PLUGIN = SportPlugin(
    name="football",
    api_version=1,
    description="Football skills for a 28-joint humanoid; so far trapping a ball.",
    tasks=(TRAP,),
    terms={kind: f"{_HERE}.mdp.{kind}" for kind in ("observations", "rewards", "terminations", "events", "commands")},
)
