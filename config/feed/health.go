package feed

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
)

// The two ways that Redis is used. Each can fail while the other does not.
const (
	reading = iota
	writing
	ways
)

// health is how Redis is. It logs the beginning and the end of an outage.
type health struct {
	logger *slog.Logger
	secret string

	mu     sync.Mutex
	causes [ways]string
	told   bool
}

func newHealth(logger *slog.Logger, secret string) *health {
	return &health{logger: logger, secret: secret, causes: [ways]string{reading: "not connected yet"}}
}

func (h *health) problem() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.current()
}

func (h *health) current() string {
	for _, cause := range h.causes {
		if cause != "" {
			return "Redis: " + cause
		}
	}
	return ""
}

// set tells how one of the ways ended.
func (h *health) set(way int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.causes[way] = h.reason(err)
	problem := h.current()
	switch {
	case err != nil && !h.told:
		h.told = true
		h.logger.Warn("pieces of replies are not carried; durable events are", "problem", problem)
	case problem == "" && h.told:
		h.told = false
		h.logger.Info("pieces of replies are carried again")
	}
}

// reason is an error without addresses and secrets. Some servers repeat commands
// that they do not know, with the password.
func (h *health) reason(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	if op := new(net.OpError); errors.As(err, &op) && op.Err != nil {
		text = op.Err.Error()
	}
	if dns := new(net.DNSError); errors.As(err, &dns) {
		text = dns.Err
	}
	if h.secret != "" && strings.Contains(text, h.secret) {
		return "it does not do what it was asked"
	}
	return text
}
