package anthropic

import (
	"regexp"

	"agent-stop-and-go/activities/llm"
)

// What is known of models by their names
// (platform.claude.com/docs/en/about-claude/models/overview).
var (
	reply4K = regexp.MustCompile(`^claude-(2|instant|3-(opus|sonnet|haiku))([-.]|$)`)
	reply8K = regexp.MustCompile(`^claude-3[-.]5-`)
	// structured are those that output_config.format holds to a schema
	// (platform.claude.com/docs/en/build-with-claude/structured-outputs).
	structured = regexp.MustCompile(`^claude-((opus|sonnet|haiku)-4-[5-9]|[a-z]+-([5-9]|[1-9][0-9]))([-.]|$)`)
)

// defaultReply is how many tokens a reply may have where nothing says so: the API
// wants a number. Later models think unasked, and their thoughts count. All models
// since Claude 3.7 take twice as many and more.
const defaultReply = 16_384

// maxTokens is the limit of a reply, lowered to what old models refuse to exceed.
func (c claude) maxTokens(r llm.Request) int64 {
	limit := c.ReplyLimit(r)
	if limit <= 0 {
		limit = defaultReply
	}
	switch {
	case reply4K.MatchString(c.Model):
		limit = min(limit, 4096)
	case reply8K.MatchString(c.Model):
		limit = min(limit, 8192)
	}
	return int64(limit)
}
