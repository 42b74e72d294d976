import pytest
import torch

from sportsuite.priors.replay import Replay
from sportsuite.priors.windows import Rollout, WindowRecorder


def play(frames, lengths, steps, final=True):
    """Record worlds whose frames are (episode, step in episode); world i's episodes last lengths[i] steps."""
    count = len(lengths)
    recorder = WindowRecorder(steps, count, frames, 2, "cpu")
    episode, time = torch.zeros(count), torch.zeros(count)
    for step in range(steps):
        before = torch.stack([episode, time], -1)
        time = time + 1
        done = time >= torch.tensor(lengths)
        last = torch.stack([episode, time], -1)
        episode, time = episode + done, time.masked_fill(done, 0.0)
        reached = last if final else torch.stack([episode, time], -1)
        with torch.inference_mode():
            recorder.record(step, before, reached, done, torch.ones_like(done) if final else ~done)
    return recorder


@pytest.mark.parametrize("frames", [1, 2, 5])
@pytest.mark.parametrize("final", [True, False])
def test_no_window_crosses_a_reset(frames, final):
    recorder = play(frames, [1, 2, 3, 7, 50], 40, final)
    windows = recorder.windows[recorder.valid]
    assert (windows[:, :, 0] == windows[:, :1, 0]).all()
    assert (windows[:, 1:, 1] - windows[:, :-1, 1] == 1).all()


def test_windows_are_as_many_as_possible():
    # an episode of L steps has L + 1 frames, and each window of 3 ends with a step: those from the second one on
    recorder = play(3, [7], 21)
    assert recorder.valid.sum() == 3 * 6
    ends = recorder.windows[recorder.valid][:, -1, 1]
    assert ends[:6].tolist() == [2, 3, 4, 5, 6, 7]


def test_without_final_observations_the_last_step_has_no_window():
    recorder = play(2, [7], 21, final=False)
    assert recorder.valid.sum() == 3 * 6
    assert recorder.windows[recorder.valid][:, -1, 1].max() == 6


def test_frames_that_are_not_finite_start_over():
    recorder = WindowRecorder(5, 1, 2, 1, "cpu")
    values = [0.0, 1.0, torch.nan, 3.0, 4.0, 5.0]
    none, yes = torch.zeros(1, dtype=torch.bool), torch.ones(1, dtype=torch.bool)
    for step in range(5):
        before, reached = torch.tensor([[values[step]]]), torch.tensor([[values[step + 1]]])
        recorder.record(step, before, reached, none, yes)
    assert recorder.valid[:, 0].tolist() == [True, False, False, True, True]
    assert recorder.windows[3, 0].flatten().tolist() == [3.0, 4.0]


def test_sampling_draws_valid_windows_with_their_latents():
    windows = torch.arange(6.0).view(2, 3, 1, 1)
    valid = torch.tensor([[True, False, True], [False, False, True]])
    rollout = Rollout(windows, valid, latents=windows.squeeze(-1) * 10)
    drawn, latents = rollout.sample(200)
    assert set(drawn.flatten().tolist()) == {0.0, 2.0, 5.0}
    assert torch.equal(latents, drawn.squeeze(-1) * 10)


def test_replay_overwrites_the_oldest():
    replay = Replay(4, 1)
    replay.add(torch.tensor([[1.0], [2.0], [3.0]]))
    assert replay.filled == 3
    replay.add(torch.tensor([[4.0], [5.0]]))
    assert replay.rows.flatten().tolist() == [5.0, 2.0, 3.0, 4.0]
    assert set(replay.sample(100).flatten().tolist()) == {2.0, 3.0, 4.0, 5.0}


def test_replay_goes_on_where_it_was():
    replay, other, small = Replay(3, 1), Replay(3, 1), Replay(2, 1)
    replay.add(torch.arange(4.0).unsqueeze(1))
    replay.add(torch.tensor([[9.0]]))
    for twin in (other, small):
        twin.load_state(replay.state())
    for buffer in (replay, other):
        buffer.add(torch.tensor([[7.0]]))
    assert torch.equal(replay.rows, other.rows)
    assert small.filled == 2
