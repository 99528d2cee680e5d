#!/bin/sh
# Usage: check_symbols.sh BUILD [write]
#
# What the libraries export, against lib/symbols.txt: one line for each library
# and symbol, sorted. A symbol that is gone or has another version breaks
# programs, and needs another SONAME. A new one is reported; "write" adds it.
# Debian's list has the same names: dpkg-gensymbols only warns of a new one.
set -u
LC_ALL=C
export LC_ALL
build=$1
list=lib/symbols.txt
{
	echo '# Exported symbols, by library. make check-symbols compares them.'
	for library in libmemunreachable libmemunreachable-malloc-debug \
		libmemunreachable-lsan; do
		"${NM:-nm}" -D --defined-only "$build/$library.so" |
			sed -n "s/^[0-9a-f]* [A-Z] /$library /p"
	done | sed '/ LIBMEMUNREACHABLE_0$/d' | sort -u
} >"$build/symbols.txt" || exit 1
if [ "${2:-}" = write ]; then
	cp "$build/symbols.txt" $list
	exit
fi
status=0
if ! diff $list "$build/symbols.txt" >"$build/symbols.diff"; then
	sed -n 's/^< /check-symbols: gone: /p
		s/^> /check-symbols: not listed: /p' "$build/symbols.diff"
	! grep -q '^< ' "$build/symbols.diff" || status=1
fi
sed 's/@.*//; /^#/d' $list | sort >"$build/symbols.names"
awk '/^[^ ]/ { library = $1; sub(/[.]so.*/, "", library); next }
	{ sub(/@.*/, "", $1); print library, $1 }' debian/*.symbols |
	sed '/ LIBMEMUNREACHABLE_0$/d' | sort |
	diff "$build/symbols.names" - >"$build/symbols.diff" && exit $status
sed -n 's/^< /check-symbols: not in debian: /p
	s/^> /check-symbols: only in debian: /p' "$build/symbols.diff"
exit 1
