"""Annotators who know the trees of a corpus and err now and then, as clients of a service."""

import random
import threading
import urllib.error
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

from tests.serve.browsing import Service
from treecrf.treebank import Sentence


@dataclass
class Annotator:
    """Somebody who answers what is asked, and remembers what was saved."""

    name: str
    gold: Sequence[Sentence]
    errors: float  # the share of heads, and of relations, that this one gets wrong
    saved: dict[int, dict[str, Any]] = field(default_factory=dict)
    """What the service has said it has, by the number of the sentence."""

    def work(self, service: Service, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Answer until nothing is left, somebody says stop, or the service is gone."""
        try:
            while goes_on() and (place := self.look(service)["progress"]["next"]) is not None:
                self.answer(service, place)
        except (urllib.error.URLError, HTTPException, ConnectionError):
            pass  # an answer that did not come says nothing

    def look(self, service: Service, place: int | None = None) -> Any:
        where = "" if place is None else f"/{place}"
        return service.get(f"api/annotate{where}?annotator={self.name}")

    def answer(self, service: Service, place: int) -> None:
        """Decide about the words of a sentence that are asked about."""
        item = self.look(service, place)
        decision = self.opinion(item["number"], item["asked"])
        answer = service.decide(place, annotator=self.name, state="done", **decision)
        self.saved[item["number"]] = {name: answer[name] for name in ("heads", "labels")}

    def opinion(self, number: int, asked: Sequence[int]) -> dict[str, dict[int, Any]]:
        """The heads and relations of these words, of which some are wrong.

        A wrong head is the head of the right one, so that what is said is part of a tree; a wrong
        relation is that of another word, and may be right by chance.
        """
        chance = random.Random(f"{self.name} {number}")
        gold = self.gold[number - 1]
        heads = {word: gold.heads[word - 1] for word in asked}
        labels = {word: gold.deprels[word - 1] for word in asked}
        for word in asked:
            if chance.random() < self.errors:
                labels[word] = chance.choice(gold.deprels)
            above = gold.heads[heads[word] - 1] if heads[word] else 0
            if chance.random() < self.errors and above:
                heads[word] = above
        return {"heads": heads, "labels": labels}


def work_together(
    service: Service, annotators: Sequence[Annotator], goes_on: Callable[[], bool] = lambda: True
) -> None:
    """Have all work at once, until each is done or stops."""
    threads = [threading.Thread(target=each.work, args=(service, goes_on)) for each in annotators]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
