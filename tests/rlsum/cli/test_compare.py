"""``rlsum compare`` and ``rlsum demo`` as far as nothing is trained; tests/rlsum/compare has the rest."""

import comparisons
import pytest
import typer
import yaml

from rlsum.cli.compare import show_compared
from rlsum.compare.cells import cells_of
from rlsum.compare.running import Compared, needed


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "compare.yaml"
    path.write_text(yaml.safe_dump(comparisons.values(tmp_path / "folder"), sort_keys=False))
    return path


def test_tasks_are_listed_and_nothing_is_written(ran, config):
    printed = ran("compare", config, "seeds=[7]", "--tasks")
    assert printed.splitlines()[:3] == ["0\tstart-7", "1\tnone-7", "2\trouge-l-7"]
    assert not (config.parent / "folder").exists()


def test_keys_are_explained_without_a_configuration(rlsum, ran):
    printed = ran("compare", "--keys")
    assert all(text in printed for text in ("controls_of", "required", "default [1, 2, 3]"))
    code, _, error = rlsum("compare")
    assert (code, error.count("\n")) == (2, 1)
    assert "CONFIG" in error


def test_a_task_works_on_what_it_needs_alone(tmp_path):
    cells = cells_of(comparisons.comparison(tmp_path))
    number = next(number for number, cell in enumerate(cells) if cell.name == "rouge-l.constant-2")
    assert [cell.name for cell in needed(cells, number)] == ["start-2", "rouge-l-2", "rouge-l.constant-2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("seeds=[]",), "seeds=[]: give one or more"),
        (("--task", "99"), "--task 99: there are 14 tasks, numbered from 0"),
        (("cell.objective.gama=1", "--plan"), "objective.gama: unknown key; did you mean objective.gamma"),
        (("rewards={one: roug-2}",), "unknown reward 'roug-2'"),
    ],
)
def test_what_is_wrong_is_said_in_one_message_before_anything_is_trained(arguments, message, refused, config):
    said = refused("compare", config, *arguments)
    assert "rlsum: " in said
    assert message in said
    assert not list((config.parent / "folder" / "runs").glob("*"))


def test_a_failed_cell_is_an_exit_code_for_the_jobs_of_a_cluster(tmp_path, capsys):
    with pytest.raises(typer.Exit) as ended:
        show_compared(Compared(tmp_path, (), {"rouge-l-1": "loss is nan"}))
    assert ended.value.exit_code == 1
    assert "rouge-l-1: loss is nan" in capsys.readouterr().out


def test_the_demo_knows_its_rewards(refused, tmp_path):
    said = refused("demo", "--folder", tmp_path / "demo", "--rewards", "rouge-l,smss")
    assert "--rewards: 'smss' is unknown; did you mean 'sms'?" in said
    assert "use rouge-l, wms, sms, s+wms, twmd" in said
    assert not (tmp_path / "demo").exists()
