#!/bin/sh
# Builds of gperftools' tcmalloc that are not installed, by test_tcmalloc:
# TCMALLOC_SOURCES is a clone of https://github.com/gperftools/gperftools.
set -u
. tests/support/script_setup.sh
checked=0

# build_one RELEASE OPTION...: $work/build/libtcmalloc_minimal.so
build_one() {
	release=$1
	name="tcmalloc $*"
	shift
	rm -rf "$work/source" "$work/build" && mkdir "$work/source"
	if ! git -C "$TCMALLOC_SOURCES" archive "gperftools-$release" |
		tar -xC "$work/source" || ! cmake -S "$work/source" \
		-B "$work/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
		-DGPERFTOOLS_BUILD_STATIC=OFF "$@" >"$work/log" 2>&1 ||
		! cmake --build "$work/build" -t tcmalloc_minimal \
			>>"$work/log" 2>&1; then
		echo "SKIPPED: $name: not built: $(tail -n 1 "$work/log")"
		return 1
	fi
	checked=$((checked + 1))
	echo "$name:"
}

check_build() {
	build_one "$@" || return
	TCMALLOC=$work/build/libtcmalloc_minimal.so \
		"$build/tests/live/check/test_tcmalloc" >"$work/said" 2>&1 ||
		fail "exit status $?"
	grep 'missing\|^SKIPPED\|^[0-9]*%' "$work/said"
}

if [ -z "${TCMALLOC_SOURCES:-}" ]; then
	echo "SKIPPED: no TCMALLOC_SOURCES to build other tcmallocs from"
	exit 77
fi
for release in 2.9.1 2.15 2.16 2.18.1; do
	check_build $release
done
check_build 2.16 -Dgperftools_tcmalloc_pagesize=32
check_build 2.16 -Dgperftools_tcmalloc_pagesize=64
[ $failures -eq 0 ] || exit 1
[ $checked -gt 0 ] || exit 77
