#!/bin/sh
# examples/leaky_cache.c, as a newcomer finds it: watch says that it leaks, and at
# which line, though its cache changes all the time.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
source=examples/leaky_cache.c

line=$(grep -n 'current = malloc' $source | cut -d: -f1)
has $source "leaky_cache.c:$line)"
name=leaky_cache out=$work/out
"${CC:-cc}" -g -o "$work/leaky_cache" $source || exit 1
# It loses one block in every 100 requests: one each 10 ms here.
"$work/leaky_cache" 100 &
pid=$!
pids="$pids $pid"
"$command" watch -q -p "$pid" --every=1s --count=9 >"$out" 2>"$work/err"
status=$?
[ $status -eq 23 ] || fail "exit status $status: $(cat "$out" "$work/err")"
like "$out" "^leak: .* blocks of 56 bytes \\(probably at leaky_cache.c:$line\\)\$"
"$command" -q -p "$pid" >"$out"
[ $? -eq 23 ] || fail "no leak: $(cat "$out")"
has "$out" "probably allocated at leaky_cache.c:$line"

[ "$failures" -eq 0 ]
