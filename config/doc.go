// Package config reads the YAML file that describes an agent, and holds the
// YAML files that ship.
//
//	c, err := config.Load("config/agent.yaml")    // err: every mistake, one a line
//	agent, err := c.Agent(ctx, store)             // the input of a conversation
//	for _, w := range c.Warnings() { … }          // what loads but deserves a look
//	for _, p := range c.Problems(os.Getenv) { … } // what the environment lacks
//
// # Where things are
//
// config.go, registry.go and limits.go are the file's shape: each key with its
// default, limits and description in struct tags. Those tags are read three times,
// so they cannot disagree: by Default, by the checks, and by Schema, which makes
// agent.schema.json for editors. A new key is one new field; a rule that a tag
// cannot say goes into validate.go (settings, lists), servers.go (tool servers),
// registryrules.go (models), limits.go, tree.go (nodes), outputschema.go or
// peers.go (agents to delegate to). Then run `go test ./config -update` for the
// schema and for the reference in README.md, which is made from it, and add a line to
// a file in testdata, which hold bad files and the errors they must give.
//
// What the name of a model stands for only registry.go knows; model.go tells which
// models an agent uses, how they are called and whose keys are missing.
//
// A default that changes needs a line in changes.go while people may rely on the old
// one, and one in deploy/CHANGELOG.md.
//
// What a node means depends on the nodes around it: place.go walks the tree and
// keeps track of them, for build.go (the tree as workflows take it), warnings.go
// and drawing.go.
//
// # How a file is read
//
// load.go parses to yaml.Node, which keeps line numbers; survey.go refuses what
// could not be walked safely (aliases that contain themselves or explode);
// decode.go fills the structs and complains of unknown keys and wrong types;
// Validate complains of everything else. All complaints of a file come at once,
// as Errors. A key without a value, such as a list whose items are all comments,
// means its default.
//
// # Secrets
//
// There is no key for them. API keys and credential keys come from the
// environment, where api_key_env and ${NAME} say under which name, and a key or
// variable that looks like a secret is refused. No error and no line of Describe
// holds a value from an env or headers map, a URL's user info or query, or a key.
package config
