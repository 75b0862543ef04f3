package shortid

import (
	"context"
	"slices"
	"strings"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

const (
	minDigits = 4
	// spare is how many times more short IDs there are than conversations: one of so many is
	// expected to be ambiguous.
	spare = 64
)

// Parse returns the beginning of a conversation's ID for a short ID: at least 4 hexadecimal digits
// of it, with or without "#" and hyphens, in any case.
func Parse(given string) (prefix string, ok bool) {
	digits := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(given, "#")), "-", "")
	hex := func(r rune) bool { return r >= '0' && r <= '9' || r >= 'a' && r <= 'f' }
	if len(digits) < minDigits || len(digits) > 32 || strings.ContainsFunc(digits, func(r rune) bool { return !hex(r) }) {
		return "", false
	}
	return hyphened(digits), true
}

// hyphened returns the first digits of a UUID in its canonical form.
func hyphened(digits string) string {
	var b strings.Builder
	for i, r := range digits {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Of returns the short ID of a conversation among others, of which there are total.
func Of(id string, others []string, total int64) string {
	digits := minDigits
	for room := int64(1) << (4 * minDigits); digits < 16 && total > room/spare; room <<= 4 {
		digits++
	}
	hex := strings.ReplaceAll(id, "-", "")
	for ; digits < len(hex); digits++ {
		prefix := hyphened(hex[:digits])
		if !slices.ContainsFunc(others, func(o string) bool { return o != id && strings.HasPrefix(o, prefix) }) {
			return "#" + prefix
		}
	}
	return "#" + id
}

// Set sets the short IDs of a page of conversations, of which there are total.
func Set(page []service.Item, total int64) {
	var ids []string
	for _, item := range page {
		ids = append(ids, item.ID)
	}
	for i, item := range page {
		page[i].ShortID = Of(item.ID, ids, total)
	}
}

// maxCandidates is how many conversations the error of an ambiguous ID names.
const maxCandidates = 5

// Resolve returns the ID of the conversation that a full or a short ID means for the caller. It
// fails with KindNotFound for an unknown one, and with service.KindAmbiguous.
func Resolve(ctx context.Context, s *service.Service, given string) (string, error) {
	prefix, ok := Parse(given)
	switch {
	case !ok:
		return "", service.NoConversation(given)
	case contract.IsUUID(prefix):
		return prefix, nil
	}
	page, err := s.List(ctx, service.ListQuery{Limit: 2 * maxCandidates, Prefix: prefix})
	if err != nil {
		return "", err
	}
	items := page.Items
	slices.SortFunc(items, func(a, b service.Item) int { return strings.Compare(a.ID, b.ID) })
	items = slices.CompactFunc(items, func(a, b service.Item) bool { return a.ID == b.ID }) // after a reset there are two runs
	switch len(items) {
	case 0:
		return "", service.NoConversation(given)
	case 1:
		return items[0].ID, nil
	}
	return "", ambiguous(given, items)
}

func ambiguous(given string, items []service.Item) error {
	Set(items, 0)
	var names []string
	for _, item := range items[:min(len(items), maxCandidates)] {
		name := item.ShortID
		if item.Title != "" {
			name += " (" + service.Printable(item.Title) + ")"
		}
		names = append(names, name)
	}
	if len(items) > maxCandidates {
		names = append(names, "and others")
	}
	return service.Errorf(service.KindAmbiguous, "%s is the beginning of several conversations: %s; give more of its digits",
		service.Printable(given), strings.Join(names, ", "))
}
