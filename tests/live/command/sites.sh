#!/bin/sh
# "probably allocated at tree.c:14", by the operands of calls: of what is said
# of programs of the corpus, 80 % must be what a recorder says. SITES_ALL=1: of
# all programs.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
sources=tests/live/command/sites
said=0 right=0
programs="aligned.c callbacks.c flexible.c cxx/multiple_inheritance.cc
	pthread_keys.c search_tables.c thread_joined.c tree.c"
[ -z "${SITES_ALL:-}" ] || programs=$(cd tests/corpus && echo *.c cxx/*.cc)

# build SOURCE OPTION...
build_program() {
	source=tests/corpus/$1
	shift
	case $source in
	*.cc) set -- g++ -std=c++20 "$@" ;;
	*) set -- gcc -std=gnu11 "$@" ;;
	esac
	made "$work/program" "$@" -g -w -D_GNU_SOURCE -I. -Iinclude "$source" \
	    "$work/rest.a" -pthread -ldl 2>"$work/errors"
}

# look FILE OPTION...
look() {
	file=$1
	shift
	"$command" -q --format=json --by=block --limit=1000 "$@" \
	    -o "$work/$file" -- "$work/program" >"$work/out" 2>&1
}

judge() {
	name="$*"
	if ! build_program "$@"; then
		echo "SKIPPED: $name: $(head -n 1 "$work/errors")"
		return
	fi
	look plain
	look recorded --backtrace
	counts=$(python3 $sources/compare.py "$work/plain" "$work/recorded") ||
		fail "$(cat "$work/out")"
	echo "$name: ${counts% *} lines, ${counts#* } % of one right"
	said=$((said + ${counts% *})) right=$((right + ${counts#* }))
	fits_schema "$work/plain"
}

if ! command -v python3 >/dev/null || ! command -v gcc >/dev/null; then
	echo "SKIPPED: no python3, or no gcc"
	exit 77
fi
for source in tests/corpus/support/scrub.c tests/corpus/support/checkpoint.c \
	$sources/corpus_stub.c; do
	gcc -g -O1 -D_GNU_SOURCE -I. -Iinclude -c "$source" \
	    -o "$work/$(basename "$source" .c).o" || exit 1
done
ar rc "$work/rest.a" "$work"/*.o
for program in $programs; do
	for how in -O0 -O2; do
		judge "$program" $how
	done
done
name="all"
echo "$said lines, $((right / (said > 0 ? said : 1))) % right"
[ $said -ge 20 ] || fail "too few lines: $said"
[ $right -ge $((said * 80)) ] || fail "too few are right: $right of ${said}00"
[ $failures -eq 0 ]
