#!/bin/sh
# The options for what counts as a reference have the same effect on the
# command line and in the environment, for a process, a core file and a
# command; the report names them.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
victim=$build/tests/live/victims/victim_reach
out=$work/out
err=$work/err
unset LD_PRELOAD

# expect SIZES WORDS: blocks of these are lost, and the report has WORDS.
expect() {
	lost=$(sed -n 's/^  \([0-9]*\) bytes unreachable at .*/\1/p' "$out" \
	    "$err" | sort -n | tr '\n' ' ')
	[ "$lost" = "$1" ] || {
		fail "lost: $lost, not $1"
		sed 's/^/	/' "$out" "$err"
	}
	cat "$out" "$err" | grep -Fq -e "$2" || fail "no \"$2\""
}

usual="200 312 "

# play SUBJECT...: with each option, given in both ways.
play() {
	look() {
		"$command" "$@" >"$out" 2>"$err" </dev/null
	}
	look "$@"
	expect "$usual" "unreachable"
	for option in use_unaligned=1 pointer_mask=0x00ffffffffffffff \
	    use_globals=0; do
		case $option in
		use_un*) left="312 " ;;
		pointer*) left="200 " ;;
		*) left="104 200 312 " ;;
		esac
		look "--$(echo "$option" | tr _ -)" "$@"
		expect "$left" "by option: ${option%=*}="
		MEMUNREACHABLE_OPTIONS=$given$option look "$@"
		expect "$left" "by option: ${option%=*}="
		# The command line wins.
		MEMUNREACHABLE_OPTIONS=${given}use_globals=0 \
		    look --use-globals=1 "$@"
		expect "$usual" "unreachable"
	done
}

name='a process'
"$victim" >"$work/ready" &
pids=$!
is_ready() {
	grep -q ready "$work/ready"
}
await is_ready || fail "not ready"
play -p "$pids"
"$command" --confirm -p "$pids" >"$out" 2>"$err"
expect "$usual" "2 tries"
MEMUNREACHABLE_OPTIONS=${given}confirm=1 "$command" -p "$pids" >"$out" 2>"$err"
expect "$usual" "2 tries"
MEMUNREACHABLE_OPTIONS=${given}use_stack=0 "$command" -p "$pids" >"$out" \
    2>"$err"
grep -q 'use_stack=0: no such option' "$err" || fail "a typo is not told"

# So is one in the name of the variable.
MEMUNREACHABLE_OPTION=use_stacks=0 "$command" -p $$ >"$out" 2>"$err"
grep -q '^MEMUNREACHABLE_OPTION is not used: there is no such variable' "$err" ||
	fail "a typo in a name is not told"
MEMUNREACHABLE_OPTION=use_stacks=0 "$command" -- /bin/true >"$out" 2>"$err"
[ "$(grep -c '^MEMUNREACHABLE_OPTION is not used' "$err")" -eq 1 ] ||
	fail "a typo in a name is not told once of a command"

name='a core file'
if command -v gcore >/dev/null &&
    gcore -o "$work/core" "$pids" >/dev/null 2>&1; then
	play --core "$work/core.$pids"
else
	echo "SKIPPED: cli_reach: no gcore"
fi

name='a command'
play -- "$victim" return
play -- "$victim" _exit

[ "$failures" -eq 0 ]
