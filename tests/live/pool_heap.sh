#!/bin/sh
# The example of a heap that the program brings finds what its pool has lost.
set -u
# shellcheck source=tests/support/command.sh
. "$(dirname "$0")/../support/command.sh"

"$build/examples/pool_heap" >"$out" 2>"$err" || fail "exit status $?"
has "$out" '2 of 4 blocks are lost'
has "$out" '16 bytes of the pool, and with it 24 more'

[ "$failures" -eq 0 ]
