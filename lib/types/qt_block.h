/*
 * Shared data of Qt's containers and strings, which begin with a header of
 * Qt's: QArrayData and QListData::Data.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_QT_BLOCK_H
#define LIB_TYPES_QT_BLOCK_H

#include "lib/types/block_head.h"
#include "lib/types/subject.h"

/* Initialise to zero. */
struct mu_qt_blocks {
	bool asked;
	unsigned version; /* 5 or 6; 0: there is no Qt */
};

/*
 * Find the type of the block with HEAD, which is probable. Returns false if it
 * is none.
 */
bool mu_qt_block_find(struct mu_qt_blocks *blocks,
    const struct mu_symbols *symbols, const struct mu_block_head *head,
    struct mu_type *type);

#endif
