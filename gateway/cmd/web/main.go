// Command web serves the page of an agent that is elsewhere. Run it with --help for its flags; package
// config/web has its file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"agent-stop-and-go/config/keyring"
	"agent-stop-and-go/config/logging"
	"agent-stop-and-go/config/process"
	config "agent-stop-and-go/config/web"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/cookie"
	"agent-stop-and-go/gateway/web"
	"agent-stop-and-go/gateway/web/tooltoken"
)

// version is set by the build.
var version = "dev"

const usage = `web serves the page of an agent that is elsewhere, and passes its API on.

Usage: web [--config FILE] [--version] [--help]

  --config FILE   default config/web.yaml

The smallest file:
  agent_url: http://127.0.0.1:8080

Also in the file: host (127.0.0.1), port (3000), data_dir (./data), public_url,
allowed_hosts, forward_headers, and oauth2, a client whose tokens go to the agent
for its tools: client_id, client_secret (${NAME} or file:PATH), redirect_url
(…/callback), scopes, and issuer or auth_url, token_url and revoke_url.

Environment:
  AGENT_CREDENTIAL_KEYS   keys that seal the tokens in cookies, id:base64,…; several
                          processes need the same. Without it data_dir has a key.
  LOG_LEVEL, LOG_FORMAT   debug, info, warn or error; text or json
  NAME_FILE               names a file with the value of NAME

GET /health says that the process runs, /health/ready what the agent says.
`

func main() {
	ctx, stop := process.Signals()
	err := run(ctx, os.Args[1:], process.WithFiles(os.Getenv, os.Stderr), os.Stdout, os.Stderr)
	stop()
	process.Exit("web", err)
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("web", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage) }
	file := flags.String("config", "config/web.yaml", "")
	showVersion := flags.Bool("version", false, "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return process.ErrUsage
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "web: unexpected argument %q\n\n%s", flags.Arg(0), usage)
		return process.ErrUsage
	case *showVersion:
		_, err := fmt.Fprintln(stdout, version)
		return err
	}
	logger, err := logging.New(stderr, getenv)
	if err != nil {
		return err
	}
	c, err := config.Load(*file)
	if err != nil {
		return err
	}
	for _, warning := range c.Warnings() {
		logger.Warn(warning)
	}
	return serve(ctx, c, getenv, logger, stdout)
}

func serve(ctx context.Context, c *config.Config, getenv func(string) string, logger *slog.Logger, stdout io.Writer) error {
	o := web.Options{Agent: c.Agent(), Base: c.Base(), Hosts: c.Names(), Headers: c.ForwardHeaders, Logger: logger}
	if c.OAuth2 != nil {
		login, err := loginOf(c, getenv, logger)
		if err != nil {
			return err
		}
		o.Tools, o.ToolServer = login, c.OAuth2.Server()
	}
	l, err := net.Listen("tcp", c.Address())
	if err != nil {
		return fmt.Errorf("listen on %s: %w: stop the other process or set port in the YAML", c.Address(), err)
	}
	s := web.New(o)
	fmt.Fprintf(stdout, "web is up: http://%s, %s\n", l.Addr(), c)
	go s.Check(ctx, !l.Addr().(*net.TCPAddr).IP.IsLoopback())
	return web.Serve(ctx, l, s)
}

// loginOf returns the login for tools.
func loginOf(c *config.Config, getenv func(string) string, logger *slog.Logger) (*tooltoken.Login, error) {
	secret, err := c.OAuth2.Secret(getenv)
	if err != nil {
		return nil, fmt.Errorf("oauth2.client_secret: %w", err)
	}
	keys, err := keyring.Open(c.DataDir, getenv, false)
	if err != nil {
		return nil, err
	}
	o := c.OAuth2
	client := &tooltoken.Client{
		ID: o.ClientID, Secret: secret, RedirectURL: o.RedirectURL, Scopes: o.Scopes,
		Fixed: identity.Endpoints{Authorization: o.AuthURL, Token: o.TokenURL, Revocation: o.RevokeURL},
	}
	if o.Issuer != "" {
		client.Issuer = identity.NewOIDC(identity.OIDCSettings{Issuer: o.Issuer})
	}
	jar := &cookie.Jar{Keyring: keys, PublicURL: c.Base(), Now: time.Now}
	return &tooltoken.Login{Client: client, Jar: jar, Callback: c.CallbackPath(), Logger: logger}, nil
}
