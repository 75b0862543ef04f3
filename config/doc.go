// Package config reads the YAML file that describes an agent, and contains the YAML files that
// ship.
//
//	c, err := config.Load("config/agent.yaml")    // err: every mistake, one per line
//	agent, err := c.Agent(ctx, store)             // the input of a conversation
//	for _, w := range c.Warnings() { … }          // valid settings that deserve a look
//	for _, p := range c.Problems(os.Getenv) { … } // missing environment variables
//
// # Where things are
//
// config.go, registry.go and limits.go define the shape of the file: each key with its default,
// limits and description in struct tags. The tags are used three times, so that the three cannot
// disagree: by Default, by the checks, and by Schema, which generates agent.schema.json for
// editors. A new key is one new field. A rule that a tag cannot express goes into validate.go
// (settings, lists), servers.go (tool servers), registryrules.go (models), limits.go, auth.go (callers),
// tree.go (nodes; package outputschema), or peers.go (agents to delegate to). Then run
// `go test ./config -update` for the schema and for the reference in README.md, which is
// generated from it, and add a line to a file in testdata, which contains invalid files and their
// errors.
//
// registry.go resolves the names of models; model.go lists the models that an agent uses, how
// they are called, and the keys that are missing.
//
// If a default changes, add a line to changes.go, and keep it while people may rely on the old
// one, and a line to deploy/CHANGELOG.md.
//
// The meaning of a node depends on the nodes around it: nodecontext.go walks the tree and keeps
// track of them, for build.go (the tree as input of a workflow), warnings.go and drawing.go.
//
// # How a file is read
//
// load.go parses to yaml.Node, which has line numbers; package survey refuses documents that cannot be
// walked safely (aliases that contain themselves or expand too much); decode.go fills the structs
// and reports unknown keys and wrong types; Validate reports everything else. All mistakes of a
// file are returned together, as Errors. A key without a value, such as a list whose items are all
// comments, means its default.
//
// # Secrets
//
// The file has no key for them. API keys and credential keys come from the environment;
// api_key_env and ${NAME} name the variables. A key or variable that looks like a secret is
// refused. No error and no line of Describe contains a value of an env or headers map, the user
// info or query of a URL, or a key.
package config
