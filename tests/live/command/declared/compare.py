#!/usr/bin/env python3
"""Has each live block the type that the program tells?

compare.py TOLD REPORT NAMED BYTES: TOLD is the output of a program (told.h), REPORT is in
JSON, with --why=1000:* and --in-use. A certain name must be right. NAMED is how many percent of the told blocks must be named, rightly; BYTES, how
many percent of the live bytes must have a type. Exit status 0 or 1."""
import fnmatch
import json
import re
import sys


def plain(name):
    name = re.sub(r"\blong int\b", "long", name)
    return re.sub(r" +([>*])", r"\1", name)


told = {}
with open(sys.argv[1], encoding="ascii") as file:
    for line in file:
        if line.startswith("0x"):
            address, name = line.rstrip("\n").split(" ", 1)
            told[address] = name
with open(sys.argv[2], encoding="ascii") as file:
    report = json.load(file)
held, in_use = report["why_type"]["nearest"], report["in_use"]

bad = named = probable = wrong = certain = 0
found = {one["why"][-1]["address"]: one["why"][-1] for one in held if one["why"]}
for address, name in told.items():
    step = found.get(address)
    given = plain(step["type"]) if step and step["type"] else None
    right = given is not None and fnmatch.fnmatchcase(
        given, name.replace("[", "[[]"))
    if given == "text" and name.startswith("char["):
        right = True
    named += right
    if given is not None and not step["certain"]:
        probable += 1
        wrong += not right
    certain += right and step["certain"]
    if given is not None and step["certain"] and not right:
        print(f"certain, and wrong: {given} is {name}")
        bad = 1
    if not right:
        print(f"{address}, {name}: {given}")
share = 100 * named // max(len(told), 1)
live = sum(row["bytes"] for row in in_use)
typed = sum(row["bytes"] for row in in_use if row["type"] is not None)
for row in in_use:
    if row["type"] is None:
        print(f"no type: {row['count']} of {row['size']} bytes")
typed = 100 * typed // max(live, 1)
print(f"{share} % of {len(told)} told blocks named rightly, {wrong} of "
      f"{probable} probable names wrong; {typed} % of live bytes have a type; "
      f"{certain} certain names")
if share < int(sys.argv[3]) or typed < int(sys.argv[4]):
    bad = 1
sys.exit(bad)
