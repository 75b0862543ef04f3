package fakeslack

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Mention is how people mention the app.
const Mention = "<@" + Bot + ">"

// Say writes a message as a person and returns its timestamp. In a channel, a mention of the app is
// sent to it twice, as Slack does. thread is "" for a message outside of threads, files are the names
// of files that are sent with it.
func (s *Slack) Say(user, channel, thread, text string, files ...string) (ts string) {
	s.mu.Lock()
	m := &Message{TS: s.next(), Channel: channel, Thread: thread, User: user, Text: text, Files: files}
	s.messages = append(s.messages, m)
	s.change()
	s.mu.Unlock()
	if isDM(channel) {
		s.Event("message", m)
		return m.TS
	}
	if strings.Contains(text, Mention) {
		s.Event("app_mention", m)
	}
	s.Event("message", m)
	return m.TS
}

// Event sends the event of a message.
func (s *Slack) Event(kind string, m *Message) {
	event := map[string]any{"type": kind, "user": m.User, "text": m.Text, "ts": m.TS, "event_ts": m.TS, "channel": m.Channel, "client_msg_id": "client-" + m.TS, "team": s.teamOf(m.User)}
	if team := s.teamOf(m.User); team != Team {
		event["user_team"], event["source_team"] = team, team
	}
	if m.Thread != "" {
		event["thread_ts"] = m.Thread
	}
	if len(m.Files) > 0 {
		var files []any
		for _, name := range m.Files {
			files = append(files, map[string]any{"id": "F" + name, "name": name})
		}
		event["files"] = files
	}
	if kind == "message" && len(m.Files) > 0 {
		event["subtype"] = "file_share"
	}
	if kind == "message" {
		event["channel_type"] = "channel"
		if isDM(m.Channel) {
			event["channel_type"] = "im"
		}
	}
	s.emit("events_api", map[string]any{
		"token": "t", "team_id": Team, "api_app_id": AppID, "type": "event_callback", "event_id": "Ev" + m.TS + kind, "event_time": time.Now().Unix(), "event": event,
	})
}

// Fill adds messages to a channel or a thread that are no events.
func (s *Slack) Fill(user, channel, thread string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.messages = append(s.messages, &Message{TS: s.next(), Channel: channel, Thread: thread, User: user, Text: "more"})
	}
	s.change()
}

// Repeat sends the events of a message again, as Slack does when an acknowledgement is lost.
func (s *Slack) Repeat(channel, ts string) {
	s.mu.Lock()
	m := s.find(channel, ts)
	s.mu.Unlock()
	if !isDM(channel) {
		s.Event("app_mention", m)
	}
	s.Event("message", m)
}

// Button returns the button with an action of a message, if it has one.
func (m Message) Button(action string) (value string, ok bool) {
	var blocks []block
	_ = json.Unmarshal(m.Blocks, &blocks)
	for _, b := range blocks {
		for _, e := range b.Elements {
			if b.Type == "actions" && e.ActionID == action {
				return e.Value, true
			}
		}
	}
	return "", false
}

// Press presses a button of a message, also one that the message does not have any more: people may
// see an older state of it.
func (s *Slack) Press(user string, m Message, action string) error {
	value, ok := m.Button(action)
	if !ok {
		return fmt.Errorf("the message has no button %s: %s", action, m.Blocks)
	}
	s.mu.Lock()
	trigger := "trigger-" + s.next()
	s.mu.Unlock()
	s.emit("interactive", map[string]any{
		"type": "block_actions", "team": map[string]any{"id": Team, "domain": "test"}, "user": map[string]any{"id": user, "team_id": s.teamOf(user)}, "api_app_id": AppID,
		"channel": map[string]any{"id": m.Channel, "name": "x"}, "trigger_id": trigger, "response_url": s.server.URL + "/response",
		"container": map[string]any{"type": "message", "message_ts": m.TS, "channel_id": m.Channel, "thread_ts": m.Thread},
		"message":   m.wire(false),
		"actions":   []any{map[string]any{"type": "button", "action_id": action, "block_id": "b", "value": value, "action_ts": trigger}},
	})
	return nil
}

// Submit sends a dialog with one text.
func (s *Slack) Submit(user string, v View, blockID, actionID, text string) {
	view := object(v.JSON)
	view["id"] = v.ID
	view["state"] = map[string]any{"values": map[string]any{blockID: map[string]any{actionID: map[string]any{"type": "plain_text_input", "value": text}}}}
	s.emit("interactive", map[string]any{
		"type": "view_submission", "team": map[string]any{"id": Team, "domain": "test"}, "user": map[string]any{"id": user, "team_id": s.teamOf(user)}, "api_app_id": AppID, "view": view,
	})
}

// Command uses a slash command.
func (s *Slack) Command(user, channel, command, text string) {
	s.mu.Lock()
	trigger := "trigger-" + s.next()
	s.mu.Unlock()
	s.emit("slash_commands", map[string]any{
		"team_id": s.teamOf(user), "team_domain": "test", "channel_id": channel, "channel_name": "x", "user_id": user, "user_name": user,
		"command": command, "text": text, "api_app_id": AppID, "trigger_id": trigger, "response_url": s.server.URL + "/response",
	})
}
