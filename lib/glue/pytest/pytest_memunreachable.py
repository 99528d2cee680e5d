"""Tests fail for the C memory that they lost.

pytest --memunreachable checks every test; without the option those that are
marked @pytest.mark.no_leaks or ask for the fixture `memunreachable`. What
seems lost is what malloc allocated, for a C extension or through ctypes, and
nothing points to any more: Python's own objects are collected, not lost.

Python's allocator and malloc's cache leave the contents of freed objects as
they are, so that old addresses in them hide leaks. With the option pytest is
therefore started again with PYTHONMALLOC=malloc, and with GLIBC_TUNABLES that
make malloc overwrite what is freed; without it, set these yourself.

The library is libmemunreachable.so.0, or MEMUNREACHABLE_LIBRARY. With the
recorder preloaded (memunreachable-malloc-debug(7)) failures have the stacks of
C functions and of Python's.
"""

import ctypes
import gc
import os
import sys

import pytest

# Blocks of a thread's cache would not be filled.
_TUNABLES = 'glibc.malloc.tcache_count=0:glibc.malloc.perturb=255'

# Its frame has 200 slots, all of which it writes.
_NAMESPACE = {}
exec('def overwrite(n):\n t = (' + 'n, ' * 200 + ')\n return n and '  # noqa
     'overwrite(n - 1)', _NAMESPACE)


def _tidy():
    """Collect garbage, and overwrite what the interpreter has left behind.

    Frames that ended, and arrays of objects to be used again, keep addresses of
    freed objects, where malloc has since put blocks of the test.
    """
    gc.collect()
    junk = [[[], {}, {n: n}, (n,), n + 0.5] for n in range(300)]
    del junk
    _NAMESPACE['overwrite'](20)


class Memory:
    """The calls of memunreachable/test.h, and the fixture."""

    def __init__(self, name):
        library = ctypes.CDLL(name)
        self._begin = library.memunreachable_test_begin_at
        self._begin.argtypes = [
            ctypes.c_char_p, ctypes.c_void_p, ctypes.c_bool]
        self._begin.restype = ctypes.c_bool
        self._end = library.memunreachable_test_end
        self._end.argtypes = []
        self._end.restype = ctypes.c_char_p
        self._lost = library.memunreachable_test_lost
        self._lost.argtypes = []
        self._lost.restype = ctypes.c_size_t

    def begin(self, name, is_next=False):
        """IS_NEXT: only pytest itself ran since the last test was checked."""
        if not is_next:
            _tidy()
        self._begin(name.encode(errors='replace'), None, is_next)

    def lost(self, limit=0):
        """What was lost since the test began or the last call, or None."""
        _tidy()
        text = self._end()
        if text is None or 0 < self._lost() <= limit:
            return None
        return text.decode(errors='replace')

    def check(self, limit=0):
        """Fail if more than LIMIT bytes were lost so far."""
        __tracebackhide__ = True
        text = self.lost(limit)
        if text is not None:
            pytest.fail(text)


def pytest_addoption(parser):
    parser.getgroup('memunreachable').addoption(
        '--memunreachable', action='store_true',
        help='every test fails for the C memory that it lost')
    # Here nothing is captured yet, and no test module is loaded.
    if _is_asked() and 'PYTHONMALLOC' not in os.environ:
        argv = getattr(sys, 'orig_argv', None) or [
            sys.executable, '-m', 'pytest', *sys.argv[1:]]
        os.environ['PYTHONMALLOC'] = 'malloc'
        os.environ.setdefault('GLIBC_TUNABLES', _TUNABLES)
        recorder = os.environ.get('LIBC_DEBUG_MALLOC_OPTIONS', '')
        if 'backtrace' in recorder:
            os.environ['LIBC_DEBUG_MALLOC_OPTIONS'] = (
                recorder + ' backtrace_python')
        os.execv(sys.executable, [sys.executable, *argv[1:]])
    # The programs that tests start are not concerned.
    if os.environ.get('GLIBC_TUNABLES') == _TUNABLES:
        del os.environ['GLIBC_TUNABLES']


def _is_asked():
    words = sys.argv[1:] + os.environ.get('PYTEST_ADDOPTS', '').split()
    name = os.path.basename(sys.argv[0])
    return '--memunreachable' in words and name in (
        'pytest', 'py.test', '__main__.py')


def pytest_report_header(config):
    if os.environ.get('PYTHONMALLOC') == 'malloc':
        return None
    if not config.getoption('memunreachable'):
        return None
    return 'memunreachable: without PYTHONMALLOC=malloc leaks may be hidden'


def pytest_configure(config):
    config.addinivalue_line(
        'markers', 'no_leaks(limit=0): fail if the test loses more than '
        'LIMIT bytes of C memory')
    config.pluginmanager.register(_Plugin(config), 'memunreachable-checks')


@pytest.fixture
def memunreachable(request):
    """Checks the test; check() fails for what was lost so far."""
    return request.config.pluginmanager.get_plugin(
        'memunreachable-checks').memory


class _Plugin:
    def __init__(self, config):
        self.every = config.getoption('memunreachable')
        self.loaded = None
        self.is_next = False

    @property
    def memory(self):
        if self.loaded is None:
            name = os.environ.get(
                'MEMUNREACHABLE_LIBRARY', 'libmemunreachable.so.0')
            try:
                self.loaded = Memory(name)
            except (OSError, AttributeError) as error:
                raise pytest.UsageError(f'memunreachable: {error}') from error
        return self.loaded

    def limit(self, item):
        """The bytes that the test may lose; None: it is not checked."""
        marker = item.get_closest_marker('no_leaks')
        if marker is not None:
            return marker.args[0] if marker.args else marker.kwargs.get(
                'limit', 0)
        if self.every or 'memunreachable' in getattr(item, 'fixturenames', ()):
            return 0
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        if self.limit(item) is not None:
            self.memory.begin(item.nodeid, self.is_next)
        self.is_next = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        """Turn a call that passed into one that failed.

        What a failed assertion leaves behind is no leak of the code.
        """
        limit = self.limit(item)
        if limit is None or call.when != 'call' or call.excinfo is not None:
            return
        text = self.memory.lost(limit)
        # What a fixture loses at its end is no leak of the next test.
        self.is_next = getattr(item, 'fixturenames', None) == []
        if text is None:
            return
        path, line, name = item.location
        try:
            pytest.fail(f'{path}:{(line or 0) + 1}: {name}: memory was lost\n'
                        f'{text}', pytrace=False)
        except pytest.fail.Exception:
            call.excinfo = pytest.ExceptionInfo.from_current()
