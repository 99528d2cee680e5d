#!/usr/bin/env python3
"""Usage: check_documents.py

What documents and comments name exists: files, our functions, manual pages.
Every header documents its functions, and it or the README of its folder
("Where code runs") says where they run. Run it in the project's folder."""

import os
import re
import sys

FOLDERS = ('include', 'heapwalk', 'ptrace', 'lib', 'tests', 'examples', 'man')
ENDINGS = ('.c', '.h', '.cc', '.hpp', '.sh', '.py', '.md', '.json')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"')
PATH = re.compile(r'(?<![\w/.*{<$-])(?:\./)?((?:[\w.-]+/)*[\w-]+\.(?:c|h|cc|hpp|sh|py'
                  r'|md|json))(?![\w*]|\.\w)')
CALL = re.compile(r'\b(mu_\w+|memunreachable_\w+|leaktracer_\w+)\(')
# Files of glibc and other programs, and those of examples, without a folder.
FOREIGN = set('''malloc.c arena.c heap.c dl-minimal.c dl-dtv.h version.h list.c
    served.c program.c strdup.c mimalloc.h malloc_extension_c.h libc-lock.h
    malloc-hugepages.h malloc-size.h test-lib.sh leaks.json script.sh
    run-tests.sh native_heapdump_viewer.py'''.split())


def read(name):
    with open(name, encoding='utf-8', errors='replace') as file:
        return file.read()


def project():
    found = [name for name in os.listdir('.') if os.path.isfile(name)]
    for folder in FOLDERS + ('.github',):
        for place, _, names in os.walk(folder):
            found += [os.path.join(place, name) for name in names]
    return found


def without_comments(text):
    lines = COMMENT.sub('', text).split('\n')
    return '\n'.join(line for line in lines
                     if not line.startswith('#') and line[-1:] != '\\')


def declarations(text):
    """The parts of a header between empty lines outside of braces."""
    part, depth = [], 0
    for line in text.split('\n') + ['']:
        if line.strip() or depth > 0:
            part.append(line)
            code = COMMENT.sub('', LITERAL.sub('', line))
            depth = max(0, depth + code.count('{') - code.count('}'))
        elif part:
            yield '\n'.join(part)
            part = []


def functions(text):
    """(name, documented) of each function that a header declares."""
    for part in declarations(text):
        head = without_comments(part).split('{')[0]
        head = re.sub(r'(static )?__attribute__\(\(.*?\)\)+', '', head).strip()
        if re.match(r'typedef|enum|union|extern|_Static_assert|'
                    r'(?!.*\().*=|struct \w+\s*(;|$)|static const .*\[', head):
            head = re.sub(r'^[^;]*(;|$)', '', head)
        documented = re.match(r'(#.*\n)*(/\*|//)', part) is not None
        for name in re.findall(r'^(?:[\w ]+[ *])?(\w+)\(', head, re.M):
            if name not in ('offsetof', '_Static_assert'):
                yield name, documented


def undocumented(name, text, texts):
    found = dict()
    # What depends on the CPU is documented one folder up.
    above = re.sub(r'/(x86_64|aarch64)/', '/', name)
    for one in {name, above} & set(texts):
        for function, documented in functions(texts[one]):
            found[function] = found.get(function) or documented
    mine = {function for function, _ in functions(text)}
    return sorted(one for one in mine if not found[one])


def says_where(name, text, texts):
    """True if the header NAME or a README says where its functions run."""
    if re.search(r'Runs in|Pure\.', text) or not list(functions(text)):
        return True
    folder = os.path.dirname(name)
    while folder and f'{folder}/README.md' not in texts:
        folder = os.path.dirname(folder)
    section = re.search(r'^## Where code runs\n(.*?)^## ',
                        texts.get(f'{folder}/README.md', '') + '\n## ',
                        re.M | re.S)
    if section is None:
        return False
    return ('unless a header says otherwise' in section.group(1) or
            f'`{name[len(folder) + 1:].split("/")[0]}/`' in section.group(1))


def main():
    files = project()
    bases = {os.path.basename(name) for name in files} | FOREIGN
    texts = {name: read(name) for name in files
             if name.endswith(ENDINGS) or name.startswith('man/')}
    code = '\n'.join(COMMENT.sub(' ', text) for name, text in texts.items()
                     if name.endswith(('.c', '.h', '.cc', '.hpp')))
    words = set(re.findall(r'\w+', code))
    bad = []

    roots = set(FOLDERS) | {one for folder in FOLDERS
                            for one in os.listdir(folder)
                            if os.path.isdir(os.path.join(folder, one))}

    def exists(path):
        if '/' not in path:
            return path in bases
        if path.split('/')[0] not in roots or re.match('include/linux/', path):
            return True     # of the kernel, or of glibc
        return any(('/' + name).endswith('/' + path) for name in files)

    for name, text in sorted(texts.items()):
        place = os.path.dirname(name)
        if name.endswith('.md'):
            for link in re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', text):
                if not os.path.exists(os.path.join(place, link)):
                    bad.append(f'{name}: no {link}')
            prose = text
        elif name.startswith('man/'):
            prose = text
            for page, section in re.findall(
                    r'^\.Xr (\S*memunreachable\S*|\S+Unreachable\S*) (\d)',
                    text, re.M):
                if not os.path.exists(f'man/{page}.{section}'):
                    bad.append(f'{name}: no {page}({section})')
            for call in re.findall(r'^\.Fn (memunreachable_\w+)', text, re.M):
                if call not in words:
                    bad.append(f'{name}: no {call}()')
        elif name.endswith(('.c', '.h', '.cc', '.hpp')):
            if re.match(r'(include/mu|heapwalk|ptrace|lib)/.*\.h$', name):
                for function in undocumented(name, text, texts):
                    bad.append(f'{name}: {function}() is not documented')
                if not says_where(name, text, texts):
                    bad.append(f'{name}: where do its functions run?')
            prose = '\n'.join(COMMENT.findall(LITERAL.sub('""', text)))
        elif name.endswith(('.sh', '.py')):
            prose = '\n'.join(re.findall(r'^\s*# .*', text, re.M))
        else:
            continue
        for path in PATH.findall(prose):
            if not exists(path):
                bad.append(f'{name}: no {path}')
        for call in CALL.findall(prose):
            if call not in words:
                bad.append(f'{name}: no {call}()')
    for line in sorted(set(bad)):
        print(f'check-documents: {line}')
    return 1 if bad else 0


sys.exit(main())
