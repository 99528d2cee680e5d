/* Runs in: original; mu_malloc_probe_store() also in the sweeper. */
#include "lib/state/malloc_probe.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "lib/state/library.h"

/*
 * glibc has exported it since 2.0, at the same address as malloc. Weak, since a
 * static program with its own malloc must not link glibc's as well.
 */
void *__libc_malloc(size_t) __attribute__((weak));

/* Allocators have size classes; use one block of each kind. */
#define SMALL 24
#define MIDDLE 400
#define LARGE 5000

/* True if malloc is in this object, and that is libc_malloc_debug. */
static int
is_debug(struct dl_phdr_info *object, size_t size, void *unused)
{
	uintptr_t at = mu_malloc_address() - object->dlpi_addr;
	int i;

	(void)size;
	(void)unused;
	for (i = 0; i < object->dlpi_phnum; i++) {
		if (object->dlpi_phdr[i].p_type == PT_LOAD &&
		    at - object->dlpi_phdr[i].p_vaddr <
			object->dlpi_phdr[i].p_memsz)
			return strstr(object->dlpi_name, "libc_malloc_debug") !=
			    NULL;
	}
	return 0;
}

uintptr_t
mu_malloc_address(void)
{
	return (uintptr_t)malloc;
}

void
mu_malloc_probe_try(struct mu_malloc_probe *probe)
{
	size_t i;

	if (__libc_malloc == NULL ||
	    (uintptr_t)__libc_malloc == mu_malloc_address())
		return;
	/* mcheck() does not work once malloc was called. */
	if (dl_iterate_phdr(is_debug, NULL) != 0)
		return;
	probe->blocks[0] = (uintptr_t)malloc(SMALL);
	probe->blocks[1] = (uintptr_t)calloc(1, MIDDLE);
	probe->blocks[2] = (uintptr_t)malloc(LARGE);
	for (i = 0; i < MU_PROBES; i++)
		mu_registry_ignore(&mu_library.registry, probe->blocks[i]);
	probe->tried = true;
}

void
mu_malloc_probe_store(
    const struct mu_malloc_probe *probe, struct mu_snapshot *snap)
{
	snap->malloc_address = mu_malloc_address();
	snap->probes = probe->blocks;
	snap->num_probes = probe->tried ? MU_PROBES : 0;
}
