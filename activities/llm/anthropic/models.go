package anthropic

import (
	"regexp"

	"agent-stop-and-go/activities/llm"
)

// Patterns that classify models by their names
// (platform.claude.com/docs/en/about-claude/models/overview).
var (
	reply4K = regexp.MustCompile(`^claude-(2|instant|3-(opus|sonnet|haiku))([-.]|$)`)
	reply8K = regexp.MustCompile(`^claude-3[-.]5-`)
	// schemaModels accept a schema in output_config.format
	// (platform.claude.com/docs/en/build-with-claude/structured-outputs).
	schemaModels = regexp.MustCompile(`^claude-((opus|sonnet|haiku)-4-[5-9]|[a-z]+-([5-9]|[1-9][0-9]))([-.]|$)`)
)

// defaultReply is the maximum number of tokens of a reply if nothing else is configured,
// because the API requires a number. Later models think without being asked, and their thoughts
// count. All models since Claude 3.7 accept at least twice as many.
const defaultReply = 16_384

// maxTokens returns the limit of a reply, lowered to the maximum of old models.
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
