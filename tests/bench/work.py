"""Work for an interpreter: many small blocks, under PYTHONMALLOC=malloc."""

import json


def main():
    words = {}
    for i in range(120000):
        words.setdefault("k%d" % (i % 4001), []).append((i, str(i)))
    for _ in range(3):
        text = json.dumps(words)
        again = json.loads(text)
        total = sum(len(v) for v in again.values())
    lines = sorted(("%08d %s" % (i * 7919 % 100003, "x" * (i % 60))
                    for i in range(100000)))
    return total + len("\n".join(lines).split())


if __name__ == "__main__":
    print(main())
