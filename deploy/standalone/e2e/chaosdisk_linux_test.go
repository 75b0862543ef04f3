package e2e_test

import (
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// drawDisk draws a process whose disk is full for a moment. An embedded server may need a
// minute to notice that there is space again, so a short chaos has no full disk.
func (e *estate) drawDisk(r *rand.Rand) {
	h, name := e.home, "the agent with the tree"
	if r.IntN(2) == 0 {
		h, name = e.far, "far"
	}
	if *chaosTime < time.Minute {
		e.t.Logf("full disk: not drawn below a minute")
		return
	}
	data, mounted := h.smallDisk(64 * max(1, int(chaosTime.Minutes())))
	if !mounted {
		e.t.Logf("full disk: not drawn, because this user may not mount one")
		return
	}
	e.t.Logf("full disk: of %s", name)
	e.disk = func() {
		a := e.farAPI
		if h == e.home {
			a = e.apis[0]
		}
		e.fillDisk(a, filepath.Join(data, "fill"))
	}
}

// fillDisk fills a disk until a request is refused because of it.
func (e *estate) fillDisk(a *api, fill string) {
	fillUp(e.t, fill)
	patient := newAPI(e.t, a.base)
	eventually(e.t, "a request is refused because the disk is full", func() bool {
		r, err := patient.try("POST", "/conversations", messageJSON("say "+strings.Repeat("x", 5000)), "Prefer: respond-async")
		return err == nil && r.Status == http.StatusInsufficientStorage
	})
	if err := os.Remove(fill); err != nil {
		e.t.Error(err)
	}
	freed := time.Now()
	eventually(e.t, "work goes on when there is room", func() bool {
		r, err := patient.try("POST", "/conversations", "")
		if err != nil || r.Status != http.StatusCreated {
			return false
		}
		_, ok := e.insist(a, "POST", "/conversations/"+conversationOf(r)+"/close", "")
		return ok
	})
	e.t.Logf("the disk was full; work went on %s after there was room", time.Since(freed).Round(time.Second/10))
}
