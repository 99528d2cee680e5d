/*
 * LeakSanitizer's use_ options and pointer_mask: a block that is referred to
 * only from one kind of place is lost if and only if the option for that place
 * is off.
 *
 * The scenarios are programs of their own: this one, run again with options.
 */
#include <dlfcn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "tests/support/built.h"
#include "tests/support/live.h"
#include "tests/support/scenario.h"
#include "tests/support/suite.h"

/* The program that is asked: for each place a block referred to from there. */

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

LIVE void *
open_library(void)
{
	char path[PATH_MAX];
	void *library;

	built_path("tests/support/shims/tls_shim.so", path);
	library = dlopen(path, RTLD_NOW);
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

#define LIMIT 4000

static struct child child;

static int
answer_status(const struct UnreachableMemoryInfo *info)
{
	printf("status %d reason <%s>\n", info->status, info->reason);
	return info->num_reported < LIMIT ? 0 : 1;
}

static void
say(const char *name, bool lost)
{
	printf("%s: %s\n", name, lost ? "lost" : "kept");
}

static int
all_places(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	void *local = NULL;
	size_t i;

	put(&local, place_block(IN_STACK));
	put_everywhere();
	scrub();
	GetUnreachableMemory(&info, LIMIT);
	if (!memunreachable_each_unreachable(note_unreachable, NULL))
		return 1;
	for (i = 0; i < NUM_PLACES; i++)
		say(places[i].name, is_place_lost((enum place)i));
	drop(&local);
	return answer_status(&info);
}

static char packed[64], tagged[64];
static char pages[3 * 4096] __attribute__((aligned(4096)));
static void *holder;
static uintptr_t odd[5], tags[4];
static const char *const odd_names[] = { "data", "block", "page end",
	"page begin", "stack" };
static const char *const tag_names[] = { "top byte", "top 16 bits",
	"in a block", "low bits" };

LIVE void
put_tagged(void *place, uintptr_t hidden, uintptr_t tag)
{
	uintptr_t word = ~hidden | tag;

	memcpy(place, &word, sizeof(word));
}

LIVE void
fill_packed(char *local)
{
	size_t i;

	for (i = 0; i < 5; i++)
		odd[i] = block_new(72);
	put(&holder, block_new(72));
	put_tagged(packed + 3, odd[0], 0);
	put_tagged((char *)holder + 61, odd[1], 0);
	put_tagged(pages + 4096 - 3, odd[2], 0);
	put_tagged(pages + 2 * 4096 - 7, odd[3], 0);
	put_tagged(local + 5, odd[4], 0);
}

static int
packed_pointers(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	char local[64] __attribute__((aligned(8)));
	size_t i;

	memset(local, 0, sizeof(local));
	fill_packed(local);
	scrub();
	GetUnreachableMemory(&info, LIMIT);
	for (i = 0; i < 5; i++)
		say(odd_names[i], is_lost(&info, odd[i]));
	__asm__ volatile("" : : "r"(local) : "memory");
	return answer_status(&info);
}

LIVE void
fill_tagged(void)
{
	size_t i;

	for (i = 0; i < 4; i++)
		tags[i] = block_new(72);
	put(&holder, block_new(72));
	put_tagged(tagged, tags[0], 0xabul << 56);
	put_tagged(tagged + 8, tags[1], 0x1234ul << 48);
	put_tagged((char *)holder + 16, tags[2], 0x80ul << 56);
	put_tagged(tagged + 16, tags[3], 7);
}

static int
tagged_pointers(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	size_t i;

	fill_tagged();
	scrub();
	GetUnreachableMemory(&info, LIMIT);
	for (i = 0; i < 4; i++)
		say(tag_names[i], is_lost(&info, tags[i]));
	return answer_status(&info);
}

#if defined(__x86_64__)
static int
callers_register(void)
{
	struct UnreachableMemoryInfo info = { 0 };

	place_block(IN_REGISTER);
	scrub();
	ask_with_rbx(place_blocks[IN_REGISTER], &info, LIMIT);
	say("caller's register", is_lost(&info, place_blocks[IN_REGISTER]));
	return answer_status(&info);
}
#endif

static int
reports(void)
{
	char *text;

	place_block(IN_STACK);
	scrub();
	text = GetUnreachableMemoryString(false, 1);
	printf("%s", text);
	free(text);
	return LogUnreachableMemory(false, 1) ? 0 : 1;
}

static const struct scenario scenarios[] = {
	{ "all_places", all_places },
	{ "packed_pointers", packed_pointers },
	{ "tagged_pointers", tagged_pointers },
#if defined(__x86_64__)
	{ "callers_register", callers_register },
#endif
	{ "reports", reports },
	{ NULL, NULL },
};

static void
ask_with(const char *scenario, const char *options)
{
	child_run(&child, scenario, options);
	child_assert_exit(&child, 0);
	ck_assert_msg(strstr(child.err_text, "MEMUNREACHABLE_OPTIONS") == NULL,
	    "%s", child.err_text);
}

static void
expect_line(const char *line)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s\n", line);
	ck_assert_msg(strstr(child.out_text, whole) != NULL,
	    "expected \"%s\" in\n%s%s", line, child.out_text, child.err_text);
}

static void
expect(const char *name, bool lost)
{
	char line[128];

	snprintf(line, sizeof(line), "%s: %s", name, lost ? "lost" : "kept");
	expect_line(line);
}

static const char *const options[] = { "", "use_globals", "use_stacks",
	"use_registers", "use_tls", "use_root_regions" };

/* Every place with every option off: 19 blocks, 6 runs. */
TEST_LOOP(
    each_option_loses_its_own_places, 0, sizeof(options) / sizeof(*options))
{
	char setting[64] = "";
	size_t i;

	if (options[_i][0] != '\0')
		snprintf(setting, sizeof(setting), "%s=0", options[_i]);
	ask_with("all_places", setting);
	for (i = 0; i < NUM_PLACES; i++) {
#if !defined(__x86_64__)
		if (strcmp(places[i].option, "use_registers") == 0)
			continue;
#endif
		expect(places[i].name,
		    options[_i][0] != '\0' &&
			strcmp(places[i].option, options[_i]) == 0);
	}
}

TEST(all_options_off)
{
	size_t i;

	ask_with("all_places",
	    "use_globals=0:use_stacks=0:use_registers=0:use_tls=0:"
	    "use_root_regions=0");
#if !defined(__x86_64__)
	return;
#endif
	for (i = 0; i < NUM_PLACES; i++)
		expect(places[i].name, places[i].option[0] != '\0');
	expect_line("status 0 reason <by option: use_globals=0 use_stacks=0"
		    " use_registers=0 use_tls=0 use_root_regions=0>");
}

TEST(unaligned_pointers)
{
	size_t i;

	ask_with("packed_pointers", "");
	expect_line("status 0 reason <>");
	for (i = 0; i < 5; i++)
		expect(odd_names[i], true);
	ask_with("packed_pointers", "use_unaligned=1");
	expect_line("status 0 reason <by option: use_unaligned=1>");
	for (i = 0; i < 5; i++)
		expect(odd_names[i], false);
	ask_with("packed_pointers", "use_unaligned=1:use_stacks=0");
	expect("stack", true);
	expect("data", false);
	/* With the option, everything that is found without it is found. */
	ask_with("all_places", "use_unaligned=1");
	for (i = 0; i < NUM_PLACES; i++) {
		char lost[128];

		snprintf(lost, sizeof(lost), "%s: lost", places[i].name);
		ck_assert_ptr_null(strstr(child.out_text, lost));
	}
}

TEST_LOOP(pointers_with_tags, 0, 3)
{
	static const struct {
		const char *setting, *mask; /* as the answer says it */
		bool lost[4];
	} rows[] = {
		{ "", "", { true, true, true } },
		{ "pointer_mask=0x00ffffffffffffff", "0xffffffffffffff",
		    { false, true } },
		{ "pointer_mask=281474976710655", "0xffffffffffff", { false } },
	};
	char line[128] = "status 0 reason <>";
	size_t i;

	ask_with("tagged_pointers", rows[_i].setting);
	if (_i > 0)
		snprintf(line, sizeof(line),
		    "status 0 reason <by option: pointer_mask=%s>",
		    rows[_i].mask);
	expect_line(line);
	for (i = 0; i < 4; i++)
		expect(tag_names[i], rows[_i].lost[i]);
}

#if defined(__x86_64__)
/* Frames of the library may have saved it: they are part of the stack. */
TEST(registers_of_the_caller)
{
	ask_with("callers_register", "use_stacks=0");
	expect("caller's register", false);
	ask_with("callers_register", "use_stacks=0:use_registers=0");
	expect("caller's register", true);
}
#endif

TEST(reports_say_so)
{
	ask_with("reports", "use_tls=0:use_stacks=0:verbosity=2");
	expect_line("  Note: by option: use_stacks=0 use_tls=0");
	ck_assert_ptr_nonnull(
	    strstr(child.err_text, ": by option: use_stacks=0 use_tls=0\n"));
	ask_with("reports", "use_tls=1:verbosity=2");
	ck_assert_ptr_null(strstr(child.out_text, "by option"));
	ck_assert_ptr_null(strstr(child.err_text, "by option"));
}

SCENARIO_SUITE(scenarios, .timeout = 0);
