/*
 * A library for dlopen() with every kind of memory: dynamic TLS, writable data,
 * zeroed data, and a page of constants behind RELRO.
 */
#include <stddef.h>

#include "tests/support/shims/tls_shim.h"

#define PAGE 4096

static int anchor;
static __thread void *tls_slot;
static __thread char tls_rest[3000] __attribute__((used));
static void *data_slot = &anchor;
static void *bss_slot;

/* Relocated, hence .data.rel.ro: read-only once the library is loaded. */
static const void *const constants[PAGE / sizeof(void *)]
    __attribute__((aligned(PAGE), used)) = { &anchor, &data_slot };

void *
shim_tls(void)
{
	return &tls_slot;
}

void *
shim_data(void)
{
	return &data_slot;
}

void *
shim_bss(void)
{
	return &bss_slot;
}

const void *
shim_constants(void)
{
	return constants;
}
