package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/connect"
	"agent-stop-and-go/config/encryption"
	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/codec"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/quota"
	"agent-stop-and-go/gateway/serverlogin"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/backend"
	"agent-stop-and-go/gateway/service/backend/asked"
	"agent-stop-and-go/gateway/service/backend/numbers"
	"agent-stop-and-go/gateway/service/backend/snapshot"
	"agent-stop-and-go/gateway/witness"
	"agent-stop-and-go/workflows/board"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
	"agent-stop-and-go/workflows/telemetry"
)

// Parts are the dependencies of a gateway besides the configuration.
type Parts struct {
	Client    client.Client
	Namespace string
	// Address is the address of the Temporal server.
	Address string
	Blobs   transcript.Store
	Graves  service.Graves
	Keyring *credential.Keyring
	// Feed publishes events of conversations. It may be nil.
	Feed    live.Feed
	Logger  *slog.Logger
	Version string
	// Logins are those of people to servers; nil if there are none.
	Logins serverlogin.Logins
	// Getenv is the environment of the process.
	Getenv func(string) string
	// Signed keeps what the witness has signed; it may be nil if the agent is none.
	Signed witness.Store
	// Room is Deps.Room of package gateway.
	Room func(context.Context) error
	// Changes count what happens to conversations, in a process whose worker is the only one.
	Changes *snapshot.Changes
	// Board has outcomes of requests, in such a process.
	Board *board.Board
	// Asked are approvals that the worker of the process has just asked for.
	Asked *asked.Approvals
	// Codec encrypts conversations; nil if nothing is encrypted.
	Codec *encryption.Codec
	// WebUI is the URL of the Temporal Web UI of this process, or "".
	WebUI string
	// Now is the clock by which tokens of callers end and keys of their provider age; nil: the
	// system's.
	Now func() time.Time
}

// New builds a gateway. Close it after its server has stopped. Its metrics of what waits are
// read until ctx ends.
func New(ctx context.Context, c *config.Config, p Parts) (*gateway.Gateway, error) {
	d, err := deps(ctx, c, p)
	if err != nil {
		return nil, err
	}
	go keepAgent(ctx, c, p)
	g := gateway.New(d)
	g.Slack().Start(ctx)
	return g, nil
}

// keepAgent stores the long texts of the agent again every few hours until ctx ends. New
// conversations refer to them, and a collection takes what was stored long ago and nothing refers
// to. The hours are those of the wall clock, which goes on while a computer sleeps.
func keepAgent(ctx context.Context, c *config.Config, p Parts) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	stored := time.Now().Round(0)
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if now.Round(0).Sub(stored) < deletion.Grace/4 {
				continue
			}
			if _, err := c.Agent(ctx, p.Blobs); err == nil {
				stored = now.Round(0)
			} else if ctx.Err() == nil {
				p.Logger.Warn("the agent's texts could not be stored again", "error", err)
			}
		}
	}
}

func deps(ctx context.Context, c *config.Config, p Parts) (gateway.Deps, error) {
	agent, err := c.Agent(ctx, p.Blobs)
	if err != nil {
		return gateway.Deps{}, fmt.Errorf("describe the agent: %w", err)
	}
	callers, err := callersOf(c, p)
	if err != nil {
		return gateway.Deps{}, err
	}
	shared, err := ledgerOf(ctx, c, p)
	if err != nil {
		return gateway.Deps{}, err
	}
	conversations := backend.New(backend.Options{
		Client: p.Client, TaskQueue: c.Temporal.TaskQueue, Namespace: p.Namespace, Address: p.Address, Agent: agent, Blobs: p.Blobs,
		Keyring: p.Keyring, PushReach: c.Push.Reach(), IsDead: connect.IsDead,
		Views: snapshot.New(p.Changes, time.Now), Board: p.Board, Asked: p.Asked,
	})
	slack, err := slackOf(c, p)
	if err != nil {
		return gateway.Deps{}, err
	}
	signing, err := witnessOf(c, p)
	if err != nil {
		return gateway.Deps{}, err
	}
	callersQuota := quota.New(quota.Options{Limits: limitsOf(c), Shared: shared, Open: conversations.CountOpen, Logger: p.Logger})
	context.AfterFunc(ctx, telemetry.ObserveSurvey(backend.NewSurveyor(conversations, c.Audit.WitnessNames()...).Survey))
	var decrypting codec.Codec
	if p.Codec != nil {
		decrypting = p.Codec
	}
	return gateway.Deps{
		Backend: withPrompt(conversations, c, agent, p, conversations.SystemPrompt),
		Agent:   agent, TaskQueue: c.Temporal.TaskQueue, Blobs: p.Blobs, Keyring: p.Keyring, Feed: p.Feed, Logger: p.Logger,
		Callers: callers.ways, Proxies: callers.proxies, SharedGroups: callers.shared, Sessions: callers.sessions, Methods: callers.methods,
		DropTokens: !slices.ContainsFunc(c.Credentials(), derivesToken), SealCallers: slices.Contains(c.Credentials(), config.CredentialOwn), SendRights: c.Policy() != nil, Takes: c.Takes,
		Logins: p.Logins, Grants: conversations, Quota: callersQuota, Graves: p.Graves,
		Approvers: c.Approval.Approvers, Rates: c.Limits.RateLimits(), RequestTimeout: c.RequestTimeout, Version: p.Version, Port: c.Port,
		AllowedHosts: c.Names(), AllowedOrigins: c.AllowedOrigins,
		PublicURL: strings.TrimRight(c.PublicURL, "/"), Provider: gateway.Provider(c.Provider),
		Slack: slack, Witness: signing, Numbers: numbers.Numbers{Client: p.Client, TaskQueue: c.Temporal.TaskQueue}, Codec: decrypting, WebUIOrigins: webUIOrigins(c, p.WebUI),
		WebUI: p.WebUI, Namespace: p.Namespace, Room: p.Room, Exports: os.DirFS(c.DataDir),
	}, nil
}

// webUIOrigins returns the origins of the Web UIs: those of the configuration, and the names under
// which that of this process may be opened.
func webUIOrigins(c *config.Config, webUI string) []string {
	out := slices.Clone(c.Encryption.WebUI)
	u, err := url.Parse(webUI)
	if err != nil || webUI == "" {
		return out
	}
	for _, name := range append([]string{u.Hostname(), "localhost"}, c.Names()...) {
		out = append(out, "http://"+net.JoinHostPort(name, u.Port()))
	}
	return out
}

// derivesToken reports whether calls with a credential carry the caller's token, or one made of it.
func derivesToken(c string) bool {
	return c == config.CredentialForward || c == config.CredentialExchange
}
