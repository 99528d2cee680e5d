/*
 * One mistake for each word on the command line. The addresses concerned are
 * printed first, "went on" last.
 */
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hide mistakes that the compiler would warn of or optimise away. */
static void *volatile kept;

static unsigned char *
block(size_t size)
{
	kept = malloc(size);
	printf("%p\n", kept);
	fflush(stdout);
	return kept;
}

static void
front(void)
{
	unsigned char *p = block(100);

	p[-1] = 0x11;
	p[-32] = 0x22;
	free(p);
}

static void
rear(void)
{
	unsigned char *p = block(100);

	p[100] = 0x33;
	free(p);
}

/* A heap dump, which is not waited for: the end does that. */
static void
signal_for_dump(void)
{
	raise(47);
}

/* They stay. */
static void
live(void)
{
	unsigned char *p = block(100);

	p[101] = 0x33;
	kept = malloc(300);
	p = kept;
	p[-5] = 0x55;
}

static void
empty(void)
{
	unsigned char *volatile p = block(0);

	p[0] = 0x41;
	free(p);
}

static void
empty_grown(void)
{
	unsigned char *p = block(0);

	p = realloc(p, 1);
	p[0] = 1;
	p = realloc(p, 90);
	memset(p, 2, 90);
	free(p);
	p = calloc(0, 7);
	memset(p, 3, malloc_usable_size(p));
	free(p);
	p = block(0);
	memset(p, 3, malloc_usable_size(p));
	free(p);
	p = malloc(1);
	p[0] = 1;
	free(p);
}

static void
rear_realloc(void)
{
	unsigned char *p = block(100);

	p[103] = 0x44;
	kept = realloc(p, 5000);
	free(kept);
}

static void
rear_shrunk(void)
{
	unsigned char *p = block(100);

	kept = realloc(p, 40);
	p = kept;
	printf("usable %zu\n", malloc_usable_size(p));
	p[40] = 0;
	free(p);
}

static void
tag(void)
{
	unsigned char *p = block(100);

	memset(p - 64, 0x66, 64);
	free(p);
	kept = realloc(p, 200);
	printf("%zu\n", malloc_usable_size(p));
}

/* The compiler knows free(). */
static void
release(void *p)
{
	void (*volatile function)(void *) = free;

	function(p);
}

static void
after_free(void)
{
	unsigned char *volatile p = block(100);

	release(p);
	p[0] = 1;
	p[99] = 2;
	release(malloc(1));
	release(malloc(1));
	release(malloc(1));
}

static void
after_free_at_exit(void)
{
	unsigned char *volatile p = block(100);

	release(p);
	p[5] = 1;
}

static void
tag_after_free(void)
{
	unsigned char *volatile p = block(100);

	release(p);
	memset(p - 64, 0x66, 4);
}

static void
twice(void)
{
	void *volatile p = block(100);
	void *(*volatile resize)(void *, size_t) = realloc;
	size_t (*volatile usable)(void *) = malloc_usable_size;

	release(p);
	release(p);
	printf("%p\n", resize(p, 10));
	printf("%zu\n", usable(p));
}

static void
foreign(void)
{
	static char data[64] __attribute__((aligned(16)));
	void *volatile p = data;
	void *(*volatile resize)(void *, size_t) = realloc;
	size_t (*volatile usable)(void *) = malloc_usable_size;

	printf("%p\n", p);
	fflush(stdout);
	release(p);
	release(data + 8);
	release((void *)0xdead00000010);
	release((void *)UINTPTR_MAX);
	printf("%p\n", resize(p, 10));
	printf("%zu\n", usable(p));
}

static void
filled(void)
{
	unsigned char *p = malloc(50), *c;
	size_t usable = malloc_usable_size(p);

	printf("%02x %02x %02x\n", p[0], p[49], p[usable - 1]);
	p = realloc(p, 5000);
	printf("%02x %02x %02x\n", p[0], p[49], p[4999]);
	c = calloc(1, 50);
	printf("%02x %02x\n", c[0], c[49]);
	kept = p;
	printf("%zu\n",
	    malloc_usable_size(kept) >= 5000 + 100 ? (size_t)1 : (size_t)0);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*play)(void);
	} plays[] = {
		{ "front", front },
		{ "rear", rear },
		{ "live", live },
		{ "signal", signal_for_dump },
		{ "empty", empty },
		{ "empty_grown", empty_grown },
		{ "rear_realloc", rear_realloc },
		{ "rear_shrunk", rear_shrunk },
		{ "tag", tag },
		{ "after_free", after_free },
		{ "after_free_at_exit", after_free_at_exit },
		{ "tag_after_free", tag_after_free },
		{ "twice", twice },
		{ "foreign", foreign },
		{ "filled", filled },
	};
	size_t i;
	int word;

	for (word = 1; word < argc; word++) {
		for (i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
			if (strcmp(argv[word], plays[i].name) == 0)
				plays[i].play();
		}
	}
	printf("went on\n");
	return 0;
}
