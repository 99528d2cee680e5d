#include "tests/support/pass/log_scenarios.h"
#define TEXT "twenty-four bytes here!" /* with its NUL all of a block */

static __attribute__((noinline)) uintptr_t
lose(void)
{
	char *p = malloc(sizeof(TEXT));

	memcpy(p, TEXT, sizeof(TEXT));
	return mu_hide(p);
}

int
log_one_leak(void)
{
	uintptr_t hidden = lose();
	bool checked;

	scrub_stack();
	checked = LogUnreachableMemory(true, 100);
	dprintf(1, "%d %lx %d\n", getpid(), (unsigned long)mu_reveal(hidden),
	    checked);
	return 0;
}

/* As a daemon; descriptor 9 tells which streams are open after the report. */
static int
log_without_streams(void)
{
	uintptr_t hidden = lose();
	int i, told = dup2(1, 9), left = 0;

	for (i = 0; i < 3; i++)
		close(i);
	scrub_stack();
	LogUnreachableMemory(true, 100);
	for (i = 0; i < 3; i++)
		left += fcntl(i, F_GETFD) >= 0;
	dprintf(told, "%d %d\n", getpid(), left);
	return (void)hidden, 0;
}

int
get_one_leak(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	uintptr_t hidden = lose();

	scrub_stack();
	dprintf(1, "%d", GetUnreachableMemory(&info, 100));
	dprintf(1, " %zu %zu %zu\n", info.num_leaks, info.leak_bytes,
	    info.num_reported);
	return (void)hidden, 0;
}

int
string_of_one_leak(void)
{
	uintptr_t hidden = lose();
	char *text;

	scrub_stack();
	text = GetUnreachableMemoryString(true, 100);
	dprintf(1, "%s", text);
	dprintf(1, "at %lx\n", (unsigned long)mu_reveal(hidden));
	free(text);
	return 0;
}

static void
allow_descriptors(rlim_t count)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = count;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int
string_of_failure(void)
{
	char *text;

	allow_descriptors(0);
	text = GetUnreachableMemoryString(false, 100);
	dprintf(1, "%s", text);
	free(text);
	return 0;
}

int
no_leaks_clean(void)
{
	return NoLeaks() ? 0 : 1;
}

/* Too many blocks for a pass of a millisecond. */
int
no_leaks_large(void)
{
	void **first = NULL, **block;
	int i;

	for (i = 0; i < 500000; i++) {
		block = malloc(sizeof(*block));
		*block = first;
		first = block;
	}
	return NoLeaks() && first != NULL ? 0 : 1;
}

int
no_leaks_lost(void)
{
	uintptr_t hidden[15];
	size_t i;

	for (i = 0; i < 15; i++)
		hidden[i] = lose();
	scrub_stack();
	(void)hidden;
	return NoLeaks() ? 0 : 1;
}

int
no_leaks_failed(void)
{
	allow_descriptors(0);
	return NoLeaks() ? 0 : 1;
}

static ptrdiff_t
provide_by_asking(void *ctx, uintptr_t *words, size_t max)
{
	(void)words;
	(void)max;
	*(bool *)ctx = NoLeaks();
	return 0;
}

int
no_leaks_busy(void)
{
	bool clean = true;

	memunreachable_register_root_provider(provide_by_asking, &clean);
	return NoLeaks() && !clean ? 1 : 0;
}

int
no_leaks_not_dumpable(void)
{
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
		return 2;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return NoLeaks() ? 0 : 1;
}

int
log_failed(void)
{
	allow_descriptors(0);
	return LogUnreachableMemory(false, 10) ? 0 : 1;
}

static ptrdiff_t
provide_nothing(void *ctx, uintptr_t *words, size_t max)
{
	(void)ctx;
	(void)words;
	(void)max;
	return -5;
}

int
log_provider_failed(void)
{
	memunreachable_register_root_provider(provide_nothing, NULL);
	return LogUnreachableMemory(false, 10) ? 0 : 1;
}

int
bad_info(void)
{
	struct UnreachableMemoryInfo info = { .version = 1 };
	bool checked = GetUnreachableMemory(NULL, 10);

	checked |= GetUnreachableMemory(&info, 10);
	dprintf(1, "%d %d %d %zu %s\n", checked, info.status,
	    info.leaks == NULL, info.num_leaks, info.reason);
	return 0;
}

int
two_passes(void)
{
	return NoLeaks() && NoLeaks() ? 0 : 1;
}

int
nothing(void)
{
	return 0; /* what the constructor has to say is all there is */
}

int
log_blocked(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	char page[4096] = "";
	int ends[2];

	if (pipe2(ends, O_NONBLOCK) != 0)
		return 90;
	while (write(ends[1], page, sizeof(page)) > 0)
		continue;
	fcntl(ends[1], F_SETFL, 0);
	if (dup2(ends[1], 2) != 2)
		return 91;
	alarm(50); /* a call that hangs ends us by its signal */
	LogUnreachableMemory(true, 100);
	free(malloc(100000));
	/* A loaded machine may need longer than the option allows. */
	while (!GetUnreachableMemory(&info, 1))
		if (info.status != MEMUNREACHABLE_TIMEOUT)
			return 92;
	FreeUnreachableMemoryInfo(&info);
	return 0;
}

const struct scenario scenarios[] = {
	{ "log_blocked", log_blocked },
	{ "log_one_leak", log_one_leak },
	{ "log_without_streams", log_without_streams },
	{ "get_one_leak", get_one_leak },
	{ "string_of_one_leak", string_of_one_leak },
	{ "string_of_failure", string_of_failure },
	{ "no_leaks_clean", no_leaks_clean },
	{ "no_leaks_large", no_leaks_large },
	{ "no_leaks_lost", no_leaks_lost },
	{ "no_leaks_failed", no_leaks_failed },
	{ "no_leaks_busy", no_leaks_busy },
	{ "no_leaks_not_dumpable", no_leaks_not_dumpable },
	{ "log_failed", log_failed },
	{ "log_provider_failed", log_provider_failed },
	{ "bad_info", bad_info },
	{ "two_passes", two_passes },
	{ "nothing", nothing },
	{ NULL, NULL },
};
