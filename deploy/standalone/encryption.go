package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/config/keyring"
	"agent-stop-and-go/deploy/standalone/cli"
	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/deploy/standalone/rotation"
	"agent-stop-and-go/workflows/credential"
)

const aboutEncryption = `Encrypt what the Temporal server and the blob store keep of conversations. In the agent's file:

  encryption:
    keys: ["${AGENT_ENCRYPTION_KEY}"]     or file:PATH

To change the key, add the new one after the old one everywhere and restart; then move it to the
front and restart; remove the old one when "agent encryption retire ID" says that nothing needs
it. Whoever loses the key loses the conversations.
`

const aboutRetire = `Say whether a key can be removed from encryption.keys: whether no workflow of the namespace, no
matter of which agent, and no value of the blob store needs it. Every history is read once.

The workflow with the switches that pause calls runs for ever. If it needs the key, it is
renewed first, by a worker that has another key in front.

The ID of a key is what precedes the colon in it. The exit code is 6 if something needs the key.
`

// errNeeded means that a key must not be removed, as has been shown.
var errNeeded = errors.New("the key is needed")

func newEncryption(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "encryption", Short: "Make and retire keys that encrypt conversations", Long: aboutEncryption, GroupID: groupOther,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "new-key", Short: "Make a key and print it", Long: "Make a key and print it as ID:BASE64. It is stored nowhere.", Args: noArguments,
		Example: `  (umask 077; agent encryption new-key > encryption.key)`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, err := credential.NewKey()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), keyring.Format(key))
			return err
		},
	})
	cmd.AddCommand(newRetire(getenv))
	return cmd
}

func newRetire(getenv func(string) string) *cobra.Command {
	var file string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "retire ID", Short: "Say whether a key can be removed", Long: aboutRetire, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(file)
			if err != nil {
				return err
			}
			codec, err := c.Encryption.Open(getenv)
			if err != nil {
				return err
			}
			if !codec.Retirable(args[0]) {
				return &usageError{fmt.Errorf("encryption.keys has no key %q after its first", args[0]), cmd}
			}
			needs, err := keyNeeds(cmd.Context(), c, getenv, args[0])
			if err != nil {
				return err
			}
			return printNeeds(cmd.OutOrStdout(), args[0], needs, asJSON)
		},
	}
	addFile(cmd, &file)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// keyUses is what needs a key.
type keyUses struct {
	Workflows []rotation.Need `json:"workflows"`
	Values    int             `json:"values"`
}

// renewTimeout is the time for a worker to renew the Control.
const renewTimeout = time.Minute

func keyNeeds(ctx context.Context, c *config.Config, getenv func(string) string, id string) (out keyUses, err error) {
	temporal, settings, err := dialRaw(ctx, c, getenv)
	if err != nil {
		return out, err
	}
	defer temporal.Close()
	r := rotation.Rotation{Server: temporal, Namespace: settings.Namespace, Key: id}
	within, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	if err := r.RenewControl(within); err != nil {
		return out, err
	}
	if out.Workflows, err = r.Needs(ctx); err != nil {
		return out, err
	}
	blobs, err := blobstore.Open(ctx, c.BlobURL())
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, blobs.Close()) }()
	out.Values, err = blobs.EncryptedWith(ctx, id)
	return out, err
}

func printNeeds(w io.Writer, id string, needs keyUses, asJSON bool) error {
	needed := len(needs.Workflows) > 0 || needs.Values > 0
	if asJSON {
		if err := cli.PrintJSON(w, needs); err != nil {
			return err
		}
	} else if !needed {
		fmt.Fprintf(w, "Nothing needs the key %s: remove it from encryption.keys everywhere, and restart.\n", id)
	} else {
		for _, n := range needs.Workflows {
			fmt.Fprintf(w, "%s: %d running, %d closed, such as %s\n", n.Type, n.Running, n.Closed, screen.Line(n.Example, 200))
		}
		fmt.Fprintf(w, "blob store: %d values\nKeep the key %s until these are deleted or their retention has ended.\n", needs.Values, id)
	}
	if needed {
		return errNeeded
	}
	return nil
}
