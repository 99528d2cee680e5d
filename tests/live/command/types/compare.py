#!/usr/bin/env python3
"""Has each lost block the type that the program tells?

compare.py LOST REPORT NAMED [FOUND]: LOST is the output of a program (lost.h), REPORT
JSON. A certain name must be right, a probable one may only be missing or wrong
in few cases, where there are types at all. NAMED is how many percent of the blocks with a type must be named,
rightly; FOUND, of all of them, must be in the report (90). Exit status 0 or
1."""
import json
import re
import sys


def plain(name):
    """What compilers and libraries write differently."""
    name = re.sub(r"\bstd::(__cxx11|__1)::", "std::", name)
    name = re.sub(r"\bstd::pair<", "pair<", name)
    name = re.sub(r"\bstd::__value_type<(\w+), ", r"pair<\1 const, ", name)
    name = re.sub(r"\bconst int\b", "int const", name)
    name = re.sub(r" +>", ">", name)
    return name.replace("std::basic_string<char, std::char_traits<char>, "
                        "std::allocator<char>>", "std::string")


expected = {}
with open(sys.argv[1], encoding="ascii") as file:
    for line in file:
        if line.startswith("0x"):
            address, name = line.rstrip("\n").split(" ", 1)
            expected[address] = name
with open(sys.argv[2], encoding="ascii") as file:
    leaks = {leak["address"]: leak for leak in json.load(file)["leaks"]}

bad = found = total = named = probable = wrong = first = 0
for address, name in expected.items():
    if address not in leaks:
        continue
    found += 1
    leak = leaks[address]
    if leak["type"] is not None:
        given = plain(leak["type"])
        # "A, B or C"
        candidates = re.split(r", (?![^<]*>)| or ", given)
        right = given == plain(name) or plain(name) in candidates
        if leak["certain"] and not right:
            print(f"certain, and wrong: {given} is {name}")
            bad = 1
        if not leak["certain"] and leak["type_source"] != "content":
            probable += 1
            wrong += not right
            first += plain(name) in (given, candidates[0])
    else:
        given = None
        right = False
    if name != "?":
        total += 1
        named += right
        if not right:
            print(f"{leak['size']} bytes of {name}: {given}")
share = 100 * named // max(total, 1)
print(f"{found} of {len(expected)} blocks found, {share} % of {total} types "
      f"named, {probable} names probable, {wrong} of them wrong, the first is "
      f"right of {first}")
least = int(sys.argv[4]) if len(sys.argv) > 4 else 90
if found < len(expected) * least // 100 or share < int(sys.argv[3]):
    bad = 1
if total > 0 and wrong * 5 > max(probable, 5):
    bad = 1
sys.exit(bad)
