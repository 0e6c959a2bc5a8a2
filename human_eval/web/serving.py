"""How a study is served: options of ``rlsum human-eval serve``, which the pages read."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field
from pydantic.dataclasses import dataclass


@dataclass(frozen=True, config={"extra": "forbid"})
class Serving:
    """What judges and the admin are shown: the options of `serve` but for where the app is."""

    lease: float = Field(default=0.5, ge=0.01)
    """hours of inactivity after which another judge may take over a booklet"""
    completion_url: str = Field(default="", title="URL")
    """address where judges confirm completion"""
    return_url: str = Field(default="", title="URL")
    """address for judges who find nothing left to judge"""
    screened_out_url: str = Field(default="", title="URL")
    """for judges who are screened out, instead"""
    not_qualified_url: str = Field(default="", title="URL")
    """for judges who fail the training, instead"""
    partial_url: str = Field(default="", title="URL")
    """for judges who stop with saved answers, instead"""
    stop_failing: bool = False
    """with ``key``: who fails the checks is stopped; another gets the booklet"""
    key: Path | None = Field(default=None, title="KEY.json")
    """the secret key, to show on the admin page who fails the checks"""
    plan: Path | None = Field(default=None, title="PLAN.json")
    """with ``key``: the plan, for the verdict as `analyse --plan` gives it"""
    show_verdicts: bool = False
    """with ``key``: show the verdict before the study is closed"""

    @property
    def returns(self) -> dict[str, str]:
        """Addresses of judges who do not finish, by reason."""
        return {
            "screened out": self.screened_out_url,
            "not qualified": self.not_qualified_url,
            "partial": self.partial_url,
        }
