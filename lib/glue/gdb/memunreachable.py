"""gdb: what the inferior, or the core that is open, has lost.

    (gdb) source /usr/local/share/memunreachable/memunreachable.py
    (gdb) memunreachable leaks [OPTION]...
    (gdb) memunreachable why ADDRESS [OPTION]...

OPTIONs are those of memunreachable(1). A process that gdb holds cannot be
looked at by another tracer: its image is written to a core file by gcore, which
is removed afterwards. ADDRESS is an expression. The command is `memunreachable`
in PATH, or $MEMUNREACHABLE.
"""

import os
import re
import shlex
import subprocess
import tempfile

import gdb


def _core_of_gdb():
    """The core file that is open; None: the inferior is a process."""
    target = gdb.execute('info target', to_string=True)
    match = re.search(r"^\s*`(.*)', file type elf\S*core", target, re.M) or \
        re.search(r"Local core dump file:\n\s*`(.*)', file type", target)
    return match.group(1) if match else None


def _show(core, options):
    command = [os.environ.get('MEMUNREACHABLE', 'memunreachable'), '-q',
               '--color=never', '--core=' + core]
    program = gdb.current_progspace().filename
    if program:
        command.append('--exe=' + program)
    done = subprocess.run(command + options, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    gdb.write(done.stdout.decode(errors='replace'))
    gdb.set_convenience_variable('memunreachable_status', done.returncode)


def _look(options):
    core = _core_of_gdb()
    if core is not None:
        _show(core, options)
        return
    if gdb.selected_inferior().pid == 0:
        raise gdb.GdbError('There is no process and no core file.')
    with tempfile.TemporaryDirectory(prefix='memunreachable-') as folder:
        core = os.path.join(folder, 'core')
        gdb.execute('gcore ' + core, to_string=True)
        _show(core, options)


class _Prefix(gdb.Command):
    """Find memory that nothing points to any more."""

    def __init__(self):
        super().__init__('memunreachable', gdb.COMMAND_DATA, prefix=True)


class _Leaks(gdb.Command):
    """memunreachable leaks [OPTION]...: show the blocks that are lost."""

    def __init__(self):
        super().__init__('memunreachable leaks', gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        _look(shlex.split(argument))


class _Why(gdb.Command):
    """memunreachable why ADDRESS [OPTION]...: show what holds that block."""

    def __init__(self):
        super().__init__('memunreachable why', gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        words = shlex.split(argument)
        if not words:
            raise gdb.GdbError('The address of a block is missing.')
        address = int(gdb.parse_and_eval(words[0]).cast(
            gdb.lookup_type('unsigned long')))
        _look(['--why=0x%x' % address, *words[1:]])


_Prefix()
_Leaks()
_Why()
