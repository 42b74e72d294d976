from types import SimpleNamespace

import pytest
import torch

from sportsuite.priors.latent import LatentCommand, LatentCommandCfg, latent, latent_window


class Env(SimpleNamespace):
    num_envs, device, step_dt = 5, "cpu", 1 / 30

    @property
    def unwrapped(self):
        return self

    def reference_windows(self, num, frames):
        return torch.arange(float(frames)).view(1, -1, 1).expand(num, -1, 3) + torch.rand(num, 1, 1)


def command(**cfg):
    env = Env()
    term = LatentCommand(LatentCommandCfg(latent_dim=6, **cfg), env)  # type: ignore[arg-type]
    env.command_manager = SimpleNamespace(get_term=lambda name: term, get_command=lambda name: term.command)
    return env, term


def test_latents_are_unit_vectors_and_change_at_resets():
    _, term = command()
    term.reset()
    before = term.command.clone()
    assert torch.allclose(before.norm(dim=-1), torch.ones(5))
    term.reset(torch.tensor([1, 3]))
    changed = (term.command != before).any(-1)
    assert changed.tolist() == [False, True, False, True, False]


@pytest.mark.parametrize("hold", [(3, 3), (1, 1), (2, 5)])
def test_a_latent_is_held_for_the_number_of_steps(hold):
    _, term = command(hold_steps=hold)
    term.reset()
    held, lengths, before = torch.zeros(5), [], term.command.clone()
    for _ in range(60):
        term.compute(1 / 30)
        held += 1
        changed = (term.command != before).any(-1)
        lengths += held[changed].tolist()
        held.masked_fill_(changed, 0.0)
        before = term.command.clone()
    assert set(lengths) == set(range(hold[0], hold[1] + 1))


def test_windows_are_strided_and_belong_to_their_latents():
    env, term = command(window_frames=8, window_stride=4)

    def sampler(num):
        windows = term.draw_windows(num)
        return windows[:, :6] / windows[:, :6].norm(dim=-1, keepdim=True), windows

    term.sampler = sampler
    term.reset()
    windows = latent_window(env, "latent")  # type: ignore[arg-type]
    assert windows.shape == (5, 2 * 3)
    assert torch.allclose(windows[:, 3:] - windows[:, :3], torch.full((5, 3), 4.0))
    assert torch.allclose(latent(env, "latent"), torch.nn.functional.normalize(windows))  # type: ignore[arg-type]
    term.refresh(lambda flat: -torch.nn.functional.normalize(flat))
    assert torch.allclose(term.command, -torch.nn.functional.normalize(windows))


def test_windows_that_were_made_in_a_rollout_can_be_written_to_outside_of_it():
    _, term = command(window_frames=4)
    with torch.inference_mode():
        term.reset()
    term.reset()
