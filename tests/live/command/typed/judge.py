#!/usr/bin/env python3
"""How much of what a program lost and holds does a report name rightly?

judge.py TOLD REPORT SHARES: TOLD is the output of a program (typed.h), REPORT is in JSON, with
all entries, --in-use and --why=1000:*. A name that is called certain must be right. To the
file SHARES are added the lost bytes that are named rightly, all lost bytes, and the same of
live ones. Exit status 0 or 1."""
import json
import re
import sys

# What programs have before main(), and for their output.
RUNTIME = ("pool of the C++ runtime for exceptions", "char[4096]", "char[1024]")
RUNTIME_SIZES = (4104, 1032, 72712, 73736)
CONTENT = ("text", "pointer to text")


def plain(name):
    """What compilers and libraries write differently."""
    name = re.sub(r"\bstd::(__cxx11|__1)::", "std::", name)
    name = re.sub(r"\blong int\b", "long", name)
    name = re.sub(r"\bstd::pair<", "pair<", name)
    name = re.sub(r"\bconst (int|long|char)\b", r"\1 const", name)
    name = name.replace("std::basic_string<char, std::char_traits<char>, "
                        "std::allocator<char>>", "std::string")
    return re.sub(r" +([>*\[])", r"\1", name)


def fits(name, pattern):
    if name in CONTENT:
        return pattern.startswith("char[") or pattern in CONTENT
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), name) is not None


def right(given, pattern):
    """One of "A, B or C"."""
    return any(fits(one, each) for each in pattern.split("|") for one in
               [given] + re.split(r", (?![^<]*>)| or ", given))


told = {"lost": {}, "held": {}, "also": {}}
with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        if line[:4] in told:
            what, address, name = line.rstrip("\n").split(" ", 2)
            told[what][name if what == "also" else address] = plain(name)
names = {name for some in told.values() for name in some.values()}
with open(sys.argv[2], encoding="utf-8") as file:
    report = json.load(file)
wrong, missed = [], {}


def known(given):
    return given is not None and (given in CONTENT or
                                  any(right(plain(given), name) for name in names))


def miss(what, given, count, size):
    key = (what, given)
    missed[key] = missed.get(key, 0) + count * size


# Lost: the heads by address, what hangs on them by the names of all blocks.
for leak in report["leaks"]:
    pattern = told["lost"].get(leak["address"])
    if leak["address"] in told["held"]:
        wrong.append(f"lost, but held: {leak['address']} {told['held'][leak['address']]}")
    if leak.get("certain") and pattern and not right(plain(leak["type"]), pattern):
        wrong.append(f"certain, and wrong: {leak['type']} is {pattern}")
heads = {group["example"]: group for group in report["groups"]}
lost_bytes = named_lost = 0
for leak in report["leaks"]:
    pattern = told["lost"].get(leak["address"])
    given = leak.get("type")
    lost_bytes += leak["size"]
    if given and (right(plain(given), pattern) if pattern else known(given)):
        named_lost += leak["size"]
    else:
        miss(f"lost, {pattern}", given, 1, leak["size"])
for group in report["groups"]:
    hanging = group["total_bytes"] - group["bytes"]
    listed = sum(hold["bytes"] for hold in group["holds"])
    good = 0
    for hold in group["holds"]:
        if known(hold["type"]):
            good += hold["bytes"]
        else:
            miss(f"hangs at {group['type']}.{hold['field']}", hold["type"],
                 group["count"], hold["bytes"])
    lost_bytes += hanging
    # What hangs on the example stands for all of the group.
    example = next(leak for leak in report["leaks"] if leak["address"] == group["example"])
    whole = max(example["referenced_size"], listed, 1)
    named_lost += hanging * good // whole
    if whole > listed:
        miss(f"hangs on {group['type']}, not listed", None, group["count"], whole - listed)

# Live: all rows by the names of all blocks, and the told blocks by address.
live_bytes = named_live = 0
for row in report["in_use"]:
    if row["size"] in RUNTIME_SIZES and row["type"] in RUNTIME:
        continue
    live_bytes += row["bytes"]
    if known(row["type"]):
        named_live += row["bytes"]
    else:
        miss("live", row["type"], row["count"], row["size"])
        if row["certain"]:
            print(f"certain, and not told: {row['type']}")
by_address = {one["why"][-1]["address"]: one["why"][-1]
              for one in report["why_type"]["nearest"] if one["why"]}
told_right = probably_wrong = 0
for address, pattern in told["held"].items():
    step = by_address.get(address)
    given = step["type"] if step else None
    if given and right(plain(given), pattern):
        told_right += 1
    elif given and step["certain"]:
        wrong.append(f"certain, and wrong: {given} is {pattern}")
    else:
        probably_wrong += given is not None and given not in CONTENT
        miss(f"held, {pattern}", given, 1, 0)
for (what, given), size in sorted(missed.items(), key=lambda item: -item[1]):
    print(f"{size} bytes: {what}: {given}")
print("\n".join(wrong))
lost = 100 * named_lost // max(lost_bytes, 1)
live = 100 * named_live // max(live_bytes, 1)
print(f"{lost} % of {lost_bytes} lost bytes, {live} % of {live_bytes} live bytes, "
      f"{told_right} of {len(told['held'])} told blocks named; {len(wrong)} certain names wrong")
with open(sys.argv[3], "a", encoding="ascii") as file:
    print(named_lost, lost_bytes, named_live, live_bytes, file=file)
if probably_wrong * 4 > told_right:
    print(f"{probably_wrong} names of held blocks are wrong, {told_right} are right")
    sys.exit(1)
if wrong or lost_bytes == 0 or live_bytes == 0 or not told["lost"] or not told["held"]:
    sys.exit(1)
