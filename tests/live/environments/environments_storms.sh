#!/bin/sh
# Passes while other threads change the process: they fork, spawn, load
# libraries, start, end, are cancelled, get signals, change handlers, masks and
# users. Each of the TESTS_ROUNDS passes (6) is exact, or says why it could not
# check; no signal is lost; what threads have set stays set.
set -u
. tests/support/environments/environments.sh
storm=$victims/victim_storm

# STORM...
storm() {
	right="^0 wrong, 0 not checked, complete by"
	tail="exact; the same again; unharmed\$"
	places "storm of $*" - "$right ptrace: $tail" "$right signal: $tail" \
	    "$storm" "$@"
}

for name in fork vfork posix_spawn dlopen threads detached cancel urg queued \
    timer setuid sigaction masks; do
	storm $name
done
storm fork threads dlopen queued masks timer
storm vfork detached cancel sigaction
storm posix_spawn setuid sigaction masks

# Who ends waits with all signals blocked for setuid(), which waits for us.
refused='signals blocked by none: [^;]*'
places "storm of detached setuid" - \
    "^0 wrong, 0 not checked, complete by ptrace: exact; .*; unharmed\$" \
    "^($refused, )*0 wrong, [0-9]+ not checked, complete by signal: exact; .*; unharmed\$" \
    "$storm" detached setuid

finish_places
