"""`treecrf serve` in a process of its own, whose CPU time and memory are watched."""

import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.stream import resident_mib


class Service:
    """The process and its URL; stopped at the end of the `with` block."""

    def __init__(self, model: Path, device: str) -> None:
        command = [sys.executable, "-m", "treecrf", "serve", "--model", f"m={model}"]
        self.process = subprocess.Popen(
            [*command, "--port", "0", "--device", device], stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        if not (match := re.match(r"serving at (\S+)", said)):
            sys.exit(f"the service did not start: {said}")
        self.url = match[1]
        self._samples: list[float] = []
        self._watching = threading.Event()
        self._watcher = threading.Thread(target=self._watch)

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: object) -> None:
        self._watching.clear()  # else the thread keeps the process alive after an error
        self.process.terminate()
        self.process.communicate()

    def parse(self, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"}
        data = json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/parse", data, headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def time_of_one(self, body: dict[str, Any]) -> float:
        """Seconds until a request is answered, refusals included."""
        started = time.perf_counter()
        while True:
            try:
                self.parse(body)
                return time.perf_counter() - started
            except urllib.error.HTTPError as error:
                if error.code != 503:
                    raise
                time.sleep(0.05)

    def processor_seconds(self) -> float:
        """CPU seconds of the process."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def watch(self) -> None:
        """Start sampling the memory."""
        self._watching.set()
        self._watcher.start()

    def _watch(self) -> None:
        while self._watching.is_set():
            self._samples.append(resident_mib(self.process.pid))
            time.sleep(0.1)

    def stop_watching(self) -> tuple[float, float]:
        """Peak memory in the first and in the second half of the time."""
        self._watching.clear()
        self._watcher.join()
        half = len(self._samples) // 2
        return max(self._samples[:half]), max(self._samples[half:])
