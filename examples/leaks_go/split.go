// With Go's tests and cgo: what C lost, or what Go did not free of C's memory,
// fails the test. The second of three tests loses memory.
//
//	GO111MODULE=off go test ./leaks_go
//
// Memory of Go is searched for pointers; what Go allocates, Go collects.
package split

/*
#cgo pkg-config: memunreachable
#include <memunreachable/test.h>
#include "../split.h"
*/
import "C"
import (
	"runtime"
	"unsafe"
)

// NoLeaks runs test and returns what it lost, or "". A test by t.Parallel()
// must not run meanwhile. (Go has no cgo in files of tests.)
func NoLeaks(name string, test func()) string {
	runtime.LockOSThread() // the same stack of C at begin and end
	defer runtime.UnlockOSThread()
	text := C.CString(name)
	C.memunreachable_test_begin(text)
	C.free(unsafe.Pointer(text))
	test()
	return C.GoString(C.memunreachable_test_end())
}

func split(text string) (words **C.char, count C.size_t) {
	copied := C.CString(text)
	defer C.free(unsafe.Pointer(copied))
	words = C.split(copied, &count)
	return
}

func freeWords(words **C.char, count C.size_t) {
	C.free_words(words, count)
}

func freeArray(words **C.char) {
	C.free(unsafe.Pointer(words))
}
