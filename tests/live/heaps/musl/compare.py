"""compare.py RECORD REPORT...: the blocks of each report are those of the record.

RECORD has an address and an asked size in each line; a report has a size of at
most 15 bytes more, and at least one.
"""
import json
import sys


def record(path):
    with open(path, encoding="ascii") as lines:
        return {
            int(words[0], 16): int(words[1])
            for words in map(str.split, lines)
            if len(words) == 2
        }


def compare(wanted, path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    found = {int(leak["address"], 16): leak["size"] for leak in report["leaks"]}
    missing = [at for at in wanted if at not in found]
    extra = [at for at in found if at not in wanted]
    other = [
        at
        for at, size in wanted.items()
        if at in found and not size <= found[at] <= max(size + 15, 1)
    ]
    right = report["status"] == "complete" and report["allocator"] == "musl"
    if right and not missing and not extra and not other:
        return True
    print(
        f"{path}: {report['status']} ({report['reason']}), {report['allocator']}:"
        f" {len(wanted)} blocks, {len(missing)} missing, {len(extra)} extra,"
        f" {len(other)} of another size: "
        + ", ".join(hex(at) for at in (missing + extra + other)[:5])
    )
    return False


blocks = record(sys.argv[1])
print(f"{len(blocks)} blocks")
sys.exit(not all([compare(blocks, path) for path in sys.argv[2:]]))
