#!/bin/sh
# Run programs of the corpus under tools and judge what these found.
#
# Usage: run.sh [-t TABLE] FOLDER TOOLS [PROGRAM...]
#
# FOLDER has the built programs; TOOLS are words of: ours valgrind lsan; with no
# PROGRAM all are run. Two at a time.
set -u
table=
if [ "${1:-}" = -t ]; then
	table=$2
	shift 2
fi
here=$(dirname "$0")
folder=$1 tools=$2
shift 2
library=${LIBRARY:-$(cd "${BUILD:-build}" && pwd)/libmemunreachable.so}
lsan=$(gcc -print-file-name=liblsan.so 2>/dev/null)
work=$(mktemp -d) || exit 1
# Without traces, see tests/support/script_setup.sh.
VALGRIND_OPTS=$(valgrind --help-debug 2>/dev/null |
	grep -o -e --vex-guest-chase=no)
export VALGRIND_OPTS
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

if [ $# -eq 0 ]; then
	for source in "$here"/*.c "$here"/cxx/*.cc; do
		program=${source##*/}
		[ ! -x "$folder/${program%.*}" ] || set -- "$@" "${program%.*}"
	done
fi

# One run: PROGRAM TOOL. The program says all else on stdout.
cat >"$work/one" <<'ONE'
program=$1 tool=$2
output=$work/$program.$tool
export CORPUS_TOOL="$tool"
cd "$folder" || exit 1
case $tool in
ours)
	: >"$output.log"
	LD_PRELOAD=$library timeout 60 ./"$program" >"$output.out" ;;
valgrind)
	timeout 120 valgrind --log-file="$output.log" --leak-check=no \
	    --soname-synonyms=somalloc=nouserintercepts --num-callers=2 \
	    --vgdb-prefix="$work/vgdb" ./"$program" >"$output.out" ;;
lsan)
	LD_PRELOAD=$lsan LSAN_OPTIONS="report_objects=1:log_path=$output.lsan:leak_check_at_exit=0" \
	    timeout 60 ./"$program" >"$output.out"
	status=$?
	cat "$output".lsan.* >"$output.log" 2>/dev/null
	(exit $status) ;;
esac || echo "failed exit status $?" >>"$output.out"
ONE
folder=$(cd "$folder" && pwd) || exit 1
export work folder library lsan

# run PROGRAM...
run() {
	for tool in $tools; do
		for program in "$@"; do
			echo "$program $tool"
		done
	done | xargs -P 2 -L 1 sh "$work/one" 2>"$work/words"
}

run "$@"
judge() {
	awk -v programs="$programs" -v tools="$tools" -v table="$work/table" \
	    -v doubtful="$work/doubtful" -f "$here/judge.awk" \
	    "$here/differences.txt" "$work"/*.out "$work"/*.log
}
programs=$*
judge
status=$?
# A word that happens to be an address hides a block from another tool in one
# run of thousands: only a difference of theirs that is there twice counts.
if [ -s "$work/doubtful" ]; then
	programs=$(cat "$work/doubtful")
	echo "Only another tool differs; again: $programs"
	for program in $programs; do
		rm -f "$work/$program".*
	done
	# Words by intention.
	# shellcheck disable=SC2086
	run $programs
	programs=$*
	: >"$work/doubtful"
	judge
	status=$?
fi
if [ -n "$table" ]; then
	cat - "$work/table" >"$table" <<END_OF_HEAD
# What each tool finds lost in each program of the corpus

Blocks lost, and blocks found; -n: of these not found, +n: found, though kept.
Each number without a sign is a set of addresses that is exactly the one lost.
Made by \`make check-oracles\` with $(getconf GNU_LIBC_VERSION),
$(gcc --version | head -n 1), $(valgrind --version).

END_OF_HEAD
fi
if [ $status -ne 0 ]; then
	cat "$work/words"
	[ -z "${KEEP:-}" ] || cp -r "$work" "$KEEP"
fi
exit $status
