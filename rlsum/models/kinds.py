"""Every kind of model, for annotations."""

from rlsum.models.pointer_generator import PointerGenerator
from rlsum.models.seq2seq import Seq2Seq

Model = PointerGenerator | Seq2Seq
