package fakeslack

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// arguments are those of a call: of a form, or of JSON.
type arguments map[string]string

func argumentsOf(r *http.Request) (arguments, error) {
	out := arguments{}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var in map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil && err != io.EOF {
			return nil, err
		}
		for key, raw := range in {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
			out[key] = text
		}
		return out, nil
	}
	if err := r.ParseMultipartForm(1 << 20); err != nil && err != http.ErrNotMultipart {
		return nil, err
	}
	for key, values := range r.Form {
		out[key] = values[0]
	}
	return out, nil
}

type reply map[string]any

func refuse(code string) reply { return reply{"ok": false, "error": code} }

var methods = map[string]func(*Slack, arguments) reply{
	"agents.sessions.setStatus": (*Slack).sessionStatus,
	"auth.test":                 (*Slack).authTest,
	"apps.connections.open":     (*Slack).open,
	"chat.appendStream":         (*Slack).appendStream,
	"chat.postMessage":          (*Slack).post,
	"chat.postEphemeral":        (*Slack).whisper,
	"chat.startStream":          (*Slack).startStream,
	"chat.stopStream":           (*Slack).stopStream,
	"chat.update":               (*Slack).update,
	"chat.delete":               (*Slack).remove,
	"conversations.replies":     (*Slack).replies,
	"conversations.history":     (*Slack).history,
	"conversations.open":        (*Slack).direct,
	"users.info":                (*Slack).user,
	"views.open":                (*Slack).view,
}

// Methods returns the names of the methods: a call of any other one is a problem.
func Methods() []string { return slices.Collect(maps.Keys(methods)) }

func (s *Slack) serve(w http.ResponseWriter, r *http.Request) {
	method := r.PathValue("method")
	in, err := argumentsOf(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	token := in["token"]
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		token = bearer
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if limits := s.limits[method]; len(limits) > 0 {
		s.limits[method] = limits[1:]
		s.change()
		w.Header().Set("Retry-After", strconv.Itoa(int(limits[0]/time.Second)))
		w.WriteHeader(http.StatusTooManyRequests)
		_ = json.NewEncoder(w).Encode(refuse("ratelimited"))
		return
	}
	s.calls[method] = append(s.calls[method], time.Now())
	if codes := s.refusals[method]; len(codes) > 0 {
		s.refusals[method] = codes[1:]
		if codes[0] != "" {
			_ = json.NewEncoder(w).Encode(refuse(codes[0]))
			return
		}
	}
	if code := s.missing[method]; code != "" {
		_ = json.NewEncoder(w).Encode(refuse(code))
		return
	}
	out := refuse("unknown_method")
	want := BotToken
	if method == "apps.connections.open" {
		want = AppToken
	}
	if call := methods[method]; token != want {
		out = refuse("invalid_auth")
	} else if call != nil {
		out = call(s, in)
	}
	if _, failed := out["error"]; failed {
		s.problems = append(s.problems, fmt.Sprintf("%s: %v", method, out["error"]))
	} else {
		out["ok"] = true
	}
	s.change()
	_ = json.NewEncoder(w).Encode(out)
}

func (s *Slack) authTest(arguments) reply {
	return reply{"url": "https://test.slack.com/", "team": "Test", "user": "agent", "team_id": Team, "user_id": Bot, "bot_id": BotID}
}

func (s *Slack) post(in arguments) reply {
	if code := check(in); code != "" {
		return refuse(code)
	}
	if root := in["thread_ts"]; root != "" && s.find(in["channel"], root) == nil {
		return refuse("thread_not_found")
	}
	m := &Message{TS: s.next(), Channel: in["channel"], Thread: in["thread_ts"], User: Bot, Text: in["text"], Blocks: raw(in["blocks"]), Metadata: raw(in["metadata"])}
	s.messages = append(s.messages, m)
	return reply{"channel": m.Channel, "ts": m.TS, "message": m.wire(true)}
}

func (s *Slack) whisper(in arguments) reply {
	if code := check(in); code != "" {
		return refuse(code)
	}
	if in["user"] == "" {
		return refuse("user_not_in_channel")
	}
	m := &Message{TS: s.next(), Channel: in["channel"], Thread: in["thread_ts"], User: Bot, Text: in["text"], Blocks: raw(in["blocks"]), Only: in["user"]}
	s.messages = append(s.messages, m)
	return reply{"message_ts": m.TS}
}

func (s *Slack) update(in arguments) reply {
	m := s.find(in["channel"], in["ts"])
	if m != nil {
		s.expire(m)
	}
	switch code := check(in); {
	case m == nil || m.Only != "":
		return refuse("message_not_found")
	case m.User != Bot:
		return refuse("cant_update_message")
	case m.State == StateOpen:
		return refuse("streaming_state_conflict")
	case code != "":
		return refuse(code)
	}
	m.Text, m.Blocks, m.Edits, m.Edited, m.Tasks = in["text"], raw(in["blocks"]), m.Edits+1, append(m.Edited, time.Now()), nil
	if in["metadata"] != "" {
		m.Metadata = raw(in["metadata"])
	}
	return reply{"channel": m.Channel, "ts": m.TS, "text": m.Text, "message": m.wire(true)}
}

func (s *Slack) remove(in arguments) reply {
	m := s.find(in["channel"], in["ts"])
	switch {
	case m == nil:
		return refuse("message_not_found")
	case m.User != Bot:
		return refuse("cant_delete_message")
	}
	if s.expire(m); m.State == StateOpen {
		return refuse("cant_delete_message")
	}
	s.messages = slices.DeleteFunc(s.messages, func(x *Message) bool { return x == m })
	return reply{"channel": m.Channel, "ts": m.TS}
}

// page returns a page of messages. The cursor is the number of messages before it. Messages before
// oldest are left out, except for the first of a thread.
func page(all []*Message, in arguments) reply {
	all = slices.DeleteFunc(all, func(m *Message) bool { return m.TS <= in["oldest"] && m.TS != in["ts"] })
	limit, err := strconv.Atoi(in["limit"])
	if err != nil || limit <= 0 {
		limit = 100
	}
	from, _ := strconv.Atoi(in["cursor"])
	from = min(from, len(all))
	to := min(from+limit, len(all))
	out := []any{}
	for _, m := range all[from:to] {
		out = append(out, m.wire(in["include_all_metadata"] == "1" || in["include_all_metadata"] == "true"))
	}
	next := ""
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	return reply{"messages": out, "has_more": next != "", "response_metadata": map[string]any{"next_cursor": next}}
}

func (s *Slack) replies(in arguments) reply {
	if s.find(in["channel"], in["ts"]) == nil {
		return refuse("thread_not_found")
	}
	var all []*Message
	for _, m := range s.messages {
		if m.Channel == in["channel"] && m.Only == "" && (m.TS == in["ts"] || m.Thread == in["ts"]) {
			all = append(all, m)
		}
	}
	return page(all, in)
}

func (s *Slack) history(in arguments) reply {
	var all []*Message
	for _, m := range slices.Backward(s.messages) {
		if m.Channel == in["channel"] && m.Only == "" && m.Thread == "" {
			all = append(all, m)
		}
	}
	return page(all, in)
}

func (s *Slack) direct(in arguments) reply {
	if in["users"] == "" {
		return refuse("users_list_not_supplied")
	}
	return reply{"channel": map[string]any{"id": DM(in["users"])}}
}

// DM is the channel of direct messages of a user and the app.
func DM(user string) string { return "D" + strings.TrimPrefix(user, "U") }

func (s *Slack) user(in arguments) reply {
	id, team := in["user"], Team
	if other := s.teams[id]; other != "" {
		team = other
	}
	return reply{"user": map[string]any{"id": id, "team_id": team, "name": strings.ToLower(strings.TrimPrefix(id, "U")), "real_name": "Real " + id}}
}

func (s *Slack) view(in arguments) reply {
	if in["trigger_id"] == "" {
		return refuse("invalid_trigger_id")
	}
	if code := checkView([]byte(in["view"])); code != "" {
		return refuse(code)
	}
	v := View{ID: "V" + strconv.Itoa(len(s.views)+1), Trigger: in["trigger_id"], JSON: json.RawMessage(in["view"])}
	s.views = append(s.views, v)
	return reply{"view": map[string]any{"id": v.ID}}
}

// response takes the answer to a command.
func (s *Slack) response(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Text string `json:"text"`
		Type string `json:"response_type"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Type != "ephemeral" {
		http.Error(w, "invalid_payload", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, in.Text)
	s.change()
	_, _ = w.Write([]byte("ok"))
}

func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
