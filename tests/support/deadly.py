"""A reward that kills a process of a training (SIGKILL): ``DEADLY=rank:call`` says which and when."""

import os
import signal

import tiny


class Deadly(tiny.Overlap):
    """How many words a text has in common with its reference, as long as the process lives."""

    name = signature = "deadly"
    calls = 0

    def __call__(self, candidates, references=None, sources=None, columns=None):
        self.calls += 1
        if os.environ.get("DEADLY") == f"{os.environ.get('RANK')}:{self.calls}":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(candidates, references, sources)

    def undefined(self, candidate, references=None):
        return None


deadly = Deadly()
