package witness

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/time/rate"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential/cosigner"
)

// The paths. The URL of the witness, without add-checkpoint, is what logs are configured with.
const (
	PathAdd  = "/witness/add-checkpoint"
	PathShow = "/witness/logs/:sha256/checkpoint"
)

// MaxBody bounds a request, in bytes: a proof of 63 hashes and a checkpoint with some signatures.
const MaxBody = 16 << 10

// typeSize is the type of a size in a conflict.
const typeSize = "text/x.tlog.size"

// Options are what a witness needs.
type Options struct {
	Store Store
	Key   cosigner.Key
	// Logs are the public keys of the logs, each with the origin of its log as its name. Several of a name are
	// those of one log.
	Logs   []string
	Logger *slog.Logger
}

// Endpoint serves a witness. A nil one is of an agent that is none.
type Endpoint struct {
	logs   map[string]*state // by ID
	logger *slog.Logger
}

// New returns a witness. It reads nothing yet.
func New(o Options) (*Endpoint, error) {
	own, err := cosigner.Verifier(o.Key.Public)
	if err != nil {
		return nil, err
	}
	keys := map[string][]note.Verifier{}
	for _, public := range o.Logs {
		k, err := note.NewVerifier(strings.TrimSpace(public))
		if err != nil {
			return nil, fmt.Errorf("public key %q: %w", public, err)
		}
		keys[k.Name()] = append(keys[k.Name()], k)
	}
	e := &Endpoint{logs: map[string]*state{}, logger: o.Logger}
	for origin, of := range keys {
		e.logs[idOf(origin)] = &state{origin: origin, keys: note.VerifierList(of...), own: own, signer: o.Key.Signer, store: o.Store, limit: rate.NewLimiter(PerSecond, Burst)}
	}
	return e, nil
}

var errNone = service.Errorf(contract.KindNotFound, "this agent is no witness, or not of this log")

// Add signs a checkpoint: add-checkpoint of C2SP tlog-witness.
func (e *Endpoint) Add(c echo.Context) error {
	if e == nil {
		return errNone
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, MaxBody))
	if err != nil {
		return e.answer(c, refuse(http.StatusBadRequest, "the body has more than %d bytes, or did not arrive", MaxBody))
	}
	in, err := parse(body)
	if err != nil {
		return e.answer(c, refuse(http.StatusBadRequest, "%v", err))
	}
	s := e.logs[idOf(originOf(in.note))]
	if s == nil {
		return e.answer(c, refuse(http.StatusNotFound, "this witness does not know the log"))
	}
	signed, err := s.add(c.Request().Context(), in)
	if err != nil {
		e.warn(s, in, err)
		return e.answer(c, err)
	}
	signature := signed.Sigs[len(signed.Sigs)-1]
	return c.String(http.StatusOK, fmt.Sprintf("— %s %s\n", signature.Name, signature.Base64))
}

// warn logs what the log has signed and what contradicts what was signed before: it is the proof.
func (e *Endpoint) warn(s *state, in submission, err error) {
	var refused *refusal
	if errors.As(err, &refused) && refused.size == nil && (refused.status == http.StatusConflict || refused.status == http.StatusUnprocessableEntity) {
		e.logger.Error("a log has signed a checkpoint that does not continue what it has signed before", "log", s.origin, "old", in.old, "checkpoint", string(in.note), "reason", refused.text)
	}
}

// answer writes a refusal as the protocol has it. Any other error is one of the gateway.
func (e *Endpoint) answer(c echo.Context, err error) error {
	var refused *refusal
	switch {
	case !errors.As(err, &refused):
		return service.Errorf(service.KindUnavailable, "the witness cannot read or write what it has signed").Because(err)
	case refused.size != nil:
		return c.Blob(refused.status, typeSize, fmt.Appendf(nil, "%d\n", *refused.size))
	case refused.status == http.StatusTooManyRequests:
		c.Response().Header().Set("Retry-After", "1")
	}
	return c.String(refused.status, refused.text+"\n")
}

// Show returns the newest checkpoint of a log that was signed.
func (e *Endpoint) Show(c echo.Context) error {
	if e == nil || e.logs[c.Param("sha256")] == nil {
		return errNone
	}
	text, err := e.logs[c.Param("sha256")].show(c.Request().Context())
	switch {
	case err != nil:
		return e.answer(c, err)
	case text == nil:
		return service.Errorf(contract.KindNotFound, "this witness has signed nothing of the log yet")
	}
	return c.Blob(http.StatusOK, "text/plain; charset=utf-8", text)
}
