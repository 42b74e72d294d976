import torch

from sportsuite.learning.value_norm import PopArt


def test_what_the_critic_says_is_preserved():
    torch.manual_seed(0)
    popart, head, hidden = PopArt(3), torch.nn.Linear(8, 3), torch.randn(50, 8)
    for scale in (1.0, 100.0, 1e-3):
        before = popart.denormalize(head(hidden))
        popart.update(
            torch.randn(4, 25, 3) * torch.tensor([scale, 1.0, 5.0]) + torch.tensor([0.0, 300.0, -scale]), head
        )
        after = popart.denormalize(head(hidden))
        assert torch.allclose(before, after, rtol=1e-4, atol=1e-3)


def test_statistics_by_hand():
    popart, head = PopArt(1, momentum=0.5), torch.nn.Linear(1, 1)
    popart.update(torch.tensor([[1.0], [3.0]]), head)
    # the first batch alone decides: mean 2, variance 1
    assert torch.allclose(popart.mean, torch.tensor([2.0]))
    assert torch.allclose(popart.std, torch.tensor([1.0]))
    popart.update(torch.tensor([[5.0], [5.0]]), head)
    # weights 1/4 and 1/2, which sum to 3/4: mean (2/4 + 5/2) / (3/4) = 4, E[x^2] (5/4 + 25/2) / (3/4) = 55/3
    assert torch.allclose(popart.mean, torch.tensor([4.0]))
    assert torch.allclose(popart.std, torch.tensor([(55 / 3 - 16) ** 0.5]))


def test_targets_have_unit_scale_per_head():
    popart, head = PopArt(2), torch.nn.Linear(4, 2)
    returns = torch.randn(1000, 2) * torch.tensor([1000.0, 0.1]) + torch.tensor([50.0, 7.0])
    popart.update(returns, head)
    assert torch.allclose(popart.normalize(returns).mean(0), torch.zeros(2), atol=1e-3)
    assert torch.allclose(popart.normalize(returns).std(0), torch.ones(2), atol=1e-2)
    assert torch.allclose(popart.denormalize(popart.normalize(returns)), returns, rtol=1e-4)


def test_a_channel_that_pays_nothing_is_not_blown_up():
    popart, head = PopArt(1), torch.nn.Linear(4, 1)
    popart.update(torch.zeros(10, 1), head)
    assert popart.normalize(torch.tensor([0.01])).abs() <= 1.0
    assert torch.isfinite(head.weight).all()
