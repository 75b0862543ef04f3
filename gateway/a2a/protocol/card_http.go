package protocol

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// The version that 0.3 clients expect, which is longer than the SDK's constant.
const versionV03 = string(a2av0.Version) + ".0"

// Card serves GET and HEAD of the agent's card, at the well-known addresses and at that of
// the RPC. A client that sends version 1.0 gets a card with the members of 1.0 only.
func (s *Server) Card(w http.ResponseWriter, r *http.Request) {
	form := formOf(r)
	ctx := WithCall(r.Context(), Call{Dialect: form, Extensions: requested(r.Header), Activate: activator(w, r), Request: r})
	data, err := s.document(ctx, form)
	if err != nil {
		s.log.ErrorContext(ctx, "A2A card failed", "error", err)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"error":"internal error"}`))
		return
	}
	tag := tagOf(data)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "public, max-age=60")
	h.Add("Vary", a2a.SvcParamVersion)
	h.Set("ETag", tag)
	http.ServeContent(w, r, "", s.cards.since(form, tag), bytes.NewReader(data))
}

var only10 = regexp.MustCompile(`^1(\.0(\.\d+)?)?$`)

// formOf returns V10 for a client that asks for exactly 1.0, and otherwise "", the form for
// all versions. Most clients send no version.
func formOf(r *http.Request) Dialect {
	if only10.MatchString(versionOf(r)) {
		return V10
	}
	return ""
}

func (s *Server) document(ctx context.Context, form Dialect) (json.RawMessage, error) {
	card, err := s.handler.Card(ctx)
	if err != nil {
		return nil, err
	}
	return document(form, card)
}

// document encodes a card for 1.0, or for clients of all dialects.
func document(form Dialect, card *a2a.AgentCard) (json.RawMessage, error) {
	if form == V10 {
		return encode(withoutNulls(card))
	}
	return union(card)
}

// union merges a 1.0 card and a 0.3 card into one object. Both have securitySchemes; the 0.3
// form is used.
func union(card *a2a.AgentCard) (json.RawMessage, error) {
	producer, ok := a2av0.NewStaticAgentCardProducer(withoutNulls(card)).(a2asrv.AgentCardJSONProducer)
	if !ok {
		return nil, fmt.Errorf("the SDK writes no cards for 0.3 any more")
	}
	data, err := producer.CardJSON(context.Background())
	if err != nil {
		return nil, fmt.Errorf("write the card: %w", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("read the card again: %w", err)
	}
	members["protocolVersion"], _ = encode(versionV03)
	members["additionalInterfaces"], err = encode(additional(card))
	if err != nil {
		return nil, err
	}
	return encode(members)
}

// withoutNulls replaces nil lists, which the SDK encodes as null, by empty ones.
func withoutNulls(card *a2a.AgentCard) *a2a.AgentCard {
	out := *card
	out.SupportedInterfaces = nonNil(card.SupportedInterfaces)
	out.DefaultInputModes = nonNil(card.DefaultInputModes)
	out.DefaultOutputModes = nonNil(card.DefaultOutputModes)
	out.Skills = make([]a2a.AgentSkill, len(card.Skills))
	for i, s := range card.Skills {
		s.Tags = nonNil(s.Tags)
		out.Skills[i] = s
	}
	return &out
}

type interfaceV03 struct {
	Transport string `json:"transport"`
	URL       string `json:"url"`
}

// additional lists all 0.3 interfaces including the main address. 0.3 requires the main one
// too, and the SDK omits it.
func additional(card *a2a.AgentCard) []interfaceV03 {
	out := []interfaceV03{}
	for _, i := range card.SupportedInterfaces {
		if i.ProtocolVersion == a2av0.Version {
			out = append(out, interfaceV03{string(i.ProtocolBinding), i.URL})
		}
	}
	return out
}

func tagOf(data []byte) string {
	sum := sha256.Sum256(data)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// cardTimes remembers when each form of the card last changed, as seen by this process.
type cardTimes struct {
	mu    sync.Mutex
	known map[Dialect]cardTime
}

type cardTime struct {
	tag  string
	when time.Time
}

func (c *cardTimes) since(form Dialect, tag string) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[Dialect]cardTime{}
	}
	if c.known[form].tag != tag {
		c.known[form] = cardTime{tag, time.Now()}
	}
	return c.known[form].when
}
