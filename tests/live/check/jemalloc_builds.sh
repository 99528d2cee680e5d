#!/bin/sh
# Builds of jemalloc that are not installed, by test_jemalloc: JEMALLOC_SOURCES is a
# clone of https://github.com/jemalloc/jemalloc. A matter of minutes, and of autoconf.
set -u
. tests/support/script_setup.sh
checked=0

# check_build RELEASE OPTION...
check_build() {
	release=$1
	name="jemalloc $*"
	shift
	folder=$work/build
	rm -rf "$folder" && mkdir "$folder"
	if ! git -C "$JEMALLOC_SOURCES" archive "$release" |
		tar -xC "$folder" || ! (
		cd "$folder" && autoconf &&
			./configure --disable-cxx --with-version="$release-0-g0" "$@" &&
			make -j2 lib/libjemalloc.so.2
	) >"$work/log" 2>&1; then
		echo "SKIPPED: $name: not built: $(tail -n 1 "$work/log")"
		return
	fi
	checked=$((checked + 1))
	echo "$name:"
	JEMALLOC=$folder/lib/libjemalloc.so.2 \
		"$build/tests/live/check/test_jemalloc" >"$work/said" 2>&1 ||
		fail "exit status $?"
	grep 'missing\|^SKIPPED\|^[0-9]*%' "$work/said"
}

if [ -z "${JEMALLOC_SOURCES:-}" ]; then
	echo "SKIPPED: no JEMALLOC_SOURCES to build other jemallocs from"
	exit 77
fi
for release in 5.2.1 5.3.0 5.3.1; do
	for bits in 48 57; do
		check_build "$release" --with-lg-vaddr=$bits
		check_build "$release" --with-lg-vaddr=$bits --with-lg-quantum=3 \
			--disable-cache-oblivious
	done
done
[ $failures -eq 0 ] || exit 1
[ $checked -gt 0 ] || exit 77
