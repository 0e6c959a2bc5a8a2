"""How a study is served: options of ``rlsum human-eval serve``, which the pages read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer


def _url(text: str) -> Any:
    return typer.Option(metavar="URL", help=text)


@dataclass(frozen=True)
class Serving:
    """What judges and the admin are shown: the options of `serve` but for where the app is."""

    lease: Annotated[
        float, typer.Option(min=0.01, help="Hours of inactivity after which another judge may take over a booklet.")
    ] = 0.5
    completion_url: Annotated[str, _url("Address where judges confirm completion.")] = ""
    return_url: Annotated[str, _url("Address for judges who find nothing left to judge.")] = ""
    screened_out_url: Annotated[str, _url("For judges who are screened out, instead.")] = ""
    not_qualified_url: Annotated[str, _url("For judges who fail the training, instead.")] = ""
    partial_url: Annotated[str, _url("For judges who stop with saved answers, instead.")] = ""
    stop_failing: Annotated[
        bool,
        typer.Option("--stop-failing", help="With --key: who fails the checks is stopped; another gets the booklet."),
    ] = False
    key: Annotated[
        Path | None,
        typer.Option(metavar="KEY.json", help="The secret key, to show on the admin page who fails the checks."),
    ] = None
    plan: Annotated[
        Path | None,
        typer.Option(metavar="PLAN.json", help="With --key: the plan, for the verdict as `analyse --plan` gives it."),
    ] = None
    show_verdicts: Annotated[
        bool, typer.Option("--show-verdicts", help="With --key: show the verdict before the study is closed.")
    ] = False

    @property
    def returns(self) -> dict[str, str]:
        """Addresses of judges who do not finish, by reason."""
        return {
            "screened out": self.screened_out_url,
            "not qualified": self.not_qualified_url,
            "partial": self.partial_url,
        }
