#include "lib/malloc_debug/unwind/own_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "mu/sys.h"

#define FILES 16      /* walks at a time; handles below are places of these */
#define BY_CALL FILES /* the handle for process_vm_readv() */
#define WAIT_NS MU_NS_PER_SEC /* for a thread that opens or closes one */

/*
 * Of a place. fork() copies the descriptors before the memory (kernel/fork.c,
 * copy_process()): what is closed in between is open in a child whose memory
 * says that it is closed. LEFT: to be closed behind the fork.
 */
enum state { FREE, OPENING, OPEN, CLOSING, LEFT };

static struct {
	struct place {
		int state, file;
	} places[FILES];
	int forks; /* being made */
	bool filtered;
} own;

void
own_memory_init(void)
{
	char status[4096];

	own.filtered = mu_sys_read_file(AT_FDCWD, "/proc/thread-self/status",
			   status, sizeof(status)) <= 0 ||
	    strstr(status, "\nSeccomp:\t0\n") == NULL;
}

static bool
change(struct place *place, int from, int to)
{
	return __atomic_compare_exchange_n(&place->state, &from, to, false,
	    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void
set(struct place *place, int state)
{
	__atomic_store_n(&place->state, state, __ATOMIC_SEQ_CST);
}

static bool
is_forking(void)
{
	return __atomic_load_n(&own.forks, __ATOMIC_SEQ_CST) != 0;
}

int
own_memory_open(void)
{
	struct place *place = own.places;
	long file = -EAGAIN;

	if (!own.filtered)
		return BY_CALL;
	while (!change(place, FREE, OPENING))
		if (++place == &own.places[FILES])
			return -EAGAIN;
	if (!is_forking())
		file = mu_sys4(SYS_openat, AT_FDCWD, (long)"/proc/self/mem",
		    O_RDONLY | O_CLOEXEC, 0);
	place->file = (int)file;
	set(place, file < 0 ? FREE : OPEN);
	return file < 0 ? (int)file : (int)(place - own.places);
}

ssize_t
own_memory_read(int handle, void *buffer, size_t size, uintptr_t address)
{
	ssize_t n;

	if (handle == BY_CALL)
		return mu_sys_vm_read(mu_sys_getpid(), buffer, size, address);
	if (address > INTPTR_MAX)
		return -EFAULT;
	/* The loader makes this call, too, to read programs and libraries. */
	n = mu_sys_pread(own.places[handle].file, buffer, size, address);
	return n < 0 ? -EFAULT : n; /* -EIO: not mapped */
}

/* PLACE is CLOSING. A fork may end before it is LEFT. */
static void
close_place(struct place *place)
{
	int file = place->file;

	do {
		if (!is_forking()) {
			mu_sys_close(&file);
			set(place, FREE);
			return;
		}
		set(place, LEFT);
	} while (!is_forking() && change(place, LEFT, CLOSING));
}

void
own_memory_close(int handle)
{
	if (handle == BY_CALL)
		return;
	set(&own.places[handle], CLOSING);
	close_place(&own.places[handle]);
}

static bool
is_changing(const struct place *place)
{
	int state = __atomic_load_n(&place->state, __ATOMIC_SEQ_CST);

	return state == OPENING || state == CLOSING;
}

/*
 * A thread that opens or closes a file has seen the fork, or is waited for; a
 * handler of a signal may fork in such a thread, therefore not for ever.
 */
void
own_memory_fork(void)
{
	uint64_t deadline = mu_sys_now_ns() + WAIT_NS;
	int i;

	__atomic_fetch_add(&own.forks, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < FILES; i++)
		while (
		    is_changing(&own.places[i]) && mu_sys_now_ns() < deadline)
			mu_sys0(SYS_sched_yield);
}

void
own_memory_fork_parent(void)
{
	int i;

	__atomic_fetch_sub(&own.forks, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < FILES; i++)
		if (change(&own.places[i], LEFT, CLOSING))
			close_place(&own.places[i]);
}

void
own_memory_fork_child(void)
{
	int i;

	for (i = 0; i < FILES; i++) {
		if (own.places[i].state > OPENING)
			mu_sys_close(&own.places[i].file);
		own.places[i].state = FREE;
	}
	own.forks = 0;
}
