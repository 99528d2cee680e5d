#include "tests/support/command/cli_answer.h"

#define CLI_VTABLE 0x7f0000001020 /* in a module, as is CLI_TEXT */
#define CLI_TEXT 0x7f0000005000

bool
cli_find(void *ctx, uintptr_t address, struct mu_symbol *symbol)
{
	(void)ctx;
	*symbol = (struct mu_symbol) { .offset = address & 0xffff };
	if (address < 0x7f0000000000 || address > 0x7f000000ffff)
		return false;
	symbol->module = "/usr/lib/libfoo.so.1";
	symbol->build_id = "00c0ffee";
	if (address >= CLI_NAMELESS)
		return true;
	symbol->function =
	    address >= CLI_TEXT - 16 ? "Foo::make(int)" : "vtable for Foo";
	if (address >= CLI_TEXT - 16) {
		symbol->file = "/src/foo.cc";
		symbol->line = 42;
	}
	return true;
}

bool
cli_find_type(void *ctx, uintptr_t begin, struct mu_type *type)
{
	(void)ctx;
	*type = (struct mu_type) {
		.name = "Session",
		.source = MU_TYPE_VTABLE,
		.certain = true,
	};
	if (begin == 0x55aa0010)
		*type = (struct mu_type) {
			.name = "text",
			.text = "A=\033b",
			.source = MU_TYPE_CONTENT,
		};
	if (begin == 0x55aa0020)
		*type = (struct mu_type) {
			.name = "Gtk\nWindow",
			.source = MU_TYPE_TAG,
			.offset = 96,
		};
	return true;
}

const struct mu_names cli_names = { .find = cli_find, .words = true };

void
cli_put_word(struct Leak *leak, size_t index, uintptr_t word)
{
	memcpy(leak->contents + index * sizeof(word), &word, sizeof(word));
}

struct mu_report
cli_answer(struct Leak *leaks, struct mu_arena_usage *arenas)
{
	struct mu_report answer = {
		.entries = { .leaks = leaks, .count = 3 },
		.info = { .num_reported = 3,
		    .num_leaks = 9,
		    .leak_bytes = 4321,
		    .num_entries = 5,
		    .unreported_leaks = 2,
		    .unreported_bytes = 72,
		    .num_allocations = 1000,
		    .allocation_bytes = 12345678,
		    .pause_ns = 3200000,
		    .total_ns = 412000000,
		    .num_threads = 12,
		    .tries = 2 },
		.pid = 4711,
		.program = "/usr/sbin/served",
		.allocator = "glibc 2.36",
		.stop = "fork",
		.usage = { .arenas = arenas,
		    .num_arenas = 2,
		    .live_reachable = 12 << 20,
		    .live_unreachable = 4321,
		    .free_held = 5 << 20,
		    .mmapped = 1 << 20,
		    .mmapped_live = (1 << 20) - 16 },
	};

	memset(leaks, 0, 3 * sizeof(*leaks));
	leaks[0].begin = 0x7fee12345670;
	leaks[0].size = leaks[0].total_size = 40;
	leaks[0].referenced_count = 2;
	leaks[0].referenced_size = 80;
	cli_put_word(&leaks[0], 1, CLI_VTABLE);
	cli_put_word(&leaks[0], 3, CLI_NAMELESS);
	leaks[1].begin = 0x55aa0010;
	leaks[1].size = leaks[1].total_size = 7;
	memcpy(leaks[1].contents, "\x20\x10\x00\x00\x00\x7f\x00", 7);
	leaks[2].begin = 0x55aa0020;
	leaks[2].size = leaks[2].total_size = 16;
	leaks[2].backtrace.num_frames = 2;
	leaks[2].backtrace.frames[0] = CLI_TEXT;
	leaks[2].backtrace.frames[1] = 0x99;
	arenas[0] = (struct mu_arena_usage) { .address = 0x7fee5cdf6c60,
		.span = 10 << 20,
		.live = 6 << 20,
		.bins = 1 << 20,
		.tcache = 4000,
		.top = 3 << 20 };
	arenas[1] = (struct mu_arena_usage) { .address = 0x7fee00000030,
		.span = 7 << 20,
		.live = 6 << 20,
		.bins = 1000,
		.tcache = 0,
		.top = 1 << 20 };
	return answer;
}
