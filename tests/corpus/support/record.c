/*
 * The record of live blocks: a hash table in mapped memory, addresses inverted.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/corpus/support/corpus.h"
#include "tests/corpus/support/record.h"

struct record *record_table;

static int lock;
static __thread const char *scope;
static __thread unsigned ordinal;

void
record_prepare(void)
{
	record_table = mmap(NULL, RECORD_SLOTS * sizeof(*record_table),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (record_table == MAP_FAILED)
		abort();
}

static void
take_lock(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0)
		;
}

static void
drop_lock(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static size_t
slot_of(uintptr_t address)
{
	return (size_t)((address >> 4) * 0x9e3779b97f4a7c15ull >> 40) &
	    (RECORD_SLOTS - 1);
}

struct record *
record_find(uintptr_t address)
{
	size_t i, tries;

	for (i = slot_of(address), tries = 0;
	     record_table[i].hidden != 0 && tries < RECORD_SLOTS; tries++) {
		if (record_table[i].hidden == ~address)
			return &record_table[i];
		i = (i + 1) & (RECORD_SLOTS - 1);
	}
	return NULL;
}

void *
record_add(void *block, size_t size, uintptr_t caller)
{
	size_t i, tries;

	if (block == NULL)
		return NULL;
	take_lock();
	i = slot_of((uintptr_t)block);
	for (tries = 0; record_table[i].hidden != 0;
	     i = (i + 1) & (RECORD_SLOTS - 1)) {
		if (++tries == RECORD_SLOTS)
			abort();
	}
	record_table[i] = (struct record) {
		.hidden = ~(uintptr_t)block,
		.size = size,
		.name = scope,
		.ordinal = scope != NULL ? ++ordinal : 0,
		.caller = ~caller,
	};
	drop_lock();
	return block;
}

/*
 * Empty slot I, and move up the entries that were put behind it because it was
 * taken.
 */
static void
take_out(size_t i)
{
	size_t j, home;

	for (j = (i + 1) & (RECORD_SLOTS - 1); record_table[j].hidden != 0;
	     j = (j + 1) & (RECORD_SLOTS - 1)) {
		home = slot_of(~record_table[j].hidden);
		if (((j - home) & (RECORD_SLOTS - 1)) <
		    ((j - i) & (RECORD_SLOTS - 1)))
			continue;
		record_table[i] = record_table[j];
		i = j;
	}
	record_table[i].hidden = 0;
}

void
record_remove(const void *block)
{
	struct record *record;

	if (block == NULL)
		return;
	take_lock();
	record = record_find((uintptr_t)block);
	if (record != NULL)
		take_out((size_t)(record - record_table));
	drop_lock();
}

void
corpus_lose(const char *name)
{
	scope = name;
	ordinal = 0;
}

void
corpus_lose_end(void)
{
	scope = NULL;
}

void
corpus_lost(const void *block, const char *name)
{
	struct record *record = record_find((uintptr_t)block);

	if (record == NULL)
		abort();
	record->name = name;
	record->ordinal = 1;
}

void
corpus_kept(const void *p)
{
	struct record *record;
	size_t i;

	for (i = 0; i < RECORD_SLOTS; i++) {
		record = &record_table[i];
		if (record->hidden != 0 &&
		    (uintptr_t)p - ~record->hidden < record->size)
			record->name = NULL;
	}
}
