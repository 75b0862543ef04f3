package fakeslack

import (
	"encoding/json"
	"unicode/utf8"
)

// The limits of Slack's documentation.
const (
	maxBlocks   = 50
	maxText     = 40_000
	maxSection  = 3000
	maxHeader   = 150
	maxActionID = 255
	maxValue    = 2000
	maxButton   = 75
	maxElements = 25
	maxMetadata = 8 << 10
	maxPrivate  = 3000
	maxTitle    = 24
)

// check returns why Slack refuses a message, or "".
func check(in arguments) string {
	switch {
	case in["channel"] == "":
		return "channel_not_found"
	case in["text"] == "" && in["blocks"] == "":
		return "no_text"
	case utf8.RuneCountInString(in["text"]) > maxText:
		return "msg_too_long"
	}
	if code := checkMetadata(in["metadata"]); code != "" || in["blocks"] == "" {
		return code
	}
	return checkBlocks([]byte(in["blocks"]))
}

// checkMetadata returns why Slack refuses the metadata of a message, or "".
func checkMetadata(data string) string {
	var m struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"event_payload"`
	}
	switch {
	case data == "":
		return ""
	case len(data) > maxMetadata:
		return "metadata_too_large"
	case json.Unmarshal([]byte(data), &m) != nil || m.Type == "" || m.Payload == nil:
		return "invalid_metadata_format"
	}
	return ""
}

type block struct {
	Type     string          `json:"type"`
	BlockID  string          `json:"block_id"`
	Text     *text           `json:"text"`
	Elements []element       `json:"elements"`
	Element  json.RawMessage `json:"element"`
	Label    *text           `json:"label"`
}

type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type element struct {
	Type     string          `json:"type"`
	ActionID string          `json:"action_id"`
	Value    string          `json:"value"`
	Style    string          `json:"style"`
	Text     json.RawMessage `json:"text"`
	URL      string          `json:"url"`
}

func checkBlocks(data []byte) string {
	var blocks []block
	if json.Unmarshal(data, &blocks) != nil || len(blocks) > maxBlocks {
		return "invalid_blocks"
	}
	ids := map[string]bool{}
	for _, b := range blocks {
		if b.BlockID != "" && ids[b.BlockID] || !b.valid() {
			return "invalid_blocks"
		}
		ids[b.BlockID] = true
	}
	return ""
}

func (b block) valid() bool {
	switch b.Type {
	case "section":
		return b.Text.within(maxSection)
	case "header":
		return b.Text.within(maxHeader) && b.Text.Type == "plain_text"
	case "context":
		for _, e := range b.Elements {
			var line string
			if json.Unmarshal(e.Text, &line) != nil || line == "" || utf8.RuneCountInString(line) > maxSection {
				return false
			}
		}
		return len(b.Elements) > 0 && len(b.Elements) <= 10
	case "actions":
		if len(b.Elements) == 0 || len(b.Elements) > maxElements {
			return false
		}
		actions := map[string]bool{}
		for _, e := range b.Elements {
			if actions[e.ActionID] || !e.validButton() {
				return false
			}
			actions[e.ActionID] = true
		}
		return true
	case "rich_text":
		return len(b.Elements) > 0
	case "input":
		return b.Label.within(2000) && len(b.Element) > 0
	}
	return b.Type == "divider"
}

func (t *text) within(limit int) bool {
	return t != nil && t.Text != "" && utf8.RuneCountInString(t.Text) <= limit
}

func (e element) validButton() bool {
	var label text
	if json.Unmarshal(e.Text, &label) != nil || label.Type != "plain_text" {
		return false
	}
	return e.Type == "button" && label.within(maxButton) && len(e.ActionID) <= maxActionID && len(e.Value) <= maxValue && len(e.URL) <= 3000
}

// checkView returns why Slack refuses a dialog, or "".
func checkView(data []byte) string {
	var v struct {
		Type    string          `json:"type"`
		Title   *text           `json:"title"`
		Submit  *text           `json:"submit"`
		Blocks  json.RawMessage `json:"blocks"`
		Private string          `json:"private_metadata"`
	}
	if json.Unmarshal(data, &v) != nil || v.Type != "modal" || !v.Title.within(maxTitle) || !v.Submit.within(maxTitle) || len(v.Private) > maxPrivate {
		return "invalid_arguments"
	}
	return checkBlocks(v.Blocks)
}
