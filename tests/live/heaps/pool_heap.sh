#!/bin/sh
# The example of a registered heap finds what its pool has lost.
set -u
. tests/support/command/command.sh

"$build/examples/pool_heap" >"$out" 2>"$err" || fail "exit status $?"
has "$out" '2 of 4 blocks are lost'
has "$out" '16 bytes of the pool, and with it 24 more'

# Where the heap of malloc cannot be read that of the program is: two messages,
# without their texts.
for library in /usr/lib/*/libjemalloc.so.2 /usr/lib64/libjemalloc.so.2; do
	[ -e "$library" ] || continue
	LD_PRELOAD=$library "$build/examples/pool_heap" >"$out" 2>"$err" ||
		fail "with $library: exit status $?"
	has "$out" '1 of 2 blocks are lost'
done

[ "$failures" -eq 0 ]
