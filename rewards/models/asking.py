"""Options of what a judge is asked, and how its server is."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from annotated_types import Ge, Gt

from rewards.errors import RewardError

CRITERIA = {
    "overall": "the overall quality of the summary",
    "relevance": "the summary has what matters in the text, and nothing else",
    "consistency": "the summary states only facts that the text states",
    "coherence": "the sentences of the summary follow one another and make a whole",
    "fluency": "the sentences of the summary are well formed and easy to read",
}


@dataclass(kw_only=True)
class AskingOptions(ABC):
    """Options of what is asked of a server."""

    example: ClassVar[str] = "endpoint=http://127.0.0.1:8000/v1, model=NAME"

    endpoint: str
    """the address of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1"""
    model: str
    """the model, as the server names it; the signature names it, not the server"""
    criterion: str = "overall"
    """overall, relevance, consistency, coherence or fluency, or a criterion in words of your own"""
    draws: Annotated[int, Ge(1)] = 5
    """answers whose mean is the score, where the server returns no probabilities"""
    temperature: Annotated[float, Ge(0)] = 1.0
    """of these answers"""
    max_tokens: Annotated[int, Ge(1)] = 8
    """tokens of an answer; more for a model that thinks first"""
    file: str | None = None
    """an SQLite file that keeps the answers, so that a run that goes on asks nothing twice; none: memory only"""
    concurrency: Annotated[int, Ge(1)] = 8
    """requests at a time"""
    timeout: Annotated[float, Gt(0)] = 60.0
    """seconds to wait for an answer"""
    retries: Annotated[int, Ge(0)] = 5
    """how often a request that failed is repeated, after waits that double"""
    limit: Annotated[int, Ge(1)] | None = None
    """the most requests of this process; above it, an error"""
    price: str | None = None
    """the price of a million tokens read / written, such as 0.15/0.6, for the line that says what was spent"""
    key: str = "OPENAI_API_KEY"
    """the environment variable that holds the key, if the server needs one"""

    def __post_init__(self) -> None:
        host = re.fullmatch(r"https?://([^/?#\s]+)[^?#\s]*", self.endpoint)
        if host is None or "@" in host[1]:
            raise RewardError("judge: endpoint must be an address without a password, http://HOST:PORT/v1")
        if not re.fullmatch(r"[A-Za-z_]\w*", self.key) or self.key.startswith("sk"):
            raise RewardError(
                "judge: key must be the name of an environment variable, such as OPENAI_API_KEY, not a key"
            )
        if self.file is not None and not Path(self.file).absolute().parent.is_dir():
            raise RewardError(f"judge: file={self.file!r}: its folder does not exist; create it first")
        self.ends()
        self.prices()

    @abstractmethod
    def ends(self) -> tuple[int, int]:
        """The lowest and the highest number that is an answer. Raises RewardError."""

    def values(self) -> dict[str, object]:
        """The fields of a judge's question and the text of each."""
        return {"criterion": CRITERIA.get(self.criterion, self.criterion)}

    def prices(self) -> tuple[float, float] | None:
        """Of a million tokens read and written. Raises RewardError."""
        if self.price is None:
            return None
        read = re.fullmatch(r"(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)", self.price)
        if read is None:
            raise RewardError(f"judge: price={self.price!r} is not READ/WRITTEN; write 0.15/0.6 for instance")
        return float(read[1]), float(read[2])
