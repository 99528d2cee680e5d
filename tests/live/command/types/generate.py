#!/usr/bin/env python3
"""A C program with many structures, of which it loses some, and blocks that are
none: generate.py SEED >program.c. It includes lost.h."""
import random
import sys

draw = random.Random(int(sys.argv[1]))
STRUCTURES = 150
LOST = 200

KINDS = (["object"] * 7 + ["text"] * 3 + ["void"] + ["code"] + ["int"] * 5 +
         ["long"] * 2 + ["double"] + ["bool"] + ["label"] + ["numbers"])
DECLARED = {"text": "char *%s;", "void": "void *%s;",
            "code": "int (*%s)(void);", "int": "int %s;", "long": "long %s;",
            "double": "double %s;", "bool": "_Bool %s;",
            "label": "char %s[16];", "numbers": "int *%s;"}
WORDS = ["alice", "a longer text with blanks", "/usr/share/doc", "x=1",
         "content-type", "0123456789"]

structures = []
for number in range(STRUCTURES):
    fields = []
    for _ in range(draw.randrange(2, 11)):
        kind = draw.choice(KINDS)
        fields.append((kind, draw.randrange(STRUCTURES)))
    structures.append(fields)

print('#include "lost.h"\n')
for number in range(STRUCTURES):
    print(f"struct s{number};")
for number, fields in enumerate(structures):
    print(f"struct s{number} {{")
    for index, (kind, target) in enumerate(fields):
        if kind == "object":
            print(f"\tstruct s{target} *f{index};")
        else:
            print("\t" + DECLARED[kind] % f"f{index}")
    print("};")
print("static int code(void) { return 1; }")

lines = []
count = 0


def fill(number, depth):
    """Allocate and fill a structure; returns its variable."""
    global count
    count += 1
    name = f"v{count}"
    lines.append(f"struct s{number} *{name} = "
                 f"{draw.choice(['calloc(1, ', 'malloc('])}sizeof(*{name}));")
    for index, (kind, target) in enumerate(structures[number]):
        field = f"{name}->f{index}"
        value = "0"
        if kind == "object":
            if depth < 3 and draw.random() < 0.6:
                value = fill(target, depth + 1)
        elif kind == "text":
            if draw.random() < 0.7:
                value = f'strdup("{draw.choice(WORDS)}")'
        elif kind == "void":
            if draw.random() < 0.5:
                value = f"malloc({draw.randrange(1, 99)})"
        elif kind == "code":
            value = draw.choice(["code", "0"])
        elif kind == "numbers":
            value = f"calloc({draw.randrange(1, 20)}, sizeof(int))"
        elif kind == "double":
            value = str(draw.uniform(-1000, 1000))
        elif kind == "bool":
            value = str(draw.randrange(2))
        elif kind == "label":
            lines.append(f'strcpy({field}, "label");')
            continue
        else:
            value = str(draw.choice([0, 1, draw.randrange(100),
                                     draw.randrange(1 << 30)]))
        lines.append(f"{field} = {value};")
    return name


def other():
    """A block that is no structure."""
    global count
    count += 1
    name = f"v{count}"
    words = draw.randrange(1, 20)
    kind = draw.randrange(5)
    lines.append(f"unsigned long *{name} = calloc({words}, 8);")
    for i in range(words):
        if kind == 0:
            value = draw.randrange(1 << 31)
        elif kind == 1:
            value = "(unsigned long)calloc(1, 40)"
        elif kind == 2:
            value = f'(unsigned long)strdup("{draw.choice(WORDS)}")'
        elif kind == 3:
            value = f"{draw.randrange(1 << 62)}ul"
        else:
            value = "0" if i else f"{draw.randrange(1, words + 1)}"
        lines.append(f"{name}[{i}] = {value};")
    return name


functions = []
for lost in range(LOST):
    lines = []
    if lost % 3 == 0:
        lines.append(f'lose({other()}, "?");')
    else:
        number = draw.randrange(STRUCTURES)
        lines.append(f'lose({fill(number, 0)}, "s{number}");')
    body = "\n\t".join(lines)
    print(f"static __attribute__((noinline)) void\nlose{lost}(void)\n"
          f"{{\n\t{body}\n}}")
print("int\nmain(int argc, char **argv)\n{\n\t(void)argv;")
# Memory that is allocated has something in it, as in a program that works.
print("\tvoid *used[300];\n\tfor (int i = 0; i < 300; i++) {\n"
      "\t\tused[i] = malloc(24 + i % 20 * 16);\n"
      "\t\tfor (int j = 0; j < 3 + i % 20 * 2; j++)\n"
      "\t\t\t((void **)used[i])[j] = used[i / 2];\n\t}\n"
      "\tfor (int i = 0; i < 300; i++)\n\t\tfree(used[i]);")
for lost in range(LOST):
    print(f"\tlose{lost}();")
print("\tmemset(used, 0, sizeof(used));")
print('\t__asm__ volatile("" : : "r"(used) : "memory");')
print("\treturn tell_lost(argc);\n}")
