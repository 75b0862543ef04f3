package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config/keyring"
	"agent-stop-and-go/workflows/credential"
)

const aboutEncryption = `Encrypt what the Temporal server and the blob store keep of conversations. In the agent's file:

  encryption:
    keys: ["${AGENT_ENCRYPTION_KEY}"]     or file:PATH

To change the key, add the new one after the old one everywhere and restart; then move it to the
front and restart; remove the old one when the retention and the conversations that wait with it
have ended. Whoever loses the key loses the conversations.
`

func newEncryption() *cobra.Command {
	cmd := &cobra.Command{
		Use: "encryption", Short: "Make keys that encrypt conversations", Long: aboutEncryption, GroupID: groupOther,
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
	return cmd
}
