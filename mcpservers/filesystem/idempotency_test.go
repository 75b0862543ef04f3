package filesystem_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/mcpservers/hosting"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
)

// callWithKey calls a tool with an idempotency key.
func (f fixture) callWithKey(t testing.TB, key any, tool string, arguments args) (text string, isError bool) {
	t.Helper()
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, arguments
	request.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{hosting.IdempotencyKey: key}}
	result, err := f.CallTool(t.Context(), request)
	must(t, err)
	return result.Content[0].(mcp.TextContent).Text, result.IsError
}

// Without a key, each call would fail or change more when repeated.
func TestACallWithTheSameKeyGivesTheFirstResult(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"patched": "a\n", "from": "moved", "copied": "c", "gone": "", "folder/": ""})
	write := func(mode, content string) args {
		return args{"root": "work", "path": mode + "<&>", "mode": mode, "content": content}
	}
	for _, step := range []struct {
		tool string
		args args
	}{
		{"write_file", write("append", "x\n")}, {"write_file", write("create_only", "x")}, {"write_file", write("overwrite", "x")},
		{"patch_file", args{"root": "work", "path": "patched", "patch": "@@ -1 +1,2 @@\n a\n+b\n"}},
		{"move", pair("work", "from", "work", "to")}, {"move", pair("work", "to", "other", "to")}, {"copy", pair("work", "copied", "other", "copied")},
		{"remove_file", args{"root": "work", "path": "gone"}}, {"remove_folder", args{"root": "work", "path": "folder"}},
		{"create_folder", args{"root": "work", "path": "made"}},
	} {
		key := fmt.Sprint(step)
		first, isError := f.callWithKey(t, key, step.tool, step.args)
		if isError {
			t.Fatalf("%v: %s", step, first)
		}
		work, other := tree(t, f.work), tree(t, f.other)
		again, isError := f.callWithKey(t, key, step.tool, step.args)
		if isError || again != first {
			t.Errorf("%v: got %s, first was %s", step, again, first)
		}
		if diff := cmp.Diff(work, tree(t, f.work)) + cmp.Diff(other, tree(t, f.other)); diff != "" {
			t.Errorf("%v: %s", step, diff)
		}
	}
	if text, isError := f.callWithKey(t, "new", "write_file", write("append", "x\n")); isError || content(t, filepath.Join(f.work, "append<&>")) != "x\nx\n" {
		t.Errorf("another key: %s", text)
	}
}

func TestAKeyIsRefusedForADifferentCall(t *testing.T) {
	f := newFixture(t)
	arguments := args{"root": "work", "path": "a", "content": "x", "mode": "append"}
	f.callWithKey(t, "k", "write_file", arguments)
	const reused = "idempotency key was already used for a different call"
	for tool, other := range map[string]args{"write_file": with(arguments, args{"content": "y"}), "create_folder": {"root": "work", "path": "a"}} {
		if got, isError := f.callWithKey(t, "k", tool, other); !isError || got != reused {
			t.Errorf("%s: %s", tool, got)
		}
	}
	if got, isError := f.callWithKey(t, 5, "write_file", arguments); !isError || !strings.HasSuffix(got, "must be a non-empty string") {
		t.Error(got)
	}
	if got := content(t, filepath.Join(f.work, "a")); got != "x" {
		t.Errorf("got %q", got)
	}
}

func TestARefusedCallStoresNoKey(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"a": "x"})
	arguments := args{"root": "work", "path": "a", "content": "y", "mode": "create_only"}
	if text, isError := f.callWithKey(t, "k", "write_file", arguments); !isError {
		t.Error(text)
	}
	must(t, os.Remove(filepath.Join(f.work, "a")))
	if text, isError := f.callWithKey(t, "k", "write_file", arguments); isError || content(t, filepath.Join(f.work, "a")) != "y" {
		t.Error(text)
	}
}

// A reading call returns the current state.
func TestReadingCallsAreNotStored(t *testing.T) {
	f := newFixture(t)
	for _, text := range []string{"old", "new"} {
		put(t, f.work, map[string]string{"a": text})
		if got, _ := f.callWithKey(t, "k", "read_file", args{"root": "work", "path": "a"}); !strings.Contains(got, text) {
			t.Error(got)
		}
	}
}

func TestOneKeySentByManyAtOnceAppendsOnce(t *testing.T) {
	f := newFixture(t)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if text, isError := f.callWithKey(t, "k", "write_file", args{"root": "work", "path": "a", "content": "x", "mode": "append"}); isError {
				t.Error(text)
			}
		})
	}
	group.Wait()
	if got := content(t, filepath.Join(f.work, "a")); got != "x" {
		t.Errorf("got %q", got)
	}
}
