/* A parser: tokens in arrays, a tree with unions, a table of symbols. */
#include "typed.h"

enum kind { NUMBER, NAME, CALL, BINARY };

struct token {
	enum kind kind;
	unsigned line, column;
	char *spelling;
};

struct symbol {
	struct symbol *next;
	char *name;
	unsigned hash, uses;
	struct node *definition;
};

struct arguments {
	size_t count;
	struct node *values[6];
};

struct node {
	enum kind kind;
	unsigned line;
	union {
		long number;
		struct symbol *symbol;
		struct {
			struct symbol *function;
			struct arguments *arguments;
		} call;
		struct {
			struct node *left, *right;
			int operation;
		} binary;
	} of;
	struct node *parent;
};

struct unit {
	const char *file;
	struct token *tokens;
	size_t num_tokens;
	struct symbol **symbols;
	struct node *root;
	void *user;
};

static struct unit *volatile units[3]; /* which it never reads */

static void *
named(const char *what, void *block, const char *name)
{
	tell(what, block, name);
	return block;
}

#define NEW(what, type) named(what, calloc(1, sizeof(type)), #type + 7)

static char *
spell(const char *what, const char *word, unsigned number)
{
	char *text = malloc(40);

	memset(text, 0, 40);
	snprintf(text, 40, "%s_of_the_program_%u", word, number);
	return named(what, text, "char[*]");
}

static struct symbol *
make_symbol(const char *what, unsigned number)
{
	struct symbol *symbol = NEW(what, struct symbol);

	symbol->name = spell(what, "symbol", number);
	symbol->hash = number * 2654435761u;
	symbol->uses = 1 + number % 5;
	return symbol;
}

static struct node *
make_node(const char *what, struct unit *unit, struct node *parent, int depth)
{
	struct node *node = NEW(what, struct node);
	struct arguments *arguments;
	int i;

	node->parent = parent;
	node->line = 10 + depth;
	if (depth == 0) {
		node->kind = NUMBER;
		node->of.number = 77 + depth;
	} else if (depth == 3) {
		node->kind = CALL;
		node->of.call.function = unit->symbols[depth];
		node->of.call.arguments = arguments =
		    NEW(what, struct arguments);
		for (i = 0; i < 3; i++)
			arguments->values[i] = make_node(what, unit, node, 0);
		arguments->count = 3;
	} else {
		node->kind = BINARY;
		node->of.binary.operation = '+';
		node->of.binary.left = make_node(what, unit, node, depth - 1);
		node->of.binary.right = make_node(what, unit, node, depth - 1);
	}
	return node;
}

static struct unit *
make_unit(const char *what)
{
	struct unit *unit = NEW(what, struct unit);
	size_t i;

	unit->file = "parser.c";
	unit->num_tokens = 30;
	unit->tokens =
	    named(what, calloc(30, sizeof(*unit->tokens)), "token[30]");
	for (i = 0; i < 30; i++) {
		unit->tokens[i].kind = i % 4;
		unit->tokens[i].line = 1 + i;
		unit->tokens[i].spelling = spell(what, "token", i);
	}
	unit->symbols =
	    named(what, calloc(8, sizeof(*unit->symbols)), "symbol*[8]");
	for (i = 0; i < 8; i++)
		unit->symbols[i] = make_symbol(what, i);
	unit->root = make_node(what, unit, NULL, 5);
	unit->symbols[0]->definition = unit->root;
	return unit;
}

static __attribute__((noinline)) void
fill(void)
{
	size_t i;

	for (i = 0; i < 3; i++)
		units[i] = make_unit("held");
	for (i = 0; i < 3; i++)
		mu_hide(make_unit("lost"));
}

int
main(void)
{
	also("token[*]");
	also("symbol**");
	fill();
	return stay();
}
