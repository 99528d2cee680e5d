/*
 * A slot (enframe() and get_nominal_size() in src/malloc/mallocng/meta.h,
 * aligned_alloc()). The 4 bytes before a block say where in its group and in
 * which slot it is, and how many bytes behind it are not the program's. If it
 * does not begin where the slot does, the slot's first such bytes say how much
 * later.
 */
#include "heapwalk/heaps/musl/heap.h"
#include "heapwalk/heaps/view.h"

#define SLOT_OF 31            /* p[-3] & 31 */
#define RESERVED_SHIFT 5      /* p[-3] >> 5: bytes behind the block, or: */
#define RESERVED_STORED 5     /* they are in the slot's last 4 bytes */
#define RESERVED_GROUP 6      /* a group */
#define MOVED (7 << 5)        /* p[-3] of a slot whose block begins later */
#define FAR ((size_t)1 << 16) /* units: counted in 32 bits */

/* True if the block at P of slot INDEX says that it is AT units into GROUP. */
static bool
agrees(const char *p, unsigned index, size_t at)
{
	if (((unsigned char)p[-3] & SLOT_OF) != index)
		return false;
	return p[-4] == 0
	    ? mu_view_u16(p - 2) == at
	    : at >= FAR && mu_view_u16(p - 2) == 0 && mu_view_u32(p - 8) == at;
}

/*
 * The offset of the block in the slot, whose bytes are at START. Only the lower
 * 16 bits of the number of units are stored, which a large alignment exceeds.
 */
static bool
find_begin(
    const char *start, size_t size, unsigned index, size_t at, size_t *offset)
{
	size_t by = 0, last = (size - MU_MUSL_IN_BAND) / MU_MUSL_UNIT;

	if ((unsigned char)start[-3] == MOVED)
		by = mu_view_u16(start - 2);
	for (; by <= last; by += FAR) {
		*offset = by * MU_MUSL_UNIT;
		if (agrees(start + *offset, index, at + by))
			return true;
	}
	return false;
}

bool
mu_musl_slot_read(const struct mu_musl_group *group, const char *view,
    unsigned index, struct mu_musl_slot *slot)
{
	size_t begin = MU_MUSL_UNIT + group->stride * index, offset, reserved;
	const char *start = view + begin, *p;
	size_t room;

	if (!find_begin(start, group->stride, index,
		(begin - MU_MUSL_UNIT) / MU_MUSL_UNIT, &offset))
		return false;
	p = start + offset;
	room = group->stride - MU_MUSL_IN_BAND - offset;
	reserved = (unsigned char)p[-3] >> RESERVED_SHIFT;
	slot->group = reserved == RESERVED_GROUP;
	slot->blank = mu_view_u32(p - MU_MUSL_IN_BAND) == 0;
	if (slot->group)
		reserved = 0;
	else if (reserved == RESERVED_STORED)
		reserved = mu_view_u32(p + room - 4);
	if (reserved > room)
		return false;
	slot->block.begin = group->range.begin + begin + offset;
	slot->block.end = slot->block.begin + room - reserved;
	if (reserved == room)
		slot->block.end++; /* no bytes count as one */
	return true;
}
