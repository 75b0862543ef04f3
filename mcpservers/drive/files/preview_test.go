package files_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/drive/google/drivetest"
	"agent-stop-and-go/mcpservers/drive/store"
)

// Who approves an addition sees the file that it changes, also through a shortcut.
func TestThePreviewShowsWhereAShortcutLeads(t *testing.T) {
	at, f := drive(t)
	var list store.Listing
	f.do(t, "create_file", args{"name": "ledger.txt", "content": "one\n"}, nil)
	f.do(t, "list_files", args{}, &list)
	ledger := list.Files[0]
	folder := at.Get(ledger.ID).Parents[0]
	link := at.Put(drivetest.File{Name: "harmless", Type: drivetest.TypeShortcut, Parents: []string{folder}, Target: ledger.ID})
	preview := func(id, version string) string {
		return f.do(t, "file_preview", args{"tool": "append_file", "arguments": args{"id": id, "content": "x", "version": version}}, nil)
	}
	if text := preview(link, ledger.Version); !strings.Contains(text, `"ledger.txt"`) || strings.Contains(text, "refused") {
		t.Error(text)
	}
	if text := preview(link, "other"); !strings.Contains(text, "would be refused") {
		t.Error(text)
	}
	toFolder := at.Put(drivetest.File{Name: "dir", Type: drivetest.TypeShortcut, Parents: []string{folder}, Target: at.Folder("Sub", folder)})
	if text := preview(toFolder, ""); !strings.Contains(text, "would be refused") || !strings.Contains(text, "folder") {
		t.Error(text)
	}
}
