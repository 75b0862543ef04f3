package outbound_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"agent-stop-and-go/activities/outbound"
)

var errLarge = errors.New("too large")

func TestAStreamIsSplitIntoEvents(t *testing.T) {
	const stream = "\n: ping\n\nevent: x\r\ndata: {\"a\":\r\ndata:1}\r\n\r\ndata: rest"
	in := outbound.NewEventReader(iotest.OneByteReader(strings.NewReader(stream)), 64, errLarge)
	var raw, data []string
	for {
		e, err := in.Next()
		raw, data = append(raw, string(e)), append(data, string(e.Data()))
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(raw, ""); got != stream {
		t.Errorf("the events are %q, the stream was %q", got, stream)
	}
	if want := []string{"", "", "{\"a\":\n1}\n", "rest\n"}; !slices.Equal(data, want) {
		t.Errorf("data %q, want %q", data, want)
	}
}

func TestAnEventOverTheLimitFails(t *testing.T) {
	for name, stream := range map[string]string{
		"one line":   "data: " + strings.Repeat("x", 100) + "\n\n",
		"many lines": strings.Repeat("data: x\n", 20) + "\n",
		"no end":     strings.Repeat("x", 9000),
	} {
		in := outbound.NewEventReader(strings.NewReader(stream), 100, errLarge)
		if _, err := in.Next(); !errors.Is(err, errLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheLimitOfEventsDoesNotDependOnTheReads(t *testing.T) {
	small := strings.Repeat("data: 1234\r\n\r\n", 50)
	large := small + strings.Repeat("data: 1\n", 8) + "\n"
	for size := 1; size <= len(large); size++ {
		for text, want := range map[string]bool{small: false, large: true} {
			limit, got := outbound.EventLimit{Max: 60}, false
			for p := range slices.Chunk([]byte(text), size) {
				got = got || limit.Exceeded(p)
			}
			if got != want {
				t.Fatalf("in pieces of %d: %v, want %v", size, got, want)
			}
		}
	}
}
