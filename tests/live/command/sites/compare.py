"""compare.py PLAIN RECORDED: how often a report is right about the line that
allocated a block, by a report of the same program with a recorder. Of blocks of
one size those count that the line has. Prints how many lines the first report
has, and how many of these are right."""

import json
import os
import sys


def usable(size):
    return 24 if size <= 24 else ((size + 8 + 15) & ~15) - 8


def is_library(name):
    return name.startswith("/usr/include/") or "/include/c++/" in name


def line_of(frames):
    """The first line that is not of the C++ library."""
    for frame in frames:
        name = frame.get("file")
        if name and not is_library(name):
            return f"{os.path.basename(name)}:{frame['line']}"
    return None


def main():
    with open(sys.argv[1]) as file:
        plain = json.load(file)
    with open(sys.argv[2]) as file:
        recorded = json.load(file)
    lines = {}
    for leak in recorded["leaks"]:
        here = lines.setdefault(usable(leak["size"]), [])
        here += [line_of(leak["frames"])] * (1 + leak["similar_count"])
    said = right = 0
    for leak in plain["leaks"]:
        if "allocated_at" not in leak:
            continue
        # malloc() may add the rest of a chunk.
        here = lines.get(leak["size"]) or lines.get(leak["size"] - 16, [])
        said += 1
        right += here.count(leak["allocated_at"]) / max(len(here), 1)
    print(said, round(right * 100))


main()
