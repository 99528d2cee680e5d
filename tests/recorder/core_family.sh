#!/bin/sh
# Every call of malloc's family and every form of new and delete, under each
# option, and with other allocators behind the recorder.
set -u
. tests/recorder/core_play.inc

# Without options the recorder changes nothing.
expect 0 "" "$here/core_family"
expect 0 "" "$here/core_new"

for options in leak_track backtrace "backtrace backtrace_full" \
    verify_pointers front_guard=64 rear_guard=7 guard expand_alloc=33 \
    "fill_on_free=10 expand_alloc"; do
	expect 0 "$options" "$here/core_family" recorded
	expect 0 "$options" "$here/core_new" recorded
done
for options in fill free_track=3 \
    "guard free_track fill verify_pointers expand_alloc backtrace=4"; do
	expect 0 "$options" "$here/core_family" recorded small
	expect 0 "$options" "$here/core_new" recorded
done
# Some blocks are recorded; all calls behave as without the recorder.
expect 0 backtrace_sample=10000 "$here/core_family"
expect 0 record_allocs=100000 "$here/core_new"

# Other allocators judge invalid calls differently from glibc: make valid calls
# only.
for name in jemalloc.so.2 mimalloc.so.2 tcmalloc.so.4 tcmalloc_minimal.so.4; do
	PRELOAD=$(/sbin/ldconfig -p 2>/dev/null |
	    sed -n "s/.*lib$name .*=> //p" | head -n 1)
	[ -n "$PRELOAD" ] || {
		echo "lib$name is not here"
		continue
	}
	for options in leak_track \
	    "guard free_track=50 verify_pointers fill backtrace=4"; do
		expect 0 "$options" "$here/core_churn" 0.2 2
	done
done
PRELOAD=
[ "$failures" -eq 0 ]
