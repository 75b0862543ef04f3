// Package backing opens the parts that every process of an agent needs, as the configuration and
// the environment name them: the Temporal client, the blob store, the keyring and the feed.
//
//	b, err := backing.Open(ctx, c, backing.Options{Getenv: os.Getenv, Logger: logger})
//	defer b.Close()
package backing
