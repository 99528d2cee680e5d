#!/usr/bin/env python3
"""Measures memunreachable beside its peers; see README.md here.

Usage: bench.py [SECTION...] [--max BLOCKS] [--peers a,b] [--rounds N]
                [--build FOLDER]
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True  # the tree stays as it is

import measure  # noqa: E402
import report  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", default=[])
    parser.add_argument("--max", type=float, default=None)
    parser.add_argument("--peers", default=None)
    parser.add_argument("--rounds", type=int, default=None)
    parser.add_argument("--build", default=os.environ.get("BUILD", "build"))
    options = parser.parse_args()
    words = [w for s in options.sections for w in s.split(",") if w]
    words = words or ["whole"]
    try:
        bench = measure.Bench(words, options)
    except ValueError as error:
        print("bench: %s" % error, file=sys.stderr)
        return 2
    bench.run()
    return report.write(bench)


if __name__ == "__main__":
    sys.exit(main())
