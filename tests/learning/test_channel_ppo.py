import json
import math

import pytest
import torch

from sportsuite.errors import BadInputError
from sportsuite.learning import checkpoint as ck
from sportsuite.learning.agent_cfgs import amp_cfg, ase_cfg, calm_cfg
from sportsuite.priors.adversarial import DiscriminatorCfg
from tests.learning.toy_prior_env import CircleEnv, LatentCircleEnv, circle_runner

MIRROR = "tests.learning.toy_prior_env:circle_mirror"


def body_groups():
    return {
        "position": DiscriminatorCfg(hidden_dims=[16], steps=2, body_group="position"),
        "velocity": DiscriminatorCfg(hidden_dims=[16], steps=2, columns=[2, 3], objective="hinge", outputs=4),
    }


KINDS = {
    "bce": (amp_cfg, CircleEnv, {}),
    "lsgan": (amp_cfg, CircleEnv, {"algorithm.channels.discriminators.style.objective": "lsgan"}),
    "hinge": (
        amp_cfg,
        CircleEnv,
        {
            "algorithm.channels.discriminators.style.objective": "hinge",
            "algorithm.channels.termination_reward": -25.0,
        },
    ),
    "mirrored": (amp_cfg, CircleEnv, {"algorithm.mirror": MIRROR}),
    "body groups": (amp_cfg, CircleEnv, {"algorithm.channels.discriminators": body_groups()}),
    "heads": (
        amp_cfg,
        CircleEnv,
        {
            "algorithm.mirror": MIRROR,
            "algorithm.channels.task_groups": ["speed", "alive"],
            "algorithm.channels.value_heads": "per_channel",
            "algorithm.channels.popart": True,
        },
    ),
    "ase": (ase_cfg, LatentCircleEnv, {}),
    "calm": (calm_cfg, lambda: LatentCircleEnv(window_frames=20), {}),
    "calm heads": (
        calm_cfg,
        lambda: LatentCircleEnv(window_frames=20),
        {"algorithm.channels.value_heads": "per_channel", "algorithm.channels.popart": True},
    ),
}


def runner_of(kind, env=None, log_dir=None, **more):
    make_cfg, make_env, changes = KINDS[kind]
    return circle_runner(make_cfg, env or make_env(), log_dir, **{**changes, **more})


def rollout(runner):
    obs = runner.env.get_observations()
    with torch.inference_mode():
        for _ in range(runner.cfg["num_steps_per_env"]):
            obs, rewards, dones, extras = runner.env.step(runner.alg.act(obs))
            runner.alg.process_env_step(obs, rewards, dones, extras)
        runner.alg.compute_returns(obs)
    return obs


def flat(state):
    """All tensors of a nested state, by path."""
    if isinstance(state, torch.Tensor):
        return {"": state}
    items = state.items() if isinstance(state, dict) else enumerate(state) if isinstance(state, list) else ()
    return {f"{name}/{path}": value for name, part in items for path, value in flat(part).items()}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_runs_resumes_strips_and_exports(kind, tmp_path):
    keep = {"algorithm.channels.save_replay": True}
    runner = runner_of(kind, log_dir=tmp_path / "run", **keep)
    runner.learn(3)
    path = tmp_path / "run" / "model_2.pt"
    content = ck.read_checkpoint(path)  # weights_only: tensors and plain types
    saved = flat(content["channels"])
    assert saved

    # `isaaclab train` names the parts that it knows
    twin = runner_of(kind, **keep)
    load_cfg = {"actor": True, "critic": True, "optimizer": True, "iteration": True, "rnd": True}
    twin.load(str(path), load_cfg=load_cfg)
    loaded = flat(twin.alg.save()["channels"])
    assert loaded.keys() == saved.keys()
    for name, value in saved.items():
        assert torch.equal(loaded[name], value), name
    twin.learn(1)

    ck.strip_checkpoint(path, tmp_path / "policy.pt")
    fresh = runner_of(kind)
    fresh.load(str(tmp_path / "policy.pt"))

    obs = fresh.env.get_observations()
    actor = fresh.alg.get_policy().eval()
    scripted = torch.jit.script(actor.as_jit())
    together = torch.cat([obs[name] for name in actor.obs_groups], dim=-1)
    assert torch.allclose(scripted(together), actor(obs), atol=1e-6)
    with torch.no_grad():
        assert torch.equal(actor(obs), runner.alg.get_policy()(obs))


def test_every_iteration_says_what_the_channels_paid(tmp_path):
    runner_of("bce", log_dir=tmp_path).learn(2)
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    names = ["reward/task", "reward/style", "reward/total", "channel/style", "weighted/style"]
    names += [f"style/{name}" for name in ("accuracy", "logit_real", "logit_fake", "gradient_penalty")]
    names += ["style/saturated", "style/collapsed", "style/variety", "style/realness_fake"]
    for row in rows:
        assert all(math.isfinite(row[f"Loss/{name}"]) for name in names)
        assert row["Loss/reward/total"] == pytest.approx(row["Loss/reward/task"] + row["Loss/reward/style"], rel=1e-4)


def test_total_is_the_weighted_sum_of_the_channels():
    runner = runner_of("bce", **{"algorithm.lam": 0.0, "algorithm.gamma": 0.9})
    last = rollout(runner)
    alg, storage = runner.alg, runner.alg.storage
    style = alg.priors["style"].rewards(alg._rollout())
    total = 0.05 * storage.rewards[..., 0] + 3.0 * style * runner.env.step_dt
    # with lambda 0 the value target is one step's reward and the value after it
    after = torch.cat([storage.values[1:, :, 0], alg.critic(last).detach().T])
    goes_on = 1.0 - storage.dones[..., 0].float()
    expected = total + 0.9 * after * goes_on + alg._boot[..., 0]
    assert torch.allclose(storage.returns[..., 0], expected, atol=1e-5)


@pytest.mark.parametrize("objective", ["bce", "lsgan", "hinge"])
def test_style_reward_per_second_is_the_same_at_30_and_60_hz(objective):
    paid = []
    for hz, steps in ((30.0, 30), (60.0, 60)):
        env = StandStill(16, hz)
        changes = {"num_steps_per_env": steps, "algorithm.channels.discriminators.style.objective": objective}
        torch.manual_seed(3)
        runner = circle_runner(amp_cfg, env, **changes)
        rollout(runner)
        paid.append(runner.alg._rewards[..., 1].sum(0).mean().item())
    assert paid[0] == pytest.approx(paid[1], rel=0.02)
    assert abs(paid[0]) > 1e-3


class StandStill(CircleEnv):
    """Motion that looks the same at every rate, so that only the bookkeeping differs."""

    def step(self, action):
        return super().step(action * 0.0)

    def features(self):
        return torch.full((self.num_envs, 4), 0.5)


@pytest.mark.parametrize("final_obs", [True, False])
@pytest.mark.parametrize("frames", [2, 5])
def test_no_window_crosses_a_reset(final_obs, frames):
    env = Tagged(32, final_obs=final_obs)
    runner = circle_runner(amp_cfg, env, **{"algorithm.channels.frames": frames})
    count = ends = 0
    for _ in range(3):
        rollout(runner)
        recorder = runner.alg._recorder
        windows = recorder.windows[recorder.valid]
        assert (windows[:, :, 0] == windows[:, :1, 0]).all()
        assert (windows[:, 1:, 1] - windows[:, :-1, 1] == 1).all()
        count += len(windows)
        ends += int((recorder.valid & runner.alg.storage.dones[..., 0].bool()).sum())
        runner.alg.storage.clear()
    assert count > 500
    assert (ends > 0) == final_obs  # the last transition counts, if the env says where it led


class Tagged(CircleEnv):
    """Features that say which episode and which step of it they are from; episodes of 9 steps."""

    max_episode_length = 9

    def features(self):
        return torch.stack([self.episode, self.episode_length_buf.float(), *[self.episode] * 2], -1)


def test_time_outs_are_bootstrapped_per_head():
    runner = runner_of("heads", Tagged(8), **{"algorithm.channels.popart": False, "num_steps_per_env": 12})
    rollout(runner)
    boot, dones = runner.alg._boot, runner.alg.storage.dones[..., 0].bool()
    assert boot.shape == (12, 8, 3)
    assert (boot[dones].abs().sum(-1) > 0).all()  # all episodes here end by time
    assert (boot[~dones] == 0).all()


def test_failure_pays_every_channel_the_termination_reward():
    env = CircleEnv(8)
    runner = runner_of("hinge", env)
    env.position[2] = 10.0  # falls in the first step
    rollout(runner)
    failed = runner.alg._failed
    assert failed[0, 2]
    assert (runner.alg._rewards[failed] == -25.0).all()
    assert (runner.alg._rewards[~failed] > -2.0).all()


def test_mirrored_samples_reach_the_update_without_a_second_pass():
    runner = runner_of("mirrored")
    rollout(runner)
    sizes = []
    forward = runner.alg.actor.forward

    def counted(obs, *args, **kwargs):
        sizes.append(obs.batch_size[0])
        return forward(obs, *args, **kwargs)

    runner.alg.actor.forward = counted
    runner.alg.update()
    assert sizes == [2 * 16 * 16 // 4] * 12  # 4 minibatches, 3 epochs, one pass each


def test_rollout_with_nan_leaves_priors_and_value_scale_alone():
    runner = runner_of("heads")
    rollout(runner)
    runner.alg.update()
    before = {name: value.clone() for name, value in flat(runner.alg.save()["channels"]).items()}
    rollout(runner)
    runner.alg.storage.rewards[2, 3] = torch.nan
    runner.alg.storage.returns[:] = torch.nan
    assert set(runner.alg.update()) == {"skipped_updates"}
    after = flat(runner.alg.save()["channels"])
    assert all(torch.equal(after[name], value) for name, value in before.items())


def test_popart_targets_are_normalised_and_values_restored():
    runner = runner_of("heads")
    for _ in range(3):
        rollout(runner)
        wanted = runner.alg.storage.returns.clone()
        runner.alg._normalize_targets()
        targets = runner.alg.storage.returns
        assert torch.allclose(runner.alg._popart.denormalize(targets), wanted, rtol=1e-4, atol=1e-4)
        assert targets.std((0, 1)).max() < 3.0
        runner.alg.storage.clear()


def test_prior_teaches_the_sense_of_rotation():
    torch.manual_seed(0)
    env = CircleEnv(128)
    changes = {
        "num_steps_per_env": 24,
        "actor.distribution_cfg.init_std": 0.6,
        "actor.distribution_cfg.std_range": (0.05, 1.0),
        "algorithm.gamma": 0.97,
        "algorithm.channels.discriminators.style.learning_rate": 3e-4,
    }
    runner = circle_runner(amp_cfg, env, **changes)
    runner.learn(50)
    obs, turning = env.get_observations(), []
    with torch.inference_mode():
        for step in range(80):
            obs, *_ = env.step(runner.alg.actor(obs))
            if step > 50:
                across = env.position[:, 0] * env.velocity[:, 1] - env.position[:, 1] * env.velocity[:, 0]
                turning.append((across > 0).float().mean())
    assert torch.stack(turning).mean() > 0.8  # 0.45 with the task alone


def test_latents_of_the_update_are_the_windows_encoded_with_gradients():
    runner = runner_of("calm")
    rollout(runner)
    encoder = runner.alg.actor.encoder
    before = [p.detach().clone() for p in encoder.parameters()]
    runner.alg.symmetry._losses.clear()  # leave the policy's and the critic's losses alone to reach it
    runner.alg.update()
    assert any(not torch.equal(p, q) for p, q in zip(before, encoder.parameters(), strict=True))
    term = runner.env.term
    with torch.no_grad():
        assert torch.allclose(term.latents, encoder(term.windows), atol=1e-6)


def test_conditional_reference_lies_in_the_window_it_is_labelled_by():
    runner = runner_of("calm", LatentCircleEnv(window_frames=20))
    encoded, env = runner.alg._encoded, runner.env
    env.reference_windows = lambda num, frames: (
        torch.arange(float(frames)).view(1, -1, 1).expand(num, -1, 4) + 100 * torch.arange(num).view(-1, 1, 1)
    )
    windows, latents = encoded.reference(50)
    assert windows.shape == (50, 10, 4)
    assert (windows[:, 1:] - windows[:, :-1] == 1).all()
    first = windows[:, 0, 0] - 100 * torch.arange(50)
    assert first.min() >= 0 and first.max() <= 10 and len(first.unique()) > 5
    kept = env.reference_windows(50, 20)[:, ::2].flatten(1)
    with torch.no_grad():
        assert torch.allclose(latents, runner.alg.actor.encoder(kept))


def test_checkpoint_of_another_discriminator_is_refused(tmp_path, caplog):
    runner = runner_of("bce", log_dir=tmp_path)
    runner.learn(1)
    path = str(tmp_path / "model_0.pt")
    with pytest.raises(BadInputError, match="prior 'style' has another size"):
        runner_of("bce", **{"algorithm.channels.discriminators.style.hidden_dims": [7]}).load(path)
    runner_of("body groups").load(path)
    assert "no prior 'position' (it has: style)" in caplog.text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"algorithm.channels.observation_group": "priors"}, "did you mean 'prior'"),
        ({"algorithm.channels.task_groups": ["sped"]}, "did you mean 'speed'"),
        ({"algorithm.channels.discriminators.style.body_group": "positon"}, "did you mean 'position'"),
        ({"algorithm.channels.discriminators.style.columns": [3, 9]}, "feature column 9 doesn't exist, there are 4"),
        ({"algorithm.channels.discriminators.style.conditional": True}, "latent_group"),
    ],
)
def test_wrong_names_are_called(changes, message):
    with pytest.raises(BadInputError, match=message):
        rollout(circle_runner(amp_cfg, CircleEnv(4), **changes))


def test_reference_of_another_shape_is_refused():
    env = CircleEnv(4)
    env.reference_windows = lambda num, frames: torch.zeros(num, frames, 3)
    with pytest.raises(BadInputError, match=r"has shape \(1, 2, 3\), expected \(1, 2, 4\)"):
        circle_runner(amp_cfg, env)
