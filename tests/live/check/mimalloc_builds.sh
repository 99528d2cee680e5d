#!/bin/sh
# Builds of mimalloc that are not installed, by test_mimalloc: MIMALLOC_SOURCES is a
# clone of https://github.com/microsoft/mimalloc.
set -u
. tests/support/script_setup.sh
checked=0

# build_one RELEASE OPTION...: $work/libmimalloc.so
build_one() {
	release=$1
	name="mimalloc $*"
	shift
	folder=$work/build
	rm -rf "$folder" && mkdir "$folder"
	if ! git -C "$MIMALLOC_SOURCES" archive "$release" |
		tar -xC "$folder" || ! "${CC:-cc}" -O3 -DNDEBUG -DMI_SHARED_LIB \
		-DMI_SHARED_LIB_EXPORT -DMI_MALLOC_OVERRIDE \
		-DMI_CMAKE_BUILD_TYPE=release "$@" -fPIC -fvisibility=hidden \
		-ftls-model=initial-exec -fno-builtin-malloc -w -shared \
		-I"$folder/include" -o "$work/libmimalloc.so" \
		"$folder/src/static.c" -lpthread >"$work/log" 2>&1; then
		echo "SKIPPED: $name: not built: $(tail -n 1 "$work/log")"
		return 1
	fi
	checked=$((checked + 1))
	echo "$name:"
}

check_build() {
	build_one "$@" || return
	MIMALLOC=$work/libmimalloc.so \
		"$build/tests/live/check/test_mimalloc" >"$work/said" 2>&1 ||
		fail "exit status $?"
	grep 'missing\|^SKIPPED\|^[0-9]*%' "$work/said"
}

# What cannot be read is refused by name.
refuse_build() {
	build_one "$@" || return
	LD_PRELOAD=$work/libmimalloc.so "$build/memunreachable" -- sleep 0.1 \
		>"$work/said" 2>&1
	[ $? -eq 3 ] || fail "it was not refused: $(cat "$work/said")"
	grep -q 'another allocator (libmimalloc' "$work/said" ||
		fail "it was not named: $(cat "$work/said")"
}

if [ -z "${MIMALLOC_SOURCES:-}" ]; then
	echo "SKIPPED: no MIMALLOC_SOURCES to build other mimallocs from"
	exit 77
fi
for release in 2.0.9 2.1.0 2.1.2 2.1.4 2.1.7 2.1.9 2.2.2 2.2.4 2.2.7 2.3.2 2.4.1 \
	3.0.3 3.0.7 3.0.12 3.1.5 3.1.6 3.2.8 3.3.2 3.4.3; do
	check_build v$release
done
check_build v2.0.9 -DMI_SECURE=1
check_build v2.4.1 -DMI_SECURE=2
check_build v3.1.5 -DMI_SECURE=2
check_build v3.4.3 -DMI_SECURE=2
for release in 2.0.6 2.0.7 3.0.1 3.0.2-beta; do
	refuse_build v$release
done
for option in -DMI_SECURE=3 -DMI_SECURE=4 -DMI_DEBUG=1 -DMI_PADDING=1; do
	for release in 2.0.9 2.2.4 3.1.5 3.4.3; do
		refuse_build v$release $option
	done
done
refuse_build v3.1.5 -DMI_PAGE_MAP_FLAT=1
refuse_build v3.4.3 -DMI_PAGE_MAP_FLAT=1
refuse_build v3.4.3 -DMI_GUARDED=1
[ $failures -eq 0 ] || exit 1
[ $checked -gt 0 ] || exit 77
