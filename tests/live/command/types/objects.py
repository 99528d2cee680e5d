"""Objects of Python that nothing refers to, though their count says so: the
output is as that of lost.h. PYTHONMALLOC=malloc gives each a block."""
import ctypes
import datetime
import sys

api = ctypes.pythonapi
api.PyObject_GC_UnTrack.argtypes = [ctypes.py_object]
api.PyObject_GC_UnTrack.restype = None


class Plain:
    pass


class Slots:
    __slots__ = ("a",)


class Meta(type):
    pass


class Classy(metaclass=Meta):
    pass


def lose(thing, name, gc=False):
    """Its memory is not freed: the count of references is one too high."""
    before = 0
    if gc:
        api.PyObject_GC_UnTrack(thing)
        before = 16
        if type(thing).__flags__ & 24 and sys.version_info >= (3, 11):
            before = 32
    api.Py_IncRef(ctypes.py_object(thing))
    return (~(id(thing) - before), name)


def lose_all(n):
    """N is 2, but not a constant, which code would refer to."""
    return [
        lose(b"x" * (50 * n), "bytes"),
        lose(bytearray(50 * n), "bytearray"),
        lose("y" * (40 * n), "str"),
        lose("ab" * n, "str"),
        lose("\u4e2d" * n, "str"),
        lose(1e300 * n, "float"),
        lose(10 ** 40 * n, "int"),
        lose(complex(1, n), "complex"),
        lose(object(), "object"),
        lose(datetime.date(2001, 2, n), "datetime.date"),
        lose([1, n], "list", True),
        lose({1: n}, "dict", True),
        lose((1, n), "tuple", True),
        lose(Plain(), "Plain", True),
        lose(Slots(), "Slots", True),
        lose(Classy(), "Classy", True),
    ]


def scrub(depth):
    """Dead frames still refer to what they had."""
    a = b = c = d = e = f = g = h = i = j = k = l = m = n = depth
    if depth > 0:
        scrub(depth - 1)
    return [a, b, c, d, e, f, g, h, i, j, k, l, m, n]


lost = lose_all(2)
scrub(100)
for hidden, expected in lost:
    print(hex(~hidden), expected)
print("ready", flush=True)
if len(sys.argv) == 1:
    sys.stdin.read()
