//go:build cluster

package cluster

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// talk is a conversation with agent a.
type talk struct {
	url    string
	id     string // empty before the first message
	client *http.Client
}

// reply is the part of an answer that the tests read.
type reply struct {
	Conversation struct{ ID string }
	Result       struct {
		Response        string
		WaitingApproval bool `json:"waiting_approval"`
		Approval        struct{ UUID string }
	}
}

// say sends a message and waits for the answer.
func (c *talk) say(text string) (reply, error) {
	path := "/conversations"
	if c.id != "" {
		path += "/" + c.id + "/messages"
	}
	r, err := c.post(path, map[string]any{"message": text})
	if err == nil {
		c.id = r.Conversation.ID
	}
	return r, err
}

// decide answers an approval and waits for what comes of it.
func (c *talk) decide(uuid string, approved bool) (reply, error) {
	return c.post("/approvals/"+uuid, map[string]any{"approved": approved, "by": "the test"})
}

// ask sends a message and wants an answer that contains a text, without an approval.
func (c *talk) ask(text, want string) error {
	r, err := c.say(text)
	if err == nil && (r.Result.WaitingApproval || !strings.Contains(r.Result.Response, want)) {
		err = fmt.Errorf("%q was answered with %q, want %q in it", text, r.Result.Response, want)
	}
	return err
}

// approve sends a message that leads to an approval, and approves.
func (c *talk) approve(text, want string) error {
	r, err := c.say(text)
	if err != nil {
		return err
	}
	if !r.Result.WaitingApproval {
		return fmt.Errorf("%q was answered with %q, and nothing waits", text, r.Result.Response)
	}
	r, err = c.decide(r.Result.Approval.UUID, true)
	if err == nil && !strings.Contains(r.Result.Response, want) {
		err = fmt.Errorf("%q was approved and answered with %q, want %q in it", text, r.Result.Response, want)
	}
	return err
}

// approveOnce approves, and repeats the request only while no decision is on record: an answer may
// be lost, or late, after the decision was taken.
func (c *talk) approveOnce(t *testing.T, uuid string) {
	t.Helper()
	eventually(t, "the approval is decided", func() error {
		var now struct{ Decision struct{ Decision string } }
		if err := c.get("/approvals/"+uuid, &now); err != nil {
			return err
		}
		switch now.Decision.Decision {
		case "approved":
			return nil
		case "":
			_, err := c.decide(uuid, true)
			return fmt.Errorf("not on record yet (%w)", cmp.Or(err, errors.New("it was sent")))
		}
		t.Fatalf("the decision is %s", now.Decision.Decision)
		return nil
	})
}

// held returns an error unless a switch holds the call of the conversation.
func (c *talk) held() error {
	var now struct {
		Conversation struct {
			PendingApprovals []struct{ Reason string } `json:"pending_approvals"`
		}
	}
	err := c.get("/conversations/"+c.id+"?include=messages", &now)
	if waits := now.Conversation.PendingApprovals; err == nil && (len(waits) != 1 || waits[0].Reason != "paused") {
		err = fmt.Errorf("what waits is %+v", waits)
	}
	return err
}

// control pauses or resumes all calls. Repeating that changes nothing.
func (c *talk) control(t *testing.T, what string) {
	t.Helper()
	eventually(t, "all calls: "+what, func() error {
		_, err := c.post("/control/"+what, map[string]any{"what": "all", "reason": "restored"})
		return err
	})
}

func (c *talk) get(path string, into any) error {
	resp, err := c.client.Get(c.url + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", path, resp.Status, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func (c *talk) post(path string, body any) (r reply, err error) {
	data, err := json.Marshal(body)
	if err != nil {
		return r, err
	}
	resp, err := c.client.Post(c.url+path, "application/json", bytes.NewReader(data))
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return r, err
	}
	if resp.StatusCode >= 300 || resp.StatusCode == http.StatusAccepted {
		return r, fmt.Errorf("POST %s: %s: %s", path, resp.Status, text)
	}
	return r, json.Unmarshal(text, &r)
}
