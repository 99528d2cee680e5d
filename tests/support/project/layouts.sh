#!/bin/sh
# Compare heapwalk/heaps/glibc/layout.c with glibc's own sources, release by release.
#
#	make check-layouts GLIBC_GIT=a/clone/of/glibc [GLIBC_REFS="glibc-2.44"]
#
# Takes the structs and the macros of malloc/malloc.c and malloc/arena.c out of
# each revision (by default every tag from glibc-2.26 on, and HEAD), lets the
# compiler lay them out, and prints what is not as the table says; for a release
# that is not in the table, what differs from its nearest neighbour. Nothing of
# glibc stays behind. Not part of `make check`.
#
# Usage: layouts.sh GLIBC_GIT [REVISION...]
set -u
git=${1:?usage: layouts.sh GLIBC_GIT [REVISION...]}
shift
here=$(dirname "$0")
root=$here/../../..
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0

show() { # REVISION FILE
	git -C "$git" show "$1:$2" 2>/dev/null
}

# "2 43": that of version.h; what comes after a release belongs to the next.
release() { # REVISION
	show "$1" version.h | sed -n \
	    's/^#define VERSION "\([0-9]*\)\.\([0-9]*\)\(\.9\)*.*"/\1 \2 \3/p' |
	    awk '{ print $1, $2 + (NF > 2) }'
}

# Whole #defines, continuation lines and all, of the names in $1.
defines() { # NAMES
	awk -v names="$1" '
	BEGIN { n = split(names, a, " "); for (i = 1; i <= n; i++) want[a[i]] }
	!more && /^ *# *define / {
		line = $0; sub(/^ *# *define +/, "", line)
		sub(/[^A-Za-z0-9_].*/, "", line)
		take = (line in want) && !(line in seen); seen[line]
	}
	!more && !/^ *# *define / { take = 0 }
	take { print }
	{ more = /\\$/ }'
}

block() { # FIRST LAST: the first such block
	awk -v first="$1" -v last="$2" '
	!done && $0 ~ first { on = 1 }
	on { print }
	on && $0 ~ last { on = 0; done = 1 }'
}

# 1 if PATTERN is in malloc.c or arena.c.
has() { # NAME PATTERN
	if grep -q "$2" "$work/malloc.c" "$work/arena.c"; then
		echo "#define $1 1"
	else
		echo "#define $1 0"
	fi
}

extract() { # REVISION -> $work/glibc.h
	show "$1" malloc/malloc.c >"$work/malloc.c" || return 1
	show "$1" malloc/arena.c >"$work/arena.c" || return 1
	{
		defines "NBINS NSMALLBINS SMALLBIN_WIDTH SMALLBIN_CORRECTION
		    MIN_LARGE_SIZE BINMAPSHIFT BITSPERMAP BINMAPSIZE NFASTBINS
		    fastbin_index MAX_FAST_SIZE request2size MINSIZE
		    MIN_CHUNK_SIZE CHUNK_HDR_SZ TCACHE_MAX_BINS
		    TCACHE_SMALL_BINS TCACHE_LARGE_BINS MAX_TCACHE_SMALL_SIZE
		    tidx2csize tidx2usize csize2tidx PREV_INUSE IS_MMAPPED
		    NON_MAIN_ARENA NONCONTIGUOUS_BIT bin_index largebin_index
		    largebin_index_32 largebin_index_32_big largebin_index_64
		    smallbin_index in_smallbin_range MALLOC_ALIGN_MASK" \
		    <"$work/malloc.c"
		echo "typedef struct malloc_chunk *mchunkptr;"
		echo "typedef struct malloc_chunk *mfastbinptr;"
		echo "typedef struct malloc_state *mstate;"
		block '^struct malloc_chunk *[{]*$' '^};' <"$work/malloc.c"
		block '^struct malloc_state *$' '^};' <"$work/malloc.c"
		block '^struct malloc_par *$' '^};' <"$work/malloc.c"
		block '^typedef struct tcache_entry' '^}' <"$work/malloc.c"
		block '^typedef struct tcache_perthread' '^}' <"$work/malloc.c"
		block '^typedef struct _heap_info' '^}' <"$work/arena.c"
		grep -q '^large_csize2tidx' "$work/malloc.c" && {
			echo "static inline size_t"
			block '^large_csize2tidx' '^}' <"$work/malloc.c"
		}
		has HAS_LARGE_TCACHE '^large_csize2tidx'
		has HAS_FASTBINS 'mfastbinptr fastbinsY'
		has HAS_HUGE_PAGES 'INTERNAL_SIZE_T hp_pagesize;'
		has HAS_SMALL_BINS_LIMIT 'size_t tcache_small_bins;'
		has HEAP_MAX_HUGE 'hp_pagesize \* 4'
		has COUNTS_FREE 'uint16_t num_slots'
		has HAS_DUMMIES '} __tcache_dummy;'
		block '^tcache_thread_shutdown' '^}' <"$work/malloc.c" |
		    grep -q 'e->key = 0' && echo '#define KEY_CLEARED 1'
		has PADDED_TWICE '_int_malloc (av, request2size (bytes))'
		has SAFE_LINKING '^#define PROTECT_PTR'
		has MMAPPED_TAIL '^mmap_set_chunk'
	} >"$work/glibc.h"
}

check() { # REVISION
	# shellcheck disable=SC2046
	set -- "$1" $(release "$1")
	if [ $# -ne 3 ] || ! extract "$1"; then
		echo "$1: no such revision, or no version.h"
		return 1
	fi
	if ! ${CC:-cc} -std=gnu11 -Wall -Wextra -Wno-unused-macros -w \
	    -I"$work" -I"$root" -o "$work/check" \
	    "$here/layouts_check.c" "$root/heapwalk/heaps/glibc/layout.c" \
	    "$root/heapwalk/heaps/glibc/release.c"; then
		echo "$1: its structs do not compile"
		return 1
	fi
	"$work/check" "$1" "$2" "$3"
}

if [ $# -eq 0 ]; then
	# shellcheck disable=SC2046
	set -- $(git -C "$git" tag -l 'glibc-2.*' | grep -x 'glibc-2\.[0-9]*' |
	    sort -t. -k2n | awk -F. '$2 >= 26') HEAD
fi
for revision in "$@"; do
	check "$revision" || bad=1
done
exit $bad
