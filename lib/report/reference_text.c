#include "lib/report/reference_text.h"

static void
add_offset(struct mu_text *out, ptrdiff_t offset)
{
	if (offset < 0)
		mu_text_add(out, "-0x%lx", 0 - (unsigned long)offset);
	else
		mu_text_add(out, "+0x%lx", (unsigned long)offset);
}

static void
add_from(struct mu_text *out, const struct MemunreachableReference *reference,
    const char *what, const char *from)
{
	mu_text_add(out, "%s %d, %s", what, reference->thread, from);
	add_offset(out, reference->offset);
}

/* Append a block, a region or a mapping, and the offset in it. */
static void
add_range(struct mu_text *out, const struct MemunreachableReference *reference,
    const char *what)
{
	mu_text_add(out, "%s of %zu bytes at %lx, ", what, reference->size,
	    (unsigned long)reference->begin);
	add_offset(out, reference->offset);
}

static void
add_block(struct mu_text *out, const struct MemunreachableReference *reference)
{
	add_range(out, reference, "block");
	if (reference->thread != 0)
		mu_text_add(out, ", variables of thread %d", reference->thread);
	mu_text_add(out, ", itself %s",
	    reference->reachable ? "reachable" : "unreachable");
}

static void
add_place(struct mu_text *out, const struct MemunreachableReference *reference)
{
	switch (reference->kind) {
	case MEMUNREACHABLE_REFERENCE_GLOBAL:
		mu_text_add(out, "%s", reference->path);
		add_offset(out, reference->offset);
		break;
	case MEMUNREACHABLE_REFERENCE_STACK:
		add_from(out, reference, "stack of thread", "sp");
		break;
	case MEMUNREACHABLE_REFERENCE_CALLER:
		add_from(out, reference, "stack of calling thread", "sp");
		break;
	case MEMUNREACHABLE_REFERENCE_REGISTER:
		mu_text_add(out, "register %s of thread %d", reference->name,
		    reference->thread);
		break;
	case MEMUNREACHABLE_REFERENCE_TLS:
		add_from(out, reference, "variable of thread", "tp");
		break;
	case MEMUNREACHABLE_REFERENCE_MAPPING:
		add_range(out, reference,
		    reference->path[0] != '\0' ? reference->path : "mapping");
		break;
	case MEMUNREACHABLE_REFERENCE_ROOT_REGION:
		add_range(out, reference, "root region");
		break;
	case MEMUNREACHABLE_REFERENCE_ROOT_VALUE:
		mu_text_add(out, "ignored object or root provider");
		break;
	case MEMUNREACHABLE_REFERENCE_KERNEL:
		mu_text_add(out, "kernel: epoll or timer");
		break;
	case MEMUNREACHABLE_REFERENCE_BLOCK:
		add_block(out, reference);
		break;
	default:
		mu_text_add(out, "reference of kind %d", reference->kind);
		break;
	}
}

void
mu_report_reference(
    struct mu_text *out, const struct MemunreachableReference *reference)
{
	if (reference->address != 0)
		mu_text_add(out, "%lx: ", (unsigned long)reference->address);
	add_place(out, reference);
	if (reference->into < 0)
		mu_text_add(out, ", by the header of its chunk");
	else if (reference->into > 0)
		mu_text_add(
		    out, ", points %zu bytes into it", (size_t)reference->into);
}
