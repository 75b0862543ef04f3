package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/oauth2"

	"agent-stop-and-go/deploy/standalone/cli/login"
	"agent-stop-and-go/gateway/client"
)

const aboutLogin = `Log in to a running agent at its OpenID provider: open the address that is shown in any
browser, on any device, and confirm the code. All commands with the same --url use the login from then
on, and refresh it. A key (--key, AGENT_KEY) goes before it.

The agent's file needs device_client_id in auth.
`

func newLogin(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{Use: "login", Short: "Log in to an agent that runs", Long: aboutLogin, Args: arguments()}
	f := AddFlags(cmd, getenv)
	var issuer string
	cmd.Flags().StringVar(&issuer, "issuer", "", "the `URL` of the provider, if the agent has several")
	cmd.RunE = f.session(func(s *session, cmd *cobra.Command, _ []string) error {
		store, err := login.NewStore(getenv)
		if err != nil {
			return err
		}
		methods, err := s.Methods(cmd.Context())
		if err != nil {
			return err
		}
		method, err := deviceMethod(methods, issuer)
		if err != nil {
			return err
		}
		l, err := login.Device(cmd.Context(), s.URL(), method, func(code *oauth2.DeviceAuthResponse) { s.showCode(code) })
		if err != nil {
			return err
		}
		if err := store.Save(l); err != nil {
			return fmt.Errorf("keep the login: %w", err)
		}
		if s, err = f.open(cmd); err != nil { // with the login
			return err
		}
		return s.showCaller(cmd)
	})
	return cmd
}

// deviceMethod returns the way in which a terminal logs in.
func deviceMethod(methods []client.Method, issuer string) (client.Method, error) {
	for _, m := range methods {
		if m.Device != nil && (issuer == "" || m.Issuer == issuer) {
			return m, nil
		}
	}
	switch {
	case len(methods) == 0:
		return client.Method{}, errors.New("this agent asks nobody who calls: there is nothing to log in to")
	case issuer != "":
		return client.Method{}, fmt.Errorf("this agent has no login for terminals at %s", issuer)
	}
	return client.Method{}, errors.New("this agent has no login for terminals: send a key (--key, AGENT_KEY), or have device_client_id set in its auth")
}

func (s *session) showCode(code *oauth2.DeviceAuthResponse) {
	fmt.Fprintf(s.err, "Open %s\nand confirm the code %s\n", cmp.Or(code.VerificationURIComplete, code.VerificationURI), code.UserCode)
}

// showCaller says who has logged in.
func (s *session) showCaller(cmd *cobra.Command) error {
	me, err := s.Me(cmd.Context())
	if err != nil {
		return err
	}
	return s.show(me, func(w io.Writer) {
		fmt.Fprintf(w, "Logged in as %s; scopes: %s\n", me.Subject, strings.Join(me.Scopes, ", "))
	})
}

func newLogout(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "logout", Short: "Log out of an agent", Args: arguments(),
		Long: "Forget the login of agent login, and have the provider end it.\n",
	}
	f := AddFlags(cmd, getenv)
	cmd.RunE = f.session(func(s *session, cmd *cobra.Command, _ []string) error {
		store, err := login.NewStore(getenv)
		if err != nil {
			return err
		}
		l, err := store.Load(s.URL())
		if errors.Is(err, login.ErrNone) {
			return fmt.Errorf("nobody has logged in to %s", s.URL())
		}
		if err == nil {
			if failure := l.Revoke(cmd.Context()); failure != nil {
				fmt.Fprintf(s.err, "The provider has not ended the login: %v\n", failure)
			}
		}
		if err := store.Remove(s.URL()); err != nil {
			return err
		}
		fmt.Fprintf(s.err, "Logged out of %s\n", s.URL())
		return nil
	})
	return cmd
}
