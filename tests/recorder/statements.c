/* Single properties of the recorder's calls. See statements_play.h. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "memunreachable/malloc_debug.h"
#include "tests/recorder/statements_play.h"
#include "tests/support/hide.h"

#pragma weak get_malloc_leak_info
#pragma weak write_malloc_leak_info
#pragma weak malloc_backtrace
#pragma weak malloc_iterate
#pragma weak malloc_disable
#pragma weak malloc_enable
#pragma weak memunreachable_set_malloc_hook

static void
names(const char *unused)
{
	static const char *const there[] = { "malloc", "free", "calloc",
		"realloc", "reallocarray", "memalign", "posix_memalign",
		"aligned_alloc", "valloc", "pvalloc", "malloc_usable_size",
		"get_malloc_leak_info", "free_malloc_leak_info",
		"write_malloc_leak_info", "malloc_backtrace", "malloc_iterate",
		"malloc_disable", "malloc_enable" };
	static const char *const passed[] = { "mallinfo", "mallopt",
		"malloc_info", "malloc_trim", "malloc_stats" };
	Dl_info info;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(there) / sizeof(there[0]); i++) {
		IS(dladdr(dlsym(RTLD_DEFAULT, there[i]), &info) != 0);
		IS(strstr(info.dli_fname, "memunreachable-malloc-debug"));
	}
	for (i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
		IS(dladdr(dlsym(RTLD_DEFAULT, passed[i]), &info) != 0);
		IS(!strstr(info.dli_fname, "memunreachable-malloc-debug"));
	}
	IS(dlsym(RTLD_DEFAULT, "debug_initialize") == NULL);
	IS(dlsym(RTLD_DEFAULT, "debug_malloc") == NULL);
	IS(dlsym(RTLD_DEFAULT, "debug_dump_heap") == NULL);
	IS(dlsym(RTLD_DEFAULT, "android_mallopt") == NULL);
}

#if !__GLIBC_PREREQ(2, 33)
#define mallinfo2 mallinfo
#endif

static void
passed_on(const char *unused)
{
	size_t before = (size_t)mallinfo2().uordblks;

	(void)unused;
	kept[0] = malloc(50000);
	IS((size_t)mallinfo2().uordblks >= before + 50000);
	IS(mallopt(M_MMAP_THRESHOLD, 1 << 20) == 1);
	free(kept[0]);
	IS(malloc_info(1, stdout) == EINVAL);
	IS(malloc_info(0, stdout) == 0);
}

/* Words with the address of a block, in what the recorder has mapped. */
static void
hidden(const char *unused)
{
	static uintptr_t masked[8];
	static char line[4096];
	char permissions[8], inode[32];
	unsigned long from, to;
	FILE *maps;
	size_t i;

	(void)unused;
	for (i = 0; i < 8; i++)
		masked[i] = ~(uintptr_t)malloc(3000);
	maps = fopen("/proc/self/maps", "re");
	while (fgets(line, sizeof(line), maps) != NULL) {
		IS(sscanf(line, "%lx-%lx %7s %*s %*s %31s", &from, &to,
		       permissions, inode) == 4);
		if (strncmp(permissions, "rw", 2) != 0 ||
		    strchr(line, '[') != NULL ||
		    (strchr(line, '/') != NULL &&
			!strstr(line, "malloc-debug")))
			continue;
		for (; from < to; from += sizeof(uintptr_t)) {
			for (i = 0; i < 8; i++)
				IS(*(uintptr_t *)from != ~masked[i]);
		}
	}
	fclose(maps);
}

/* One resident block and COUNT blocks that have grown. */
static void
grown(const char *count)
{
	int i, n = atoi(count);

	kept[0] = malloc(7001);
	for (i = 0; i < n; i++)
		kept[1] = malloc(7002);
}

static size_t hooked;
static memunreachable_malloc_hook next;

static void *
on_malloc(size_t size, const void *caller)
{
	hooked++;
	return next(size, caller);
}

static void
see(uintptr_t base, size_t size, void *arg)
{
	(void)base;
	*(size_t *)arg += size == 0 ? 0 : 1;
}

/*
 * With options the recorder works beside hooks; without options it does
 * nothing.
 */
static void
hooks(const char *recorded)
{
	size_t overall = 1, record = 1, total = 1, frames = 1, seen = 0;
	uintptr_t pcs[4] = { 0 };
	uint8_t *info;

	next = memunreachable_set_malloc_hook(on_malloc);
	kept[0] = allocate_here(7003);
	IS(hooked == 1);
	malloc_disable();
	kept[1] = malloc(10);
	malloc_enable();
	IS(hooked == 2);
	get_malloc_leak_info(&info, &overall, &record, &total, &frames);
	if (*recorded == '1') {
		IS(malloc_backtrace(kept[0], pcs, 4) > 0);
		IS(malloc_iterate(0, SIZE_MAX, see, &seen) == 0 && seen > 0);
		IS(info != NULL && record != 0);
	} else {
		IS(malloc_backtrace(kept[0], pcs, 4) == 0);
		IS(malloc_iterate(0, SIZE_MAX, see, &seen) == -1 && seen == 0);
		IS(info == NULL && overall + record + total + frames == 0);
		IS(!write_malloc_leak_info(stdout) && errno == ENOTSUP);
	}
}

/* The program's own text stays before the dump, and continues after it. */
static void
written(const char *unused)
{
	(void)unused;
	kept[0] = allocate_here(7006);
	puts("before");
	IS(write_malloc_leak_info(stdout));
	puts("behind");
}

static __attribute__((noinline)) void
lose(size_t size)
{
	void *volatile block = malloc(size);

	memset(block, 0, size);
	block = NULL;
}

/* Loses a block, asks for a check, and waits to be killed. */
static void
checked(const char *unused)
{
	(void)unused;
	lose(7005);
	scrub_stack();
	raise(SIGRTMAX - 16);
	for (;;)
		pause();
}

static void
exits(const char *text)
{
	unsigned char *volatile block = malloc(100);
	void (*volatile release)(void *) = free;

	printf("%s\n", text); /* stdio has its buffer */
	release(block);
	block[3] = 1;
	kept[0] = malloc(7004);
}

int
main(int argc, char **argv)
{
	static const struct play plays[] = {
		{ "names", names },
		{ "passed-on", passed_on },
		{ "hidden", hidden },
		{ "grown", grown },
		{ "hooks", hooks },
		{ "written", written },
		{ "checked", checked },
		{ "exits", exits },
		{ NULL, NULL },
	};

	return play(plays, argc, argv);
}
