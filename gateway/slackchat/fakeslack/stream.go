package fakeslack

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The states of a message that was streamed, as conversations.replies has them.
const (
	StateOpen    = "in_progress"
	StateDone    = "completed"
	StateExpired = "errored"
)

// The limits of streams. Slack ends a stream five minutes after its start, whatever is appended
// (github.com/slackapi/python-slack-sdk/issues/1859, node-slack-sdk/issues/2702).
const (
	streamLife   = 5 * time.Minute
	maxMarkdown  = 12_000
	maxTaskTitle = 256
)

// Task is the card of a task in a message that was streamed.
type Task struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Status  string `json:"status"`
	Details string `json:"details"`
	Output  string `json:"output"`
}

// stream is what only messages have that were streamed.
type stream struct {
	mode     string // of its first content: markdown_text or chunks
	markdown string
	stopped  bool // by a person, and the app does not know it yet
}

// chunk is an entry of the argument chunks.
type chunk struct {
	Type string `json:"type"`
	Text string `json:"text"`
	Task
	Blocks json.RawMessage `json:"blocks"`
}

// startStream is chat.startStream. Slack wants both recipients for streams of bots, also in direct
// messages.
func (s *Slack) startStream(in arguments) reply {
	switch root := s.find(in["channel"], in["thread_ts"]); {
	case in["channel"] == "":
		return refuse("channel_not_found")
	case in["thread_ts"] == "" && isDM(in["channel"]), in["thread_ts"] != "" && root == nil:
		return refuse("invalid_thread_ts")
	case in["recipient_team_id"] == "":
		return refuse("missing_recipient_team_id")
	case in["recipient_user_id"] == "":
		return refuse("missing_recipient_user_id")
	case in["recipient_team_id"] != Team:
		return refuse("team_not_found")
	case in["task_display_mode"] != "" && in["task_display_mode"] != "timeline" && in["task_display_mode"] != "plan":
		return refuse("invalid_arguments")
	}
	m := &Message{Channel: in["channel"], Thread: in["thread_ts"], User: Bot, State: StateOpen, Began: time.Now(), stream: &stream{}}
	if code := m.append(in, true); code != "" {
		return refuse(code)
	}
	m.TS = s.next()
	s.messages = append(s.messages, m)
	return reply{"channel": m.Channel, "ts": m.TS}
}

// appendStream is chat.appendStream.
func (s *Slack) appendStream(in arguments) reply {
	m, code := s.streamed(in)
	if code == "" {
		code = m.append(in, false)
	}
	if code != "" {
		return refuse(code)
	}
	return reply{"channel": m.Channel, "ts": m.TS}
}

// stopStream is chat.stopStream.
func (s *Slack) stopStream(in arguments) reply {
	m, code := s.streamed(in)
	if code == "" {
		code = checkMetadata(in["metadata"])
	}
	if code == "" && in["blocks"] != "" {
		code = checkBlocks([]byte(in["blocks"]))
	}
	if code == "" {
		code = m.append(in, true)
	}
	if code != "" {
		return refuse(code)
	}
	m.State, m.Metadata, m.Blocks = StateDone, raw(in["metadata"]), raw(in["blocks"])
	return reply{"channel": m.Channel, "ts": m.TS, "message": m.wire(true)}
}

// streamed returns the message of a call that is being streamed, or why Slack refuses the call.
func (s *Slack) streamed(in arguments) (m *Message, code string) {
	m = s.find(in["channel"], in["ts"])
	switch {
	case in["channel"] == "":
		return nil, "channel_not_found"
	case m == nil:
		return nil, "message_not_found"
	case m.User != Bot:
		return nil, "message_not_owned_by_app"
	}
	s.expire(m)
	switch {
	case m.stream != nil && m.stream.stopped:
		m.stream.stopped = false
		return nil, "stopped_by_user"
	case m.State != StateOpen:
		return nil, "message_not_in_streaming_state"
	}
	return m, ""
}

// expire ends a stream that is too old.
func (s *Slack) expire(m *Message) {
	if m.State == StateOpen && time.Since(m.Began) > s.StreamLife {
		m.State = StateExpired
	}
}

// Expire ends all streams, as Slack does with those that are five minutes old.
func (s *Slack) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if m.State == StateOpen {
			m.State = StateExpired
		}
	}
	s.change()
}

// append adds the content of a call. Its first content decides the mode of a stream: one of chunks
// takes chunks only, and one of text takes text only.
func (m *Message) append(in arguments, mayBeEmpty bool) (code string) {
	var chunks []chunk
	mode := ""
	switch {
	case in["markdown_text"] != "" && in["chunks"] != "":
		return "invalid_arguments"
	case in["markdown_text"] != "":
		mode, chunks = "markdown_text", []chunk{{Type: "markdown_text", Text: in["markdown_text"]}}
	case in["chunks"] != "":
		if json.Unmarshal([]byte(in["chunks"]), &chunks) != nil {
			return "invalid_chunks"
		}
		if len(chunks) > 0 {
			mode = "chunks"
		}
	}
	switch {
	case mode == "" && mayBeEmpty:
		return ""
	case mode == "":
		return "no_text"
	case m.stream.mode != "" && m.stream.mode != mode:
		return "streaming_mode_mismatch"
	}
	for _, c := range chunks {
		if code := c.check(); code != "" {
			return code
		}
	}
	m.stream.mode = mode
	for _, c := range chunks {
		m.add(c)
	}
	m.Text = m.streamText()
	return ""
}

func (c chunk) check() (code string) {
	switch c.Type {
	case "markdown_text":
		if utf8.RuneCountInString(c.Text) > maxMarkdown {
			return "msg_too_long"
		}
		if c.Text == "" {
			return "invalid_chunks"
		}
		return ""
	case "task_update":
		known := slices.Contains([]string{"pending", "in_progress", "complete", "error"}, c.Status)
		if c.ID == "" || c.Title == "" || utf8.RuneCountInString(c.Title) > maxTaskTitle || !known {
			return "invalid_chunks"
		}
		return ""
	case "plan_update":
		if c.Title == "" || utf8.RuneCountInString(c.Title) > maxTaskTitle {
			return "invalid_chunks"
		}
		return ""
	case "blocks":
		return checkBlocks(c.Blocks)
	}
	return "invalid_chunks"
}

// add adds a chunk. One of a task replaces the title and the status of its card, and adds to the rest.
func (m *Message) add(c chunk) {
	switch c.Type {
	case "markdown_text":
		m.stream.markdown += c.Text
		m.Appends++
	case "task_update":
		tasks := slices.Clone(m.Tasks) // readers have the former ones
		at := slices.IndexFunc(tasks, func(t Task) bool { return t.ID == c.ID })
		if at < 0 {
			m.Tasks = append(tasks, c.Task)
			return
		}
		t := &tasks[at]
		t.Title, t.Status, t.Details, t.Output = c.Title, c.Status, t.Details+c.Details, t.Output+c.Output
		m.Tasks = tasks
	}
}

var (
	strong  = regexp.MustCompile(`\*\*([^*\n]+)\*\*`)
	heading = regexp.MustCompile(`(?m)^#{1,6} `)
	item    = regexp.MustCompile(`(?m)^(\s*)[-*] `)
	link    = regexp.MustCompile(`\[([^\]]*)\]\(([^)]*)\)`)
)

// streamText is the text of a stream as Slack returns it: in mrkdwn.
func (m *Message) streamText() string {
	text := link.ReplaceAllString(m.stream.markdown, "<$2|$1>")
	text = strong.ReplaceAllString(text, "*$1*")
	text = heading.ReplaceAllString(text, "")
	return strings.TrimSpace(item.ReplaceAllString(text, "$1• "))
}

// StopSession presses the Stop that Slack itself shows beside an agent that works: it ends the streams
// of the thread, and sends the event.
func (s *Slack) StopSession(user, channel, thread string) {
	s.mu.Lock()
	ended := []string{}
	for _, m := range s.messages {
		if m.Channel == channel && m.Thread == thread && m.State == StateOpen {
			m.State, m.stream.stopped = StateDone, true
			ended = append(ended, m.TS)
		}
	}
	ts := s.next()
	s.change()
	s.mu.Unlock()
	s.emit("events_api", map[string]any{
		"token": "t", "team_id": Team, "api_app_id": AppID, "type": "event_callback", "event_id": "Ev" + ts + "stopped", "event_time": time.Now().Unix(),
		"event": map[string]any{"type": "agent_session_stopped", "channel": channel, "thread_ts": thread, "user": user, "event_ts": ts, "streaming_message_ts": ended},
	})
}

// sessionStatus is agents.sessions.setStatus.
func (s *Slack) sessionStatus(in arguments) reply {
	switch {
	case in["channel_id"] == "":
		return refuse("channel_not_found")
	case s.find(in["channel_id"], in["thread_ts"]) == nil:
		return refuse("invalid_thread_ts")
	case !slices.Contains([]string{"active", "processing", "suspended", "closed"}, in["status"]):
		return refuse("invalid_arguments")
	}
	s.sessions[in["channel_id"]+" "+in["thread_ts"]] = in["status"]
	return reply{"status": in["status"], "agent_status": in["status"]}
}

// Session returns the status of the agent session of a thread, or "".
func (s *Slack) Session(channel, thread string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[channel+" "+thread]
}
