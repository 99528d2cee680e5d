#!/bin/sh
# Build every fuzzer with clang's libFuzzer and run it on its seeds; they run
# side by side. Usage: run.sh BUILD SECONDS SOURCE... (the library's sources)
# A finding is repeated by: BUILD/fuzz_NAME BUILD/NAME-crash-...; one of the
# heap's may need the same addresses: setarch -R.
set -u
build=$1 seconds=$2
shift 2
bad=0
flags="-std=gnu11 -D_GNU_SOURCE -O1 -g -Iinclude -I.
	-fsanitize=address,undefined -fno-sanitize-recover=undefined"

command -v clang >/dev/null || { echo "SKIPPED: fuzz: no clang"; exit 77; }
mkdir -p "$build/objects"
rm -f "$build/library.a"
export build flags
# shellcheck disable=SC2016 # the inner shell expands these
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 sh -c '
	clang $flags -fsanitize=fuzzer-no-link -c -o \
		"$build/objects/$(echo "$0" | tr / _).o" "$0" || exit 255' || exit 1
printf '%s\n' "$@" | tr / _ | sed "s|.*|$build/objects/&.o|" |
	xargs ar rcs "$build/library.a"

# libdw 0.188 reads strings of damaged DWARF beyond their section; the helper's
# limits are for that. The helper keeps what it has read until its end, and what
# it had when a fault left it.
echo interceptor_via_lib:libdw >"$build/suppressions"

run_one() {
	what=$1 leaks=1
	[ "$what" != symbols ] || leaks=0
	mkdir -p "$build/corpus/$what"
	ASAN_OPTIONS="suppressions=$build/suppressions:detect_leaks=$leaks" \
	"$build/fuzz_$what" -max_total_time="$seconds" -print_final_stats=1 \
		-timeout=60 -artifact_prefix="$build/$what-" \
		"$build/corpus/$what" "tests/fuzz/seeds/$what" \
		>"$build/fuzz_$what.log" 2>&1
	echo $? >"$build/fuzz_$what.status"
}

for fuzzer in tests/fuzz/fuzz_*.c; do
	name=$(basename "$fuzzer" .c)
	rm -f "$build/$name.status"
	# shellcheck disable=SC2086
	clang $flags -fsanitize=fuzzer -o "$build/$name" "$fuzzer" \
		"$build/library.a" -ldw -lelf -lbsd -lzstd -liberty -pthread -ldl || continue
	run_one "${name#fuzz_}" &
done
wait
for fuzzer in tests/fuzz/fuzz_*.c; do
	name=$(basename "$fuzzer" .c)
	grep -E 'number_of_executed_units|SUMMARY' "$build/$name.log" |
		sed "s/^/${name#fuzz_}: /"
	status=$(cat "$build/$name.status" 2>/dev/null || echo "not built")
	[ "$status" = 0 ] && continue
	bad=1
	echo "$name: $status"
	tail -n 20 "$build/$name.log"
done
exit $bad
