#!/bin/sh
# Run every program of the corpus under the library and, if installed, under
# LeakSanitizer: each must report exactly the blocks that the program lost, by
# address, or differ as tests/corpus/differences.txt lists. Every sixth runs
# under Valgrind, which is slower; `make check-oracles` runs all, and writes
# the table.
set -u
here=tests/corpus
folder=${BUILD:-build}/tests/corpus
bad=0 n=0

all=
some=
for source in "$here"/*.c "$here"/cxx/*.cc; do
	program=${source##*/}
	program=${program%.*}
	all="$all $program"
	[ $((n % 6)) -ne 0 ] || some="$some $program"
	n=$((n + 1))
done

# The other two neither know of our stop methods nor stand being traced themselves.
if [ -n "${TESTS_STOP:-}" ]; then
	echo "SKIPPED: beside LeakSanitizer and Valgrind: they have one stop method only"
	# shellcheck disable=SC2086
	exec sh "$here/run.sh" "$folder" ours $all
fi

# Lists of words by intention, from here on.
# shellcheck disable=SC2086
if [ -e "$(gcc -print-file-name=liblsan.so 2>/dev/null)" ]; then
	sh "$here/run.sh" "$folder" "ours lsan" $all || bad=1
else
	echo "SKIPPED: no LeakSanitizer to compare with"
	sh "$here/run.sh" "$folder" ours $all || bad=1
fi
# shellcheck disable=SC2086
if ! command -v valgrind >/dev/null; then
	echo "SKIPPED: no Valgrind to compare with"
elif ! echo '#include <valgrind/memcheck.h>' |
	${CC:-cc} -E - >/dev/null 2>&1; then
	echo "SKIPPED: no valgrind/memcheck.h, so Valgrind cannot be asked"
else
	sh "$here/run.sh" "$folder" valgrind $some || bad=1
fi
exit $bad
