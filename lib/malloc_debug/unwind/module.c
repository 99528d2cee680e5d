/*
 * Uses _dl_find_object() of glibc 2.35, which takes no lock, or
 * dl_iterate_phdr() before. The vDSO is checked first: in some releases it is
 * in no list.
 */
#include "lib/malloc_debug/unwind/module.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "lib/malloc_debug/unwind/stack_capture_memory.h"

#define PAGE 4096u

/* struct dl_find_object of <dlfcn.h>, 64-bit, for older headers. */
struct found_object {
	unsigned long long flags;
	void *map_start, *map_end;
	struct link_map *link_map;
	void *eh_frame_hdr;
	unsigned long long reserved[7];
};

static int (*find_object)(void *pc, struct found_object *found);
static struct unwind_module vdso;

#define MODULES 512

struct known {
	uintptr_t start, end;
	uint64_t mark;
};

static struct known known[MODULES];
static unsigned num_known, none_relied_upon;

/*
 * Detect code that replaces other code at an address. Code that may not wait
 * for a lock is not notified of that, but it soon looks up rules in the new
 * code.
 *
 * A module is identified by its addresses and the first bytes of its tables.
 * Slots are written without a lock: a torn slot matches no module, which then
 * counts as new.
 */

static uint64_t
mark_of(const struct unwind_module *module)
{
	struct unwind_bytes bytes = { module->hdr, module->readable_end,
		false };
	uint64_t mark = (uintptr_t)module->hdr ^ module->end;
	unsigned i;

	/* The count and the first entries mostly differ after a rebuild. */
	for (i = 0; i < 16; i++) {
		mark = (mark ^ unwind_take(&bytes, 8)) * 0x9e3779b97f4a7c15ull;
		mark ^= mark >> 29;
	}
	return mark;
}

static void
note(struct known *at, const struct unwind_module *module, uint64_t mark)
{
	__atomic_store_n(&at->start, module->start, __ATOMIC_RELAXED);
	__atomic_store_n(&at->end, module->end, __ATOMIC_RELAXED);
	__atomic_store_n(&at->mark, mark, __ATOMIC_RELAXED);
}

void
unwind_module_none(void)
{
	if (__atomic_load_n(&none_relied_upon, __ATOMIC_RELAXED) == 0)
		__atomic_store_n(&none_relied_upon, 1, __ATOMIC_RELAXED);
}

bool
unwind_module_known(const struct unwind_module *module)
{
	unsigned i, num = __atomic_load_n(&num_known, __ATOMIC_ACQUIRE);
	uint64_t mark = mark_of(module);
	bool replaced = false;
	uintptr_t start, end;

	for (i = 0; i < num && i < MODULES; i++) {
		start = __atomic_load_n(&known[i].start, __ATOMIC_RELAXED);
		end = __atomic_load_n(&known[i].end, __ATOMIC_RELAXED);
		if (end <= module->start || start >= module->end)
			continue;
		if (start == module->start && end == module->end &&
		    __atomic_load_n(&known[i].mark, __ATOMIC_RELAXED) == mark)
			return true;
		note(&known[i], module, mark);
		replaced = true;
	}
	if (!replaced) {
		num = __atomic_fetch_add(&num_known, 1, __ATOMIC_ACQ_REL);
		/*
		 * The array is full: the module in this slot will count as new.
		 */
		note(&known[num % MODULES], module, mark);
	}
	return !replaced &&
	    __atomic_exchange_n(&none_relied_upon, 0, __ATOMIC_RELAXED) == 0;
}

/* Fill in the addresses of the module loaded at BIAS from its segments. */
static bool
fill_from_headers(struct unwind_module *module, uintptr_t bias,
    const ElfW(Phdr) * headers, size_t num)
{
	uintptr_t begin, end, hdr = 0;
	size_t i;

	module->start = UINTPTR_MAX;
	module->end = 0;
	for (i = 0; i < num; i++) {
		begin = bias + headers[i].p_vaddr;
		end = begin + headers[i].p_memsz;
		if (headers[i].p_type == PT_GNU_EH_FRAME)
			hdr = begin;
		if (headers[i].p_type != PT_LOAD)
			continue;
		if (begin < module->start)
			module->start = begin;
		if (end > module->end)
			module->end = end;
	}
	for (i = 0; i < num && hdr != 0; i++) {
		begin = bias + headers[i].p_vaddr;
		end = begin + headers[i].p_memsz;
		if (headers[i].p_type != PT_LOAD || hdr < begin || hdr >= end ||
		    (headers[i].p_flags & PF_R) == 0)
			continue;
		module->hdr = (const uint8_t *)hdr;
		module->readable = (const uint8_t *)begin;
		module->readable_end = (const uint8_t *)end;
		return true;
	}
	return false;
}

/* Fill in from the ELF header, with which nearly all first segments begin. */
static bool
fill_from_image(struct unwind_module *module, uintptr_t start)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)start;
	const ElfW(Phdr) * headers;
	size_t i;

	if (start % PAGE != 0 || !stack_memory_probe(start) ||
	    memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_phentsize != sizeof(*headers) || header->e_phoff > PAGE ||
	    header->e_phoff % 8 != 0 ||
	    header->e_phnum > (PAGE - header->e_phoff) / sizeof(*headers))
		return false;
	headers = (const ElfW(Phdr) *)(start + header->e_phoff);
	for (i = 0; i < header->e_phnum; i++)
		if (headers[i].p_type == PT_LOAD)
			return fill_from_headers(module,
			    start -
				(headers[i].p_vaddr & ~(uintptr_t)(PAGE - 1)),
			    headers, header->e_phnum);
	return false;
}

void
unwind_module_init(void)
{
	uintptr_t start = getauxval(AT_SYSINFO_EHDR);

	if (start == 0 || !fill_from_image(&vdso, start))
		vdso.end = 0;
	find_object = (int (*)(void *, struct found_object *))dlsym(
	    RTLD_DEFAULT, "_dl_find_object");
}

struct search {
	struct unwind_module *module;
	uintptr_t pc;
};

static int
visit(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const struct search *search = ctx;
	struct unwind_module module;
	bool filled;

	(void)size;
	filled = fill_from_headers(
	    &module, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
	if (search->pc < module.start || search->pc >= module.end)
		return 0;
	*search->module = module;
	return filled ? 1 : -1;
}

static bool
search_list(struct unwind_module *module, uintptr_t pc)
{
	struct search search = { module, pc };

	return dl_iterate_phdr(visit, &search) > 0;
}

bool
unwind_module_find(struct unwind_module *module, uintptr_t pc)
{
	struct found_object found;

	if (pc >= vdso.start && pc < vdso.end) {
		*module = vdso;
		return true;
	}
	if (find_object == NULL)
		return search_list(module, pc);
	if (find_object((void *)pc, &found) != 0 || found.eh_frame_hdr == NULL)
		return false;
	if (!fill_from_image(module, (uintptr_t)found.map_start))
		return search_list(module, pc);
	module->start = (uintptr_t)found.map_start;
	module->end = (uintptr_t)found.map_end;
	return true;
}
