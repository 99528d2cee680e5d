"""With pytest: the second of three tests loses memory, and fails for it.

    pytest --memunreachable test_leaks.py
"""

import ctypes

libc = ctypes.CDLL(None)
libc.strdup.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]


def test_freed():
    copy = libc.strdup(b'a text')
    assert copy
    libc.free(copy)


def test_forgotten():
    copy = libc.strdup(b'a text')
    assert copy


def test_nothing():
    assert True
