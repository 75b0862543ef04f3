package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
)

// Bounds of a file.
const (
	maxFile     = 64 << 20 // bytes
	maxMessages = 100_000
)

// File is a conversation as a file has it.
type File struct {
	document.Conversation
	// Former means that the former Agent Stop and Go wrote it, which had no Temporal server.
	Former bool
	// SHA256 is the hash of the file.
	SHA256 string
	// arguments are those of the waiting approvals, exactly as the file has them.
	arguments map[string]json.RawMessage
}

// Fault is what is wrong with a file, and what to do about it.
type Fault struct {
	// Place is a key, such as messages[3].role, or a line; "" is the whole file.
	Place   string
	Problem string
	Advice  string
	// waits means that only an approval cannot wait here: without it the rest can be imported.
	waits bool
}

func (f *Fault) Error() string {
	out := f.Problem
	if f.Place != "" {
		out = f.Place + ": " + out
	}
	if f.Advice != "" {
		out += "; " + f.Advice
	}
	return out
}

const adviceDamaged = "take another copy of it, such as one from a backup"

// Read reads a file. Its errors are of type *Fault, except those of the file system.
func Read(path string) (File, error) {
	data, err := content(path)
	if err != nil {
		return File{}, err
	}
	f := File{SHA256: contract.Hash(data)}
	if len(bytes.TrimSpace(data)) == 0 {
		return f, &Fault{Problem: "the file is empty", Advice: adviceDamaged}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f.Conversation); err != nil {
		return f, decodeFault(data, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return f, &Fault{Place: place(data, dec.InputOffset()), Problem: "something follows the conversation", Advice: "give one file for each conversation"}
	}
	f.Former = f.Version == 0 && f.Agent == ""
	if err := f.readArguments(data); err != nil {
		return f, decodeFault(data, err)
	}
	f.ID = strings.ToLower(f.ID)
	return f, f.check()
}

func content(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, &Fault{Problem: "it is not a file", Advice: "give files, or folders that have them"})
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, &Fault{Problem: fmt.Sprintf("the file has more than %d MiB", maxFile>>20), Advice: "it is too large to import"}
	}
	return data, nil
}

// readArguments reads the arguments of approvals as they are. In the type of an approval an object
// could be taken for an address in the blob store.
func (f *File) readArguments(data []byte) error {
	type approval struct {
		UUID string          `json:"uuid"`
		Args json.RawMessage `json:"tool_args"`
	}
	var raw struct {
		One  *approval  `json:"pending_approval"`
		Many []approval `json:"pending_approvals"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	if raw.One != nil {
		raw.Many = append(raw.Many, *raw.One)
	}
	f.arguments = map[string]json.RawMessage{}
	for _, a := range raw.Many {
		f.arguments[a.UUID] = a.Args
	}
	if len(f.PendingApprovals) == 0 && f.PendingApproval != nil {
		f.PendingApprovals = []contract.PendingApproval{*f.PendingApproval}
	}
	return nil
}

// decodeFault says where JSON is wrong.
func decodeFault(data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var when *time.ParseError
	const unknown = "json: unknown field "
	switch {
	case errors.As(err, &syntax):
		return &Fault{Place: place(data, syntax.Offset), Problem: "it is not JSON: " + syntax.Error(), Advice: adviceDamaged}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Fault{Place: place(data, int64(len(data))), Problem: "the file is cut off", Advice: adviceDamaged}
	case errors.As(err, &kind):
		return &Fault{Place: kind.Field, Problem: fmt.Sprintf("a %s is not what belongs here", kind.Value), Advice: adviceShape}
	case errors.As(err, &when):
		return &Fault{Problem: fmt.Sprintf("%s is no time", when.Value), Advice: adviceShape}
	case strings.HasPrefix(err.Error(), unknown):
		return &Fault{Place: strings.Trim(strings.TrimPrefix(err.Error(), unknown), `"`), Problem: "conversations have no such key", Advice: adviceShape}
	}
	return &Fault{Problem: err.Error(), Advice: adviceShape}
}

const adviceShape = "it must be a file that an agent exports (agent conversations export ID), or a conversation_ID.json of the former Agent Stop and Go; " +
	"a file of a newer version needs a newer agent"

// place returns the line and the column of an offset.
func place(data []byte, offset int64) string {
	before := data[:min(max(offset, 0), int64(len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	return fmt.Sprintf("line %d, column %d", line, len(before)-bytes.LastIndexByte(before, '\n'))
}

// check checks what the types do not say.
func (f *File) check() error {
	switch f.Status {
	case contract.StatusActive, contract.StatusWaitingApproval, contract.StatusCompleted:
	default:
		return &Fault{Place: "status", Problem: fmt.Sprintf("there is no status %q", f.Status), Advice: adviceShape}
	}
	switch {
	case f.ID == "" || len(f.ID) > maxID:
		return &Fault{Place: "id", Problem: fmt.Sprintf("an ID has 1 to %d bytes", maxID), Advice: adviceShape}
	case f.MessagesBefore > 0:
		return &Fault{Place: "messages_before", Problem: fmt.Sprintf("%d messages are missing", f.MessagesBefore),
			Advice: "export the whole conversation: agent conversations export ID"}
	case f.Problem != "":
		return &Fault{Place: "problem", Problem: "it was exported incomplete: " + f.Problem, Advice: adviceDamaged}
	case len(f.Messages) > maxMessages:
		return &Fault{Place: "messages", Problem: fmt.Sprintf("there are more than %d", maxMessages), Advice: "it is too large to import"}
	case f.CreatedAt.IsZero():
		return &Fault{Place: "created_at", Problem: "it is missing", Advice: adviceShape}
	case f.Status == contract.StatusWaitingApproval && len(f.PendingApprovals) == 0:
		return &Fault{Place: "pending_approval", Problem: "it is missing, although the status is waiting_approval", Advice: adviceDamaged}
	case f.Status == contract.StatusCompleted && len(f.PendingApprovals) > 0:
		return &Fault{Place: "pending_approval", Problem: "a completed conversation waits for nothing", Advice: adviceDamaged}
	}
	return f.checkMessages()
}

const maxID = 200

func (f *File) checkMessages() error {
	seen := map[string]bool{}
	for i, m := range f.Messages {
		at := func(key, problem string) error {
			return &Fault{Place: fmt.Sprintf("messages[%d].%s", i, key), Problem: problem, Advice: adviceShape}
		}
		call := m.ToolCall != nil
		switch {
		case m.ID == "" || len(m.ID) > maxID:
			return at("id", fmt.Sprintf("an ID has 1 to %d bytes", maxID))
		case seen[m.ID]:
			return at("id", "two messages have the ID "+m.ID)
		case m.Role == contract.RoleTool && !call:
			return at("tool_call", "the message with a result has no tool_call")
		case call && m.Role != contract.RoleTool && m.Role != contract.RoleAssistant:
			return at("tool_call", fmt.Sprintf("a message of %s has no tool_call", m.Role))
		case call && m.ToolCall.Name == "":
			return at("tool_call.name", "it is missing")
		case call && m.Role == contract.RoleAssistant && !isObject(m.ToolCall.Arguments):
			return at("tool_call.arguments", "arguments are an object")
		}
		switch m.Role {
		case contract.RoleSystem, contract.RoleUser, contract.RoleAssistant, contract.RoleTool:
		default:
			return at("role", fmt.Sprintf("there is no role %q", m.Role))
		}
		seen[m.ID] = true
	}
	return nil
}

// isObject reports whether arguments are an object. None is an empty one.
func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null" || raw[0] == '{'
}

// Expand replaces folders by the conversations in them.
func Expand(paths []string) (out []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			out = append(out, path) // Read says what is wrong
			continue
		}
		found, err := filepath.Glob(filepath.Join(escape(path), contract.ConversationFile("*")))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s has no file %s", path, contract.ConversationFile("ID"))
		}
		out = append(out, found...)
	}
	return out, nil
}

// escape returns a pattern that only the path itself matches.
func escape(path string) string {
	if filepath.Separator == '\\' {
		return path // patterns have no escapes there
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
