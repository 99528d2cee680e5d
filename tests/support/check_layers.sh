#!/bin/sh
# Who may include whom: lib -> ptrace, lib -> heapwalk, all -> include/mu,
# ptrace -> heapwalk/snapshot.h only, heapwalk -> neither.
set -u
bad=0

complain() {
	echo "check-layers: $1"
	bad=1
}

for found in $(grep -nE '#include "(lib|ptrace)/' heapwalk/*.[ch] heapwalk/*/*.[ch] |
	tr ' ' '_'); do
	complain "heapwalk must not know lib or ptrace: $found"
done
for found in $(grep -nE '#include "lib/' ptrace/*.[ch] | tr ' ' '_'); do
	complain "ptrace must not know lib: $found"
done
for found in $(grep -nE '#include "heapwalk/' ptrace/*.[ch] |
	grep -v 'heapwalk/snapshot.h' | tr ' ' '_'); do
	complain "ptrace knows of heapwalk only the snapshot: $found"
done
for found in $(grep -nE '#include "(lib|ptrace|heapwalk)/' include/*/*.h |
	tr ' ' '_'); do
	complain "include/ must not include other folders: $found"
done
for found in $(grep -nE '__x86_64__|__aarch64__' lib/*.[ch] ptrace/*.[ch] \
	heapwalk/*.[ch] heapwalk/*/*.[ch] | tr ' ' '_'); do
	complain "facts about a CPU belong to include/mu/arch.h: $found"
done
exit $bad
