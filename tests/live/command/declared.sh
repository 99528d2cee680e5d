#!/bin/sh
# The types of what programs hold, by what their debug information declares,
# compared with what they tell. A type that is called certain must be right.
set -u
. tests/support/script_setup.sh
sources=tests/live/command/declared
command=$build/memunreachable
checked=0
top=$PWD

# What two files share is in a third one, as Debian's debug packages have it.
shared=''
share() {
	name="$name, shared"
	cp "$work/program" "$work/other"
	rm -f "$work/shared"
	dwz -m "$work/shared" "$work/program" "$work/other"
	[ -s "$work/shared" ] || fail "dwz made no file"
}

# SOURCE NAMED BYTES COMPILER FLAG...
preload=''
play() {
	name="$4 $5 $6, ${1##*/}" source=$1 named=$2 bytes=$3
	shift 3
	if ! command -v "$1" >/dev/null; then
		echo "SKIPPED: $name: no $1"
		return
	fi
	# gcc before 11 and clang write the files of split units there.
	if ! (cd "$work" && made program "$@" -D_GNU_SOURCE -I"$top" -w \
	    "$top/$source") 2>"$work/errors"; then
		echo "SKIPPED: $name: $(head -n 1 "$work/errors")"
		return
	fi
	[ -z "$shared" ] || share
	checked=$((checked + 1))
	hold env LD_PRELOAD="$preload" "$work/program"
	"$command" -q --format=json --in-use '--why=1000:*' -p "$pid" \
	    >"$work/report"
	python3 $sources/compare.py "$said" "$work/report" "$named" \
	    "$bytes" >"$work/verdict" || fail "$(cat "$work/verdict")"
	echo "$name: $(tail -n 1 "$work/verdict")"
	fits_schema "$work/report"
	let_go
}

if ! command -v python3 >/dev/null; then
	echo "SKIPPED: no python3"
	exit 77
fi
for how in "-O0 -g" "-O2 -g"; do
	for compiler in g++ clang++; do
		# shellcheck disable=SC2086
		play $sources/objects.cc 90 90 $compiler $how -std=c++17
	done
	for compiler in gcc clang; do
		# shellcheck disable=SC2086
		play $sources/structures.c 80 80 $compiler $how -std=gnu11
	done
done
play $sources/objects.cc 90 90 g++ -O2 -gdwarf-4 -std=c++17
play $sources/structures.c 80 80 gcc -O2 -gdwarf-4 -std=gnu11
play $sources/objects.cc 90 90 clang++ -O1 -g -std=c++17 -stdlib=libc++
play $sources/objects.cc 90 90 g++ -O2 -gsplit-dwarf -g -std=c++17
play $sources/structures.c 80 80 gcc -O2 -gsplit-dwarf -gdwarf-4 -std=gnu11
play $sources/objects.cc 90 90 g++ -O2 -fdebug-types-section -g -std=c++17
play $sources/objects.cc 90 90 clang++ -O1 -fdebug-types-section -gdwarf-4 \
	-std=c++17
if ! command -v dwz >/dev/null; then
	echo "SKIPPED: no dwz"
else
	shared=1
	play $sources/objects.cc 90 90 g++ -O2 -g -std=c++17
	play $sources/structures.c 80 80 gcc -O2 -g -std=gnu11
fi

# Structures of several sizes have blocks of one.
shared=''
preload=$("${CC:-cc}" -print-file-name=libjemalloc.so.2)
if [ -e "$preload" ]; then
	play $sources/structures.c 80 40 gcc -O0 -g -std=gnu11
else
	echo "SKIPPED: no libjemalloc.so.2"
fi

[ $failures -eq 0 ] || exit 1
[ $checked -gt 0 ] || exit 77
