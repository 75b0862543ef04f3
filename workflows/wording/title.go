package wording

import "fmt"

// TextManyTitles refuses a title because there were many in this run.
const TextManyTitles = "it was renamed often since its turn has begun; rename it again when the turn has ended"

// Renamed answers a request that has given a conversation a title.
func Renamed(title string) string { return fmt.Sprintf("The conversation is now called %q.", title) }
