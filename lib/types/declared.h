/*
 * What debug information declares: the type of a variable, where a structure
 * has pointers and to what, the variables of a frame and of a thread.
 *
 * Pure.
 */
#ifndef LIB_TYPES_DECLARED_H
#define LIB_TYPES_DECLARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_DECLARED_FIELDS 400 /* of one answer */
#define MU_DECLARED_KEYS 8     /* parts of a key */

/*
 * A type, for later questions: the module and the place in its debug
 * information. 0: none, or not known.
 */
typedef uint64_t mu_declared_id;

enum mu_declared_question {
	MU_DECLARED_NOTHING,
	MU_DECLARED_VARIABLE, /* the one at an address */
	MU_DECLARED_TYPE,     /* its address is an id */
	MU_DECLARED_LOCALS,   /* those that are alive at a program counter */
	MU_DECLARED_THREAD,   /* the thread-local ones of an address's module */
	MU_DECLARED_QUESTIONS
};

/* From where a field's offset counts. */
enum mu_declared_from {
	MU_FROM_BEGIN, /* of the object, of the subject, or of the TLS block */
	MU_FROM_CFA,
	MU_FROM_FP,
	MU_FROM_SP,
	MU_FROM_REGISTER, /* it is in the register with this DWARF number */
	MU_FROM_KINDS
};

/* What a node of a map or set is found by, or a part of that is. */
enum mu_declared_key_kind {
	MU_KEY_UNKNOWN,
	MU_KEY_SIGNED,
	MU_KEY_UNSIGNED,
	MU_KEY_FLOAT,
	MU_KEY_CHARACTERS,   /* as many, or up to a zero */
	MU_KEY_TEXT,         /* a pointer to characters that end with zero */
	MU_KEY_STRING,       /* pointer, length */
	MU_KEY_VIEW,         /* length, pointer */
	MU_KEY_SHORT_STRING, /* libc++'s, with short ones inside */
	MU_KEYS
};

struct mu_declared_key {
	uint8_t kind;     /* enum mu_declared_key_kind */
	uint32_t at;      /* where it is in the node */
	uint32_t size;    /* bytes of a number, or of characters */
	const char *name; /* of the member; "": the key itself, or none */
};

/* A std::deque. */
enum mu_declared_queue {
	MU_QUEUE_NONE,
	MU_QUEUE_NODES, /* libstdc++'s: iterators with the place in the map */
	MU_QUEUE_SPLIT, /* libc++'s: the number of the first element */
	MU_QUEUES
};

/*
 * A pointer in a type and what it points to, or a variable and its type; or
 * COUNT of them, STRIDE bytes apart.
 */
struct mu_declared_field {
	const char *name; /* "orders.first"; "" or NULL: none */
	mu_declared_id type;
	int64_t offset;
	uint32_t count, stride;
	uint8_t from;   /* enum mu_declared_from */
	bool one_of;    /* of a union */
	bool pieces;    /* the first of begin, end and end of storage */
	bool reference; /* a variable that is a reference */
	uint8_t queue;  /* enum mu_declared_queue: of the one at QUEUE_AT */
	uint32_t queue_at;
};

struct mu_declared {
	mu_declared_id id;
	const char *name; /* or NULL */
	uint64_t size;    /* bytes; 0: not known */
	bool complete;    /* all fields are there */
	bool extended;  /* other types begin with one: it may be a part of it */
	bool virtual;   /* it has a pointer to a vtable */
	bool flexible;  /* it ends with an array of no declared length */
	bool scalar;    /* a number, a character or a pointer */
	bool letters;   /* its first word has characters, or single bytes */
	bool node_base; /* a part that all nodes of containers begin with */

	/* A node of a map or set: its key, which may have parts. */
	bool parted; /* it is a structure, with its only part, too */
	const struct mu_declared_key *keys;
	size_t num_keys; /* 0: not known, or there is none */

	/* The number of elements of a container. */
	bool counted;
	uint32_t count_at; /* where it is, in eight bytes */
	bool count_ends;   /* it is the distance of begin and end there, */
	uint32_t count_of; /* in units of so many bytes */

	const struct mu_declared_field *fields;
	size_t num_fields;
};

/*
 * The field of DECLARED that has the byte at OFFSET of an object; NULL: none.
 */
const struct mu_declared_field *mu_declared_field_at(
    const struct mu_declared *declared, size_t offset);

#endif
