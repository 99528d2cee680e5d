/*
 * dladdr() searches all symbols of a file, so each address is looked up once.
 */
#include "lib/malloc_debug/dumps/frame_names.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mu/sys.h"

#define FIRST_ROOM 1024 /* a power of two, like all later sizes */

static const struct frame_name unknown = { .map = "", .function = "" };

void
frame_names_open(struct frame_names *names)
{
	*names = (struct frame_names) { 0 };
	mu_arena_open(&names->arena, SIZE_MAX);
}

void
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

/* libstdc++'s or libc++abi's, if the program has one. */
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

const struct frame_name *
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
