package worker

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/deletion"
	"agent-stop-and-go/activities/llm/demo"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/activities/local"
	"agent-stop-and-go/activities/oauth"
	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/activities/rates"
	"agent-stop-and-go/activities/reset"
	"agent-stop-and-go/activities/standing"
	"agent-stop-and-go/activities/switchboard"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/secrets"
	"agent-stop-and-go/worker/accounts"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/network"
	"agent-stop-and-go/workflows/contract/switches"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
)

// Parts are the dependencies of activities besides the configuration.
type Parts struct {
	Blobs transcript.Store
	// Records keep the tokens of the agent's own; without them it gets none.
	Records oauth.Store
	// Claims prevent that destructive calls are made twice after a reset; nil does not check.
	Claims  activities.Claims
	Graves  deletion.Graves
	Values  deletion.Values
	Keyring *credential.Keyring
	Getenv  func(string) string
	Logger  *slog.Logger
	// Feed gets the events of conversations; it may be nil.
	Feed activities.Feed
	Push Push
	// Audit is the audit log; nil is none.
	Audit *Audit
	// Switches reads which calls are paused; nil reads it with the client of the activity.
	Switches func(context.Context) (switches.State, error)
}

// Push has the settings for webhooks.
type Push struct {
	// Tasks reads tasks for notifications. Without it only states that are not final are
	// delivered, and only in version 1.0 of the protocol.
	Tasks activities.TaskReader
	// Reach selects the addresses that webhooks may have.
	Reach network.Reach
}

// Assemble builds the activities of a configuration and starts to connect to its tool servers,
// in the background. As they answer, it logs a warning for each node that runs their
// destructive tools without asking, or lists a tool that they do not have.
//
// Call release once the worker has stopped; it ends the tool servers that were started. If a
// variable that a tool server, a model or another agent needs is not set, that one is not used:
// this is a warning, and a problem in the catalogue. Without the signing key of notifications
// Assemble fails.
func Assemble(ctx context.Context, c *config.Config, p Parts) (a Activities, release func() error, err error) {
	own := accounts.New(c, accounts.Parts{Records: p.Records, Keyring: p.Keyring, Getenv: p.Getenv})
	servers, err := servers(c, own, p.Getenv)
	if err != nil {
		return Activities{}, nil, err
	}
	entries, err := models(c, p.Getenv)
	if err != nil {
		return Activities{}, nil, err
	}
	agents, err := agents(c, p.Getenv)
	if err != nil {
		return Activities{}, nil, err
	}
	bearers, noExchange := newBearers(c, own, p.Getenv)
	signingKey, err := c.Push.Key(p.Getenv)
	if err != nil {
		return Activities{}, nil, err
	}
	webhooks, err := newWebhooks(c, p.Getenv, own.Base())
	if err != nil {
		return Activities{}, nil, err
	}
	logger := cmp.Or(p.Logger, slog.Default())
	problems, notes := shortcomings(c, entries, agents, p.Getenv)
	if noExchange != nil {
		problems = append(problems, "tokens cannot be exchanged: "+noExchange.Error())
	}
	for _, text := range slices.Concat(problems, notes) {
		logger.Warn(text)
	}
	router := router.New(router.Options{Getenv: p.Getenv, BaseURL: c.LLM.BaseURL, Models: entries})
	box := toolbox.New(toolbox.Options{
		Servers: servers, Logger: logger, Sampler: &activities.Sampler{Model: router, Name: c.Model(), Logger: logger},
		Elicitor: &activities.Elicitation{Blobs: p.Blobs},
	})
	box.Start(ctx)
	offer := local.Box{Toolbox: box, Own: localTools(c, router)}
	board := &switchboard.Board{Read: p.Switches}
	limiter := rates.New(c.AgentName(), c.Limits.RateLimits(), board.State, rates.Workflows{TaskQueue: c.Temporal.TaskQueue})
	peers := peer.New(peer.Options{Agents: agents, Logger: logger})
	nodes, lists := c.AutoRunNodes(), c.ToolLists()
	book := &standing.Book{Agent: c.AgentName(), TaskQueue: c.Temporal.TaskQueue, Approvers: c.Approval.Approvers}
	rules := &ruleCheck{config: c, logger: logger}
	stop := background(ctx, func(ctx context.Context) {
		warnAutoRun(ctx, nodes, lists, offer, logger)
		rules.run(ctx, offer)
	})
	return Activities{
		Models: &activities.Models{Model: router, Facts: router.Facts, Compaction: c.LLM.Compaction, Offer: offer, Blobs: p.Blobs, Keyring: p.Keyring, Bearers: bearers, Policy: policyOf(c), Servers: box, Grants: book, Audited: p.Audit != nil, Now: time.Now, Feed: p.Feed, Peers: peers},
		Tools: &activities.Tools{
			Caller: ruledTools{offer, c.Policy(), &sync.Map{}}, Blobs: p.Blobs, Claims: p.Claims, Switches: board, Rates: limiter, Audit: p.Audit.recorder(), Keyring: p.Keyring, Bearers: bearers, PublicURL: own.Base(), Model: model(c), Now: time.Now, Feed: p.Feed,
			Problems: problems, RuleProblems: rules.Problems, Notes: notes, Probe: transcript.NewProbe(p.Blobs, time.Now), Own: ownTools(offer, policyOf(c)),
		},
		Peers:  &activities.Peers{Peer: peers, Blobs: p.Blobs, Claims: p.Claims, Switches: board, Rates: limiter, Audit: p.Audit.recorder(), Keyring: p.Keyring, Bearers: bearers, PublicURL: own.Base(), Now: time.Now},
		Texts:  &activities.Texts{Blobs: p.Blobs, Policy: policyOf(c), Audited: p.Audit != nil},
		Files:  &activities.Files{Dir: c.DataDir, Blobs: p.Blobs, Feed: p.Feed},
		Audit:  p.Audit,
		Grants: book,
		Resets: &reset.Activities{}, Webhooks: webhooks,
		Deletions: &deletion.Deletions{
			AgentName: c.AgentName(), Dir: c.DataDir, Graves: p.Graves, Values: p.Values, Audit: p.Audit.recorder(), After: c.Conversations.DeleteAfter, Now: time.Now, Logger: logger,
		},
		Notifications: &activities.Notifications{
			HTTP: activities.WebhookClient(p.Push.Reach), Keyring: p.Keyring, Tasks: p.Push.Tasks, SigningKey: signingKey, Now: time.Now,
		},
	}, func() error { stop(); defer own.Close(); return errors.Join(peers.Close(), box.Close()) }, nil
}

// background runs f until it returns or ctx or stop ends it. stop waits for that.
func background(ctx context.Context, f func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { f(ctx) })
	return func() { cancel(); wg.Wait() }
}

func servers(c *config.Config, own *accounts.Accounts, getenv func(string) string) ([]toolbox.Server, error) {
	var out []toolbox.Server
	for _, s := range c.MCPServers {
		env, noEnv := s.Environment(getenv)
		headers, noHeaders := s.HTTPHeaders(getenv)
		problem, err := unset(noEnv, noHeaders)
		if err != nil {
			return nil, err
		}
		server := toolbox.Server{
			Name: s.Name, URL: s.URL, Command: s.Command, Args: s.Args, Env: env, Headers: headers,
			Secrets:   slices.Concat(secrets.InHeaders(s.Headers, getenv), secrets.InVariables(s.Env, getenv)),
			Transport: s.Transport, Timeout: s.Timeout, Unannotated: s.Unannotated,
			Allow: s.Tools.Allow, Deny: s.Tools.Deny, Destructive: s.Destructive, Safe: s.Safe,
			Optional: s.Optional, Problem: problem, Prefix: s.Prefix, Roots: s.Roots, MayAsk: s.Elicitation, Wording: s.ToolWording(),
			Facts:           s.Facts,
			ExposeResources: slices.Contains(s.Expose, config.ExposeResources),
			ExposePrompts:   slices.Contains(s.Expose, config.ExposePrompts),
		}
		if client := own.Server(s.Name); client != nil && !s.Own.Logins() {
			server.Credential = client
		}
		server.Problem = cmp.Or(server.Problem, own.Problem(s.Own))
		if s.Sampling != nil {
			server.SampleTokens = s.Sampling.MaxTokens
		}
		out = append(out, server)
	}
	return out, nil
}

// agents returns the configured agents that work is delegated to.
func agents(c *config.Config, getenv func(string) string) ([]peer.Agent, error) {
	var out []peer.Agent
	for _, a := range c.Delegates() {
		headers, err := a.HTTPHeaders(getenv)
		problem, err := unset(err)
		if err != nil {
			return nil, err
		}
		out = append(out, peer.Agent{Name: a.Name, URL: a.URL, Problem: problem, Headers: headers, Secrets: secrets.InHeaders(a.Headers, getenv), AllowPrivate: a.AllowPrivateRedirects})
	}
	return out, nil
}

func model(c *config.Config) contract.ModelState {
	m := contract.ModelState{Name: c.Model()}
	if m.Name == contract.DemoModel {
		m.Note = demo.Note
	}
	return m
}
