import pytest
from isaaclab.managers import RewardTermCfg
from isaaclab.utils import configclass

from sportsuite.envs.overrides import apply_overrides, check_cfg
from sportsuite.errors import BadInputError


def speed_reward(env, scale: float = 1.0, axis: str = "x"):
    """A term with two parameters."""


@configclass
class Rewards:
    speed: RewardTermCfg = RewardTermCfg(func=speed_reward, weight=1.0, params={"scale": 2.0})


@configclass
class Cfg:
    rewards: Rewards = Rewards()
    hertz: float = 30.0
    count: int = 3
    flag: bool = False
    span: tuple[float, float] = (0.0, 1.0)
    label: str | None = None


@pytest.mark.parametrize(
    ("override", "read", "expected"),
    [
        ("rewards.speed.weight=-0.7", lambda c: c.rewards.speed.weight, -0.7),
        ("env.hertz=60", lambda c: c.hertz, 60.0),
        ("rewards.speed.params.scale=5", lambda c: c.rewards.speed.params["scale"], 5.0),
        ("span=[2, 3]", lambda c: c.span, (2.0, 3.0)),
        ("flag=true", lambda c: c.flag, True),
        ("label=left", lambda c: c.label, "left"),
        ("label=null", lambda c: c.label, None),
    ],
)
def test_values_arrive_with_the_type_of_the_field(override, read, expected):
    cfg = Cfg()
    apply_overrides(cfg, [override])
    assert read(cfg) == expected and type(read(cfg)) is type(expected)


@pytest.mark.parametrize(
    ("override", "mentions"),
    [
        ("rewards.sped.weight=1", ["sped", "speed"]),
        ("rewards.speed.wieght=1", ["wieght", "weight"]),
        ("rewards.speed.params.scal=1", ["scal", "scale"]),
        ("hertz=fast", ["hertz", "number"]),
        ("count=1.5", ["count", "whole number"]),
        ("flag=1", ["flag", "true or false"]),
        ("span=[1]", ["span", "2 values"]),
        ("rewards.speed=1", ["rewards.speed", "section"]),
        ("hertz", ["path.to.field=value"]),
        ("hertz=[1", ["YAML"]),
    ],
)
def test_mistakes_get_one_line_that_names_them(override, mentions):
    with pytest.raises(BadInputError) as caught:
        apply_overrides(Cfg(), [override])
    text = str(caught.value)
    assert "\n" not in text and all(word in text for word in mentions), text


def test_fields_set_by_plain_code_are_checked_too():
    cfg = Cfg()
    check_cfg(cfg)
    cfg.rewards.speed.wieght = 3.0
    with pytest.raises(BadInputError, match="wieght.*weight"):
        check_cfg(cfg)


def test_parameters_that_the_function_does_not_take_are_refused():
    cfg = Cfg()
    cfg.rewards.speed.params["axes"] = "y"
    with pytest.raises(BadInputError, match="axes.*axis"):
        check_cfg(cfg)
