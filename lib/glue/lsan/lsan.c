/*
 * LeakSanitizer's interface, of <sanitizer/lsan_interface.h>, by passes of
 * libmemunreachable. The program keeps glibc's malloc.
 *
 * Runs in: original.
 */
#include "lib/glue/lsan/lsan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/glue/lsan/objects.h"
#include "memunreachable/memunreachable.h"

#define PUBLIC __attribute__((visibility("default")))

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

static void
print_stack(FILE *out, const struct lsan_stack *stack)
{
	size_t i;

	for (i = 0; i < stack->count; i++)
		fprintf(out, "    #%zu 0x%lx%s%s (%s+0x%lx)\n", i,
		    (unsigned long)stack->pcs[i],
		    stack->functions[i] != NULL ? " in " : "",
		    stack->functions[i] != NULL ? stack->functions[i] : "",
		    stack->modules[i] != NULL ? stack->modules[i]
					      : "<unknown module>",
		    (unsigned long)stack->offsets[i]);
	fputc('\n', out);
}

static void
print_group(FILE *out, const struct lsan_group *group, bool objects)
{
	struct lsan_stack stack;
	size_t i;

	fprintf(out,
	    "%s leak of %zu byte(s) in %zu object(s) allocated from:\n",
	    group->objects->direct ? "Direct" : "Indirect", group->bytes,
	    group->count);
	lsan_stack_read(&stack, group->objects->begin);
	print_stack(out, &stack);
	if (!objects)
		return;
	fputs("Objects leaked above:\n", out);
	for (i = 0; i < group->count; i++)
		fprintf(out, "0x%lx (%zu bytes)\n",
		    (unsigned long)group->objects[i].begin,
		    group->objects[i].size);
	fputc('\n', out);
}

static void
print_objects(FILE *out, const struct lsan_options *options,
    const struct lsan_objects *objects)
{
	size_t i;

	fprintf(out,
	    "\n================================================================="
	    "\n==%d==ERROR: LeakSanitizer: detected memory leaks\n\n",
	    (int)getpid());
	for (i = 0; i < objects->num_groups; i++)
		if (options->max_leaks == 0 || i < options->max_leaks)
			print_group(
			    out, &objects->groups[i], options->report_objects);
}

static void
print_summary(FILE *out, const struct lsan_objects *objects)
{
	size_t i, bytes = 0;

	for (i = 0; i < objects->num_groups; i++)
		bytes += objects->groups[i].bytes;
	fprintf(out,
	    "SUMMARY: LeakSanitizer: %zu byte(s) leaked in %zu"
	    " allocation(s).\n",
	    bytes, objects->count - objects->num_ignored);
}

/* The file that the option log_path names; standard error if there is none. */
static FILE *
open_log(const struct lsan_options *options)
{
	char name[sizeof(options->log_path) + 16];
	FILE *file = NULL;

	if (options->log_path[0] != '\0') {
		snprintf(name, sizeof(name), "%s.%d", options->log_path,
		    (int)getpid());
		file = fopen(name, "ae");
	}
	return file != NULL ? file : stderr;
}

static void
print_unchecked(const struct UnreachableMemoryInfo *info)
{
	fprintf(stderr, "==%d==LeakSanitizer: not checked: %s: %s\n",
	    (int)getpid(), memunreachable_status_name(info->status),
	    info->reason);
}

/* True if there are leaks, which were reported. */
static bool
report(const struct lsan_options *options, struct UnreachableMemoryInfo *info)
{
	struct lsan_suppressed *suppressed =
	    lsan_suppressed_read(options->suppressions);
	struct lsan_objects objects;
	bool listed = lsan_objects_list(&objects, info, suppressed);
	FILE *out = open_log(options);

	if (!listed)
		print_unchecked(info);
	else if (objects.num_groups > 0)
		print_objects(out, options, &objects);
	if (listed && options->print_suppressions)
		lsan_suppressed_print(suppressed, out);
	if (listed && objects.num_groups > 0)
		print_summary(out, &objects);
	if (out != stderr)
		fclose(out);
	listed = listed && objects.num_groups > 0;
	lsan_objects_free(&objects);
	lsan_suppressed_free(suppressed);
	return listed;
}

static __attribute__((noinline)) bool
check(const struct lsan_options *options)
{
	struct UnreachableMemoryInfo info = { 0 };
	bool leaks = false;

	if (!options->detect_leaks || __lsan_is_turned_off())
		return false;
	if (!GetUnreachableMemory(&info, LSAN_MANY))
		print_unchecked(&info);
	else if (info.num_leaks > 0)
		leaks = report(options, &info);
	FreeUnreachableMemoryInfo(&info);
	return leaks;
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
	if (!options.leak_check_at_exit)
		return;
	memunreachable_at_exit();
	__lsan_do_leak_check();
}

/* What is registered first is called last. */
__attribute__((constructor)) static void
construct(void)
{
	struct lsan_options options;

	lsan_options_read(&options);
	if (options.help)
		lsan_options_print(&options);
	if (atexit(check_at_exit) != 0)
		fputs("LeakSanitizer: no memory for a check at exit\n", stderr);
}
