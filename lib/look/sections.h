/* What writer and reader of a saved look have in common. */
#ifndef LIB_LOOK_SECTIONS_H
#define LIB_LOOK_SECTIONS_H

/* Each begins with its number, in this order: memunreachable-look(5). */
enum mu_look_section {
	MU_LOOK_SUBJECT = 1,
	MU_LOOK_MAPPINGS,
	MU_LOOK_THREADS,
	MU_LOOK_ROOTS,
	MU_LOOK_USAGE,
	MU_LOOK_BLOCKS,
	MU_LOOK_WORDS,
	MU_LOOK_LOST,
	MU_LOOK_STACKS,
	MU_LOOK_NAMES,
	MU_LOOK_OUTCOME,
};

#define MU_LOOK_CHUNK 4096u /* words of a chunk, at most */

/* Flags of a mapping. */
#define MU_LOOK_READABLE 1u
#define MU_LOOK_WRITABLE 2u
#define MU_LOOK_EXECUTABLE 4u
#define MU_LOOK_SHARED 8u

/* Flags of the subject. */
#define MU_LOOK_INFERRED 1u
#define MU_LOOK_CONTENTS 2u
#define MU_LOOK_UNALIGNED 4u
#define MU_LOOK_NO_GLOBALS 8u
#define MU_LOOK_NO_STACKS 16u
#define MU_LOOK_NO_REGISTERS 32u
#define MU_LOOK_NO_TLS 64u
#define MU_LOOK_NO_REGIONS 128u

#endif
