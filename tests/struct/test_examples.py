"""The examples in the docstrings of the distributions run, and print what they say."""

import doctest

import pytest

from treecrf.struct import NonProjectiveTreeCRF, ProjectiveTreeCRF, SiblingTreeCRF


@pytest.mark.parametrize("family", [ProjectiveTreeCRF, SiblingTreeCRF, NonProjectiveTreeCRF])
def test_the_example_of_a_distribution_prints_what_it_says(family: type) -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(family, globs={})
    result = doctest.DocTestRunner().run(example)
    assert result.attempted > 3
    assert result.failed == 0
