import pytest
import tiny
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from rlsum.models.pointer_generator.encoder import BidirectionalEncoder, reversal
from rlsum.models.pointer_generator.options import PointerGeneratorConfig


def encoder_of(layers, dropout=0.0):
    return BidirectionalEncoder(PointerGeneratorConfig(embedding=5, hidden=4, encoder_layers=layers, dropout=dropout))


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_states_are_those_of_the_packed_library_lstm(layers):
    torch.manual_seed(layers)
    encoder = encoder_of(layers)
    inputs, lengths = torch.randn(4, 7, 5), torch.tensor([7, 1, 4, 6])
    packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    output, (h, _) = tiny.library_lstm(encoder)(packed)
    expected = pad_packed_sequence(output, batch_first=True)[0]
    states, last = encoder(inputs, lengths)
    for row, length in enumerate(lengths):
        torch.testing.assert_close(states[row, :length], expected[row, :length], atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(last, torch.cat([h[-2], h[-1]], -1), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("layers", [1, 2])
def test_what_stands_in_the_padding_reaches_no_state_and_gets_no_gradient(layers):
    torch.manual_seed(0)
    encoder = encoder_of(layers)
    inputs, lengths = torch.randn(3, 6, 5), torch.tensor([3, 6, 1])
    other = inputs.clone()
    other[0, 3:], other[2, 1:] = 100.0, -100.0
    other.requires_grad_()
    (states, last), (others, other_last) = encoder(inputs, lengths), encoder(other, lengths)
    for row, length in enumerate(lengths):
        assert torch.equal(states[row, :length], others[row, :length])
    assert torch.equal(last, other_last)
    (sum(others[row, :length].sum() for row, length in enumerate(lengths)) + other_last.sum()).backward()
    assert other.grad[0, 3:].abs().max() == 0
    assert other.grad[2, 1:].abs().max() == 0
    assert other.grad[1].abs().min() > 0


def test_a_row_without_tokens_is_one_padding_position():
    torch.manual_seed(0)
    encoder = encoder_of(2)
    inputs = torch.randn(2, 3, 5)
    _, empty = encoder(inputs, torch.tensor([0, 3]))
    _, single = encoder(inputs, torch.tensor([1, 3]))
    assert torch.equal(empty, single)
    assert empty.isfinite().all()


def test_reversal_turns_each_row_within_its_length():
    expected = [[2, 1, 0, 3], [0, 1, 2, 3], [3, 2, 1, 0]]
    assert reversal(torch.tensor([3, 1, 4]), 4).tolist() == expected


def test_dropout_acts_between_layers_in_training_only():
    torch.manual_seed(0)
    encoder, single = encoder_of(2, 0.5), encoder_of(1, 0.5)
    inputs, lengths = torch.randn(2, 6, 5), torch.tensor([6, 4])
    assert not torch.equal(encoder(inputs, lengths).states, encoder(inputs, lengths).states)
    assert torch.equal(single(inputs, lengths).states, single(inputs, lengths).states)
    encoder.eval()
    assert torch.equal(encoder(inputs, lengths).states, encoder(inputs, lengths).states)
