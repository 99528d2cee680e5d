#!/bin/sh
# What the idle library costs: malloc/free throughput with it preloaded over
# without it, alternated A B A B so that a machine that warms up or is shared
# treats both alike. Prints medians and their ratio; the goal is 1.00 +- 0.01.
# On a busy machine the smallest values tell more.
#
# Usage: idle.sh [ROUNDS [MILLIONS]]
set -u
build=$(cd "${BUILD:-build}" && pwd) || exit 1
library=$build/libmemunreachable.so
rounds=${1:-21}
millions=${2:-10}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

${CC:-cc} -O2 -o "$work/malloc_loop" \
    "$(dirname "$0")/malloc_loop.c" || exit 1
"$work/malloc_loop" "$millions" >/dev/null

median() {
	sort -n "$1" | awk '{ v[NR] = $1 }
		END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

i=0
while [ $i -lt "$rounds" ]; do
	i=$((i + 1))
	"$work/malloc_loop" "$millions" >>"$work/without"
	LD_PRELOAD=$library "$work/malloc_loop" "$millions" >>"$work/with"
done
smallest() {
	sort -n "$1" | head -n 1
}

# NAME WITHOUT WITH
show() {
	awk -v name="$1" -v b="$2" -v a="$3" 'BEGIN {
		printf "%s: without %.2f, with %.2f, with / without %.4f\n",
		    name, b, a, a / b }'
}

echo "malloc and free, ns of CPU time a pair, $rounds rounds of $millions" \
    "million; the library is preloaded and idle"
show median "$(median "$work/without")" "$(median "$work/with")"
show smallest "$(smallest "$work/without")" "$(smallest "$work/with")"
paste "$work/with" "$work/without" | awk '{ print $1 / $2 }' >"$work/ratios"
echo "median of the $rounds neighbours' ratios: $(median "$work/ratios")"
echo "goal: 1.00 +- 0.01"
