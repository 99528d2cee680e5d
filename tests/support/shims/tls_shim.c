/*
 * A library for dlopen() with every kind of memory: dynamic TLS, writable data,
 * zeroed data, and a page of constants behind RELRO. A test can put a pointer
 * there; it finds the functions by dlsym().
 */
#include <stddef.h>

#define PAGE 4096

void *shim_tls(void); /* the calling thread's */
void *shim_data(void);
void *shim_bss(void);
const void *shim_constants(void);

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
