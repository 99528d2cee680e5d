# shellcheck shell=sh
# For tests of the verdict of memunreachable watch on a program that takes a step
# for each line of its input, and says "done" after it.
. tests/support/script_setup.sh
command=$build/memunreachable
out=$work/out

stepped() {
	[ "$(grep -c 'done' "$said")" -gt "$steps" ]
}

lines_of() {
	[ "$(wc -l <"$out")" -ge "$1" ]
}

# watch_program COMMAND...: ten looks, and a step before each but the first; the
# lines are in $out.
watch_program() {
	hold "$@"
	# With the lines of the watch before, this one would be signalled before it
	# handles any: the shell that becomes it may not even have run yet.
	rm -f "$out"
	"$command" watch -q -p "$pid" --every=1d --format=json >"$out" \
		2>"$work/err" 9>&- &
	watch=$!
	pids="$pids $watch"
	await lines_of 1 || {
		kill -INT $watch
		wait $watch
		fail "no look: status $?: $(cat "$work/err")"
		let_go
		return
	}
	for n in 2 3 4 5 6 7 8 9 10; do
		# Growth is judged by time: looks that follow each other at once
		# are as far apart as the scheduler likes.
		sleep 0.3
		steps=$(grep -c 'done' "$said")
		echo step >&9
		await stepped
		kill -USR1 "$watch"
		await lines_of $n || fail "no look $n"
	done
	kill -INT $watch
	wait $watch
	let_go
}
