#!/bin/sh
# A corpus of typed programs that tell what each block is that they lost and
# that they hold: the shares of lost and of live bytes that reports name
# rightly, of each program and of each kind of program; and no name that is
# called certain is wrong. TYPED_FULL=1 builds the programs in more ways.
set -u
. tests/support/script_setup.sh
sources=tests/live/command/typed
command=$build/memunreachable
checked=0 why=

# KIND PROGRAM...
judge() {
	kind=$1
	shift
	checked=$((checked + 1))
	hold "$@"
	"$command" -q --format=json --limit=100000 --in-use "--why=1000:${why:-*}" \
	    --timeout=250 -p "$pid" >"$work/report"
	python3 $sources/judge.py "$said" "$work/report" "$work/$kind" \
	    >"$work/verdict" || fail "$(cat "$work/verdict")"
	[ -z "${TYPED_VERBOSE:-}" ] || sed '$d' "$work/verdict"
	echo "$kind, $name: $(tail -n 1 "$work/verdict")"
	fits_schema "$work/report"
	let_go
}

# KIND SOURCE LIBRARIES COMPILER FLAG...
play() {
	kind=$1 file=$2 libraries=$3
	shift 3
	name="$file, $*"
	case $file in
	*.cc) standard=-std=c++17 ;;
	*) standard=-std=gnu11 ;;
	esac
	# shellcheck disable=SC2086
	if ! command -v "$1" >/dev/null; then
		echo "SKIPPED: $name: no $1"
	elif ! made "$work/program" "$@" $standard -w -D_GNU_SOURCE -I. \
	    -I$sources "$sources/$file" $libraries \
	    2>"$work/errors"; then
		echo "SKIPPED: $name: $(grep -m 1 error "$work/errors")"
	else
		# Slices are not blocks of malloc.
		judge "$kind" env G_SLICE=always-malloc "$work/program"
	fi
}

# KIND SOURCE PACKAGE COMPILER FLAG...
play_with() {
	kind=$1 file=$2 package=$3
	shift 3
	if ! pkg-config --exists "$package" 2>/dev/null; then
		echo "SKIPPED: $file: no $package"
		return
	fi
	# shellcheck disable=SC2046
	play "$kind" "$file" "$(pkg-config --libs "$package")" "$@" \
	    $(pkg-config --cflags "$package")
}

# The last program of GLib, as it runs without an environment for this. Newer
# versions of GLib have no slices.
tell_of_slices() {
	name="slices of GLib"
	[ -x "$work/program" ] || return
	hold "$work/program"
	"$command" -q --in-use -p "$pid" >"$work/report"
	! grep -q "slices of GLib" "$work/report" ||
		grep -q "G_SLICE=always-malloc" "$work/report" ||
		fail "slices are not told: $(cat "$work/report")"
	# A page begins with an object.
	unlike "$work/report" "(504|1016|2040|4088) bytes, probably (Shop|G[BS])"
	"$command" -q --retained --why="slices of GLib" -p "$pid" >"$work/report"
	unlike "$work/report" "probably (Shop|GB|GS)[A-Za-z]*, block of (504|1016|2.0|4.0)"
	let_go
}

# The interpreter's own objects are named by their types.
play_extension() {
	name="extension.c, python3"
	flags=$(pkg-config --cflags python3 2>/dev/null)
	# shellcheck disable=SC2086
	if [ -z "$flags" ]; then
		echo "SKIPPED: $name: no python3-dev"
	elif ! gcc -O1 -g -w -D_GNU_SOURCE -shared -fPIC -I. -I$sources \
	    $sources/extension.c -o "$work/typed.so" $flags \
	    2>"$work/errors"; then
		fail "not compiled: $(cat "$work/errors")"
	else
		why=typed.Series
		judge python env PYTHONMALLOC=malloc PYTHONPATH="$work" \
		    /usr/bin/python3 -c "import typed; typed.run()"
	fi
}

# KIND LOST LIVE: of all programs of the kind so many percent at least.
share() {
	[ ! -f "$work/$1" ] || awk -v kind="$1" -v lost="$2" -v live="$3" '
	{
		all += $2
		named += $1
		all_live += $4
		named_live += $3
	}
	END {
		printf "%s: %.1f %% of all lost, %.1f %% of all live bytes\n",
		    kind, 100 * named / all, 100 * named_live / all_live
		exit 100 * named < lost * all ||
		    100 * named_live < live * all_live
	}' "$work/$1" || fail "$1: less than $2 % of lost, $3 % of live bytes"
}

if ! command -v python3 >/dev/null; then
	echo "SKIPPED: no python3"
	exit 77
fi
full=${TYPED_FULL:+yes}
for source in shop parser server arrays; do
	play c $source.c "" gcc -O0 -g
	play c $source.c "" clang -O2 -g
	[ -z "$full" ] || play c $source.c "" gcc -O2 -g
	[ -z "$full" ] || play c $source.c "" clang -O0 -g
done
for source in containers shapes pointers templates tree; do
	play cxx $source.cc "" g++ -O0 -g
	play cxx $source.cc "" clang++ -O2 -g
	play cxx $source.cc "" clang++ -O2 -g -stdlib=libc++
	play stripped $source.cc "" g++ -O2 -s
	play stripped $source.cc "" clang++ -O2 -g -stdlib=libc++ -s
	[ -z "$full" ] || play cxx $source.cc "" g++ -O2 -g
	[ -z "$full" ] || play cxx $source.cc "" clang++ -O0 -g
	[ -z "$full" ] || play stripped $source.cc "" clang++ -O2 -g -s
done
play_with glib glib.c gobject-2.0 gcc -O1 -g
play_with glib gobjects.c gobject-2.0 gcc -O1 -g
tell_of_slices
play_with qt qt.cc Qt5Core g++ -O1 -g -fPIC
play_with qt qt.cc Qt6Core g++ -O1 -g -fPIC
play_extension

share c 80 80
share cxx 90 90
share stripped 70 70
share glib 95 80
share qt 88 90
share python 80 90

[ $failures -eq 0 ] || exit 1
[ $checked -gt 0 ] || exit 77
