#!/bin/sh
# Generated code of a program that is not position-independent has 32 bits of an
# address as an operand. It keeps blocks reachable while all of it is written and
# so not executable; a number that is no operand does not.
set -u
. tests/support/command/command.sh

cat >"$work/code.c" <<'END'
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/support/hide.h"
/* Length and bytes of mov, mov, mov, mov, mov and push. */
static const unsigned char forms[][4] = { { 1, 0xb8 }, { 1, 0xbf },
	{ 2, 0x41, 0xbf }, { 3, 0x48, 0xc7, 0xc1 }, { 2, 0xc7, 0xc0 },
	{ 1, 0x68 } };
/* Two pages of code, at AT of which an instruction has a block as operand. */
static __attribute__((noinline)) void put(const unsigned char *form, int at)
{
	unsigned char *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t block = (uintptr_t)memset(malloc(72), 1, 72);
	volatile uint32_t half = block;

	if (block > UINT32_MAX)
		_exit(77);
	memset(code, 0x90, 8192);
	memcpy(code + at, form + 1, form[0]);
	memcpy(code + at + form[0], (void *)&half, sizeof(half));
	half = block = 0;
	/* No neighbour of the next one. */
	mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
int main(int argc, char **argv)
{
	static const unsigned char none[] = { 1, 0x90 };
	size_t i;

	for (i = 0; argc < 2 && i < sizeof(forms) / sizeof(*forms); i++) {
		put(forms[i], 101 + i);
		put(forms[i], 4093 + i);
		put(forms[i], 8192 - 4 - forms[i][0]);
	}
	if (argc > 1)
		put(none, 102);
	scrub_stack();
	_exit(0);
}
END
[ "$(uname -m)" = x86_64 ] || {
	echo "SKIPPED: code_below_4g: $(uname -m)"
	exit 77
}
${CC:-cc} -w -O1 -no-pie -I. -o "$work/code" "$work/code.c" ||
	fail "no compiler"
"$work/code"
[ $? -ne 77 ] || {
	echo "SKIPPED: code_below_4g: the heap is not below 4 GiB"
	exit 77
}
name='operands'
run 0 -- "$work/code"
name='no operand'
run 23 -- "$work/code" none
has "$err" " 72 bytes in 1 allocation unreachable out of "

[ "$failures" -eq 0 ]
