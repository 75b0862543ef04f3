package files

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"agent-stop-and-go/mcpservers/drive/store"
	"agent-stop-and-go/mcpservers/hosting/excerpt"
)

// listText is a line for each file.
func listText(l store.Listing, none string) string {
	var b strings.Builder
	for _, f := range l.Files {
		b.WriteString(line(f) + "\n")
	}
	if l.Cut {
		b.WriteString("(the search has not looked at everything: name a folder, or more of the name)\n")
	}
	switch {
	case l.Next != "":
		fmt.Fprintf(&b, "(there is more: page %s)", l.Next)
	case !l.Cut && len(l.Files) == 0:
		b.WriteString(none)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// line describes a file in one line. Its name is quoted: others have chosen it.
func line(f store.File) string {
	text := fmt.Sprintf("%s %q", f.Kind, excerpt.Line(f.Name, 300))
	if f.Kind == store.KindFile {
		text += fmt.Sprintf(", %d bytes", f.Size)
	}
	for _, more := range []struct{ name, value string }{{"", f.Type}, {"changed ", f.Modified}, {"id ", f.ID}, {"version ", f.Version}, {"in folder ", f.Folder}, {"leads to id ", f.Target}} {
		if more.value != "" && !(more.name == "" && f.Kind == store.KindFolder) {
			text += ", " + more.name + more.value
		}
	}
	return text
}

// whole drops half a character at the end of data, if there is more, and what is left of one at the beginning,
// if there is something before. consumed counts the bytes up to the end of text.
func whole(data []byte, before, more bool) (text []byte, consumed int) {
	for n := 0; before && n < utf8.UTFMax-1 && len(data) > 0 && !utf8.RuneStart(data[0]); n++ {
		data, consumed = data[1:], consumed+1
	}
	for n := 1; more && n <= utf8.UTFMax && n <= len(data); n++ {
		if start := len(data) - n; utf8.RuneStart(data[start]) {
			if !utf8.FullRune(data[start:]) {
				data = data[:start]
			}
			break
		}
	}
	return data, consumed + len(data)
}

func moreNote(r Reading) string {
	if r.Next == 0 {
		return ""
	}
	return fmt.Sprintf("\n(there is more: read on with offset %d)", r.Next)
}

func readNote(r Reading, offset int64, n int) string {
	return fmt.Sprintf("%d bytes of %s from offset %d on", n, line(r.File), offset) + moreNote(r)
}
