#!/bin/sh
# Programs whose files are made to hang who reads them: the report comes all
# the same, in time, and names of other files are there.
set -u
# shellcheck source=tests/support/plays.sh
. "$(dirname "$0")/../support/plays.sh"
command=$build/memunreachable
victim=$build/tests/live/victim_pointing
unset DEBUGINFOD_URLS
if ! command -v objcopy >/dev/null || ! command -v python3 >/dev/null; then
	echo "SKIPPED: names_hostile: no objcopy or no python3"
	exit 77
fi

is_ready() {
	grep -q ready "$work/out"
}

# begin NAME: a folder with the victim in it, stripped.
begin() {
	name=$1
	folder=$work/$1
	mkdir "$folder" && chmod 755 "$folder"
	strip -o "$folder/prog" "$victim"
}

# link NAME: the program says that its debug information is in that file.
link() {
	echo other >"$folder/other"
	python3 - "$folder/link" "$1" <<-'END'
	import struct, sys
	name = sys.argv[2].encode() + b"\0"
	name += bytes(-len(name) % 4)
	open(sys.argv[1], "wb").write(name + struct.pack("<I", 0x12345678))
	END
	objcopy --remove-section .note.gnu.build-id \
	    --add-section ".gnu_debuglink=$folder/link" "$folder/prog" \
	    2>/dev/null
}

# look SECONDS: the report of the program comes within so many.
look() {
	rm -f "$work/in" "$work/out"
	mkfifo "$work/in"
	"$folder/prog" <"$work/in" >"$work/out" &
	target=$!
	pids="$pids $target"
	exec 9>"$work/in"
	await is_ready || fail "the program is not ready"
	began=$(date +%s)
	timeout -s KILL 200 "$command" -q --contents -p "$target" \
	    >"$work/text" 2>"$work/err" 9>&-
	status=$?
	took=$(($(date +%s) - began))
	[ $status -eq 23 ] || fail "status $status: $(cat "$work/err")"
	[ $took -le "$1" ] || fail "it took $took s"
	grep -q 'bytes unreachable at' "$work/text" || fail "no report"
	grep -q 'libc.so.6+0x[0-9a-f]* .*strlen' "$work/text" ||
		fail "no name of the other file: $(cat "$work/text")"
	kill -0 "$target" || fail "the program has ended"
	exec 9>&-
	wait "$target" || fail "the program ends with $?"
}

begin 'fifo'
link prog.debug
mkfifo "$folder/prog.debug"
look 20

begin 'fifo_by_the_side'
link prog.debug
mkdir "$folder/.debug"
mkfifo "$folder/.debug/prog.debug"
look 20

begin 'device_by_dots'
up=$(echo "$folder" | sed 's,/[^/]*,../,g')
link "${up}dev/full"
look 20

begin 'device_by_link'
link prog.debug
ln -s /dev/zero "$folder/prog.debug"
look 20

begin 'sparse'
link prog.debug
truncate -s 4T "$folder/prog.debug" 2>/dev/null ||
	truncate -s 15T "$folder/prog.debug" 2>/dev/null ||
	echo "SKIPPED: names_hostile: no sparse files here"
look 20

begin 'symbols'
python3 tests/support/hostile_symbols.py "$folder/prog" 200000 1048576
look 20

exit $failures
