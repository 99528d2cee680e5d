#!/usr/bin/env python3
"""Is each family of lost blocks one group, and do all totals add up?

compare.py LOST REPORT FAMILIES: LOST is the output of families.cc, REPORT JSON
with all entries. FAMILIES is how many families may share a group at most (1: by
shape; 0: they may share any). Exit status 0 or 1."""
import json
import sys

families = {}
with open(sys.argv[1], encoding="ascii") as file:
    for line in file:
        if line.startswith("0x"):
            address, family = line.rstrip("\n").split(" ", 1)
            families.setdefault(family, []).append(address)
with open(sys.argv[2], encoding="ascii") as file:
    report = json.load(file)

bad = 0
groups = report["groups"]
leaks = {leak["address"]: leak for leak in report["leaks"]}
for key, total in (("total_bytes", "leak_bytes"), ("blocks", "num_leaks")):
    rest = {"total_bytes": "unreported_group_bytes",
            "blocks": "unreported_group_blocks"}[key]
    summed = sum(group[key] for group in groups) + report[rest]
    if summed != report[total]:
        print(f"{key} of all groups: {summed}, not {report[total]}")
        bad = 1
users = {}
for family, addresses in families.items():
    numbers = {leaks[address]["group"] for address in addresses
               if address in leaks}
    if len(numbers) != 1:
        print(f"{family}: groups {numbers}")
        bad = 1
        continue
    number = numbers.pop()
    users.setdefault(number, []).append(family)
    if sys.argv[3] == "1" and groups[number]["count"] != len(addresses):
        print(f"{family}: {groups[number]['count']} in the group,"
              f" not {len(addresses)}")
        bad = 1
for number, names in users.items():
    if sys.argv[3] == "1" and len(names) > 1:
        print(f"group {number}: {names}")
        bad = 1
for before, after in zip(groups, groups[1:]):
    if before["total_bytes"] < after["total_bytes"]:
        print("groups are not sorted by their totals")
        bad = 1
print(f"{len(families)} families, {len(groups)} groups,"
      f" {len(leaks)} entries, {report['leak_bytes']} bytes")
sys.exit(bad)
