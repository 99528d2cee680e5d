/*
 * A table of what is allocated, by address.
 *
 * An open hash table without locks. A slot belongs to the thread that first
 * stores an address there; a freed slot becomes GONE and never reads as empty
 * again, so a search may stop at an empty one. Neighbouring blocks are
 * neighbours in the table, so that it grows with the heap, and one byte for
 * each of its pages tells whether the page has entries. Addresses are stored
 * hidden: the table is not a reference to what it lists.
 */
#ifndef TESTS_SUPPORT_RECORDER_RECORDED_TABLE_H
#define TESTS_SUPPORT_RECORDER_RECORDED_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/sys.h"

#define RECORDED_SLOTS ((size_t)1 << 26) /* a power of two */
#define RECORDED_PAGE ((size_t)256)      /* slots, 4096 bytes */
#define RECORDED_NEAR ((size_t)12)       /* bits: 64 KiB of heap lie together */
#define RECORDED_GONE ((uintptr_t)1)     /* was used and is free again */

struct recorded {
	uintptr_t hidden; /* ~address; 0 and 1: no entry */
	size_t size;      /* malloc_usable_size() */
};

static struct recorded *recorded_slots;
static unsigned char *recorded_pages; /* 0: nothing was ever stored there */

#define RECORDED_SIZE                               \
	(RECORDED_SLOTS * sizeof(struct recorded) + \
	    RECORDED_SLOTS / RECORDED_PAGE)

/*
 * The first thread maps it; the mapping of another that was as fast is dropped.
 */
static inline bool
recorded_open(void)
{
	struct recorded *mapped, *none = NULL;
	long address;

	if (__atomic_load_n(&recorded_pages, __ATOMIC_ACQUIRE) != NULL)
		return true;
	address = mu_sys_mmap(NULL, RECORDED_SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	if (mu_sys_failed(address))
		return false;
	mapped = (struct recorded *)address;
	if (!__atomic_compare_exchange_n(&recorded_slots, &none, mapped, false,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		mu_sys_munmap(mapped, RECORDED_SIZE);
		mapped = none;
	}
	__atomic_store_n(&recorded_pages,
	    (unsigned char *)(mapped + RECORDED_SLOTS), __ATOMIC_RELEASE);
	return true;
}

static inline size_t
recorded_slot(uintptr_t address)
{
	size_t grain = address >> 4;
	size_t area = (grain >> RECORDED_NEAR) * 0x9e3779b97f4a7c15u >> 50;
	size_t in_area = grain & (((size_t)1 << RECORDED_NEAR) - 1);

	return ((area << RECORDED_NEAR) + in_area) & (RECORDED_SLOTS - 1);
}

static inline size_t
recorded_next(size_t slot)
{
	return (slot + 1) & (RECORDED_SLOTS - 1);
}

/* False: the table is full. */
static inline bool
recorded_add(uintptr_t address, size_t size)
{
	size_t i = recorded_slot(address), tries;
	uintptr_t seen;

	for (tries = 0; tries < RECORDED_SLOTS; i = recorded_next(i), tries++) {
		seen = __atomic_load_n(
		    &recorded_slots[i].hidden, __ATOMIC_RELAXED);
		if (seen > RECORDED_GONE ||
		    !__atomic_compare_exchange_n(&recorded_slots[i].hidden,
			&seen, ~address, false, __ATOMIC_ACQ_REL,
			__ATOMIC_RELAXED))
			continue;
		recorded_slots[i].size = size;
		recorded_pages[i / RECORDED_PAGE] = 1;
		return true;
	}
	return false;
}

static inline struct recorded *
recorded_find(uintptr_t address)
{
	size_t i = recorded_slot(address), tries;
	uintptr_t seen;

	for (tries = 0; tries < RECORDED_SLOTS; i = recorded_next(i), tries++) {
		seen = __atomic_load_n(
		    &recorded_slots[i].hidden, __ATOMIC_ACQUIRE);
		if (seen == ~address)
			return &recorded_slots[i];
		if (seen == 0)
			return NULL;
	}
	return NULL;
}

/* Its size; SIZE_MAX if it is not there. */
static inline size_t
recorded_remove(uintptr_t address)
{
	struct recorded *entry = recorded_find(address);
	size_t size;

	if (entry == NULL)
		return SIZE_MAX;
	size = entry->size;
	__atomic_store_n(&entry->hidden, RECORDED_GONE, __ATOMIC_RELEASE);
	return size;
}

/* The first entry at *SLOT or behind, and *SLOT just behind it; or NULL. */
static inline const struct recorded *
recorded_each(size_t *slot)
{
	while (*slot < RECORDED_SLOTS) {
		if (recorded_pages[*slot / RECORDED_PAGE] == 0) {
			*slot += RECORDED_PAGE - *slot % RECORDED_PAGE;
			continue;
		}
		if (recorded_slots[(*slot)++].hidden > RECORDED_GONE)
			return &recorded_slots[*slot - 1];
	}
	return NULL;
}

#endif
