import math
from types import SimpleNamespace

import pytest
import torch

from sportsuite_tasks.football.evaluation.kick import KickProbe, kick_metrics, pass_metrics, seconds_to_touch


def test_time_to_the_contact():
    """A contact in the first step comes after one step; one that was 3 steps ago after 10, after 7."""
    seconds = seconds_to_touch(torch.tensor([1, 10, 10]), torch.tensor([0, 3, -1]), 0.1)
    assert seconds[:2].tolist() == pytest.approx([0.1, 0.7]) and math.isnan(seconds[2])


def test_metrics_by_hand():
    nan = math.nan
    table = {
        "touched": torch.tensor([1.0, 1.0, 0.0, 1.0]),
        "direction_error_deg": torch.tensor([3.0, 6.0, nan, 9.0]),
        "speed_error": torch.tensor([1.0, 2.0, nan, 6.0]),
        "seconds": torch.tensor([0.5, 1.0, nan, 1.5]),
    }
    metrics = kick_metrics(table)
    assert [metrics[name].value for name in ("KSR", "KDD", "KSD", "TTK")] == [75.0, 6.0, 3.0, 1.0]
    assert [metrics[name].reference for name in ("KSR", "KDD", "KSD")] == pytest.approx([99.9, 4.79, 4.51])
    assert [metrics[name].better for name in ("KSR", "KDD", "KSD")] == ["higher", "lower", "lower"]


def test_passes_have_figures_of_their_own():
    table = {name: torch.tensor([1.0, 0.0]) for name in ("touched", "hit", "seconds")}
    assert pass_metrics(table)["zone_hits"].value == 50.0


def test_probe_measures_the_last_step_and_the_target():
    command = SimpleNamespace(
        velocity_w=torch.tensor([[3.0, 4.0, 0.0], [0.0, 0.0, 10.0], [1.0, 2.0, 2.0]]),
        first_touch=SimpleNamespace(steps_since=torch.tensor([2, -1, 0])),
        measured=0,
    )
    command.measure = lambda: setattr(command, "measured", command.measured + 1)
    command.outcome = lambda ids: {"touched": (command.first_touch.steps_since >= 0)[ids]}
    env = SimpleNamespace(
        command_manager=SimpleNamespace(get_term=lambda name: command),
        episode_length_buf=torch.tensor([12, 12, 5]),
        step_dt=0.5,
    )
    found = KickProbe().finish(env, torch.tensor([0, 2]))
    assert command.measured == 1
    assert found["target_speed"].tolist() == [5.0, 3.0]
    assert found["seconds"].tolist() == [5.0, 2.5] and found["touched"].tolist() == [1.0, 1.0]
