package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk mounts a separate disk of some MiB for the home's data, and returns the folder.
// Without the permission to mount, the folder stays as it is.
func (h *home) smallDisk(size int) (data string, mounted bool) {
	h.t.Helper()
	data = filepath.Join(h.dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		h.t.Fatal(err)
	}
	err := syscall.Mount("tmpfs", data, "tmpfs", 0, fmt.Sprintf("size=%dm", size))
	switch {
	case errors.Is(err, syscall.EPERM):
		return data, false
	case err != nil:
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		if err := syscall.Unmount(data, syscall.MNT_DETACH); err != nil {
			h.t.Errorf("unmount %s: %v", data, err)
		}
	})
	return data, true
}

// fillUp writes until the disk is full.
func fillUp(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 1 << 20; size > 0; {
		switch _, err := f.Write(make([]byte, size)); {
		case errors.Is(err, syscall.ENOSPC):
			size /= 2
		case err != nil:
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A value that does not fit is refused at once. A start that the embedded server cannot record
// is refused after 15 seconds without an answer. Existing data survives.
func TestAFullDiskLosesNothing(t *testing.T) {
	h := newHome(t)
	data, mounted := h.smallDisk(24)
	a, _ := h.outside()
	asked := a.ask("call note_add {\"name\":\"a\"}")
	before := asked.Conversation
	texts := []string{"say hello", "say " + strings.Repeat("x", 5000)}
	if mounted {
		fill := filepath.Join(data, "fill")
		fillUp(t, fill)
		for _, text := range texts {
			if r := a.do("POST", "/conversations", messageJSON(text)); r.Status != http.StatusInsufficientStorage || !contains(r.Raw, "no space is left on the disk") {
				t.Errorf("a message of %d bytes: %d %s", len(text), r.Status, r.Raw)
			}
		}
		began := time.Now()
		shown := a.want(http.StatusOK, "GET", "/conversations/"+before.ID, "").Conversation
		t.Logf("read in %s while the disk was full, as of %s", time.Since(began).Round(time.Second/10), shown.AsOf)
		same(t, "messages", len(shown.Messages), len(before.Messages))
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
		freed := time.Now()
		eventually(t, "the server takes up work again", func() bool {
			return a.do("POST", "/conversations", messageJSON("say hello")).Status == http.StatusCreated
		})
		t.Logf("work goes on %s after there is room", time.Since(freed).Round(time.Second/10))
	}
	for _, text := range texts {
		a.want(http.StatusCreated, "POST", "/conversations", messageJSON(text))
	}
	now := a.want(http.StatusOK, "GET", "/conversations/"+before.ID, "").Conversation
	if now.Status != "waiting_approval" || len(now.Messages) != len(before.Messages) {
		t.Errorf("the conversation from before: %+v", now)
	}
	a.want(http.StatusOK, "POST", "/approvals/"+now.PendingApproval.UUID, `{"approved":true}`)
	if n := len(h.tools.called("note_add")); n != 1 {
		t.Errorf("the approved call ran %d times", n)
	}
}
