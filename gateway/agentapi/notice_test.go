package agentapi

import (
	"strings"
	"testing"
	"time"
)

// What is kept of answers that no stream has taken is bounded in bytes. The newest remain.
func TestKeptAnswersAreBounded(t *testing.T) {
	n := newNotices(time.Now)
	for range 5 {
		n.add("a", strings.Repeat("x", maxNoticeBytes/4), true)
	}
	n.add("b", "last", true)
	size := 0
	for _, item := range n.kept {
		size += len(item.text)
	}
	if size > maxNoticeBytes {
		t.Errorf("%d bytes are kept", size)
	}
	s := n.subscribe("b")
	defer s.close()
	if got := s.take(); len(got) != 1 || got[0].text != "last" {
		t.Errorf("%v", got)
	}
}
