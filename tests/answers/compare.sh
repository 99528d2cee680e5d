#!/bin/sh
# Lost random graphs of many shapes: the answers of this build with 1, 2 and 4
# workers, in place, in an image and with so little memory that edges are read
# again are those of an older build with one. BEFORE=DIR says where its
# libmemunreachable.so is; without it all answers are the same as the first.
# ANSWERS_SEEDS graphs of each shape and size. What memory does not suffice for
# is not compared.
build=${BUILD:-build}
before=${BEFORE:-$build}
shapes="random5 random10 random15 random30 even10 even20 ends20 list ring rings
	tree grown dag dag20 heads alone mixed mixed2"
wrong=0 compared=0 left_out=0

[ -e "$before/libmemunreachable.so" ] ||
	{ echo "no libmemunreachable.so in $before" >&2; exit 2; }

# ask LIBRARIES OPTIONS SHAPE BLOCKS SEED LIMIT
ask() {
	LD_LIBRARY_PATH=$1 MEMUNREACHABLE_OPTIONS=timeout=300:$2 \
		setarch -R "$build/tests/answers/answers" "$3" "$4" "$5" "$6"
}

# compare SHAPE BLOCKS SEED LIMIT
compare() {
	old=$(ask "$before" workers=1 "$@") old=${old%, ms*}
	for options in workers=1 workers=2 workers=4 workers=2:max_memory=1g \
	    workers=4:max_memory=$(($2 * 64)) workers=1:max_memory=$(($2 * 100)) \
	    workers=2:max_memory=$(($2 * 106))
	do
		new=$(ask "$build" "$options" "$@") new=${new%, ms*}
		case $new$old in
		*"not compared"*)
			left_out=$((left_out + 1))
			continue ;;
		esac
		compared=$((compared + 1))
		[ -n "$new" ] && [ "$new" = "$old" ] && continue
		echo "$* with $options: $new; before: $old"
		wrong=$((wrong + 1))
	done
}

for shape in $shapes; do
	seed=1
	while [ "$seed" -le "${ANSWERS_SEEDS:-2}" ]; do
		compare "$shape" 300 "$seed" 0
		compare "$shape" 20000 "$seed" 0
		compare "$shape" 150000 "$seed" 100
		seed=$((seed + 1))
	done
	echo "$shape: $compared equal or not, $left_out not compared, $wrong wrong"
done
[ "$wrong" -eq 0 ]
