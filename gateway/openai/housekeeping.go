package openai

import "strings"

// Housekeeping reports whether a message is a request that a chat client sends by itself beside a
// chat: for its title, its tags, questions that may follow. Such a request has the chat as text. It
// is answered by the model alone.
//
// The beginnings are those of Open WebUI (backend/open_webui/config.py, the default templates
// DEFAULT_…_PROMPT_TEMPLATE) and of LibreChat's titles.
func Housekeeping(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "### Task:") {
		return strings.Contains(text, "<chat_history>") && strings.Contains(text, "</chat_history>") || strings.Contains(text, "### Chat History:")
	}
	return strings.HasPrefix(text, "Provide a concise, 5-word-or-less title for the conversation") || strings.HasPrefix(text, "Please generate a concise, 5-word-or-less title for the conversation")
}
