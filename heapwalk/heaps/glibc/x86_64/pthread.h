#ifndef HEAPWALK_HEAPS_GLIBC_X86_64_PTHREAD_H
#define HEAPWALK_HEAPS_GLIBC_X86_64_PTHREAD_H

/*
 * Measured with glibc 2.31, 2.36, 2.41 and 2.43. Its first word and the one at
 * 16 hold its own address (tcbhead_t).
 */
#define MU_PTHREAD_SELF 16
#define MU_PTHREAD_LIST 0x2c0 /* list_t */
#define MU_PTHREAD_TID 0x2d0
#define MU_PTHREAD_STACKBLOCK 0x690 /* its size is in the next word */
#define MU_PTHREAD_ALIGN 64
#define MU_PTHREAD_BYTES 2304 /* the smallest of them */
#define MU_TCB_DTV 8          /* tcbhead_t.dtv, from the thread pointer */

/*
 * Fields that are stale once a thread has ended. Its argument is the word at
 * 0x640 or 0x648, by release; its result is 0x18 bytes before. Once the thread
 * is joined, the result and all fields up to the stack block are stale too. The
 * join, or the end of a detached thread, sets TERMINATED_BIT in cancelhandling
 * (__nptl_free_tcb).
 */
#define MU_PTHREAD_CANCEL 0x308
#define MU_PTHREAD_TERMINATED 0x20
#define MU_PTHREAD_ARGUMENT 0x640
#define MU_PTHREAD_ARGUMENT_END 0x650
#define MU_PTHREAD_RESULT 0x628

/* The newest cleanup record, and the registers with which it begins. */
#define MU_PTHREAD_UNWIND_BUF 0x300 /* cleanup_jmp_buf */
#define MU_JMP_BUF_BYTES 64         /* sizeof(__jmp_buf) */

#endif
