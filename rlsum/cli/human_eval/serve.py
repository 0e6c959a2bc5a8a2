"""``rlsum human-eval serve`` and ``links``: people judge in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from human_eval.study import Study, StudyKey
    from human_eval.web.server import Links

DATABASE = "judging.sqlite"

StudyFolder = Annotated[Path, typer.Argument(metavar="STUDY", help="Folder made by `rlsum human-eval build`.")]
Database = Annotated[
    Path | None, typer.Option(metavar="FILE", help=f"Where answers are kept (default: {DATABASE} in STUDY).")
]
Judges = Annotated[
    str, typer.Option(help="Who gets a link: how many, or names separated by commas (default: one a booklet).")
]
Days = Annotated[float, typer.Option(min=0.01, help="How long links are good.")]
Host = Annotated[str, typer.Option(help="Address to listen on; the default is this machine alone.")]
Port = Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")]
PublicUrl = Annotated[
    str | None, typer.Option("--public-url", metavar="URL", help="How judges reach it, when through a proxy.")
]


def serve(
    study: StudyFolder,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    public_url: PublicUrl = None,
    database: Database = None,
    judges: Judges = "",
    days: Days = 30.0,
    lease: Annotated[
        float, typer.Option(min=0.01, help="Hours of silence after which another judge may take a booklet over.")
    ] = 2.0,
    completion_url: Annotated[
        str, typer.Option("--completion-url", metavar="URL", help="Where judges confirm that they are done.")
    ] = "",
    key: Annotated[
        Path | None, typer.Option(help="The secret key: the admin's page then shows who fails the checks.")
    ] = None,
    show_verdicts: Annotated[
        bool, typer.Option("--show-verdicts", help="With --key: votes on the admin's page before the study is closed.")
    ] = False,
) -> None:
    """Serve a study to judges in their browsers, and print their links. Stop with Ctrl-C; nothing answered is lost.

    Each judge gets one booklet, judged item by item, by mouse, touch or keyboard. The admin's page shows progress and
    agreement, pauses, closes and exports. Links are signed, and good after a restart.

    **Examples**

    rlsum human-eval serve study

    rlsum human-eval serve study --judges anna,ben,chris --key key.json

    rlsum human-eval serve study --public-url https://judge.example.org
    """
    server = _import_server()
    from human_eval.collection.store import ResponseStore
    from human_eval.files import read_study
    from human_eval.web.access import Access
    from human_eval.web.site import Site
    from rlsum.errors import UserError

    shown = read_study(study)
    names = _names(judges, shown)
    path = _database(database, study)
    addresses = server.origins(host, port, public_url)
    _check_completion(completion_url)
    if show_verdicts and key is None:
        raise UserError("--show-verdicts: systems are named in the key alone; add --key")
    secrets = None if key is None else _read_key(key, shown)
    bound = server.bind(host, port)
    store = ResponseStore(path, shown, lease=lease * 3600)
    site = Site(shown, store, Access(store.secret), addresses, secrets, completion_url, show_verdicts)
    if addresses[0].startswith("http:") and public_url is not None:
        typer.echo("Not encrypted: anyone on the way can read links and answers. See the README for TLS.", err=True)
    _print(server.make_links(store, addresses[0], names, days), shown)
    typer.echo(f"\nServing {addresses[0]}; stop with Ctrl-C.")
    server.run(site, bound, behind_proxy=public_url is not None)
    typer.echo(f"Stopped. The answers: rlsum human-eval collect {study} {path} -o judgments.jsonl")


def links(
    study: StudyFolder,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    public_url: PublicUrl = None,
    database: Database = None,
    judges: Judges = "",
    days: Days = 30.0,
) -> None:
    """Print links again, or for more judges, while `serve` runs or not. Earlier links stay good until they run out.

    **Examples**

    rlsum human-eval links study --judges dora,emil --days 7
    """
    server = _import_server()
    from human_eval.collection.store import ResponseStore
    from human_eval.files import read_study

    shown = read_study(study)
    names = _names(judges, shown)
    address = server.origins(host, port, public_url)[0]
    store = ResponseStore(_database(database, study), shown)
    _print(server.make_links(store, address, names, days), shown)
    store.close()


def _import_server():  # type: ignore[no-untyped-def]
    from rlsum.errors import UserError

    try:
        from human_eval.web import server
    except ImportError as error:
        raise UserError(f"{error}; install what serving needs: pip install 'rlsum[human]'") from error
    return server


def _database(given: Path | None, study: Path) -> Path:
    """Where answers are kept. Its ending tells `collect` what it is."""
    from rlsum.errors import UserError

    path = given or study / DATABASE
    if path.suffix != ".sqlite":
        raise UserError(f"--database {path}: give it a name that ends in .sqlite")
    return path


def _names(judges: str, study: Study) -> list[str]:
    """Names of judges from a number or a list. Raises UserError."""
    from human_eval.web.access import NAME
    from rlsum.errors import UserError

    if not judges or judges.isdecimal():
        count = int(judges or len(study.booklets))
        if not 1 <= count <= 10_000:
            raise UserError(f"--judges {judges}: expected 1 to 10000, or names separated by commas")
        return [f"judge-{number:0{len(str(count))}}" for number in range(1, count + 1)]
    names = [name.strip() for name in judges.split(",")]
    for name in names:
        if not NAME.fullmatch(name):
            raise UserError(f"--judges: {name[:80]!r} is no name; use letters, digits, dots, hyphens, up to 64")
    if len(set(names)) < len(names):
        raise UserError("--judges: a name stands there twice; each judge needs one of their own")
    return names


def _check_completion(url: str) -> None:
    from rlsum.errors import UserError

    if url and not url.startswith(("https://", "http://")):
        raise UserError(f"--completion-url {url}: expected an address that begins with https://")


def _read_key(path: Path, study: Study) -> StudyKey:
    from human_eval.files import read_key
    from rlsum.errors import UserError

    key = read_key(path)
    if key.study != study.id or any(task.id not in key.tasks for task in study.tasks):
        raise UserError(f"--key {path}: the key of another study; give the one built with this")
    return key


def _print(made: Links, study: Study) -> None:
    from human_eval.formatting import counted

    tasks, booklets = counted(len(study.tasks), "task"), counted(len(study.booklets), "booklet")
    typer.echo(f"{study.title}: {tasks} in {booklets}, one booklet a judge\n")
    typer.echo("A link for each judge; whoever has it is that judge:")
    for judge, link in made.judges.items():
        typer.echo(f"  {judge}  {link}")
    if len(made.judges) > len(study.booklets):
        typer.echo(f"{counted(len(made.judges), 'judge')}, {booklets}: who comes when all are lent gets none")
    typer.echo("\nOr one for everyone who comes (panels add PROLIFIC_PID or participant):")
    typer.echo(f"  {made.everyone}")
    typer.echo("\nYours, secret (progress, agreement, pause, export):")
    typer.echo(f"  {made.admin}")
