package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// waits sends a task that must stop at an approval, and returns it.
func (a *api) waits(task string) *approval {
	a.t.Helper()
	asked := a.ask(task)
	if !asked.Result.WaitingApproval || asked.Result.Approval == nil {
		a.t.Fatalf("%s: no approval was asked for: %+v", task, asked.Result)
	}
	return asked.Result.Approval
}

// answers requires that a task ends without an approval, and that the last text contains part.
func (a *api) answers(task, part string) {
	a.t.Helper()
	if got := a.ask(task).Result; got.WaitingApproval || !strings.Contains(got.Response, part) {
		a.t.Errorf("%s: %+v, want %s", task, got, part)
	}
}

// approves approves a call and requires that the last text contains part.
func (a *api) approves(w *approval, part string) {
	a.t.Helper()
	got := a.decide(w.UUID, `{"approved":true}`).Result
	if got.WaitingApproval || !strings.Contains(got.Response, part) {
		a.t.Errorf("%s after the approval: %+v, want %s", w.ToolName, got, part)
	}
}

// content returns the content of a file, or "" if it is missing.
func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

// fileServer makes folders and a configuration for mcp-filesystem like the one
// that ships. It returns the file and the writable folder.
func fileServer(t *testing.T) (config, files string) {
	t.Helper()
	data, err := os.ReadFile("../../../config/mcp-filesystem.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config, files = filepath.Join(dir, "mcp-filesystem.yaml"), filepath.Join(dir, "data", "files")
	examples := filepath.Join(dir, "config", "examples")
	for _, folder := range []string{files, examples} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.NewReplacer("./data/files", files, "./config/examples", examples).Replace(string(data))
	for path, text := range map[string]string{config: text, filepath.Join(examples, "simple.yaml"): "name: simple\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config, files
}

// program returns the path of a built binary.
func program(t *testing.T, name string) string {
	t.Helper()
	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

func TestAnAgentWorksOnFiles(t *testing.T) {
	t.Parallel()
	ways := map[string]func(t *testing.T, config string) string{
		"http": func(t *testing.T, config string) string {
			port := freePort(t)
			start(t, t.TempDir(), "mcp-filesystem", nil, "--config", config, "--port", fmt.Sprint(port))
			return fmt.Sprintf("{name: files, url: 'http://127.0.0.1:%d/mcp'}", port)
		},
		"stdio": func(t *testing.T, config string) string {
			return fmt.Sprintf("{name: files, command: %q, args: [--stdio, --config, %q]}", program(t, "mcp-filesystem"), config)
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			config, files := fileServer(t)
			h := newHome(t)
			h.also = []string{way(t, config)}
			api, _ := h.inside()
			path := filepath.Join(files, "notes", "a.txt")

			write := api.waits(`call write_file {"root":"files","path":"notes/a.txt","content":"one line\n","mode":"append"}`)
			if got := content(t, path); got != "" {
				t.Fatalf("written before anybody approved: %q", got)
			}
			api.approves(write, `"size":9`)
			if got := content(t, path); got != "one line\n" {
				t.Errorf("the file holds %q", got)
			}
			api.answers(`call read_file {"root":"files","path":"notes/a.txt"}`, "one line")
			api.answers(`call create_folder {"root":"files","path":"empty"}`, `"path":"empty"`)
			api.answers(`call grep {"root":"examples","path":".","pattern":"^name"}`, "name: simple")

			remove := api.waits(`call remove_file {"root":"files","path":"notes/a.txt"}`)
			api.decide(remove.UUID, `{"approved":false}`)
			if got := content(t, path); got != "one line\n" {
				t.Errorf("removed although it was rejected: %q", got)
			}
			forbidden := api.waits(`call write_file {"root":"examples","path":"simple.yaml","content":""}`)
			api.approves(forbidden, "write_file")
			if got := content(t, filepath.Join(filepath.Dir(config), "config", "examples", "simple.yaml")); got != "name: simple\n" {
				t.Errorf("written where the configuration forbids it: %q", got)
			}
		})
	}
}
