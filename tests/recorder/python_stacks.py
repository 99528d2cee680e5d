"""Lose blocks of different sizes in many kinds of Python code, and print for
each of them the functions and lines that sys._getframe() shows."""
import contextlib
import ctypes
import functools
import itertools
import json
import sys
import threading

malloc = ctypes.CDLL(None).malloc
malloc.restype = None
malloc.argtypes = [ctypes.c_size_t]
sizes = itertools.count(2008, 16)
expected = {}


def note(size):
    frames = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        name = getattr(code, 'co_qualname', code.co_name)
        frames.append([name, code.co_filename, frame.f_lineno])
        frame = frame.f_back
    expected[size] = frames


def lose(*ignored):
    size = next(sizes)
    return note(size), malloc(size)


class Shop:
    lose()

    def method(self):
        return lose(
            1,
            2)

    @classmethod
    def of_class(cls):
        lose()

    @staticmethod
    def static():
        lose()

    @property
    def value(self):
        return lose()

    def __getattr__(self, name):
        return lose(name)

    def __lt__(self, other):
        lose()
        return False

    def __enter__(self):
        lose()

    def __exit__(self, *ignored):
        lose()


def generate():
    lose()
    yield 1
    lose()


def delegate():
    yield from generate()


async def wait():
    lose()


async def wait_more():
    await wait()


def deep(n):
    return lose() if n == 0 else deep(n - 1)


def decorate(function):
    @functools.wraps(function)
    def inner(*args):
        lose()
        return function(*args)
    return inner


@decorate
def decorated():
    lose()


@contextlib.contextmanager
def manage():
    lose()
    yield
    lose()


def fail():
    try:
        raise ValueError
    except ValueError:
        lose()
    finally:
        lose()


def backwards():
    return [lose,
            lose][
        lose() is None](
            lose(),
            [lose()])


def run(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        pass


def replace_code():
    """Code is freed, and other code takes its place and that of its table."""
    first = next(sizes)
    scope = {'malloc': malloc, 'size': first}
    for i in range(40):
        source = '%smalloc(size)\n' % ('\n' * i)
        code = compile(source.ljust(60), 'again', 'exec')
        exec(code, scope)
        del code, source
        scope['size'] += 16
        next(sizes)
    note(first)
    line = replace_code.__code__.co_firstlineno + 7
    outer = expected.pop(first)[1:]
    here = ['replace_code', __file__, line]
    for i in range(40):
        expected[first + 16 * i] = [['<module>', 'again', i + 1], here, *outer]


def naïve_ключ():
    lose()


def all_kinds():
    shop = Shop()
    shop.method(), shop.of_class(), shop.static(), shop.value
    shop.missing
    sorted([Shop(), Shop()])
    [lose() for i in range(2)]
    list(map(lose, range(2)))
    (lambda: lose())()
    list(delegate())
    run(wait_more())
    deep(20)
    decorated()
    with manage():
        pass
    with shop:
        lose()
    fail()
    backwards()
    naïve_ключ()
    scope = {'lose': lose}
    # A function of thousands of bytes and lines.
    exec(compile('def long():\n' + '\n' * 300 + ' x = 1\n' * 5000 +
                 ' lose()\n' + '\n' * 70000 + ' lose()\nlong()',
                 'a "file", \\ of\x1bodd ü name \udcff', 'exec'), scope)
    eval('lose()', scope)
    # Code that is freed, and other code at its address.
    replace_code()


all_kinds()
thread = threading.Thread(target=all_kinds)
thread.start()
thread.join()
for i in range(300):  # registers and stacks have no old addresses
    malloc(100)
deep(30)
json.dump(expected, sys.stdout)
print('\nready', flush=True)
sys.stdin.read()
