#!/bin/sh
# The texts of errors, each with both stacks; the program continues. Test names
# are those of Android's unit tests.
set -u
. tests/recorder/core_play.inc
divider='*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***'

# said NAME TEXT...: exactly these lines, of which stacks are "<stack>".
said() {
	name=$1
	shift
	block=$(sed -n '/^0x/{p;q;}' "$work/out")
	sed -n 's/^malloc_debug: //p' "$work/err" | sed "s/$block/BLOCK/g" | awk '
		/^  #00/ { print "<stack>" }
		!/^  #[0-9]/ { print }' >"$work/said"
	printf '%s\n' "$@" >"$work/wanted"
	cmp -s "$work/wanted" "$work/said" || {
		fail "$name"
		diff "$work/wanted" "$work/said"
	}
	tail -n 1 "$work/out" | grep -q '^went on$' || fail "$name: went not on"
}

failure='Backtrace at time of failure:'
allocation='Backtrace at time of allocation:'

# front_guard_corrupted, front_guard_no_corruption is core_family.sh's.
under "front_guard=32 backtrace" "$here/core_errors" front
said front "$divider" \
    "+++ ALLOCATION BLOCK SIZE 100 HAS A CORRUPTED FRONT GUARD" \
    "  allocation[-32] = 0x22 (expected 0xaa)" \
    "  allocation[-1] = 0x11 (expected 0xaa)" \
    "$failure" "<stack>" "$allocation" "<stack>" "$divider"
grep -q '^malloc_debug:   #00  pc 0000[0-9a-f]\{12\}  /.*/core_errors' \
    "$work/err" || fail "form of a frame"
# No frame is the recorder's own.
! grep -q 'pc .*libmemunreachable-malloc-debug' "$work/err" ||
    fail "own frames"

# rear_guard_corrupted; no stack of the allocation without backtrace.
under rear_guard=16 "$here/core_errors" rear
said rear "$divider" \
    "+++ ALLOCATION BLOCK SIZE 100 HAS A CORRUPTED REAR GUARD" \
    "  allocation[100] = 0x33 (expected 0xbb)" \
    "$failure" "<stack>" "$divider"
under "guard=16" "$here/core_errors" rear_realloc
said rear_realloc "$divider" \
    "+++ ALLOCATION BLOCK SIZE 100 HAS A CORRUPTED REAR GUARD" \
    "  allocation[103] = 0x44 (expected 0xbb)" \
    "$failure" "<stack>" "$divider"
# A block that shrinks keeps its place, its guard moves.
under rear_guard "$here/core_errors" rear_shrunk
said rear_shrunk "$divider" \
    "+++ ALLOCATION BLOCK SIZE 40 HAS A CORRUPTED REAR GUARD" \
    "  allocation[40] = 0x00 (expected 0xbb)" \
    "$failure" "<stack>" "$divider"
grep -q '^usable 40$' "$work/out" || fail "usable size with a rear guard"

# Blocks that are not freed: checked at exit, and at each dump.
live_blocks() {
	[ "$(grep -c '+++ ALLOCATION .* SIZE 100 HAS A CORRUPTED REAR GUARD' \
	    "$work/err")" -eq "$1" ] || fail "live blocks: rear: $2"
	[ "$(grep -c '+++ ALLOCATION .* SIZE 300 HAS A CORRUPTED FRONT GUARD' \
	    "$work/err")" -eq "$1" ] || fail "live blocks: front: $2"
	[ "$(grep -c 'HAS A CORRUPTED' "$work/err")" -eq $((2 * $1)) ] ||
	    fail "live blocks: others: $2"
	grep -q '^went on$' "$work/out" || fail "live blocks: $2"
}
for options in guard "guard backtrace" "guard verify_pointers free_track" \
    "guard=17 expand_alloc fill"; do
	under "$options" "$here/core_errors" live
	live_blocks 1 "$options"
	under "$options" "$here/core_errors"
	live_blocks 0 "$options: none"
done
under "guard backtrace" "$here/core_errors" live signal
live_blocks 2 signal
under rear_guard=16 "$here/core_errors" live
said live "$divider" \
    "+++ ALLOCATION BLOCK SIZE 100 HAS A CORRUPTED REAR GUARD" \
    "  allocation[101] = 0x33 (expected 0xbb)" "$divider"

# Of 0 bytes the first one is the guard's already.
for options in rear_guard=16 guard "rear_guard verify_pointers fill_on_alloc"; do
	case $options in
	*fill*) byte=0xeb ;;
	*) byte=0xbb ;;
	esac
	under "$options" "$here/core_errors" empty
	said "empty: $options" "$divider" \
	    "+++ ALLOCATION BLOCK SIZE 0 HAS A CORRUPTED REAR GUARD" \
	    "  allocation[0] = 0x41 (expected $byte)" "$failure" "<stack>" \
	    "$divider"
	under "$options" "$here/core_errors" empty_grown
	[ -z "$(complaints)" ] || fail "empty_grown: $(complaints)"
done
under verify_pointers "$here/core_errors" empty
[ -z "$(complaints)" ] || fail "empty, no guard: $(complaints)"

# tag_corrupted: free does nothing, realloc returns NULL, the size is 0.
under front_guard=32 "$here/core_errors" tag
said tag "$divider" "+++ ALLOCATION BLOCK HAS INVALID TAG 66666666 (free)" \
    "$failure" "<stack>" "$divider" "$divider" \
    "+++ ALLOCATION BLOCK HAS INVALID TAG 66666666 (realloc)" \
    "$failure" "<stack>" "$divider" "$divider" \
    "+++ ALLOCATION BLOCK HAS INVALID TAG 66666666 (malloc_usable_size)" \
    "$failure" "<stack>" "$divider" "$divider" \
    "+++ ALLOCATION BLOCK HAS INVALID TAG 66666666 (still allocated)" \
    "$divider"

# free_track_use_after_free: at eviction, at exit, with and without frames.
under "free_track=2 backtrace" "$here/core_errors" after_free
said after_free "$divider" "+++ ALLOCATION BLOCK USED AFTER FREE" \
    "  allocation[0] = 0x01 (expected 0xef)" \
    "  allocation[99] = 0x02 (expected 0xef)" \
    "Backtrace at time of free:" "<stack>" "$allocation" "<stack>" "$divider"
for options in "free_track free_track_backtrace_num_frames=0" \
    "free_track_backtrace_num_frames=0 free_track=9"; do
	under "$options" "$here/core_errors" after_free_at_exit
	said "after_free_at_exit: $options" "$divider" \
	    "+++ ALLOCATION BLOCK USED AFTER FREE" \
	    "  allocation[5] = 0x01 (expected 0xef)" "$divider"
done
# free_track_header_tag_corrupted
under "free_track front_guard=32 free_track_backtrace_num_frames=0" \
    "$here/core_errors" tag_after_free
said tag_after_free "$divider" \
    "+++ ALLOCATION BLOCK HAS CORRUPTED HEADER TAG 0x66666666 AFTER FREE" \
    "$divider"
# free_track_pointer_taken_twice: free, realloc, malloc_usable_size.
under free_track "$here/core_errors" twice
original='Backtrace of original free:'
said twice "$divider" "+++ ALLOCATION BLOCK USED AFTER FREE (free)" \
    "$original" "<stack>" "$failure" "<stack>" "$divider" "$divider" \
    "+++ ALLOCATION BLOCK USED AFTER FREE (realloc)" \
    "$original" "<stack>" "$failure" "<stack>" "$divider" "$divider" \
    "+++ ALLOCATION BLOCK USED AFTER FREE (malloc_usable_size)" \
    "$original" "<stack>" "$failure" "<stack>" "$divider"
grep -q '^(nil)$' "$work/out" || fail "realloc of a freed block"

# verify_pointers
under verify_pointers "$here/core_errors" foreign
grep -c 'UNKNOWN POINTER (free)$' "$work/err" | grep -q '^4$' ||
    fail "verify_pointers: free"
grep -q '+++ ALLOCATION 0xdead00000010 UNKNOWN POINTER (free)' "$work/err" ||
    fail "verify_pointers: a wild pointer"
grep -q 'UNKNOWN POINTER (realloc)$' "$work/err" ||
    fail "verify_pointers: realloc"
grep -q 'UNKNOWN POINTER (malloc_usable_size)$' "$work/err" ||
    fail "verify_pointers: malloc_usable_size"
tail -n 1 "$work/out" | grep -q '^went on$' || fail "verify_pointers: end"

under "verify_pointers backtrace" "$here/core_mismatch"
for text in "SIZE 10 ALLOCATED BY operator new RELEASED BY free" \
    "SIZE 20 ALLOCATED BY operator new\[\] RELEASED BY operator delete" \
    "SIZE 30 ALLOCATED BY malloc RELEASED BY operator delete"; do
	grep -q "+++ ALLOCATION 0x[0-9a-f]* $text\$" "$work/err" ||
	    fail "mismatch: $text"
done
n='operator new' d='operator delete'
for options in verify_pointers "verify_pointers guard=48 backtrace" \
    "verify_pointers expand_alloc fill free_track"; do
	under "$options" "$here/core_mismatch"
	grep -o 'SIZE [0-9]* ALLOCATED BY .*' "$work/err" | tail -n +4 \
	    >"$work/said"
	cat >"$work/wanted" <<END
SIZE 51 ALLOCATED BY $n RELEASED BY $d WITH SIZE 50
SIZE 52 ALLOCATED BY ${n}[] RELEASED BY ${d}[] WITH SIZE 5200
SIZE 53 ALLOCATED BY $n WITH ALIGNMENT 64 RELEASED BY $d WITHOUT ALIGNMENT
SIZE 54 ALLOCATED BY $n RELEASED BY $d WITH ALIGNMENT 64
SIZE 55 ALLOCATED BY $n WITH ALIGNMENT 64 RELEASED BY $d WITH ALIGNMENT 32
SIZE 56 ALLOCATED BY ${n}[] WITH ALIGNMENT 32 RELEASED BY ${d}[] WITH SIZE 57 WITH ALIGNMENT 64
SIZE 58 ALLOCATED BY ${n}[] RELEASED BY $d
SIZE 59 ALLOCATED BY $n WITH ALIGNMENT 64 RELEASED BY $d WITHOUT ALIGNMENT
SIZE 1 ALLOCATED BY $n RELEASED BY $d WITH SIZE 8
END
	cmp -s "$work/wanted" "$work/said" || {
		fail "sizes and alignments: $options"
		diff "$work/wanted" "$work/said"
	}
done

# abort_on_error_*
for play in "verify_pointers foreign" "rear_guard rear" "free_track twice" \
    "front_guard tag" "free_track after_free_at_exit"; do
	under "abort_on_error ${play% *}" "$here/core_errors" "${play#* }"
	[ $? -eq 134 ] || fail "abort_on_error: $play"
	[ "$(grep -c '+++ ALLOCATION' "$work/err")" -eq 1 ] ||
	    fail "abort_on_error: $play: more than one"
done
# Leaks are no error.
under "abort_on_error leak_track" "$here/core_early" ||
    [ $? -eq 5 ] || fail "abort_on_error leak_track"

# fill_*, expand_alloc
under "fill expand_alloc=200" "$here/core_errors" filled
printf 'eb eb eb\neb eb eb\n00 00\n1\nwent on\n' | cmp -s - "$work/out" ||
    fail "fill expand_alloc"
[ "$failures" -eq 0 ]
