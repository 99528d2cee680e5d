/*
 * Runs in: the original, any thread; since the watcher may be a bare thread, no
 * code here calls libc unless names are requested.
 */
#include "lib/malloc_debug/dumps/heap_dump.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "include/mu/report_file.h"
#include "lib/malloc_debug/checks/guards_live.h"
#include "lib/malloc_debug/dumps/leak_blocks.h"
#include "lib/malloc_debug/dumps/leak_estimate.h"
#include "lib/malloc_debug/dumps/output_file.h"
#include "lib/malloc_debug/dumps/watch_bare.h"
#include "lib/malloc_debug/state/state.h"
#include "lib/malloc_debug/unwind/dump_modules.h"
#include "lib/malloc_debug/unwind/gone_modules.h"
#include "lib/malloc_debug/unwind/script_lines.h"
#include "mu/arena.h"
#include "mu/sys.h"
#include "mu/text.h"

#define MOST_DUMPS 9999 /* of one name; then the last one is replaced */

struct frame_name {
	uintptr_t address;    /* 0 = the entry is free */
	uintptr_t relative;   /* address as linked in the file */
	const char *map;      /* its file, "" = none */
	const char *function; /* demangled if the program can; "" = unknown */
	size_t offset;        /* into the function */
};

struct frame_names {
	struct mu_arena arena;
	struct frame_name *table;
	size_t room, count;
};

#define FIRST_ROOM 1024 /* a power of two, like all later sizes */

static const struct frame_name unknown = { .map = "", .function = "" };

/*
 * The function of an address, from the symbols in the program itself.
 *
 * Calls dladdr() once for each address. Runs in: the original, a thread of
 * libc, inside the recorder.
 *
 * dladdr() searches all symbols of a file, so each address is looked up once.
 */

static void
frame_names_open(struct frame_names *names)
{
	*names = (struct frame_names) { 0 };
	mu_arena_open(&names->arena, SIZE_MAX);
}

static void
frame_names_close(struct frame_names *names)
{
	mu_arena_close(&names->arena);
	*names = (struct frame_names) { 0 };
}

static struct frame_name *
place(struct frame_name *table, size_t room, uintptr_t address)
{
	size_t i = address * 0x9e3779b97f4a7c15ul >> 20;

	while (
	    table[i % room].address != 0 && table[i % room].address != address)
		i++;
	return &table[i % room];
}

/* At most half full. */
static bool
make_room(struct frame_names *names)
{
	size_t i, room = names->room == 0 ? FIRST_ROOM : 2 * names->room;
	struct frame_name *table;

	if (2 * (names->count + 1) <= names->room)
		return true;
	table = mu_arena_alloc(&names->arena, room, sizeof(*table));
	if (table == NULL)
		return false;
	for (i = 0; i < names->room; i++)
		if (names->table[i].address != 0)
			*place(table, room, names->table[i].address) =
			    names->table[i];
	names->table = table;
	names->room = room;
	return true;
}

static const char *
copy(struct frame_names *names, const char *text)
{
	size_t size = strlen(text) + 1;
	char *result = mu_arena_alloc(&names->arena, size, 1);

	return result == NULL ? "" : memcpy(result, text, size);
}

/* The demangler of libstdc++ or libc++abi, if the program has one. */
static const char *
demangle(struct frame_names *names, const char *symbol)
{
	char *(*function)(const char *, char *, size_t *, int *);
	void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	const char *result;
	int status = -1;
	char *text;

	memcpy(&function, &found, sizeof(found));
	if (found == NULL || symbol[0] != '_' || symbol[1] != 'Z')
		return copy(names, symbol);
	text = function(symbol, NULL, NULL, &status);
	result = copy(names, text != NULL ? text : symbol);
	free(text);
	return result;
}

/* The loader has an empty name for the program itself. */
static const char *
file_name(struct frame_names *names, const struct link_map *map)
{
	char path[PATH_MAX];
	long length;

	if (map->l_name[0] != '\0')
		return copy(names, map->l_name);
	length = mu_sys4(SYS_readlinkat, AT_FDCWD,
	    (long)"/proc/thread-self/exe", (long)path, sizeof(path) - 1);
	if (length < 0)
		return "";
	path[length] = '\0';
	return copy(names, path);
}

static void
ask(struct frame_names *names, struct frame_name *name)
{
	struct link_map *map = NULL;
	Dl_info info;

	name->relative = name->address;
	name->map = name->function = "";
	if (dladdr1((void *)name->address, &info, (void **)&map,
		RTLD_DL_LINKMAP) == 0 ||
	    map == NULL)
		return;
	name->relative = name->address - map->l_addr;
	name->map = file_name(names, map);
	if (info.dli_sname == NULL)
		return;
	name->function = demangle(names, info.dli_sname);
	name->offset = name->address - (uintptr_t)info.dli_saddr;
}

/* Never NULL; valid until the next call. */
static const struct frame_name *
frame_names_find(struct frame_names *names, uintptr_t address)
{
	struct frame_name *name;

	if (address == 0 || !make_room(names))
		return &unknown;
	name = place(names->table, names->room, address);
	if (name->address == 0) {
		name->address = address;
		ask(names, name);
		names->count++;
	}
	return name;
}

/* The system, instead of Android's build fingerprint. */
static void
print_head(struct output_file *out, const struct leak_blocks *blocks)
{
	struct utsname system;
	size_t i, total = 0;

	for (i = 0; i < blocks->count; i++)
		total += blocks->blocks[i].size * blocks->blocks[i].count;
	output_file_print(out, "Android Native Heap Dump v1.2\n\n");
	if (mu_sys1(SYS_uname, (long)&system) < 0)
		output_file_print(out, "Build fingerprint: 'unknown'\n\n");
	else
		output_file_print(out, "Build fingerprint: '%s/%s/%s'\n\n",
		    system.sysname, system.release, system.machine);
	output_file_print(out, "Total memory: %zu\n", total);
	output_file_print(out, "Allocation records: %zu\n", blocks->count);
	output_file_print(
	    out, "Backtrace size: %zu\n\n", recorder_options.frames);
}

static void
print_names(struct output_file *out, struct frame_names *names,
    const struct mu_stack *stack)
{
	const struct frame_name *name;
	size_t i;

	if (stack == NULL)
		return;
	output_file_print(out, "  bt_info");
	for (i = 0; i < script_calls(stack) && stack->frames[i] != 0; i++) {
		name = frame_names_find(
		    names, gone_modules_frame(stack->frames[i]));
		output_file_print(out, " {\"%s\" %lx \"%s\" %lx}", name->map,
		    (unsigned long)name->relative, name->function,
		    (unsigned long)name->offset);
	}
	output_file_print(out, "\n");
}

/*
 * The viewer attributes "z 1" to the process and other blocks to its parent;
 * here the others are those that a child had before the fork.
 */
static void
print_record(struct output_file *out, const struct leak_block *block)
{
	const struct mu_stack *stack = block->trace;
	size_t i;

	output_file_print(out, "z %d  sz %8zu  num    %zu  bt",
	    block->child || !recorder_child ? 1 : 0, block->size, block->count);
	for (i = 0; stack != NULL && i < script_calls(stack); i++) {
		if (stack->frames[i] == 0)
			break;
		output_file_print(out, " %lx",
		    (unsigned long)gone_modules_frame(stack->frames[i]));
	}
	output_file_print(out, "\n");
}

static void
print_records(struct output_file *out, const struct leak_blocks *blocks)
{
	struct frame_names names;
	size_t i;

	if (!recorder_options.backtrace_full) {
		for (i = 0; i < blocks->count; i++)
			print_record(out, &blocks->blocks[i]);
		return;
	}
	recorder_enter();
	frame_names_open(&names);
	for (i = 0; i < blocks->count; i++) {
		print_record(out, &blocks->blocks[i]);
		print_names(out, &names, blocks->blocks[i].trace);
	}
	frame_names_close(&names);
	recorder_leave();
}

static void
print_maps(struct output_file *out)
{
	char buffer[1024];
	ssize_t n;
	int fd = mu_sys_open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0);

	output_file_print(out, "MAPS\n");
	if (fd < 0)
		output_file_print(out, "Could not open /proc/self/maps\n");
	else
		while ((n = mu_sys_read(fd, buffer, sizeof(buffer))) > 0)
			output_file_write(out, buffer, (size_t)n);
	mu_sys_close(&fd);
	output_file_print(out, "END\n");
}

static void
print_module(void *ctx, const char *text, size_t length)
{
	output_file_write(ctx, text, length);
}

/* After END, which Android's viewer does not read. */
static void
print_remarks(struct output_file *out, const struct leak_blocks *blocks)
{
	if (recorder_options.sample_bytes != 0)
		output_file_print(out,
		    "# sampled: one stack in %zu bytes, num is an estimate\n",
		    recorder_options.sample_bytes);
	if (blocks->short_of_memory)
		output_file_print(out, "# incomplete: no memory\n");
	dump_modules(print_module, out);
}

static void
print(struct output_file *out)
{
	struct leak_blocks blocks;

	leak_blocks_take(&blocks, leak_estimate_wanted);
	leak_blocks_merge(&blocks);
	leak_estimate(&blocks);
	print_head(out, &blocks);
	print_records(out, &blocks);
	print_maps(out);
	print_remarks(out, &blocks);
	leak_blocks_close(&blocks);
}

int
heap_dump_write(int fd)
{
	struct output_file out;

	output_file_given(&out, fd);
	print(&out);
	return output_file_end(&out, "");
}

bool
heap_dump(const char *name)
{
	struct output_file out;
	int error = output_file_make(&out, name);

	if (error != 0) {
		recorder_say("Unable to create file: %s", name);
		return false;
	}
	recorder_say("Dumping to file: %s", name);
	print(&out);
	error = output_file_end(&out, name);
	if (error != 0)
		recorder_say("Unable to write file: %s: %s", name,
		    mu_report_file_reason(error));
	return error == 0;
}

/* A dump of ours, of this process or of an earlier one with its number. */
static bool
is_dump(const char *name)
{
	struct stat status = { 0 };

	return mu_sys4(SYS_newfstatat, AT_FDCWD, (long)name, (long)&status,
		   AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(status.st_mode) &&
	    status.st_uid == (uid_t)mu_sys0(SYS_geteuid);
}

/*
 * PREFIX.PID KIND.txt as Android names it, or the first name with a number that
 * replaces no earlier dump.
 */
static void
name_dump(char name[PATH_MAX], const char *kind)
{
	int pid = watch_bare_program();
	unsigned number;

	mu_text_format(name, PATH_MAX, "%s.%d%s.txt",
	    recorder_options.dump_prefix, pid, kind);
	for (number = 2; number <= MOST_DUMPS && is_dump(name); number++)
		mu_text_format(name, PATH_MAX, "%s.%d%s.%u.txt",
		    recorder_options.dump_prefix, pid, kind, number);
}

void
heap_dump_on_signal(void)
{
	char name[PATH_MAX];

	guards_check_live();
	name_dump(name, "");
	heap_dump(name);
}

void
heap_dump_at_exit(void)
{
	char name[PATH_MAX];

	if (!recorder_options.backtrace || !recorder_options.dump_on_exit)
		return;
	name_dump(name, ".exit");
	heap_dump(name);
}
