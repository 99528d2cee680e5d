#!/bin/sh
# Usage: check_layers.sh BUILD OBJECT...
#
# Who may include whom: lib -> ptrace, lib -> heapwalk, all -> include/mu,
# ptrace -> heapwalk/subject/snapshot.h and glibc's offsets only, heapwalk ->
# neither. And who may call whom: OBJECTs, below BUILD in the folders of their
# sources, refer to each other without a circle of folders, and without a circle
# of more than three files inside one. No folder has more than 64 files.
set -u
bad=0
build=$1
shift

complain() {
	echo "check-layers: $1"
	bad=1
}

# The lines of *.[ch] below the other arguments that match $1, without blanks.
lines() {
	pattern=$1
	shift
	grep -rnE --include='*.[ch]' "$pattern" "$@" | tr ' ' '_'
}

for found in $(lines '#include "(lib|ptrace)/' heapwalk); do
	complain "heapwalk must not know lib or ptrace: $found"
done
for found in $(lines '#include "lib/' ptrace); do
	complain "ptrace must not know lib: $found"
done
for found in $(lines '#include "heapwalk/' ptrace |
	grep -vE 'heapwalk/(subject/snapshot|heaps/glibc/pthread)\.h'); do
	complain "ptrace knows of heapwalk only the snapshot: $found"
done
for found in $(lines '#include "(lib|ptrace|heapwalk)/' include); do
	complain "the ground must not know what stands on it: $found"
done
for found in $(lines '__x86_64__|__aarch64__' lib ptrace heapwalk include |
	grep -vE '^include/(mu/arch/chosen|memunreachable/test_frames).h:'); do
	complain "only include/mu/arch/chosen.h asks for the CPU: $found"
done
for found in $(find lib ptrace heapwalk include -type f | sed 's,/[^/]*$,,' |
	sort | uniq -c | awk '$1 > 64 { print $2 ":" $1 }'); do
	complain "too many files in a folder: $found"
done
names=
for folder in include/mu/arch heapwalk/heaps/glibc; do
	for cpu in x86_64 aarch64; do
		found=$(cd "$folder/$cpu" && echo *.h)
		[ "$cpu" = x86_64 ] || [ "$found" = "$names" ] ||
			complain "$folder: not the same files for each CPU"
		names=$found
	done
done

# The recorder and lib/pass/*_calls.c replace functions of libc: those names
# lead to libc everywhere else.
exported=$(sed '1,/^global:/d; /^local:/,$d' lib/malloc_debug/malloc_debug.map |
	tr -d '\t\n' | sed 's/; *$//; s/; */|/g; s/[*]/.*/g')
circles=$("${NM:-nm}" -A "$@" | awk -v build="$build/" \
	-v exported="^($exported)\$" '
	function folder(file) {
		sub("/[^/]*$", "", file)
		return file
	}
	{
		file = $1
		sub(":.*", "", file)
		sub("^" build, "", file)
		sub("[.]o$", "", file)
		kind = $(NF - 1)
		if (kind ~ /^[TDBRVW]$/ && (file !~ /malloc_debug\/entry/ ||
		    $NF !~ exported) &&
		    (file !~ /pass\/(exit|filter)_calls$/ || $NF ~ /^mu_/))
			owner[$NF] = file
		else if (kind == "U")
			uses[file, $NF] = 1
	}
	function edge(kind, from, to) {
		if (from == to)
			return
		nodes[from] = kind
		nodes[to] = kind
		path[from, to] = 1
	}
	END {
		for (use in uses) {
			split(use, part, SUBSEP)
			if (!(part[2] in owner))
				continue
			from = part[1]
			to = owner[part[2]]
			if (folder(from) != folder(to))
				edge("folders", folder(from), folder(to))
			else
				edge("files", from, to)
		}
		for (via in nodes)
			for (from in nodes)
				if ((from, via) in path)
					for (to in nodes)
						if ((via, to) in path)
							path[from, to] = 1
		for (node in nodes) {
			if (node in told)
				continue
			size = 0
			members = ""
			for (other in nodes)
				if ((node, other) in path && (other, node) in path) {
					size++
					members = members " " other
					told[other] = 1
				}
			if (size > (nodes[node] == "files" ? 3 : 0))
				print "a circle of " nodes[node] ":" members
		}
	}')
if [ -n "$circles" ]; then
	complain "$circles"
fi
exit $bad
