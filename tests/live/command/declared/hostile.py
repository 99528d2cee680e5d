#!/usr/bin/env python3
"""A C program whose structures look alike, and whose pointers mislead: they are
old, cast, of unions, of void. hostile.py SEED >program.c. It includes hostile.h,
and tells what each block is."""
import random
import sys

draw = random.Random(int(sys.argv[1]))
FAMILIES = draw.randrange(8, 25)
KINDS = (["object"] * 8 + ["text"] * 2 + ["any"] * draw.randrange(3) +
         ["one_of"] * draw.randrange(3) + ["long"] * 3 + ["ints"] * 2 + ["double", "hidden", "link", "row",
                                        "label"])
MOST_ALIKE = 1 + draw.randrange(3)
ALIKE = [1 + draw.randrange(MOST_ALIKE) for _ in range(FAMILIES)]
COUNT = sum(ALIKE)


def some_type():
    return draw.randrange(COUNT)


def some_field():
    return (draw.choice(KINDS), some_type(), some_type())


def look_alike(fields):
    """A copy of FIELDS that differs in two places at most."""
    fields = list(fields)
    for _ in range(draw.randrange(3)):
        at = draw.randrange(len(fields))
        kind = fields[at][0]
        if kind in ("object", "any", "one_of", "text", "hidden"):
            fields[at] = (draw.choice(["object", "object", "any", "one_of",
                                       "long"]), some_type(), some_type())
        elif kind in ("long", "ints", "double"):
            fields[at] = (draw.choice(["long", "ints", "object"]),
                          some_type(), some_type())
        else:
            other = draw.randrange(len(fields))
            fields[at], fields[other] = fields[other], fields[at]
    return fields


types = []
for alike in ALIKE:
    first = [some_field() for _ in range(draw.randrange(2, 14))]
    types += [first] + [look_alike(first) for _ in range(alike - 1)]

DECLARED = {"object": "struct s{1} *f{0};", "text": "char *f{0};",
            "any": "void *f{0};", "long": "long f{0};",
            "one_of": "union {{ struct s{1} *a; struct s{2} *b; }} f{0};",
            "ints": "int f{0}, g{0};", "double": "double f{0};",
            "hidden": "unsigned long f{0};", "link": "struct link f{0};",
            "row": "struct s{1} *f{0}[3];", "label": "char f{0}[16];"}
FILLED = {"object": "p->f{0} = pick({1}, depth, p->f{0});",
          "text": "p->f{0} = text(p->f{0});",
          "any": "p->f{0} = pick(some(COUNT), depth, p->f{0});",
          "long": "p->f{0} = some(1000);",
          "one_of": "p->f{0}.a = pick(some(2) ? {1} : {2}, depth, p->f{0}.a);",
          "ints": "p->f{0} = some(100), p->g{0} = some(2);",
          "double": "p->f{0} = some(1000) / 7.0;",
          "hidden": "p->f{0} = (unsigned long)pick(some(COUNT), depth, 0);",
          "link": "enlist(&p->f{0});",
          "row": "p->f{0}[some(3)] = pick({1}, depth, p->f{0}[0]);",
          "label": 'if (some(2)) strcpy(p->f{0}, "label");'}

print(f"#define COUNT {COUNT}")
print('#include "tests/live/command/declared/hostile.h"\n')
for number in range(COUNT):
    print(f"struct s{number};")
for number, fields in enumerate(types):
    print(f"struct s{number} {{")
    for index, field in enumerate(fields):
        print("\t" + DECLARED[field[0]].format(index, *field[1:]))
    print("};")
for number in range(COUNT):
    print(f"struct s{number} *owned{number}[4];")
for number in range(0, COUNT, 2):
    print(f"union {{ struct s{number} *a; struct s{some_type()} *b; }}"
          f" either{number}[2];")
    print(f"struct s{number} **table{number};")
for number, fields in enumerate(types):
    print(f"static void\nfill{number}(void *block, int depth)\n{{")
    print(f"\tstruct s{number} *p = block;\n")
    for index, field in enumerate(fields):
        print("\t" + FILLED[field[0]].format(index, *field[1:]))
    print("}")
print("const struct known known[COUNT] = {")
for number in range(COUNT):
    print(f'\t{{ sizeof(struct s{number}), "s{number}", "s{number}[*]", '
          f'"s{number}*[*]", fill{number} }},')
print("};")
print("static void\nown(int type)\n{\n\tswitch (type) {")
for number in range(COUNT):
    print(f"\tcase {number}:")
    print(f"\t\tif (some(10) == 0)\n\t\t\towned{number}[some(4)] = "
          f"row({number});")
    if number % 2 == 0:
        print(f"\t\telse if (some(8) == 0)\n\t\t\ttable{number} = "
              f"pointers({number});")
        print(f"\t\telse if (some(5) == 0)\n\t\t\teither{number}[some(2)].a = "
              f"make({number}, 0);")
    print(f"\t\telse\n\t\t\towned{number}[some(4)] = make({number}, 0);")
    print("\t\tbreak;")
print("\t}\n}")
hostile = draw.randrange(4)
print(f"""int
main(void)
{{
	const struct mood mood = {{ .old = {[0, 2, 6, 12][hostile]},
		.cast = {draw.choice([0, 0, 0, 2])}, .freed = {[5, 20, 35, 50][hostile]} }};

	return play(&mood, {draw.randrange(1 << 30)}, {draw.randrange(30, 120)}, own);
}}""")
