"""The one exception of the experiments."""

__all__ = ["ExperimentError"]


class ExperimentError(ValueError):
    """An option, a folder or a run that an experiment cannot work with, and what to do about it."""
