"""What the tests of several families ask for."""

import pytest


@pytest.fixture(params=[False, True], ids=["single", "multi"])
def multiroot(request: pytest.FixtureRequest) -> bool:
    return request.param
