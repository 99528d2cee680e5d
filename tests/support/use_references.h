/*
 * The program that tests/live/test_use_options.c asks with options: for each
 * place a block that is referred to from there only.
 */
#ifndef TESTS_SUPPORT_USE_REFERENCES_H
#define TESTS_SUPPORT_USE_REFERENCES_H

#include <dlfcn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "tests/support/live.h"

enum place {
	IN_DATA,
	IN_BSS,
	IN_LIBRARY_DATA,
	IN_LIBRARY_BSS,
	IN_STACK,
	IN_THREAD_STACK,
	IN_REGISTER,
	IN_VECTOR_REGISTER,
	IN_TLS,
	IN_THREAD_TLS,
	IN_LIBRARY_TLS,
	IN_THREAD_LIBRARY_TLS,
	IN_KEY,
	IN_LATE_KEY, /* behind the first 32 */
	IN_THREAD_KEY,
	IN_REGION,
	IN_MAPPING,
	IN_KERNEL,
	IS_IGNORED,
	NUM_PLACES
};

static const struct {
	const char *name, *option; /* that this place depends on */
} places[NUM_PLACES] = {
	[IN_DATA] = { "data", "use_globals" },
	[IN_BSS] = { "bss", "use_globals" },
	[IN_LIBRARY_DATA] = { "library's data", "use_globals" },
	[IN_LIBRARY_BSS] = { "library's bss", "use_globals" },
	[IN_STACK] = { "stack", "use_stacks" },
	[IN_THREAD_STACK] = { "thread's stack", "use_stacks" },
	[IN_REGISTER] = { "register", "use_registers" },
	[IN_VECTOR_REGISTER] = { "vector register", "use_registers" },
	[IN_TLS] = { "tls", "use_tls" },
	[IN_THREAD_TLS] = { "thread's tls", "use_tls" },
	[IN_LIBRARY_TLS] = { "library's tls", "use_tls" },
	[IN_THREAD_LIBRARY_TLS] = { "library's tls of a thread", "use_tls" },
	[IN_KEY] = { "key", "use_tls" },
	[IN_LATE_KEY] = { "late key", "use_tls" },
	[IN_THREAD_KEY] = { "thread's key", "use_tls" },
	[IN_REGION] = { "region", "use_root_regions" },
	[IN_MAPPING] = { "mapping", "" },
	[IN_KERNEL] = { "kernel", "" },
	[IS_IGNORED] = { "ignored", "" },
};

#define NUM_KEYS 40
#define REGION_BELOW ((size_t)512 << 10) /* of the stack: dead there */

static uintptr_t place_blocks[NUM_PLACES]; /* hidden; 0 = not tested */
static int data_anchor;
static void *data_slot = &data_anchor;
static void *bss_slot;
static __thread void *tls_slot;
static pthread_key_t keys[NUM_KEYS];
static void *(*library_place)(void); /* of TLS */

LIVE uintptr_t
place_block(enum place place)
{
	if (place_blocks[place] == 0)
		place_blocks[place] = block_new(72);
	return place_blocks[place];
}

LIVE void
put_in_key(pthread_key_t key, uintptr_t hidden)
{
	if (pthread_setspecific(key, mu_reveal(hidden)) != 0)
		abort();
}

/* support_path() is for tests: check is not at hand in a scenario. */
LIVE void *
open_library(void)
{
	char exe[PATH_MAX / 2] = "", path[PATH_MAX], *slash;
	void *library = NULL;

	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0 &&
	    (slash = strrchr(exe, '/')) != NULL) {
		*slash = '\0';
		snprintf(path, sizeof(path), "%s/../support/tls_shim.so", exe);
		library = dlopen(path, RTLD_NOW);
	}
	if (library == NULL)
		abort();
	return library;
}

LIVE void
put_in_library(void)
{
	void *library = open_library(), *(*data)(void), *(*bss)(void);

	data = (void *(*)(void))dlsym(library, "shim_data");
	bss = (void *(*)(void))dlsym(library, "shim_bss");
	library_place = (void *(*)(void))dlsym(library, "shim_tls");
	put(data(), place_block(IN_LIBRARY_DATA));
	put(bss(), place_block(IN_LIBRARY_BSS));
}

LIVE void
put_in_region(void)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	void *region = (void *)((frame - REGION_BELOW) & ~(uintptr_t)4095);

	put(region, place_block(IN_REGION));
	if (!memunreachable_register_root_region(region, 64))
		abort();
}

LIVE void
put_in_mapping(void)
{
	char *mapping = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	put(mapping + 4096 + 136, place_block(IN_MAPPING));
}

LIVE void
put_in_kernel(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC), fd = eventfd(0, 0);

	event.data.ptr = mu_reveal(place_block(IN_KERNEL));
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		abort();
}

LIVE void
ignore_one(void)
{
	memunreachable_ignore_object(mu_reveal(place_block(IS_IGNORED)));
}

static int num_standing;

LIVE void
stand_still(void)
{
	scrub();
	__atomic_add_fetch(&num_standing, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
}

static void *
thread_places(void *arg)
{
	void *local = NULL;

	put(&local, place_block(IN_THREAD_STACK));
	put(&tls_slot, place_block(IN_THREAD_TLS));
	put_in_key(keys[0], place_block(IN_THREAD_KEY));
	put(library_place(), place_block(IN_THREAD_LIBRARY_TLS));
	stand_still();
	return arg;
}

#if defined(__x86_64__)
/* rdi = hidden, rsi = &num_standing */
#define SPIN(name, set)                                       \
	void name(uintptr_t hidden, int *standing);           \
	__asm__(".text\n" #name ":\n\tnotq %rdi\n\t" set      \
		"\n\txorl %edi, %edi\n\tlock incl (%rsi)\n1:" \
		"\tpause\n\tjmp 1b")
SPIN(spin_general, "movq %rdi, %r12");
SPIN(spin_vector, "movq %rdi, %xmm9\n\tpslldq $8, %xmm9");

static void *
thread_general(void *arg)
{
	scrub();
	spin_general(place_blocks[IN_REGISTER], &num_standing);
	return arg;
}

static void *
thread_vector(void *arg)
{
	scrub();
	spin_vector(place_blocks[IN_VECTOR_REGISTER], &num_standing);
	return arg;
}

/* rdi = hidden, rsi = info, rdx = limit: rbx and nothing else has it. */
bool ask_with_rbx(
    uintptr_t hidden, struct UnreachableMemoryInfo *info, size_t limit);
__asm__(".text\nask_with_rbx:\n\tpushq %rbx\n\tnotq %rdi\n\t"
	"movq %rdi, %rbx\n\tmovq %rsi, %rdi\n\tmovq %rdx, %rsi\n\t"
	"callq GetUnreachableMemory@PLT\n\tpopq %rbx\n\tret");
#endif

LIVE void
start(void *(*body)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, NULL) != 0)
		abort();
}

LIVE int
start_threads(void)
{
	start(thread_places);
#if defined(__x86_64__)
	place_block(IN_REGISTER);
	place_block(IN_VECTOR_REGISTER);
	start(thread_general);
	start(thread_vector);
	return 3;
#else
	return 1;
#endif
}

LIVE void
put_everywhere(void)
{
	int threads;
	size_t i;

	for (i = 0; i < NUM_KEYS; i++)
		pthread_key_create(&keys[i], NULL);
	ignore_one();
	put(&data_slot, place_block(IN_DATA));
	put(&bss_slot, place_block(IN_BSS));
	put_in_library();
	put(&tls_slot, place_block(IN_TLS));
	put(library_place(), place_block(IN_LIBRARY_TLS));
	put_in_key(keys[0], place_block(IN_KEY));
	put_in_key(keys[NUM_KEYS - 1], place_block(IN_LATE_KEY));
	put_in_region();
	put_in_mapping();
	put_in_kernel();
	threads = start_threads();
	while (__atomic_load_n(&num_standing, __ATOMIC_SEQ_CST) < threads)
		usleep(1000);
}

/* Is the block that HIDDEN is in an entry of the answer? */
LIVE bool
is_lost(const struct UnreachableMemoryInfo *info, uintptr_t hidden)
{
	size_t i;

	for (i = 0; i < info->num_reported; i++) {
		if (~hidden - info->leaks[i].begin < info->leaks[i].size)
			return true;
	}
	return false;
}

/*
 * Every block that is unreachable, hidden: that of a place in a block is lost
 * with this, which is the entry then, or part of another one.
 */
#define UNREACHABLE_MAX 8192

static struct {
	uintptr_t hidden;
	size_t size;
} unreachable[UNREACHABLE_MAX];
static size_t num_unreachable;

static void
note_unreachable(void *ctx, uintptr_t begin, size_t size)
{
	(void)ctx;
	if (num_unreachable == UNREACHABLE_MAX)
		abort();
	unreachable[num_unreachable].hidden = ~begin;
	unreachable[num_unreachable++].size = size;
}

LIVE bool
is_place_lost(enum place place)
{
	uintptr_t hidden = place_blocks[place];
	size_t i;

	for (i = 0; i < num_unreachable; i++)
		if (unreachable[i].hidden - hidden < unreachable[i].size)
			return true;
	return false;
}

#endif
