// Package platform opens the parts that every process of an agent needs, as the configuration and
// the environment name them: the Temporal client, the blob store, the keyring and the feed.
//
//	p, err := platform.Open(ctx, c, platform.Options{Getenv: os.Getenv, Logger: logger})
//	defer p.Close()
package platform
