"""The parsers that the paper compares, and those of the third order: settings and decoder."""

from dataclasses import dataclass

from treecrf.parser.choices import Decoder, Loss, Nonprojective
from treecrf.parser.config import Config

__all__ = [
    "CRF",
    "CRF2O",
    "CRF2O_VITERBI",
    "CRF3O",
    "CRF3O_GRANDPARENTS",
    "CRF_VITERBI",
    "LOC",
    "LOC_MST",
    "SYSTEMS",
    "System",
    "decoders_of",
    "model_name",
]


@dataclass(frozen=True, slots=True)
class System:
    """A row of a table. Systems that differ in the decoder alone share one training."""

    name: str
    loss: Loss
    decoder: Decoder
    nonprojective: Nonprojective = "pseudo"
    siblings: bool = True
    """With the third order: whether siblings are scored beside grandparents."""

    def config(self, base: Config, seed: int) -> Config:
        """The settings that it is trained with."""
        return base.changed(
            {
                "loss": self.loss,
                "nonprojective": self.nonprojective,
                "crf3o_siblings": self.siblings,
                "seed": seed,
            }
        )


LOC_MST = System("Loc-MST", "local", "mst", "mst")
LOC = System("Loc", "local", "viterbi")
CRF_VITERBI = System("Crf w/o MBR", "crf", "viterbi")
CRF = System("Crf", "crf", "mbr")
CRF2O_VITERBI = System("Crf2o w/o MBR", "crf2o", "viterbi")
CRF2O = System("Crf2o", "crf2o", "mbr")
CRF3O_GRANDPARENTS = System("Crf3o w/o siblings", "crf3o", "mbr", siblings=False)
CRF3O = System("Crf3o", "crf3o", "mbr")

SYSTEMS = (LOC_MST, LOC, CRF_VITERBI, CRF, CRF2O_VITERBI, CRF2O)
"""Those of the paper."""
_ALL = (*SYSTEMS, CRF3O_GRANDPARENTS, CRF3O)


def decoders_of(config: Config) -> tuple[Decoder, ...]:
    """Decoders that some system needs for a model with these settings."""
    return tuple(system.decoder for system in _ALL if _is_model_of(system, config))


def model_name(config: Config) -> str:
    """The name of a model with these settings."""
    return [system.name for system in _ALL if _is_model_of(system, config)][-1]


def _is_model_of(system: System, config: Config) -> bool:
    if config.loss == "crf3o" and system.siblings != config.crf3o_siblings:
        return False
    return (system.loss, system.nonprojective) == (config.loss, config.nonprojective)
