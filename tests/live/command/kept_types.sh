#!/bin/sh
# What was read from large debug information is kept in the user's cache folder
# by build-id, and used again, as are debug files whose sections were compressed;
# never one that is damaged, belongs to another user, or is of another file, and
# never for the process of another user.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
XDG_CACHE_HOME=$work/caches
export XDG_CACHE_HOME
folder=$XDG_CACHE_HOME/memunreachable

# A program with 22,000 structures, one of which is NAME, in use 50 times.
make_program() {
	awk -v name="$1" 'BEGIN {
		print "#include <stdio.h>\n#include <stdlib.h>"
		print "struct s0 { struct s0 *p; char *t; };"
		for (i = 1; i < 22000; i++)
			printf "struct s%d { struct s%d *p; char *t; int a, b;" \
				" long c; double d; };\n", i, i - 1
		printf "struct %s { struct %s *next; char *text; long a, b, c," \
			" d, e; } *list;\n", name, name
		print "int main(void) { for (int i = 0; i < 50; i++) {"
		printf "struct %s *one = calloc(1, sizeof(*one));\n", name
		print "one->next = list; one->a = i; list = one; }"
		print "puts(\"ready\"); fflush(stdout); getchar(); }"
	}' >"$work/program.c"
	gcc -g -O0 -fno-eliminate-unused-debug-types \
	    -Wl,--build-id=0x0123456789abcdef "$work/program.c" -o "$2"
}

# What is in use, as $1 says.
look() {
	"$command" -q --in-use --symbols "$work/debug" -p "$pid" \
	    >"$work/report" 2>&1
	sed -n '/^What is in use/,/^$/p' "$work/report" >"$work/$1"
	grep -q "56 bytes, $kind\$" "$work/$1" ||
		fail "$1: no $kind: $(cat "$work/report")"
}

# libc's may be kept, too.
form=types
kept() {
	find "$folder" -type f -name "0123456789abcdef.$form*" 2>/dev/null
}

inode() {
	stat -c %i "$(kept)" 2>/dev/null
}

# What is damaged is made anew.
damage_it() {
	for damage in "bs=1 seek=300 count=64" "bs=1 seek=200000 count=64" \
	    "bs=1 seek=0 count=300"; do
		name="$form damaged: $damage"
		before=$(inode)
		# shellcheck disable=SC2086
		dd if=/dev/urandom of="$(kept)" $damage conv=notrunc status=none
		look damaged
		cmp -s "$work/first" "$work/damaged" ||
			fail "$(cat "$work/damaged")"
		[ "$(inode)" != "$before" ] || fail "the damaged one was left"
	done
	name="$form truncated"
	truncate -s 100000 "$(kept)"
	look truncated
	cmp -s "$work/first" "$work/truncated" || fail "$(cat "$work/truncated")"
}

if ! command -v gcc >/dev/null || ! make_program shop_order "$work/program"; then
	echo "SKIPPED: no gcc"
	exit 77
fi
kind=shop_order
hold "$work/program"

name="the first time"
look first
[ "$(kept | wc -l)" = 1 ] || fail "kept: $(kept)"
[ "$(stat -c %a "$(kept)" "$folder" | tr '\n' ' ')" = "600 700 " ] ||
	fail "others may read: $(ls -laR "$folder")"

name="the second time"
before=$(inode)
look second
cmp -s "$work/first" "$work/second" || fail "$(cat "$work/second")"
[ "$(inode)" = "$before" ] || fail "it was written again"

damage_it

name="a FIFO in its place"
file=$(kept)
rm "$file"
mkfifo "$file"
look fifo
cmp -s "$work/first" "$work/fifo" || fail "$(cat "$work/fifo")"
[ -f "$file" ] || fail "nothing was kept"

name="others may write"
rm "$file"
chmod 777 "$folder"
look open
[ -z "$(kept)" ] || fail "kept: $(kept)"
chmod 700 "$folder"

name="no folder can be made"
caches=$XDG_CACHE_HOME
XDG_CACHE_HOME=/dev/null
look none
XDG_CACHE_HOME=$caches
let_go

# As Debian's debug packages have it: compressed, in a file by itself.
name="a compressed debug file" form=inflated
debug=$work/debug/.build-id/01/23456789abcdef.debug
mkdir -p "${debug%/*}"
objcopy --only-keep-debug --compress-debug-sections "$work/program" "$debug"
objcopy --strip-all "$work/program" "$work/stripped"
hold "$work/stripped"
XDG_CACHE_HOME=/dev/null
look first
XDG_CACHE_HOME=$caches
look inflated
cmp -s "$work/first" "$work/inflated" || fail "$(cat "$work/inflated")"
[ "$(stat -c %a "$(kept)")" = 600 ] || fail "kept: $(ls -la "$folder")"
before=$(inode)
look second
cmp -s "$work/first" "$work/second" || fail "$(cat "$work/second")"
[ "$(inode)" = "$before" ] || fail "it was written again"
damage_it
let_go
rm -r "$work/debug"
form=types

name="another file with this build-id"
hold "$work/program"
look first
let_go
make_program shop_other "$work/program2"
kind=shop_other
hold "$work/program2"
look other
let_go

# A file of another user is neither read nor written, in any folder.
if [ "$(id -u)" = 0 ] && may_trace_all && may 7 && command -v setpriv >/dev/null; then
	rm -rf "$XDG_CACHE_HOME"
	chmod 755 "$work/program2"
	hold setpriv --reuid=65534 --regid=65534 --clear-groups "$work/program2"
	name="root looks at a process of another user"
	look user
	[ ! -e "$folder" ] || fail "kept: $(ls "$folder")"
	name="root looks at a process of another user, with that one's folder"
	mkdir -p "$folder"
	chown -R 65534:65534 "$XDG_CACHE_HOME"
	look user
	[ -z "$(kept)" ] || fail "kept: $(kept)"
	let_go
	name="the folder of another user"
	hold "$work/program2"
	look user
	[ -z "$(kept)" ] || fail "kept: $(kept)"
	let_go
else
	echo "SKIPPED: other users: not root, or without CAP_SYS_PTRACE"
fi

[ $failures -eq 0 ]
