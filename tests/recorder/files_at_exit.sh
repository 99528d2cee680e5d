#!/bin/sh
# What is written at exit, the journal line by line, and what is not written
# without an option.
set -u
. tests/support/script_setup.sh
program=$build/tests/recorder/files_program

run() {
	rm -rf "${work:?}"/*
	timeout 60 env TMPDIR="$work" LIBC_DEBUG_MALLOC_OPTIONS="$1" \
	    LD_PRELOAD="$recorder" "$program" "$2" >"$work/out" 2>"$work/err" ||
	    fail "$1 $2: status $?"
}

run "bt bt_dmp_on_ex" lose
set -- "$work"/backtrace_heap.*.exit.txt
if [ -e "$1" ]; then
	[ "$(grep -c '^z 1  sz     4242  num    3  bt ' "$1")" -eq 2 ] ||
	    fail at_exit: records
else
	fail at_exit
fi
run bt_dmp_on_ex lose
[ "$(ls "$work"/backtrace_heap* 2>/dev/null)" = "" ] ||
    fail at_exit_alone_is_nothing
[ ! -s "$work/err" ] || fail at_exit_alone_says_nothing

run log_allocator_stats_on_exit lose
grep -q '^in use bytes' "$work/err" || fail stats_at_exit

run "record_allocs record_allocs_on_exit" operations
set -- "$work"/record_allocs.txt.*
if [ -e "$1" ]; then
	# The lines of the program's main thread from its first block on, with
	# addresses replaced by a, b, ... in the order of their appearance.
	awk '/ 1111 / { on = 1 } on {
		if ($2 == "malloc" && $4 == 777) { tid = $1 }
		if (tid && $1 == tid && $2 !~ /^(malloc|free|thread_done)$/)
			next
		name($3)
		if ($2 == "realloc") name($4)
		if ($2 == "thread_done" ? NF != 4 : $NF < $(NF - 1))
			print "times: " $0
		line = (tid && $1 == tid) ? "thread" : "main"
		if (line == "main" && $2 == "calloc" && $4 != 3) next
		last = NF - ($2 == "thread_done" ? 1 : 2)
		for (i = 2; i <= last; i++) line = line " " $i
		print line
	}
	function name(p) {
		if (p != "0x0" && !(p in names)) names[p] = 1
		gsub(p, p == "0x0" ? p : "P")
	}' "$1" >"$work/got"
	cat >"$work/want" <<-'END'
	main malloc P 1111
	main realloc P P 2222
	main free P
	main calloc P 3 333
	main free P
	main memalign P 64 444
	main free P
	main memalign P 128 555
	main free P
	main memalign P 256 768
	main free P
	main malloc P 999
	main realloc 0x0 P 0
	thread malloc P 777
	thread free P
	thread thread_done 0x0
	END
	diff -u "$work/want" "$work/got" || fail operations
else
	fail on_exit
fi

# With records and guards the journal has the addresses that the program got.
run "record_allocs record_allocs_on_exit guard bt" operations
set -- "$work"/record_allocs.txt.*
grep -q ': memalign 0x[0-9a-f]* 64 444 ' "$1" || fail with_guards

run "record_allocs=2 record_allocs_on_exit" lose
grep -q 'Maximum number of records added' "$work/err" || fail maximum
set -- "$work"/record_allocs.txt.*
[ "$(wc -l <"$1")" -le 2 ] || fail maximum_of_lines

# Two million operations are 107 MiB: fork() copies 27,000 entries of page tables
# for small pages, and 54 for huge ones. Memory may be too broken up for all.
if grep -q '\[never\]' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null ||
    [ ! -e /sys/kernel/mm/transparent_hugepage/enabled ]; then
	echo "SKIPPED: a journal in huge pages: the kernel has none"
else
	run record_allocs many-operations
	[ "$(cat "$work/out")" -ge 20000 ] ||
	    fail "of a journal only $(cat "$work/out") KiB are in huge pages"
fi

run "nonsense" lose
printf 'malloc_debug: files_program: unknown option nonsense\nmalloc_debug: %s\nmalloc_debug: %s\nmalloc_debug: files_program: %s\n' \
    "For malloc debug option descriptions go to:" \
    "  memunreachable-malloc-debug(7)" \
    "none of these options is in force: nothing is recorded or checked" | cmp - "$work/err" || fail md4

# The filter is a part of the program's name; only this variable heeds it.
TMPDIR=$work MEMUNREACHABLE_MALLOC_DEBUG="bt bt_dmp_on_ex" \
    MEMUNREACHABLE_MALLOC_DEBUG_PROGRAM=other LD_PRELOAD=$recorder \
    "$program" lose 2>/dev/null
[ "$(ls "$work"/*.exit.txt 2>/dev/null)" = "" ] || fail filter_other
TMPDIR=$work MEMUNREACHABLE_MALLOC_DEBUG="bt bt_dmp_on_ex" \
    MEMUNREACHABLE_MALLOC_DEBUG_PROGRAM=files_pro LD_PRELOAD=$recorder \
    "$program" lose 2>/dev/null
[ "$(ls "$work"/*.exit.txt 2>/dev/null)" != "" ] || fail filter
exit $((failures > 0))
