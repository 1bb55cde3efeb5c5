"""The spaCy component `treecrf`, which `nlp.add_pipe("treecrf")` adds to a pipeline."""

from treecrf.integrations.spacy.component import TreeCRFComponent, make_treecrf

__all__ = ["TreeCRFComponent", "make_treecrf"]
