"""``rlsum human-eval serve`` and ``links``: the web app and the links to it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import Field
from pydantic.dataclasses import dataclass

from human_eval.cli.arguments import Database, StudyFolder, checked_names, database_path
from human_eval.collection.store import ResponseStore
from human_eval.files import read_key, read_study
from human_eval.formatting import counted
from human_eval.study import Study, StudyKey
from human_eval.web.serving import Serving
from rlsum.cli.options import expanded
from rlsum.errors import UserError

if TYPE_CHECKING:
    from human_eval.statistics.settings import AnalysisSettings
    from human_eval.web.server import Links


@dataclass(frozen=True)
class Place:
    """Where the app is, and for whom links to it are made."""

    host: str = "127.0.0.1"
    """address to listen on; the default is reachable from this machine only"""
    port: int = Field(default=8765, ge=1, le=65535)
    """port to listen on"""
    public_url: str | None = Field(default=None, title="URL")
    """address of the app behind a proxy"""
    database: Database = None
    judges: str = ""
    """judges with personal links: a number, or names and commas (default: one per booklet)"""
    days: float = Field(default=30.0, ge=0.01, le=3650)
    """days until links expire"""


@expanded
def serve(study: StudyFolder, place: Place, shown: Serving) -> None:
    """Serve a study to judges in their browsers and print the links. Stop with Ctrl-C; no answer is lost.

    Each judge gets one booklet and judges it item by item with mouse, touch or keyboard. The admin page shows progress
    and agreement, and can pause, close and export the study. Links are signed and stay valid after a restart.

    **Examples**

    rlsum human-eval serve study

    rlsum human-eval serve study --judges anna,ben,chris --key key.json

    rlsum human-eval serve study --public-url https://judge.example.org
    """
    from human_eval.web import server
    from human_eval.web.access import Access
    from human_eval.web.site import Site

    blind = read_study(study)
    names, path = _names(place.judges, blind), database_path(place.database, study)
    addresses = server.origins(place.host, place.port, place.public_url)
    key, settings = _verdict(shown, blind)
    bound = server.bind(place.host, place.port)
    store = ResponseStore(path, blind, lease=shown.lease * 3600)
    _check_namesakes(place.judges, names, store)
    site = Site(blind, store, Access(store), addresses, shown, key, settings)
    if addresses[0].startswith("http:") and place.public_url is not None:
        typer.echo("Warning: links and answers are not encrypted; documentation of TLS: The judging app", err=True)
    _print(server.make_links(store, addresses[0], names, place.days), blind)
    if reserved := len(store.reserved()):
        count = f"{reserved} of {len(blind.booklets)} booklets"
        typer.echo(f"\n{count} are reserved, since they were exported: the app does not lend them")
    begun = f"\nServing {addresses[0]}; stop with Ctrl-C."
    server.run(site, bound, place.public_url is not None, lambda: typer.echo(begun))
    typer.echo(f"Stopped. To collect the answers: rlsum human-eval collect {study} {path} -o judgments.jsonl")


def _verdict(shown: Serving, study: Study) -> tuple[StudyKey | None, AnalysisSettings | None]:
    """The key and the settings of the verdict. Raises UserError, also for other options that lead nowhere."""
    for name in ("completion", "return", "screened_out", "not_qualified", "partial"):
        option, url = f"--{name.replace('_', '-')}-url", getattr(shown, f"{name}_url")
        if url and not url.startswith(("https://", "http://")):
            raise UserError(f"{option} {url}: expected an address that begins with https:// or http://")
    needing = {"--show-verdicts": shown.show_verdicts, "--plan": shown.plan, "--stop-failing": shown.stop_failing}
    for option, value in needing.items():
        if value and shown.key is None:
            raise UserError(f"{option}: only the key names the systems, and tells which tasks are checks; add --key")
    key = None if shown.key is None else read_key(shown.key, study)
    if shown.plan is None:
        return key, None
    from human_eval.planning.plan import settings_of

    return key, settings_of(shown.plan)


@expanded
def links(study: StudyFolder, place: Place) -> None:
    """Print links again, or for more judges, whether `serve` runs or not. Earlier links stay valid until they expire.

    **Examples**

    rlsum human-eval links study --judges dora,emil --days 7
    """
    from human_eval.web import server

    blind = read_study(study)
    names = _names(place.judges, blind)
    address = server.origins(place.host, place.port, place.public_url)[0]
    with closing(ResponseStore(database_path(place.database, study), blind)) as store:
        _check_namesakes(place.judges, names, store)
        _print(server.make_links(store, address, names, place.days), blind)


def revoke(
    study: StudyFolder,
    database: Database = None,
    judges: Annotated[str, typer.Option(help="Judges whose links are revoked: names and commas.")] = "",
    everyone: Annotated[bool, typer.Option("--everyone", help="Revoke the link for everyone.")] = False,
    admin: Annotated[bool, typer.Option("--admin", help="Revoke the admin link.")] = False,
    every_link: Annotated[bool, typer.Option("--all", help="All links, cookies, open pages: a new secret.")] = False,
) -> None:
    """Revoke links, whether `serve` runs or not. `links` prints new ones; no answer is lost.

    A revoked link opens nothing, nor does a browser that opened it before. Judges whom the link for everyone brought
    keep their places: name them in `--judges` to revoke those.

    **Examples**

    rlsum human-eval revoke study --judges anna,guest:5f3e

    rlsum human-eval revoke study --all
    """
    if not (judges or everyone or admin or every_link):
        raise UserError("nothing to revoke; give --judges, --everyone, --admin or --all")
    blind = read_study(study)
    names = checked_names("--judges", judges) if judges else []
    path = database_path(database, study)
    if not path.exists():
        raise UserError(f"{path}: does not exist; there are no links to revoke")
    visitors = [("judge", name) for name in names] + [("everyone", "")] * everyone + [("admin", "")] * admin
    with closing(ResponseStore(path, blind)) as store:
        for role, name in visitors:
            store.revoke(role, name)
        if every_link:
            store.rotate_secret()
    revoked = "all links" if every_link else f"links of {', '.join(name or role for role, name in visitors)}"
    typer.echo(f"{revoked} revoked; to print new ones: rlsum human-eval links {study}")


def _names(judges: str, study: Study) -> list[str]:
    """The names of judges, from a number or a list. Raises UserError."""
    if not judges or judges.isdecimal():
        count = int(judges or len(study.booklets))
        if not 1 <= count <= 10_000:
            raise UserError(f"--judges {judges}: expected 1 to 10000, or names separated by commas")
        return [f"judge-{number:0{len(str(count))}}" for number in range(1, count + 1)]
    return checked_names("--judges", judges)


def _check_namesakes(judges: str, names: list[str], store: ResponseStore) -> None:
    """Raise UserError for a name that differs only in case from that of a judge who has begun."""
    known = {person.judge.casefold(): person.judge for person in store.people.all()}
    for name in names:
        before = known.get(name.casefold(), name)
        if before != name:
            raise UserError(f"--judges {judges}: {name} is {before} in the database; write that, or another name")


def _print(links: Links, study: Study) -> None:
    tasks, booklets = counted(len(study.tasks), "task"), counted(len(study.booklets), "booklet")
    typer.echo(f"{study.title}: {tasks} in {booklets}, one booklet per judge\n\nPersonal links, one per judge:")
    for judge, link in links.judges.items():
        typer.echo(f"  {judge}  {link}")
    if len(links.judges) > len(study.booklets):
        typer.echo(f"{counted(len(links.judges), 'judge')}, {booklets}: the last judges to come get none")
    typer.echo(f"\nA link for everyone (panels add PROLIFIC_PID or participant):\n  {links.everyone}")
    typer.echo(f"\nThe secret admin link (progress, agreement, pause, export):\n  {links.admin}")
