package activities_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/transcript"
)

func exporting(version int64) contract.ExportInput {
	return contract.ExportInput{Conversation: contract.ConversationView{
		ID: conversationID, SessionID: "s-1", Status: contract.StatusActive, CreatedAt: noon, UpdatedAt: noon, Version: version,
		Transcript: contract.Transcript{Tail: []contract.Message{message(fmt.Sprintf("version %d <&>", version))}},
	}}
}

func export(t *testing.T, f *activities.Files, in contract.ExportInput) contract.ExportResult {
	t.Helper()
	got, err := run(t, t.Context(), f.Export, in)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func read(t *testing.T, dir string) document.Conversation {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "conversation_"+conversationID+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var d document.Conversation
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return d
}

// wantOnlyFile checks that the folder contains only the conversation's file.
func wantOnlyFile(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "conversation_"+conversationID+".json" {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func TestTheFileIsTheDocument(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "conversations")
	f := &activities.Files{Dir: dir, Blobs: newMemory()}
	in := exporting(3)
	got := export(t, f, in)

	d, err := document.Render(t.Context(), f.Blobs, in.Conversation)
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "conversation_"+conversationID+".json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want)+"\n", string(data)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	if got.Bytes != int64(len(data)) || got.Skipped {
		t.Errorf("result %+v for %d bytes", got, len(data))
	}
	mode(t, path, 0o600)
	mode(t, dir, 0o700)
	wantOnlyFile(t, dir)
}

func mode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has mode %o, expected %o", path, got, want)
	}
}

func TestAFileThatOthersCanReadIsReplacedByOneTheyCannot(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "conversation_"+conversationID+".json")
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	export(t, &activities.Files{Dir: dir, Blobs: newMemory()}, exporting(1))
	mode(t, path, 0o600)
}

func TestALaterVersionStays(t *testing.T) {
	dir := t.TempDir()
	f := &activities.Files{Dir: dir, Blobs: newMemory()}
	for _, step := range []struct{ version, want int64 }{{5, 5}, {4, 5}, {5, 5}, {6, 6}, {0, 6}, {123456789012, 123456789012}, {7, 123456789012}} {
		got := export(t, f, exporting(step.version))
		if d := read(t, dir); d.Version != step.want || got.Skipped != (step.version < step.want) {
			t.Errorf("after version %d the file has %d, skipped %t", step.version, d.Version, got.Skipped)
		}
	}
	wantOnlyFile(t, dir)
}

// A file that a person or another program wrote is replaced, too.
func TestAFileWithoutAVersionIsReplaced(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "short": "{}", "broken": strings.Repeat("x", 1000), "in the middle": `{"version": 9}` + strings.Repeat(" x", 100),
		"too large": `{` + strings.Repeat(" ", 100) + `"version": 99999999999999999999}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "conversation_"+conversationID+".json"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			export(t, &activities.Files{Dir: dir, Blobs: newMemory()}, exporting(1))
			if d := read(t, dir); d.Version != 1 {
				t.Errorf("version %d", d.Version)
			}
		})
	}
}

// A text that looks like the end of a file is not its version.
func TestAVersionInATextIsNotTheVersion(t *testing.T) {
	dir := t.TempDir()
	f := &activities.Files{Dir: dir, Blobs: newMemory()}
	in := exporting(1)
	in.Conversation.Transcript.Tail[0].Content = contract.Inline("\"version\": 9\n}\n")
	in.Conversation.AgentName = "\"version\": 9\n}\n"
	export(t, f, in)
	if got := export(t, f, exporting(2)); got.Skipped {
		t.Error("version 2 was skipped")
	}
}

func TestConcurrentExportsEndWithTheHighestVersion(t *testing.T) {
	dir := t.TempDir()
	f := &activities.Files{Dir: dir, Blobs: newMemory()}
	var wg sync.WaitGroup
	const n = 50
	for version := range int64(n) {
		wg.Go(func() {
			if _, err := f.Export(t.Context(), exporting(version+1)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if d := read(t, dir); d.Version != n || d.Messages[0].Content != fmt.Sprintf("version %d <&>", n) {
		t.Errorf("the file has version %d: %q", d.Version, d.Messages[0].Content)
	}
	wantOnlyFile(t, dir)
}

func TestAnIDThatIsNoUUIDIsRefused(t *testing.T) {
	dir := t.TempDir()
	f := &activities.Files{Dir: filepath.Join(dir, "data"), Blobs: newMemory()}
	for _, id := range []string{"", "x", "../../etc/passwd", conversationID + "\x00", strings.ToUpper(conversationID), conversationID + "/../x"} {
		in := exporting(1)
		in.Conversation.ID = id
		_, err := run(t, t.Context(), f.Export, in)
		failedAs(t, err, contract.KindInvalid, false)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("something was written: %v, %v", entries, err)
	}
}

func TestAFolderThatCannotBeWrittenIsTriedAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		_, err := run(t, t.Context(), (&activities.Files{Dir: dir, Blobs: newMemory()}).Export, exporting(1))
		failedAs(t, err, contract.KindExport, true)
	}
}

func TestAReadOnlyFolderIsTriedAgain(t *testing.T) {
	_, err := run(t, t.Context(), (&activities.Files{Dir: readOnlyFolder(t), Blobs: newMemory()}).Export, exporting(1))
	failedAs(t, err, contract.KindExport, true)
}

// readOnlyFolder returns a folder that cannot be written to. For root, to whom modes do not
// apply, it is in a virtual file system.
func readOnlyFolder(t *testing.T) string {
	t.Helper()
	if os.Geteuid() == 0 {
		return "/proc"
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	return dir
}

func TestAFailedExportLeavesNoTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	// A folder with the name of the file: only the last step fails.
	if err := os.Mkdir(filepath.Join(dir, "conversation_"+conversationID+".json"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := run(t, t.Context(), (&activities.Files{Dir: dir, Blobs: newMemory()}).Export, exporting(1))
	app := failedAs(t, err, contract.KindExport, true)
	if strings.Contains(app.Message(), "\n") {
		t.Errorf("the message has several lines: %q", app.Message())
	}
	wantOnlyFile(t, dir)
}

func TestAnExportResolvesTheStore(t *testing.T) {
	f := &activities.Files{Dir: t.TempDir(), Blobs: newMemory()}
	in := exporting(1)
	content, err := transcript.Text(t.Context(), f.Blobs, long)
	if err != nil {
		t.Fatal(err)
	}
	in.Conversation.Transcript.Tail[0].Content = content
	export(t, f, in)
	if d := read(t, f.Dir); d.Messages[0].Content != long {
		t.Errorf("the file holds %.60q", d.Messages[0].Content)
	}
}

func TestAStoreThatIsAwayFailsTheExportAndKeepsTheFile(t *testing.T) {
	f := &activities.Files{Dir: t.TempDir(), Blobs: newMemory()}
	export(t, f, exporting(1))
	lost := contract.NewBlob([]byte("never stored"))
	in := exporting(2)
	in.Conversation.Transcript.Tail[0].Content = contract.Text{Blob: &lost}
	_, err := run(t, t.Context(), f.Export, in)
	failedAs(t, err, contract.KindBlob, true)
	if d := read(t, f.Dir); d.Version != 1 {
		t.Errorf("the file has version %d", d.Version)
	}
	wantOnlyFile(t, f.Dir)
}
