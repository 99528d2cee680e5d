/* Shared by lib/view/view*.c. */
#ifndef LIB_VIEW_VIEW_PARTS_H
#define LIB_VIEW_VIEW_PARTS_H

#include "lib/view/file_text.h"
#include "lib/view/heap_dump_file.h"
#include "lib/view/locations.h"
#include "lib/view/view.h"

/* A heap dump, with the names of its addresses. Initialise to zero. */
struct mu_opened_dump {
	const char *path;
	struct mu_heap_dump dump;
	struct mu_locations names;
};

/*
 * MU_OK, or MU_PARTIAL with the cause added to NOTES; otherwise nothing was
 * read.
 */
enum mu_status mu_opened_dump_open(struct mu_opened_dump *opened,
    const char *path, const char *folder, struct mu_notes *notes,
    struct mu_why *why);
void mu_opened_dump_close(struct mu_opened_dump *opened);

/* Call after all frames are named: add notes about the names. */
void mu_opened_dump_note(
    const struct mu_opened_dump *opened, struct mu_notes *notes);

/*
 * Write VIEW as a page with WRITE to the file PATH, or to OUT if that is "-".
 */
enum mu_status mu_view_page(const char *path, FILE *out,
    enum mu_status (*write)(FILE *out, const void *view, struct mu_why *why),
    const void *view, struct mu_why *why);

/*
 * Show what OPTIONS name, on OUT. Returns the exit status; after
 * MU_EXIT_UNCHECKED WHY has the reason.
 */
enum mu_exit mu_view_heap_dump(const struct mu_cli_options *options,
    const struct mu_style *style, FILE *out, struct mu_why *why);
enum mu_exit mu_view_diff(const struct mu_cli_options *options,
    const struct mu_style *style, FILE *out, struct mu_why *why);
enum mu_exit mu_view_leaktracer(
    const struct mu_cli_options *options, FILE *out, struct mu_why *why);

#endif
