package filesystem_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// pathTools are the tools with a root and a path, with their other required arguments.
var pathTools = map[string]args{
	"list_folder": {}, "read_file": {}, "write_file": {"content": "x"}, "remove_file": {}, "patch_file": {"patch": "@@ -0,0 +1 @@\n+x\n"},
	"create_folder": {}, "remove_folder": {}, "stat_file": {}, "hash_file": {"algorithm": "md5"}, "permissions_file": {},
	"grep": {"pattern": "."}, "glob": {"pattern": "*"},
}

func with(base args, more args) args {
	all := args{}
	for _, from := range []args{base, more} {
		for k, v := range from {
			all[k] = v
		}
	}
	return all
}

func TestMistakesAreReportedInOrder(t *testing.T) {
	f := newFixture(t)
	for tool, rest := range pathTools {
		f.wantError(t, tool, rest, "root is required")
		f.wantError(t, tool, with(rest, args{"root": "", "path": ""}), "root is required")
		f.wantError(t, tool, with(rest, args{"root": "none", "path": "\x00"}), "unknown root: none")
		f.wantError(t, tool, with(rest, args{"root": "WORK"}), "unknown root: WORK")
		if tool != "read_file" && tool != "list_folder" {
			f.wantError(t, tool, with(rest, args{"root": "docs"}), "tool "+tool+" not allowed on root docs")
		}
		if tool != "grep" && tool != "glob" {
			f.wantError(t, tool, with(rest, args{"root": "work"}), "path is required")
			f.wantError(t, tool, with(rest, args{"root": "work", "path": ""}), "path is required")
		}
		f.wantError(t, tool, args{"root": "work", "path": "a\x00b"}, "path contains null bytes")
		f.wantError(t, tool, args{"root": "work", "path": "../\x00"}, "path contains null bytes")
		f.wantError(t, tool, args{"root": "work", "path": "../x"}, "path resolves outside root boundary")
	}
	for _, tool := range []string{"copy", "move"} {
		f.wantError(t, tool, args{}, "source_root is required")
		f.wantError(t, tool, args{"source_root": "none"}, "unknown root: none")
		f.wantError(t, tool, args{"source_root": "docs"}, "tool "+tool+" not allowed on root docs")
		f.wantError(t, tool, args{"source_root": "work"}, "source_path is required")
		f.wantError(t, tool, pair("work", "../x", "", ""), "path resolves outside root boundary")
		f.wantError(t, tool, pair("work", "a", "", ""), "dest_root is required")
		f.wantError(t, tool, pair("work", "a", "docs", "b"), "tool "+tool+" not allowed on root docs")
		f.wantError(t, tool, pair("work", "a", "other", ""), "dest_path is required")
		f.wantError(t, tool, pair("work", "a", "other", "a/../../b"), "path resolves outside root boundary")
	}
}

func TestListRoots(t *testing.T) {
	f := newFixture(t)
	all := `["copy","create_folder","glob","grep","hash_file","list_folder","move","patch_file","permissions_file","read_file","remove_file","remove_folder","stat_file","write_file"]`
	want := `[{"allowed_tools":["list_folder","read_file"],"name":"docs"},{"allowed_tools":` + all + `,"name":"other"},{"allowed_tools":` + all + `,"name":"work"}]`
	if diff := cmp.Diff(want, f.do(t, "list_roots", nil)); diff != "" {
		t.Error(diff)
	}
}

func TestToolsDeclareTheirHints(t *testing.T) {
	f := newFixture(t)
	listed, err := f.ListTools(t.Context(), mcp.ListToolsRequest{})
	must(t, err)
	// read-only, destructive, idempotent
	want := map[string][3]bool{
		"copy": {false, true, true}, "create_folder": {false, false, true}, "glob": {true, false, true}, "grep": {true, false, true},
		"hash_file": {true, false, true}, "list_folder": {true, false, true}, "list_roots": {true, false, true}, "move": {false, true, false},
		"patch_file": {false, true, false}, "permissions_file": {true, false, true}, "read_file": {true, false, true},
		"remove_file": {false, true, true}, "remove_folder": {false, true, true}, "stat_file": {true, false, true}, "write_file": {false, true, false},
	}
	got := map[string][3]bool{}
	var names []string
	for _, tool := range listed.Tools {
		hints := tool.Annotations
		got[tool.Name] = [3]bool{*hints.ReadOnlyHint, *hints.DestructiveHint, *hints.IdempotentHint}
		if *hints.OpenWorldHint || hints.Title == "" || tool.Description == "" || tool.OutputSchema.Type != "object" {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
		if extra := tool.InputSchema.AdditionalProperties; extra != false {
			t.Errorf("%s: additionalProperties %v", tool.Name, extra)
		}
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !slices.IsSorted(names) {
		t.Errorf("got %v", names)
	}
}

// schemas compiles the output schemas of the tools.
func schemas(t *testing.T, f fixture) map[string]*jsonschema.Schema {
	t.Helper()
	listed, err := f.ListTools(t.Context(), mcp.ListToolsRequest{})
	must(t, err)
	compiled := map[string]*jsonschema.Schema{}
	for _, tool := range listed.Tools {
		raw, err := json.Marshal(tool.OutputSchema)
		must(t, err)
		if bytes.Contains(raw, []byte(`"null"`)) {
			t.Errorf("%s: %s", tool.Name, raw)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		must(t, err)
		compiler := jsonschema.NewCompiler()
		must(t, compiler.AddResource("mem:"+tool.Name, document))
		compiled[tool.Name], err = compiler.Compile("mem:" + tool.Name)
		must(t, err)
	}
	return compiled
}

func TestStructuredContentIsTheTextAndFitsItsSchema(t *testing.T) {
	f := newFixture(t)
	schemas := schemas(t, f)
	for tool, rest := range pathTools {
		must(t, os.RemoveAll(filepath.Join(f.work, "folder")))
		put(t, f.work, map[string]string{"a.txt": "hello", "folder/link": "->../a.txt"})
		if tool == "patch_file" {
			rest = args{"patch": "@@ -9 +9 @@\n-hello\n+bye\n"}
		}
		var request mcp.CallToolRequest
		request.Params.Name, request.Params.Arguments = tool, with(rest, args{"root": "work", "path": "a.txt"})
		if strings.HasSuffix(tool, "_folder") || tool == "glob" {
			request.Params.Arguments = with(rest, args{"root": "work", "path": "folder"})
		}
		result, err := f.CallTool(t.Context(), request)
		must(t, err)
		var text any
		must(t, json.Unmarshal([]byte(result.Content[0].(mcp.TextContent).Text), &text))
		if diff := cmp.Diff(text, result.StructuredContent); diff != "" {
			t.Errorf("%s: %s", tool, diff)
		}
		if err := schemas[tool].Validate(text); err != nil {
			t.Errorf("%s: %v", tool, err)
		}
	}
}

func TestNoAnswerShowsAHostPath(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"a/b": "x", "loop": "->loop", "out": "->../outside", "absolute": "->" + f.outside})
	for tool, rest := range pathTools {
		for _, path := range []string{".", "a", "a/b", "a/b/c", "none", "loop", "out", "absolute", "../x", strings.Repeat("x", 5000)} {
			if tool == "remove_folder" && path == "a" || tool == "remove_file" {
				continue
			}
			text, _ := f.call(t.Context(), t, tool, with(rest, args{"root": "work", "path": path}))
			if strings.Contains(text, f.work) || strings.Contains(text, "outside/") {
				t.Errorf("%s %s: %s", tool, path, text)
			}
		}
	}
}
