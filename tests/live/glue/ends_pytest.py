"""pytest's tests that end in other ways, the marker, the fixture."""

import ctypes

import pytest

libc = ctypes.CDLL(None)
libc.calloc.restype = ctypes.c_void_p
libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
held = (ctypes.c_void_p * 4)()


def lose(size):
    assert libc.calloc(1, size)


def test_not_asked():
    lose(24)


@pytest.mark.no_leaks
def test_marked_clean():
    held[0] = libc.calloc(1, 24)


@pytest.mark.no_leaks
def test_marked_loses():
    lose(24)


@pytest.mark.no_leaks(limit=30)
def test_below_limit():
    lose(24)


@pytest.mark.no_leaks(limit=30)
def test_above_limit():
    lose(24)
    lose(24)


@pytest.mark.no_leaks
def test_fails_once():
    lose(24)
    assert held[0] is None


@pytest.mark.no_leaks
def test_clean_behind_it():
    assert held[0] is not None


def test_fixture(memunreachable):
    memunreachable.check()


def test_fixture_loses(memunreachable):
    lose(24)


@pytest.mark.no_leaks
@pytest.mark.parametrize('size', [0, 24])
def test_parameter(size):
    if size:
        lose(size)


@pytest.fixture
def careless():
    yield
    lose(24)


@pytest.mark.no_leaks
def test_before_fixture_loses(careless):
    pass


@pytest.mark.no_leaks
def test_behind_careless_fixture():
    pass


@pytest.mark.no_leaks
def test_behind_clean_test_loses():
    lose(24)


@pytest.mark.no_leaks
def test_behind_test_that_lost():
    pass
