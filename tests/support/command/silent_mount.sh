# shellcheck shell=sh disable=SC2034,SC2154 # others use what is set here
# A FUSE mount that falls silent: tests/support/command/silent_fuse.c.

# serve_silently FOLDER FILE: mounted on FOLDER by process $server, which answers
# until a signal; false if it cannot be mounted here.
serve_silently() {
	fuse=$build/tests/support/command/silent_fuse
	mkdir "$1"
	[ "$(id -u)" -eq 0 ] && [ -x "$fuse" ] && [ -c /dev/fuse ] || return 1
	"$fuse" "$1" "$2" >"$work/fuse" &
	server=$!
	pids="$pids $server"
	await has_begun && grep -qs ready "$work/fuse"
}

has_begun() {
	grep -q ready "$work/fuse" || ! kill -0 "$server" 2>/dev/null
}

is_silent() {
	grep -q silent "$work/fuse"
}

# fall_silent FOLDER SIGNAL: a request wakes the server up from its wait for one.
fall_silent() {
	kill "-$2" "$server"
	(cat "$1/prog" >/dev/null 2>&1 &)
	await is_silent || fail "the mount is not silent"
}
