package mask_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/activities/mask"
)

func known() []mask.Secret {
	return []mask.Secret{mask.Value(canary), mask.Bearer(jwt), mask.Value("key-0123456789abcdef0123456789abcdef")}
}

// replies returns replies of 1 MB each.
func replies() map[string]string {
	const size = 1 << 20
	fill := func(piece string) string { return strings.Repeat(piece, size/len(piece)) }
	return map[string]string{
		"prose":   fill("A model that answers at length, with commas, keys and 100 sorts of words. "),
		"escapes": fill(`{\"a\":\"b\\n%20c\"}, `),
		"base64":  fill(base64.StdEncoding.EncodeToString([]byte("some data of a file that nobody needs"))),
		"near":    fill(jwt[:60]),
		"secrets": fill(canary + " "),
	}
}

func BenchmarkText(b *testing.B) {
	m := mask.New(known()...)
	for name, text := range replies() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				m.Text(text)
			}
		})
	}
}

// BenchmarkStream passes a reply through in pieces of the size that models send.
func BenchmarkStream(b *testing.B) {
	m := mask.New(known()...)
	text := replies()["prose"]
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		streamed(m, text, func() int { return 12 })
	}
}

// BenchmarkOverlapping passes 16 KiB through in pieces of four bytes, and 1 MiB as a whole. The
// secrets overlap with themselves.
func BenchmarkOverlapping(b *testing.B) {
	for name, o := range overlapping {
		m := mask.New(mask.Value(o.secret))
		b.Run("stream of "+name, func(b *testing.B) {
			text := strings.Repeat(o.text, 16<<10/len(o.text))
			b.ReportAllocs()
			for b.Loop() {
				streamed(m, text, func() int { return 4 })
			}
		})
		b.Run("text of "+name, func(b *testing.B) {
			text := strings.Repeat(o.text, 1<<20/len(o.text))
			b.ReportAllocs()
			for b.Loop() {
				m.Text(text)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for _, size := range []int{32, 1 << 10, 16 << 10} {
		var token strings.Builder
		for i := 0; token.Len() < size; i++ {
			fmt.Fprintf(&token, "%x", i*7919)
		}
		b.Run(fmt.Sprintf("token of %d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mask.New(mask.Bearer(token.String()))
			}
		})
	}
}
