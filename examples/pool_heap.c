/*
 * Leaks of a pool: the program says where the blocks of its own allocator are,
 * and they are checked as those of malloc are.
 *
 *	cc pool_heap.c $(pkg-config --cflags --libs memunreachable)
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <memunreachable/memunreachable.h>

#define SLOTS 1024

/* A pool of messages: slots of one size, those that are free in a list. */
struct message {
	struct message *next;
	char *text;
};

static struct {
	pthread_mutex_t lock;
	struct message *slots, *free;
	unsigned char used[SLOTS];
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
pool_open(void)
{
	size_t i;

	pool.slots = mmap(NULL, SLOTS * sizeof(*pool.slots),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pool.slots == MAP_FAILED)
		abort();
	for (i = SLOTS; i-- > 0; pool.free = &pool.slots[i])
		pool.slots[i].next = pool.free;
}

static struct message *
pool_take(void)
{
	struct message *message;

	pthread_mutex_lock(&pool.lock);
	message = pool.free;
	if (message == NULL)
		abort();
	pool.free = message->next;
	pool.used[message - pool.slots] = 1;
	pthread_mutex_unlock(&pool.lock);
	memset(message, 0, sizeof(*message));
	return message;
}

static void
pool_give(struct message *message)
{
	pthread_mutex_lock(&pool.lock);
	pool.used[message - pool.slots] = 0;
	message->next = pool.free;
	pool.free = message;
	pthread_mutex_unlock(&pool.lock);
}

/* The functions by which the library reads the pool. */
static int
iterate(uintptr_t base, size_t size,
    void (*callback)(uintptr_t base, size_t size, void *arg), void *arg)
{
	uintptr_t slot;
	size_t i;

	for (i = 0; i < SLOTS; i++) {
		slot = (uintptr_t)&pool.slots[i];
		if (pool.used[i] && slot - base < size)
			callback(slot, sizeof(*pool.slots), arg);
	}
	return 0;
}

static int
memory(void (*callback)(uintptr_t base, size_t size, void *arg), void *arg)
{
	callback((uintptr_t)pool.slots, SLOTS * sizeof(*pool.slots), arg);
	return 0;
}

static void
disable(void)
{
	pthread_mutex_lock(&pool.lock);
}

static void
enable(void)
{
	pthread_mutex_unlock(&pool.lock);
}

static const struct MemunreachableHeap heap = {
	.name = "messages",
	.malloc_iterate = iterate,
	.malloc_disable = disable,
	.malloc_enable = enable,
	.memory = memory,
};

static struct message *queue;

static __attribute__((noinline)) void
send(const char *text)
{
	struct message *message = pool_take();

	message->text = strdup(text);
	message->next = queue;
	queue = message;
}

/* Gives back one message as it should, and forgets another. */
static __attribute__((noinline)) void
receive(void)
{
	struct message *message = queue;

	queue = message->next;
	free(message->text);
	pool_give(message);
	queue = queue->next;
}

int
main(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	size_t i;

	pool_open();
	if (!memunreachable_register_heap(&heap))
		return 2;
	send("first");
	send("second");
	send("third");
	receive();
	if (!GetUnreachableMemory(&info, 10)) {
		printf("not checked: %s\n", info.reason);
		return 2;
	}
	printf("%zu of %zu blocks are lost\n", info.num_leaks,
	    info.num_allocations);
	for (i = 0; i < info.num_reported; i++)
		printf("%zu bytes%s, and with it %zu more\n",
		    info.leaks[i].size,
		    info.leaks[i].begin - (uintptr_t)pool.slots <
			    SLOTS * sizeof(*pool.slots)
			? " of the pool"
			: "",
		    info.leaks[i].referenced_size);
	FreeUnreachableMemoryInfo(&info);
	return 0;
}
