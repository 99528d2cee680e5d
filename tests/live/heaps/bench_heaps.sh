#!/bin/sh
# Small versions of the heaps of `make bench`: exactly what was lost when they
# were built is found, in every shape.
set -u
. tests/support/script_setup.sh
here=$PWD/tests/bench
root=$PWD
bad=0
newline='
'

${CC:-cc} -std=gnu11 -O2 -D_GNU_SOURCE -I"$root" -I"$root/include" \
    -o "$work/victim" "$here/heap.c" "$here/table.c" "$here/shapes.c" \
    "$here/load.c" "$here/writer.c" "$here/victim.c" "$here/peer_ours.c" \
    -L"$build" -lmemunreachable -Wl,-rpath,"$build" -pthread || exit 1

# The value of key $1 in the line that holds $2.
value() {
	sed -n "s/.*$2.* $1=\([0-9a-f]*\).*/\1/p" "$work/out"
}

# SETTING...: a heap, asked twice.
try() {
	printf 'check\ndigest\n' | "$work/victim" "$@" >"$work/out" 2>&1
	for key in lost lost_bytes; do
		planted=$(value $key ready)
		found=$(value $key began_ns)
		if [ -z "$planted" ] || [ "$planted" = 0 ] ||
		    [ "$found" != "$planted$newline$planted" ]; then
			echo "FAILED: $*: $key $planted, found $found"
			bad=1
		fi
	done
	if ! grep -q 'status=0' "$work/out"; then
		echo "FAILED: $*: not complete"
		cat "$work/out"
		bad=1
	fi
}

for shape in graph list shuffled wide tree cycle; do
	try shape=$shape blocks=20000
	try shape=$shape blocks=20011 freed=2 seed=5
	[ $shape = wide ] || try shape=$shape blocks=20000 lose_all=1
done
try blocks=20000 edges=8 threads=16
try blocks=20000 edges=1 freed=1
try blocks=20000 arenas=6
try blocks=20000 mappings=300
[ $bad -eq 0 ] && echo "every heap's lost blocks are found"
exit $bad
