/*
 * What LLVM's tests of LeakSanitizer (compiler-rt/test/lsan/TestCases) ask of
 * the interface, one case by its name there: cases CASE.
 */
#include <sanitizer/lsan_interface.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS 64

static bool turned_off;
static const char *suppressions = "";

extern "C" int __attribute__((visibility("default"))) __lsan_is_turned_off()
{
	return turned_off;
}

extern "C" const char *
__lsan_default_suppressions()
{
	return suppressions;
}

extern "C" const char *
__lsan_default_options()
{
	return getenv("CASES_OPTIONS") != nullptr ? getenv("CASES_OPTIONS")
						  : "";
}

/* The compiler must keep the allocation. */
static void
use(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

extern "C" __attribute__((noinline, visibility("default"))) void
lose(size_t size)
{
	void *p = malloc(size);

	memset(p, 'l', size);
	use(p);
	p = nullptr;
	use(p);
}

static __attribute__((noinline)) void
scrub()
{
	volatile char dead[16384];

	memset((char *)dead, 0, sizeof(dead));
}

static void *
lose_in_thread(void *)
{
	lose(1337);
	return nullptr;
}

static __attribute__((noinline)) void
disabler()
{
	pthread_t thread;

	{
		__lsan::ScopedDisabler disabled;

		lose(1000);
		pthread_create(&thread, nullptr, lose_in_thread, nullptr);
		pthread_join(thread, nullptr);
	}
	lose(666);
}

extern "C" __attribute__((noinline, visibility("default"))) void *
make_inner()
{
	void *p = malloc(666);

	memset(p, 'i', 666);
	use(p);
	return p;
}

/* Two stacks: what is lost, and what that leads to. */
extern "C" __attribute__((noinline, visibility("default"))) void
lose_outer()
{
	void **p = (void **)malloc(100);

	p[0] = make_inner();
	use(p);
	p = nullptr;
	use(p);
}

static __attribute__((noinline)) void
ignore_object()
{
	void **p = (void **)malloc(sizeof(void *));

	*p = malloc(666);
	memset(*p, 'i', 666);
	__lsan_ignore_object(p);
	lose(1337);
}

static __attribute__((noinline)) void
register_root_region(bool unregistered)
{
	size_t size = (size_t)getpagesize();
	void **p = (void **)mmap(nullptr, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	__lsan_register_root_region(p, size);
	*p = malloc(1337);
	memset(*p, 'r', 1337);
	if (unregistered) {
		__lsan_unregister_root_region(p, size);
		munmap(p, size);
	}
}

static int
recoverable()
{
	static void *held = malloc(100);

	use(held);
	if (__lsan_do_recoverable_leak_check() != 0)
		return 1;
	lose(1337);
	scrub();
	if (__lsan_do_recoverable_leak_check() == 0)
		return 2;
	if (__lsan_do_recoverable_leak_check() == 0)
		return 3;
	fprintf(stderr, "recovered\n");
	turned_off = true;
	return __lsan_do_recoverable_leak_check() == 0 ? 0 : 4;
}

int
main(int argc, char **argv)
{
	std::string name = argc > 1 ? argv[1] : "";
	void *volatile slots[SLOTS];

	printf("unflushed");
	if (name == "disabler")
		disabler();
	else if (name == "ignore_object")
		ignore_object();
	else if (name == "register_root_region")
		register_root_region(false);
	else if (name == "unregister_root_region")
		register_root_region(true);
	else if (name == "large_allocation_leak")
		lose(33554432);
	else if (name == "indirect")
		lose_outer();
	else if (name == "recoverable_leak_check")
		return recoverable();
	else if (name != "clean" && name != "do_leak_check_early" &&
	    name != "exit_atexit_stale_stack")
		lose(1337);
	if (name == "suppressions_default")
		suppressions = "# these\nleak:^lose$\n";
	if (name == "link_turned_off")
		turned_off = true;
	scrub();
	/* Frames of libc at the end lie where that of main() was. */
	if (name == "exit_atexit_stale_stack") {
		slots[0] = malloc(1337);
		memset(slots[0], 's', 1337);
		for (size_t i = 1; i < SLOTS; i++)
			slots[i] = slots[0];
	}
	if (name == "do_leak_check_override") {
		__lsan_do_leak_check();
		fprintf(stderr, "not reached\n");
	}
	if (name == "do_leak_check_early") {
		__lsan_do_leak_check();
		lose(1337);
		scrub();
		__lsan_do_leak_check();
	}
	return 0;
}
