"""The examples in docstrings give what they say."""

import doctest

import treecrf


def test_the_example_of_the_parser() -> None:
    found = doctest.DocTestFinder(recurse=False).find(treecrf.Parser, "Parser")
    examples = [test for test in found if test.examples]
    assert len(examples) == 1
    assert doctest.DocTestRunner().run(examples[0]).failed == 0
