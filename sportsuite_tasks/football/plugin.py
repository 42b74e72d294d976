"""What football offers: its tasks and the terms that other sports may use."""

from sportsuite.plugins.api import SportPlugin, TaskSpec

_HERE = "sportsuite_tasks.football"
_SIZES = ("smoke", "cpu", "gpu", "latent_smoke", "latent_cpu", "latent_gpu")

TRAP = TaskSpec(
    id="SportSuite-Trap-v0",
    env_cfg=f"{_HERE}.trap.trap_env_cfg:TrapEnvCfg",
    agent_cfgs={size: f"{_HERE}.trap.agents:{size}" for size in _SIZES},
    description="Bring an incoming ball under control with the feet.",
    evaluation=f"{_HERE}.evaluation.trap:trap_protocol",
    policy="policies/trap.pt",
)

MOVE = TaskSpec(
    id="SportSuite-Move-v0",
    env_cfg=f"{_HERE}.move.move_env_cfg:MoveEnvCfg",
    agent_cfgs={size: f"{_HERE}.move.agents:{size}" for size in _SIZES},
    description="Move in any direction while facing any other, without the ball.",
    evaluation=f"{_HERE}.evaluation.move:move_protocol",
    policy="policies/move.pt",
)

DRIBBLE = TaskSpec(
    id="SportSuite-Dribble-v0",
    env_cfg=f"{_HERE}.dribble.dribble_env_cfg:DribbleEnvCfg",
    agent_cfgs={size: f"{_HERE}.dribble.agents:{size}" for size in _SIZES},
    description="Run with the ball in a given direction at a given speed.",
    evaluation=f"{_HERE}.evaluation.dribble:dribble_protocol",
    policy="policies/dribble.pt",
)

KICK = TaskSpec(
    id="SportSuite-Kick-v0",
    env_cfg=f"{_HERE}.kick.kick_env_cfg:KickEnvCfg",
    agent_cfgs={size: f"{_HERE}.kick.agents:{size}" for size in _SIZES},
    description="Kick the ball with a given velocity in space.",
    evaluation=f"{_HERE}.evaluation.kick:kick_protocol",
    policy="policies/kick.pt",
)

FOOTBALL = TaskSpec(
    id="SportSuite-Football-v0",
    env_cfg=f"{_HERE}.football.football_play_env_cfg:FootballPlayEnvCfg",
    agent_cfgs={},
    description="Play: the four skills under a state machine, steered by the user.",
    evaluation=f"{_HERE}.evaluation.transitions:transition_protocol",
)

ELEVEN_A_SIDE = TaskSpec(
    id="SportSuite-ElevenASide-v0",
    env_cfg=f"{_HERE}.eleven.eleven_env_cfg:ElevenASideEnvCfg",
    agent_cfgs={},
    description="Twenty-two players and a ball in one world: a test of scene, state machine and physics.",
)

PLUGIN = SportPlugin(
    name="football",
    api_version=1,
    description="Football skills for a 28-joint humanoid: move, trap, dribble, kick.",
    tasks=(MOVE, TRAP, DRIBBLE, KICK, FOOTBALL, ELEVEN_A_SIDE),
    terms={kind: f"{_HERE}.mdp.{kind}" for kind in ("observations", "rewards", "terminations", "events", "commands")},
)
