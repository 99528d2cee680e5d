#!/bin/sh
# The types of lost blocks, compared with what programs print: g++ and clang++,
# each library, with and without optimisation, debug information and symbols. A
# type that is called certain must be right.
set -u
. tests/support/script_setup.sh
sources=tests/live/command/types
command=$build/memunreachable
checked=0
top=$PWD

# How many percent of what is found must be named in $work/report, and how many
# percent must be found.
judge() {
	checked=$((checked + 1))
	python3 $sources/compare.py "$said" "$work/report" "$@" \
	    >"$work/verdict" || fail "$(cat "$work/verdict")"
	echo "$name: $(tail -n 1 "$work/verdict")"
	tail -n 1 "$work/verdict" >>"$work/verdicts"
	fits_schema "$work/report"
}

# "PERCENT [PERCENT]" COMMAND...
check_process() {
	percent=$1
	shift
	hold "$@"
	"$command" -p "$pid" --format=json --limit=1000 >"$work/report"
	# shellcheck disable=SC2086
	judge $percent
	let_go
}

check_core() {
	hold "$2"
	gcore -o "$work/core" "$pid" >/dev/null 2>&1
	"$command" --core "$work/core.$pid" --exe "$2" --format=json \
	    --limit=1000 >"$work/report"
	judge "$1"
	rm -f "$work/core.$pid"
	let_go
}

check_command() {
	"$command" --format=json --limit=1000 --output="$work/report" \
	    -- "$2" ends >"$said"
	judge "$1"
}

# NAME SOURCE PERCENT COMPILER FLAG... (without a compiler or a library: skipped)
play() {
	name="$1, $2" source=$sources/$2 wanted=$3
	shift 3
	rm -f "$work/program"
	if made "$work/program" "$@" -std=c++17 -D_GNU_SOURCE -I. "$source" \
	    2>"$work/errors"; then
		check_process "$wanted" "$work/program"
		return
	fi
	# Is the compiler there at all, with its library?
	echo "#include <memory>" >"$work/any.cc"
	echo "int main() { return 0; }" >>"$work/any.cc"
	if "$@" -o "$work/any" "$work/any.cc" 2>"$work/missing"; then
		fail "not compiled: $(cat "$work/errors")"
	else
		echo "SKIPPED: $name: $(head -n 1 "$work/missing")"
	fi
}

play_c() {
	name="$1, ${2##*/}" source=$2 wanted=$3
	shift 3
	if ! command -v "$1" >/dev/null; then
		echo "SKIPPED: $name: no $1"
	elif ! (cd "${source%/*}" && made "$work/program" "$@" -w -D_GNU_SOURCE \
	    -I"$top" -I"$top/$sources" -fdebug-prefix-map="$work=." \
	    "${source##*/}") 2>"$work/errors"; then
		fail "not compiled: $(cat "$work/errors")"
	else
		check_process "$wanted" "$work/program"
	fi
}

if ! command -v python3 >/dev/null; then
	echo "SKIPPED: no python3"
	exit 77
fi
play "g++ -O2 -g" containers.cc 60 g++ -O2 -g
play "clang++ -O0 -g" containers.cc 30 clang++ -O0 -g
play "clang++ -O2 -g, libc++" containers.cc 20 \
	clang++ -O2 -g -stdlib=libc++
play_c "gcc -O0 -g" $sources/structures.c 80 gcc -O0 -g
play_c "clang -O2 -g" $sources/structures.c 80 clang -O2 -g
# Sizes of other allocators tell less.
for library in libjemalloc.so.2 libmimalloc.so.2 libtcmalloc_minimal.so.4; do
	file=$("${CC:-cc}" -print-file-name=$library)
	name="structures.c, $library"
	if [ ! -e "$file" ] || [ ! -e "$work/program" ]; then
		echo "SKIPPED: $name: not here"
	else
		check_process 80 env LD_PRELOAD="$file" "$work/program"
	fi
done
for seed in 1 3; do
	python3 $sources/generate.py $seed >"$work/generated.c"
	play_c "gcc -g, seed $seed" "$work/generated.c" 40 gcc -O1 -g
done
play "g++ -O0 -g" never_written.cc 0 g++ -O0 -g
play "clang++ -O2, stripped" never_written.cc 0 clang++ -O2 -s
play "g++ -O0 -g" members.cc 0 g++ -O0 -g
play "g++ -O2 -g" members.cc 0 g++ -O2 -g
play "clang++ -O2, stripped" members.cc 0 clang++ -O2 -s
play "g++ -O2, stripped" members.cc 0 g++ -O2 -g -s
play "g++ -O0 -g" classes.cc 90 g++ -O0 -g
play "g++ -O2, no PIE, no relro" classes.cc 90 g++ -O2 -no-pie -z norelro
play "g++ -O2 -fno-rtti" classes.cc 90 g++ -O2 -fno-rtti
play "g++ -O2, static, stripped" classes.cc 90 g++ -O2 -s -static
play "clang++ -O0 -g" classes.cc 90 clang++ -O0 -g
play "clang++ -O2, stripped" classes.cc 90 clang++ -O2 -s
play "clang++ -O0, libc++" classes.cc 90 clang++ -O0 -stdlib=libc++
play "clang++ -O2, libc++, stripped" classes.cc 90 \
	clang++ -O2 -s -stdlib=libc++
play "g++ -O2, stripped" classes.cc 90 g++ -O2 -s
if [ -x "$work/program" ]; then
	name="g++ -O2, stripped, --"
	check_command 90 "$work/program"
	name="g++ -O2, stripped, --core"
	if command -v gcore >/dev/null; then
		check_core 90 "$work/program"
	else
		echo "SKIPPED: $name: no gcore"
	fi
fi
name=GLib
flags=$(pkg-config --cflags --libs gobject-2.0 2>/dev/null)
# shellcheck disable=SC2086
if [ -z "$flags" ]; then
	echo "SKIPPED: $name: no libglib2.0-dev"
elif ! "${CC:-cc}" -O1 -D_GNU_SOURCE -I. $sources/gobjects.c \
    -o "$work/gobjects" $flags 2>"$work/errors"; then
	fail "not compiled: $(cat "$work/errors")"
else
	# Slices are not blocks of malloc.
	check_process 100 env G_SLICE=always-malloc "$work/gobjects"
fi
# What the interpreter still refers to is not lost.
for python in /usr/bin/python3 \
    "$(python3 -c 'import sys; print(sys.executable)')"; do
	name="CPython, $python"
	[ ! -x "$python" ] || check_process "100 20" \
		env PYTHONMALLOC=malloc "$python" $sources/objects.py
done

# Its blocks begin with their sizes, as a pool of libstdc++ does.
name="a program of C"
cat >"$work/sizes.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
size_t *block;
int main(void)
{
	block = calloc(1, 30000);
	block[0] = 30000;
	puts("ready");
	fflush(stdout);
	return getchar();
}
END
"${CC:-cc}" -o "$work/sizes" "$work/sizes.c" || fail "not compiled"
hold "$work/sizes"
"$command" -q --in-use -p "$pid" >"$work/report" 2>&1
let_go
has "$work/report" '30008 bytes'
has_no "$work/report" exceptions

# Of the names that are probable the first one is right mostly. Programs in which
# nothing has a type are there to mislead.
name="first names"
awk '/ of 0 types / { next }
	{ for (i = 1; i < NF; i++)
		probable += $(i + 2) == "probable," ? $i : 0
	first += $NF }
	END { printf "%d probable names, the first is right of %d\n",
		probable, first
	exit first * 100 < probable * 80 }' "$work/verdicts" ||
	fail "fewer than 80 %"

[ $failures -eq 0 ] || exit 1
[ $checked -gt 0 ] || exit 77
