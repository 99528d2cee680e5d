#!/bin/sh
# What the idle library costs: malloc/free throughput with it preloaded over
# without it, alternated A B A B so that a machine that warms up or is shared
# treats both alike. Prints medians and their ratio; the goal is 1.00 +- 0.01.
#
# Usage: idle.sh [ROUNDS [MILLIONS]]
set -u
build=$(cd "${BUILD:-build}" && pwd) || exit 1
library=$build/libmemunreachable.so
rounds=${1:-11}
millions=${2:-20}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

${CC:-cc} -O2 -o "$work/malloc_loop" \
    "$(dirname "$0")/malloc_loop.c" || exit 1
"$work/malloc_loop" "$millions" >/dev/null

median() {
	sort -n "$1" | awk '{ v[NR] = $1 }
	    END { print NR % 2 ? v[(NR + 1) / 2]
			       : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

i=0
while [ $i -lt "$rounds" ]; do
	i=$((i + 1))
	"$work/malloc_loop" "$millions" >>"$work/without"
	LD_PRELOAD=$library "$work/malloc_loop" "$millions" >>"$work/with"
done
without=$(median "$work/without")
with=$(median "$work/with")
echo "malloc+free, ns a pair, median of $rounds:" \
    "without $without, with $with (idle)"
awk -v a="$with" -v b="$without" \
    'BEGIN { printf "with / without: %.4f (goal 1.00 +- 0.01)\n", a / b }'
