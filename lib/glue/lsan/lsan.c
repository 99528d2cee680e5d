/*
 * LeakSanitizer's interface, of <sanitizer/lsan_interface.h>, by passes of
 * libmemunreachable. The program keeps glibc's malloc.
 *
 * Runs in: original.
 */
#include "lib/glue/lsan/lsan.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "memunreachable/memunreachable.h"

#define PUBLIC __attribute__((visibility("default")))
#define MANY 100000 /* entries */

PUBLIC void __lsan_disable(void);
PUBLIC void __lsan_enable(void);
PUBLIC void __lsan_ignore_object(const void *p);
PUBLIC void __lsan_register_root_region(const void *p, size_t size);
PUBLIC void __lsan_unregister_root_region(const void *p, size_t size);
PUBLIC void __lsan_do_leak_check(void);
PUBLIC int __lsan_do_recoverable_leak_check(void);
PUBLIC int __lsan_is_turned_off(void);

/* Of the program; as in LeakSanitizer, it says so for all checks. */
__attribute__((weak)) int
__lsan_is_turned_off(void)
{
	return 0;
}

void
__lsan_disable(void)
{
	memunreachable_disable();
}

void
__lsan_enable(void)
{
	memunreachable_enable();
}

void
__lsan_ignore_object(const void *p)
{
	memunreachable_ignore_object(p);
}

void
__lsan_register_root_region(const void *p, size_t size)
{
	memunreachable_register_root_region(p, size);
}

void
__lsan_unregister_root_region(const void *p, size_t size)
{
	memunreachable_unregister_root_region(p, size);
}

/* What is known of an entry's stack without a symbolizer. */
struct named {
	size_t count;
	uintptr_t pcs[MEMUNREACHABLE_MAX_FRAMES];
	uintptr_t offsets[MEMUNREACHABLE_MAX_FRAMES]; /* in the module */
	const char *functions[MEMUNREACHABLE_MAX_FRAMES];
	const char *modules[MEMUNREACHABLE_MAX_FRAMES];
};

static void
name_stack(const struct LeakBacktrace *stack, struct named *named)
{
	Dl_info about;
	size_t i;

	*named = (struct named) { .count = stack->num_frames };
	for (i = 0; i < named->count; i++) {
		named->pcs[i] = named->offsets[i] = stack->frames[i];
		if (dladdr((void *)stack->frames[i], &about) == 0)
			continue;
		named->functions[i] = about.dli_sname;
		named->modules[i] = about.dli_fname;
		named->offsets[i] -= (uintptr_t)about.dli_fbase;
	}
}

static void
print_stack(const struct named *named)
{
	size_t i;

	for (i = 0; i < named->count; i++)
		fprintf(stderr, "    #%zu 0x%lx%s%s (%s+0x%lx)\n", i,
		    (unsigned long)named->pcs[i],
		    named->functions[i] != NULL ? " in " : "",
		    named->functions[i] != NULL ? named->functions[i] : "",
		    named->modules[i] != NULL ? named->modules[i]
					      : "<unknown module>",
		    (unsigned long)named->offsets[i]);
	fputc('\n', stderr);
}

static void
print_leak(const struct Leak *leak, const struct named *named)
{
	size_t indirect =
	    leak->referenced_count + leak->similar_referenced_count;

	fprintf(stderr,
	    "Direct leak of %zu byte(s) in %zu object(s) allocated from:\n",
	    leak->size + leak->similar_size, 1 + leak->similar_count);
	print_stack(named);
	if (indirect == 0)
		return;
	fprintf(stderr,
	    "Indirect leak of %zu byte(s) in %zu object(s) that it leads to\n\n",
	    leak->referenced_size + leak->similar_referenced_size, indirect);
}

struct lost {
	size_t bytes, blocks, entries;
};

static void
take_leak(const struct Leak *leak, const struct lsan_options *options,
    struct lsan_suppressed *suppressed, struct lost *lost)
{
	size_t blocks = 1 + leak->similar_count + leak->referenced_count +
	    leak->similar_referenced_count;
	struct named named;

	name_stack(&leak->backtrace, &named);
	if (lsan_suppressed_has(suppressed, named.functions, named.modules,
		named.count, leak->total_size, blocks))
		return;
	if (lost->entries == 0)
		fprintf(stderr,
		    "\n========================================================"
		    "=========\n==%d==ERROR: LeakSanitizer: detected memory"
		    " leaks\n\n",
		    (int)getpid());
	if (options->max_leaks == 0 || lost->entries < options->max_leaks)
		print_leak(leak, &named);
	lost->entries++;
	lost->bytes += leak->total_size;
	lost->blocks += blocks;
}

/* Blocks that several entries lead to count once. */
static void
sum_up(const struct lost *lost, const struct UnreachableMemoryInfo *info)
{
	bool all = lost->blocks > info->num_leaks;

	fprintf(stderr,
	    "SUMMARY: LeakSanitizer: %zu byte(s) leaked in %zu"
	    " allocation(s).\n",
	    all ? info->leak_bytes : lost->bytes,
	    all ? info->num_leaks : lost->blocks);
}

/* True if there are leaks, which were reported. */
static __attribute__((noinline)) bool
check(const struct lsan_options *options)
{
	struct lsan_suppressed *suppressed;
	struct UnreachableMemoryInfo info = { 0 };
	struct lost lost = { 0 };
	size_t i;

	if (!options->detect_leaks || __lsan_is_turned_off())
		return false;
	if (!GetUnreachableMemory(&info, MANY)) {
		fprintf(stderr, "==%d==LeakSanitizer: not checked: %s: %s\n",
		    (int)getpid(), memunreachable_status_name(info.status),
		    info.reason);
		FreeUnreachableMemoryInfo(&info);
		return false;
	}
	suppressed = lsan_suppressed_read(options->suppressions);
	for (i = 0; i < info.num_reported; i++)
		take_leak(&info.leaks[i], options, suppressed, &lost);
	if (options->print_suppressions)
		lsan_suppressed_print(suppressed);
	if (lost.entries > 0)
		sum_up(&lost, &info);
	lsan_suppressed_free(suppressed);
	FreeUnreachableMemoryInfo(&info);
	return lost.entries > 0;
}

/* As in LeakSanitizer, the first one takes the place of that at the end. */
static bool checked;

void
__lsan_do_leak_check(void)
{
	struct lsan_options options;

	if (__atomic_exchange_n(&checked, true, __ATOMIC_ACQ_REL))
		return;
	lsan_options_read(&options);
	if (!check(&options) || options.exitcode == 0)
		return;
	fflush(NULL);
	_exit(options.exitcode);
}

int
__lsan_do_recoverable_leak_check(void)
{
	struct lsan_options options;

	lsan_options_read(&options);
	return check(&options);
}

static void
check_at_exit(void)
{
	struct lsan_options options;

	lsan_options_read(&options);
	if (options.leak_check_at_exit)
		__lsan_do_leak_check();
}

/* What is registered first is called last. */
__attribute__((constructor)) static void
construct(void)
{
	if (atexit(check_at_exit) != 0)
		fputs("LeakSanitizer: no memory for a check at exit\n", stderr);
}
