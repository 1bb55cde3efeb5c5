"""A service in a process of its own, as users run it."""

import json
import re
import signal
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

from tests.cli.running import COMMAND, ENVIRONMENT


class Server:
    """`treecrf serve` at a free port, until the `with` block ends."""

    def __init__(self, folder: Path, *options: object) -> None:
        model = ("--model", f"small={folder}", "--device", "cpu", "--port", "0")
        self.process = subprocess.Popen(
            [*COMMAND, "serve", *model, *map(str, options)],
            env=ENVIRONMENT,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        started = self.process.stderr.readline()
        match = re.fullmatch(r"serving at (http://[\w.-]+:(\d+))\n", started)
        assert match, started + self.process.stderr.read()
        self.url, self.port = match[1], int(match[2])

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def parse(self, **request: Any) -> Any:
        """What `/api/parse` answers."""
        body = json.dumps(request).encode()
        headers = {"Content-Type": "application/json"}
        asked = urllib.request.Request(f"{self.url}/api/parse", body, headers)
        with urllib.request.urlopen(asked, timeout=300) as answer:
            return json.load(answer)

    def end(self) -> tuple[int, str]:
        """Ask it to end; its exit code and what it had to say."""
        self.process.send_signal(signal.SIGTERM)
        _, said = self.process.communicate(timeout=300)
        return self.process.returncode, said
