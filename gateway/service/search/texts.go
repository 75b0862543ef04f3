package search

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// maxFile bounds the file of a conversation that is searched, in bytes.
const maxFile = 16 << 20

// texts returns what people and agents wrote in a conversation, and whether its file is here. It
// decodes only files that may contain the words.
func (s *Searcher) texts(id string, words []string) (texts []string, ok bool) {
	if s.Exports == nil {
		return nil, false
	}
	file, err := s.Exports.Open(contract.ConversationFile(id))
	if err != nil {
		return nil, false
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil || len(data) > maxFile {
		return nil, false
	}
	if len(words) == 0 || !mayContain(bytes.ToLower(data), words) {
		return nil, true
	}
	var d struct {
		Messages []struct {
			Role    contract.Role
			Content string
		}
	}
	if json.Unmarshal(data, &d) != nil {
		return nil, false
	}
	for _, m := range d.Messages {
		if m.Role == contract.RoleUser || m.Role == contract.RoleAssistant {
			texts = append(texts, m.Content)
		}
	}
	return texts, true
}

// escaped are characters that JSON may write in another way.
const escaped = "\"\\<>&\u2028\u2029"

// mayContain reports whether a file may contain all words.
func mayContain(lower []byte, words []string) bool {
	for _, w := range words {
		if !strings.ContainsAny(w, escaped) && !bytes.Contains(lower, []byte(w)) {
			return false
		}
	}
	return true
}

// around is how many characters an excerpt has on both sides.
const around = 60

// excerpt returns the place where a word occurs first, in one line.
func excerpt(texts []string, word string) string {
	for _, text := range texts {
		runes := []rune(text)
		lower := strings.ToLower(text)
		at := strings.Index(lower, word)
		if at < 0 {
			continue
		}
		n := min(len([]rune(lower[:at])), len(runes))
		from, to := max(0, n-around), min(len(runes), n+len([]rune(word))+around)
		line := strings.Join(strings.Fields(string(runes[from:to])), " ")
		if from > 0 {
			line = "…" + line
		}
		if to < len(runes) {
			line += "…"
		}
		return line
	}
	return ""
}
