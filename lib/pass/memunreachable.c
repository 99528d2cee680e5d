/*
 * The public calls: each takes the caller's context and starts a pass. Their
 * own frames are searched with the caller's: keep them small.
 *
 * Runs in: original.
 */
#include "memunreachable/memunreachable.h"

#include <errno.h>
#include <string.h>

#include "lib/pass/pass.h"
#include "lib/pass/report_string.h"
#include "lib/report/frame_names.h"
#include "lib/state/library.h"
#include "lib/state/log_sink.h"
#include "lib/writers/leaks_text.h"

_Static_assert(
    sizeof(size_t) != 8 || sizeof(struct Leak) == 368, "Android's struct Leak");
/* memunreachable_cxx.h asserts the same of its copy. */
_Static_assert(sizeof(size_t) != 8 ||
	(sizeof(struct UnreachableMemoryInfo) == 400 &&
	    offsetof(struct UnreachableMemoryInfo, status) == 56 &&
	    offsetof(struct UnreachableMemoryInfo, pause_ns) == 320 &&
	    offsetof(struct UnreachableMemoryInfo, num_threads) == 336 &&
	    offsetof(struct UnreachableMemoryInfo, stop) == 344 &&
	    offsetof(struct UnreachableMemoryInfo, tries) == 348),
    "the answer as C++ sees it");
#define SAME(id, public, ...)                                   \
	_Static_assert((int)MU_##id == MEMUNREACHABLE_##public, \
	    "a status is the same on both sides");
MU_STATUS_LIST(SAME)
#undef SAME

static __attribute__((noinline)) bool
refuse(struct UnreachableMemoryInfo *info)
{
	size_t version;

	if (info == NULL) {
		mu_log_sink_line(MU_LOG_ERROR,
		    "GetUnreachableMemory was called without info");
		return false;
	}
	version = info->version;
	memset(info, 0, sizeof(*info));
	info->version = version;
	info->status = MEMUNREACHABLE_BAD_ARGUMENT;
	mu_text_format(info->reason, sizeof(info->reason),
	    "unsupported UnreachableMemoryInfo.version %zu in "
	    "GetUnreachableMemory, 0 was expected",
	    version);
	mu_log_sink_line(MU_LOG_ERROR,
	    "unsupported UnreachableMemoryInfo.version %zu in "
	    "GetUnreachableMemory",
	    version);
	return false;
}

static __attribute__((noinline)) bool
get(const struct mu_caller *caller, struct UnreachableMemoryInfo *info,
    const struct mu_checkpoint *since, size_t limit)
{
	struct mu_request request = {
		.caller = caller,
		.since = since,
		.limit = limit,
		.contents = true,
		.array = true,
	};

	memset(info, 0, sizeof(*info));
	return mu_pass_run(&request, info);
}

bool
GetUnreachableMemory(struct UnreachableMemoryInfo *info, size_t limit)
{
	struct mu_caller caller;

	if (info == NULL || info->version != 0)
		return refuse(info);
	mu_caller_capture(&caller);
	return get(&caller, info, NULL, limit);
}

void
memunreachable_at_exit(void)
{
	struct mu_caller caller;

	mu_caller_capture(&caller);
	mu_exit_stack_begin(&mu_library.exit_stack, &caller);
}

bool
GetNewUnreachableMemory(struct UnreachableMemoryInfo *info,
    const struct MemunreachableCheckpoint *checkpoint, size_t limit)
{
	struct mu_caller caller;

	if (info == NULL || info->version != 0)
		return refuse(info);
	mu_caller_capture(&caller);
	return get(
	    &caller, info, (const struct mu_checkpoint *)checkpoint, limit);
}

static __attribute__((noinline)) char *
get_string(const struct mu_caller *caller, bool log_contents, size_t limit)
{
	struct mu_report report = { .pid = 0 };
	struct mu_request request = {
		.caller = caller,
		.limit = limit,
		.contents = log_contents,
		.entries = &report.entries,
	};
	char *string;

	mu_pass_run(&request, &report.info);
	string = mu_report_string(&mu_writer_string, &report, log_contents);
	mu_results_drop(&mu_library.results, &report.entries);
	return string;
}

char *
GetUnreachableMemoryString(bool log_contents, size_t limit)
{
	struct mu_caller caller;

	mu_caller_capture(&caller);
	return get_string(&caller, log_contents, limit);
}

static __attribute__((noinline)) bool
log_pass(const struct mu_caller *caller, bool log_contents, size_t limit)
{
	struct mu_request request = {
		.caller = caller,
		.limit = limit,
		.log_policy = MU_LOG_POLICY_FULL,
		.contents = log_contents,
	};
	struct UnreachableMemoryInfo info = { 0 };
	return mu_pass_run(&request, &info);
}

bool
LogUnreachableMemory(bool log_contents, size_t limit)
{
	struct mu_caller caller;

	mu_caller_capture(&caller);
	return log_pass(&caller, log_contents, limit);
}

bool
memunreachable_ignore_object(const void *p)
{
	return mu_registry_ignore(&mu_library.registry, (uintptr_t)p);
}

bool
memunreachable_unignore_object(const void *p)
{
	return mu_registry_unignore(&mu_library.registry, (uintptr_t)p);
}

static struct mu_range
region(const void *p, size_t size)
{
	uintptr_t begin = (uintptr_t)p;
	struct mu_range range = { begin, begin };

	if (begin != 0 && size <= UINTPTR_MAX - begin)
		range.end = begin + size;
	return range;
}

bool
memunreachable_register_root_region(const void *p, size_t size)
{
	return mu_registry_add_region(&mu_library.registry, region(p, size));
}

bool
memunreachable_unregister_root_region(const void *p, size_t size)
{
	return mu_registry_drop_region(&mu_library.registry, region(p, size));
}

bool
memunreachable_register_root_provider(
    memunreachable_root_provider provider, void *ctx)
{
	return mu_registry_add_provider(
	    &mu_library.registry, (struct mu_provider) { provider, ctx });
}

bool
memunreachable_unregister_root_provider(
    memunreachable_root_provider provider, void *ctx)
{
	return mu_registry_drop_provider(
	    &mu_library.registry, (struct mu_provider) { provider, ctx });
}

bool
memunreachable_register_heap(const struct MemunreachableHeap *heap)
{
	return mu_registry_add_heap(&mu_library.registry, heap);
}

bool
memunreachable_unregister_heap(const struct MemunreachableHeap *heap)
{
	return mu_registry_drop_heap(&mu_library.registry, heap);
}

bool
memunreachable_watch_signal(int signo)
{
	int error = mu_watch_signal(signo);

	if (error < 0)
		errno = -error;
	return error == 0;
}

size_t
memunreachable_format_leak(
    const struct Leak *leak, bool log_contents, char *buffer, size_t size)
{
	struct mu_frame_names frames = { .opened = false };
	const struct mu_names names = mu_frame_names(&frames);
	const struct mu_shown shown = { .contents = log_contents,
		.fold = mu_library.options.group,
		.style = MU_STYLE_PLAIN };
	struct mu_text text = { buffer, size, 0 };
	struct mu_out out = mu_out_text(&text);

	if (size > 0)
		buffer[0] = '\0';
	mu_leak_text(&out, leak, &shown, &names);
	mu_frame_names_close(&frames);
	return text.length;
}

size_t
memunreachable_format_info(const struct UnreachableMemoryInfo *info,
    bool log_contents, char *buffer, size_t size)
{
	struct mu_frame_names names = { .opened = false };
	struct mu_report report = { .info = *info,
		.entries = mu_entries_of(info),
		.names = mu_frame_names(&names) };
	const struct mu_shown shown = { .contents = log_contents,
		.fold = mu_library.options.group,
		.style = MU_STYLE_PLAIN };
	struct mu_text text = { buffer, size, 0 };
	struct mu_out out = mu_out_text(&text);

	if (size > 0)
		buffer[0] = '\0';
	mu_leaks_text(&out, &report, &shown);
	mu_frame_names_close(&names);
	return text.length;
}

void *
memunreachable_unsearched_alloc(size_t size)
{
	return mu_results_new_bytes(&mu_library.results, size);
}

bool
memunreachable_unsearched_free(void *p)
{
	return mu_results_free(&mu_library.results, p);
}

const char *
memunreachable_status_name(int status)
{
	return mu_status_name((enum mu_status)status);
}
