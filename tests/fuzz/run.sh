#!/bin/sh
# Build every fuzzer with clang's libFuzzer and run it on its seeds.
# Usage: run.sh BUILD SECONDS SOURCE... (the library's sources)
set -u
build=$1 seconds=$2
shift 2
bad=0

command -v clang >/dev/null || { echo "SKIPPED: fuzz: no clang"; exit 77; }
mkdir -p "$build"
for fuzzer in tests/fuzz/fuzz_*.c; do
	name=$(basename "$fuzzer" .c)
	what=${name#fuzz_}
	clang -std=gnu11 -D_GNU_SOURCE -O1 -g -Iinclude -I. \
		-fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined \
		-o "$build/$name" "$fuzzer" "$@" || { bad=1; continue; }
	mkdir -p "$build/corpus/$what"
	"$build/$name" -max_total_time="$seconds" -print_final_stats=1 \
		-artifact_prefix="$build/$what-" \
		"$build/corpus/$what" "tests/fuzz/seeds/$what" \
		>"$build/$name.log" 2>&1
	status=$?
	grep -E 'number_of_executed_units|SUMMARY' "$build/$name.log" |
		sed "s/^/$what: /"
	[ "$status" -eq 0 ] || { bad=1; tail -n 20 "$build/$name.log"; }
done
exit $bad
