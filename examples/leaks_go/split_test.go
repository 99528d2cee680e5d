package split

import "testing"

func noLeaks(t *testing.T, test func()) {
	t.Helper()
	if lost := NoLeaks(t.Name(), test); lost != "" {
		t.Error(lost)
	}
}

func TestAllWords(t *testing.T) {
	noLeaks(t, func() {
		words, count := split("one,two,three")
		if count != 3 {
			t.Error(count)
		}
		freeWords(words, count)
	})
}

func TestArrayOnly(t *testing.T) {
	noLeaks(t, func() {
		words, _ := split("one,two,three")
		freeArray(words) // and not the strings
	})
}

func TestNoWords(t *testing.T) {
	noLeaks(t, func() { freeWords(split("")) })
}
