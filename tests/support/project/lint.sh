#!/bin/sh
# What reads the sources and complains. Usage: lint.sh SOURCE STAMP: of one
# source; STAMP is written if all is well, and STAMP.d with what it includes.
# lint.sh: of the tree, and whether the tools are here.
set -u
tools="gcc clang aarch64-linux-gnu-gcc clang-tidy"
bad=0

have() {
	command -v "$1" >/dev/null
}

# What elfutils installs is the same for all CPUs, and not seen by a cross gcc.
of_source() {
	source=$1 stamp=$2
	set -- -std=gnu11 -D_GNU_SOURCE -Iinclude -I.
	for tool in $tools; do
		have "$tool" || continue
		case $tool in
		clang-tidy)
			"$tool" --quiet --warnings-as-errors="*" "$source" \
				-- "$@" 2>/dev/null || bad=1
			;;
		*)
			"$tool" "$@" -O2 -fPIC -Wall -Wextra -Wshadow -Werror \
				-idirafter /usr/include -fsyntax-only -MMD -MP \
				-MF "$stamp.d" -MT "$stamp" "$source" || bad=1
			;;
		esac
	done
	[ $bad -ne 0 ] || : >"$stamp"
}

of_tree() {
	for tool in $tools; do
		have "$tool" || echo "SKIPPED: lint: no $tool"
	done
	if have clang-format; then
		git ls-files -z '*.c' '*.h' |
			xargs -0 clang-format --dry-run -Werror || bad=1
	else
		echo "SKIPPED: lint: no clang-format"
	fi
	if have shellcheck; then
		# All at once: some say what others use. SC2317: await calls functions.
		# shellcheck disable=SC2046
		shellcheck -e SC2317 $(git ls-files '*.sh' '*.inc') .ci/run || bad=1
	else
		echo "SKIPPED: lint: no shellcheck"
	fi
}

if [ $# -gt 0 ]; then
	of_source "$@"
else
	of_tree
fi
exit $bad
