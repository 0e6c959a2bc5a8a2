"""Sources of a corpus: files, folders, saved datasets and the hub, cleaned and cached with ``datasets``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import datasets
from datasets.exceptions import DatasetGenerationError, DatasetsError
from datasets.fingerprint import Hasher

from rlsum.data.columns import Columns, choose_columns, clean
from rlsum.data.remembered import cache_errors, cache_folder, remembered
from rlsum.errors import UserError
from rlsum.files import file_digest
from rlsum.readers import READERS, CorpusError, Read, file_format, is_saved, read_file
from rlsum.readers.json_rows import has_pieces, lines_of_objects
from rlsum.readers.plain import partner_of
from rlsum.readers.tables import named_classes, saved
from rlsum.readers.text import COMPRESSED

T = TypeVar("T")
State = tuple[str, int, str]
PIECE = 2**26  # bytes of a large file that one process reads at least
HUB = "hf://"
CARD = "README.md"  # describes how to read the folder of a dataset
JSON_LINES = tuple(f".jsonl{end}" for end in ("", *COMPRESSED))
LINE_FORMATS = (*JSON_LINES, *(f".csv{end}" for end in ("", *COMPRESSED)))
SPLIT_NAMES = (("train", "training"), ("valid", "validation", "val", "dev"), ("test",))
# Part of every cache key: raise it when reading, cleaning or tokenising changes its results.
CACHE_VERSION = 5
CLEAN_FEATURES = datasets.Features(
    {
        "id": datasets.Value("string"),
        "source": datasets.Value("string"),
        "references": datasets.List(datasets.Value("string")),
        "problem": datasets.Value("string"),
        "where": datasets.Value("string"),
    }
)


Cleaned = tuple[datasets.Dataset, Columns]


def clean_rows(path: str, split: str, layout: Columns, num_proc: int) -> Cleaned:
    """All rows of the split with CLEAN_FEATURES and further columns as JSON, broken ones too, cached; the columns."""
    located = _located(path, split)
    cache_folder()  # before rows are read
    if isinstance(located, list):
        return _clean_files(located, layout, path, num_proc)
    return _clean_dataset(located, layout, path)


def reads(path: str, split: str) -> Iterator[Read]:
    """All rows of the split as they are."""
    located = _located(path, split)
    if isinstance(located, list):
        yield from chain.from_iterable(map(read_file, located))
    else:
        yield from (_row_of(row, number, path) for number, row in enumerate(located))


def _located(path: str, split: str) -> list[Path] | datasets.Dataset:
    """The files of a split, or what `datasets` reads."""
    local = Path(path).expanduser()
    if path.startswith(HUB) or not (local.exists() or _has_configurations(local.parent)):
        return _pick(_from_hub(path), split, path)
    if files := _files(local, split) or ([] if is_saved(local) else _line_files(local, split)):
        return files
    loaded = saved(local) if is_saved(local) else _from_hub(str(local))
    return loaded if isinstance(loaded, datasets.Dataset) else _pick(loaded, split, path)


def check_path(path: str, split: str) -> None:
    """Raise CorpusError for a missing path or split; reads no rows and does not use the network."""
    local = Path(path).expanduser()
    if path.startswith(HUB) or not local.exists():
        _hub_name(path)
    else:
        _files(local, split)


def load_split(path: str, split: str | None) -> datasets.Dataset:
    """A split of a saved dataset, a folder or a hub name, as `datasets` reads it; None: the only split.

    Raises CorpusError if it cannot be read, has no such split, or has several and none was named.
    """
    local = Path(path.removeprefix(HUB)).expanduser()
    loaded = saved(local) if is_saved(local) else _from_hub(path)
    if isinstance(loaded, datasets.Dataset):
        return loaded
    if split is None and len(loaded) == 1:
        return next(iter(loaded.values()))
    if split is None:
        raise CorpusError(f"path={path!r}: several splits, {', '.join(loaded)}; name one with split=")
    return _pick(loaded, split, path)


def _files(path: Path, split: str) -> list[Path]:
    """The files to read; none if ``path`` is a folder that ``datasets`` must read."""
    if path.is_file():
        file_format(path)
        return [path]
    names = _synonyms(split)
    if files := split_files(path, names):
        if len(files) > 1:
            raise CorpusError(
                f"path={str(path)!r}: {files[0].name} or {files[1].name} for split {split!r}? Give its path"
            )
        return files
    if available := split_files(path, tuple(chain(*SPLIT_NAMES))):
        raise CorpusError(f"path={str(path)!r}: no split {split!r}; there are {', '.join(f.name for f in available)}")
    for folder in (*(path / name for name in names), path):
        if stories := sorted(chain(*(folder.glob(f"*.story{end}") for end in ("", *COMPRESSED)))):
            return stories
    return []


def _line_files(folder: Path, split: str) -> list[Path]:
    """The JSONL or CSV files that `datasets` selects for the split; it stops at a broken row, our readers skip it.

    No files for other formats, nor for CSV with a dataset card, which may describe the dialect. ``folder`` may end in
    the name of a configuration.
    """
    formats = JSON_LINES if (folder / CARD).is_file() or not folder.exists() else LINE_FORMATS
    data_files = _load(datasets.load_dataset_builder, str(folder)).config.data_files
    files = [Path(name) for name in _pick(data_files or {}, split, str(folder))]
    return files if all(file.is_file() and file.name.endswith(formats) for file in files) else []


def split_files(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """The files in a folder that one of ``names`` and a suffix that we read make."""
    files = (folder / f"{name}{suffix}{end}" for name in names for suffix in READERS for end in ("", *COMPRESSED))
    return [file for file in files if file.is_file()]


def _synonyms(split: str) -> tuple[str, ...]:
    return next((names for names in SPLIT_NAMES if split in names), (split,))


def _clean_files(files: list[Path], layout: Columns, path: str, num_proc: int) -> Cleaned:
    columns = choose_columns(layout, (read for file in files for read in read_file(file)), path)
    pieces = [(state, begin) for state in _states(files) for begin in _begins(Path(state[0]), state[1])]
    try:
        rows = datasets.Dataset.from_generator(
            _generate,
            features=_features(columns),
            gen_kwargs={"pieces": pieces, "columns": columns, "version": CACHE_VERSION},
            num_proc=min(num_proc, len(pieces)) if num_proc > 1 and len(pieces) > 1 else None,
        )
    except DatasetGenerationError as error:
        if isinstance(error.__cause__, UserError):
            raise error.__cause__ from None
        raise
    return rows, columns


def _begins(file: Path, size: int) -> range:
    """The bytes at which the pieces of a file begin, which processes read apart."""
    several = size > PIECE and file.suffix in (".jsonl", ".json") and has_pieces(file)
    return range(0, size, PIECE) if several else range(1)


def _states(files: Iterable[Path]) -> list[State]:
    """Path, size and digest of each file, for cache keys: `chmod` changes nothing, `rsync -t` hides nothing.

    A file of articles has the digest of its summaries, too. Digests are computed again where a time changed. No tool
    can reset the last time, that of the last change.
    """
    read = [(path, partner_of(path)) for path in (file.resolve() for file in files)]
    key = [[_stat(file) for file in pair if file] for pair in read]
    digests = remembered(
        "digests", (key,), lambda: ["".join(file_digest(file) for file in pair if file) for pair in read]
    )
    return [(name, size, digest) for ((name, size, *_), *_), digest in zip(key, digests, strict=True)]


def _stat(file: Path) -> tuple[str, int, int, int]:
    stat = file.stat()
    return str(file), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _features(columns: Columns) -> datasets.Features:
    further = {"columns": datasets.Value("string")} if columns.further else {}
    return datasets.Features({**CLEAN_FEATURES, **further})


def _generate(pieces: list[tuple[State, int]], columns: Columns, version: int) -> Iterator[dict[str, Any]]:
    # Digests and version are part of the cache key that `datasets` makes from the arguments.
    for (name, size, *_), group in groupby(pieces, key=itemgetter(0)):
        begins = [begin for _, begin in group]
        whole = len(begins) == len(_begins(Path(name), size))
        reads = read_file(Path(name)) if whole else lines_of_objects(Path(name), begins[0], begins[-1] + PIECE)
        for read in reads:
            yield clean(read, columns)


def _from_hub(path: str) -> datasets.DatasetDict:
    """The splits that `datasets` reads: of a hub name, or a folder, whose files' state is in the path of the cache."""
    folder, cache = Path(_hub_name(path)[0]), None
    if folder.is_dir():
        data_files = _load(datasets.load_dataset_builder, path).config.data_files or {}
        files = [folder / CARD, *map(Path, chain(*data_files.values()))]
        cache = str(cache_folder() / f"folder-{Hasher.hash(_states(file for file in files if file.is_file()))}")
    return named_classes(_load(datasets.load_dataset, path, cache))


def _load(load: Callable[..., Any], path: str, cache: str | None = None) -> Any:
    name, config, revision = _hub_name(path)
    try:
        with cache_errors():
            return load(name, config, revision=revision, cache_dir=cache)
    except DatasetGenerationError as error:
        raise CorpusError(
            f"path={path!r}: `datasets` cannot read one of its files ({error.__cause__ or error}); correct it, or give "
            "the path of the file, where broken rows are skipped"
        ) from error
    except UserError:
        raise
    except (OSError, ValueError, DatasetsError) as error:  # not found, no network, no such configuration, unreadable
        reason = " ".join(str(error).split())
        raise CorpusError(
            f"path={path!r}: neither a local corpus nor a dataset that `datasets` can load ({reason}). "
            f"If it has configurations, write {HUB}owner/name/config or folder/config"
        ) from error


def _hub_name(path: str) -> tuple[str, str | None, str | None]:
    """Name, configuration and revision of ``[hf://][owner/]name[/config][@revision]``, or of a local folder."""
    name = path.removeprefix(HUB)
    if Path(name).is_dir():
        return name, None, None
    parent, _, config = name.rpartition("/")
    if parent and _has_configurations(Path(parent).expanduser()):
        return str(Path(parent).expanduser()), config, None
    # A mistyped path must not wait for the network if it looks like a file, or if its folder exists.
    looks_local = Path(path).suffix in (*READERS, *COMPRESSED) or path.startswith(("/", ".", "~"))
    if not path.startswith(HUB) and (looks_local or ("/" in path and Path(path).parent.is_dir())):
        raise CorpusError(f"path={path!r}: no such file or folder (for a hub dataset write {HUB}owner/name)")
    name, _, revision = name.partition("@")
    if name.count("/") == 2:
        name, _, config = name.rpartition("/")
        return name, config, revision or None
    return name, None, revision or None


def _has_configurations(folder: Path) -> bool:
    card = folder / CARD
    return card.is_file() and "config_name:" in card.read_text(encoding="utf-8", errors="replace")


def _pick(splits: Mapping[str, T], split: str, path: str) -> T:
    for name in _synonyms(split):
        if name in splits:
            return splits[name]
    raise CorpusError(f"path={path!r}: no split {split!r}; there are {', '.join(map(str, splits))}")


def _clean_dataset(dataset: datasets.Dataset, layout: Columns, path: str) -> Cleaned:
    columns = choose_columns(layout, [Read(path, "", dict.fromkeys(dataset.column_names))], path)
    states = _states(Path(file["filename"]) for file in dataset.cache_files)
    key = Hasher.hash((dataset._fingerprint, states, columns, path, CACHE_VERSION))
    rows = dataset.map(
        _clean_row,
        with_indices=True,
        fn_kwargs={"columns": columns, "path": path},
        features=_features(columns),
        remove_columns=dataset.column_names,
        cache_file_name=str(cache_folder() / f"clean-{key}.arrow"),
        new_fingerprint=key,
        desc="reading",
    )
    return rows, columns


def _clean_row(row: dict[str, Any], index: int, columns: Columns, path: str) -> dict[str, Any]:
    return clean(_row_of(row, index, path), columns)


def _row_of(row: dict[str, Any], index: int, path: str) -> Read:
    return Read(f"{path}:{index + 1}", f"row-{index + 1}", row)
