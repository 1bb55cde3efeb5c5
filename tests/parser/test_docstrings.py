"""The examples in docstrings give what they say."""

import doctest

import pytest

import treecrf


@pytest.mark.parametrize("name", ["Parser", "Document", "explain"])
def test_the_examples_give_what_they_say(name: str) -> None:
    thing = getattr(treecrf, name)
    found = doctest.DocTestFinder(recurse=False).find(thing, name, globs={name: thing})
    examples = [test for test in found if test.examples]
    assert len(examples) == 1
    assert doctest.DocTestRunner().run(examples[0]).failed == 0
