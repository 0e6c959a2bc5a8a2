import json
from dataclasses import replace

import pytest
from judged import judged
from reproductions.twmd.fine_tuning import has_fitted

from rewards.specs import as_spec
from rlsum.errors import UserError
from rlsum.metric_fitting.examples import examples
from rlsum.metric_fitting.fitting import fit
from rlsum.metric_fitting.options import FitOptions

TRAIN = examples(judged(32, seed=1, groups=("a", "b")), "overall")
VALID = examples(judged(16, seed=2, groups=("a", "b")), "overall")


def test_a_finished_training_is_known_again_and_no_other_is(tiny_encoder, tmp_path):
    spec = as_spec(f"twmd(encoder={tiny_encoder}, centering=batch)")
    folder, options = tmp_path / "m", FitOptions(epochs=1, batch_size=8, learning_rate=1e-3)
    assert not has_fitted(folder, spec, TRAIN, VALID, options)
    fit(spec, TRAIN, VALID, folder, options)
    assert has_fitted(folder, spec, TRAIN, VALID, options)
    assert not has_fitted(folder, spec, TRAIN[1:], VALID, options)
    assert not has_fitted(folder, spec, TRAIN, VALID, replace(options, seed=1))
    assert not has_fitted(folder, as_spec(f"twmd(encoder={tiny_encoder})"), TRAIN, VALID, options)
    about = json.loads((folder / "metric.json").read_text())
    (folder / "metric.json").write_text(json.dumps(about | {"finished": False}))
    assert not has_fitted(folder, spec, TRAIN, VALID, options)
    (folder / "metric.json").write_text("{")
    with pytest.raises(UserError, match=r"metric\.json: not JSON"):
        has_fitted(folder, spec, TRAIN, VALID, options)
