package config

import (
	"cmp"
	"reflect"
	"time"

	"agent-stop-and-go/config/auditlog"
	"agent-stop-and-go/config/clients"
	"agent-stop-and-go/config/encryption"
	"agent-stop-and-go/config/limits"
	"agent-stop-and-go/config/local"
	"agent-stop-and-go/config/own"
	"agent-stop-and-go/config/policy"
	"agent-stop-and-go/config/prompt"
	"agent-stop-and-go/config/webhooks"
	"agent-stop-and-go/workflows/contract"
)

// Config is one agent.yaml. Make it with Load, Parse or Default, which set the defaults.
type Config struct {
	Name           string                `yaml:"name" jsonschema:"default=agent,minLength=1" jsonschema_description:"The agent's name, as its A2A card and the list of conversations show it."`
	Description    string                `yaml:"description" jsonschema_description:"What the agent is for, in a sentence. Other agents read it."`
	Prompt         prompt.Prompt         `yaml:"prompt" jsonschema:"shorthand=text" jsonschema_description:"The system prompt: a text, or a mapping with sections or a directory."`
	Host           string                `yaml:"host" jsonschema:"default=127.0.0.1,minLength=1" jsonschema_description:"Host name or IP address the HTTP server listens on. 127.0.0.1 keeps it on this machine, 0.0.0.0 lets others in, and then auth must say who may call."`
	Port           int                   `yaml:"port" jsonschema:"default=8080,minimum=1,maximum=65535" jsonschema_description:"Port of the HTTP server."`
	PublicURL      string                `yaml:"public_url" jsonschema_description:"The http or https URL under which others reach the agent, such as https://agents.example.com/helper. Its card says so to other agents. Empty: the address that a request was sent to."`
	AllowedHosts   []string              `yaml:"allowed_hosts" jsonschema_description:"More host names and IP addresses, without port, under which the agent may be called, such as those that a proxy or other machines use. Loopback names, host and the host of public_url need not be listed. Requests for any other name are refused, so that no web page can reach the agent under a name of its own (DNS rebinding)."`
	AllowedOrigins []string              `yaml:"allowed_origins" jsonschema_description:"Web pages of other sites that may call the agent from a browser, each scheme://host or scheme://host:port, such as https://chat.example.com."`
	TrustedProxies []string              `yaml:"trusted_proxies" jsonschema_description:"Addresses of proxies in front of the agent, each an IP address or a network such as 10.0.0.0/8, whose X-Forwarded-For and X-Forwarded-Proto are believed: attempts to prove who calls are limited by the client's address and not by the proxy's. Programs of this machine and the from of auth: [{type: proxy}] need not be listed. Name only proxies that add to the headers or replace them."`
	Auth           []AuthWay             `yaml:"auth" jsonschema:"empty=none" jsonschema_description:"The ways in which callers prove who they are, or none. Without the key it is none, and then host must be of this machine."`
	Provider       Provider              `yaml:"provider" jsonschema_description:"The organization behind the agent, as its A2A card shows it."`
	Push           Push                  `yaml:"push" jsonschema_description:"Push notifications of A2A tasks to the web hooks of clients."`
	DataDir        string                `yaml:"data_dir" jsonschema:"default=./data,minLength=1" jsonschema_description:"Folder for everything that is stored. Relative to the working directory."`
	LLM            LLM                   `yaml:"llm" jsonschema_description:"The model."`
	Models         map[string]ModelEntry `yaml:"models" jsonschema_description:"Models with settings of their own, each under a name that llm.model, nodes and fallbacks may use."`
	Limits         *limits.Limits        `yaml:"limits" jsonschema_description:"What may be spent before the agent stops and asks whether to go on, and what one caller may take."`
	MCPServers     []MCPServer           `yaml:"mcp_servers" jsonschema_description:"MCP servers whose tools the agent may call."`
	LocalTools     local.Tools           `yaml:"local_tools" jsonschema_description:"Tools of the agent itself, which need no server: what it is, which models it has, and asking a model without the conversation. None is offered by default. For rules, rate limits and the lists of tools of nodes they belong to a server named agent."`
	A2A            []A2AAgent            `yaml:"a2a" jsonschema_description:"Other agents, reached by the A2A protocol, that the agent may delegate to."`
	TokenExchange  *TokenExchange        `yaml:"token_exchange" jsonschema_description:"The provider that exchanges callers' tokens for those of servers and agents with credential: exchange."`
	Root           *Node                 `yaml:"agent" jsonschema_description:"The agent tree. Without it the agent is one llm node with the prompt and model above."`
	MaxToolRounds  int                   `yaml:"max_tool_rounds" jsonschema:"default=10,minimum=1,maximum=1000" jsonschema_description:"How often one turn asks the model before it gives up; each reply with calls counts."`
	Execution      contract.Execution    `yaml:"execution" jsonschema:"default=auto,enum=regular,enum=auto,enum=lean" jsonschema_description:"How model and tool calls run. regular: each is an activity of the server. auto: what ends within 1.5 seconds costs as little as with lean, and what takes longer goes on as with regular; the limit is 0.1 seconds in trees and with a server at an address. lean: all within a workflow task, which delays what is sent meanwhile; for calls of under five seconds. A destructive call is an activity, except with auto in the process of the Temporal server (deploy/OPERATIONS.md)."`
	Approval       Approval              `yaml:"approval" jsonschema_description:"How destructive calls wait for a person."`
	Conversations  Conversations         `yaml:"conversations" jsonschema_description:"How long conversations are kept."`
	Temporal       Temporal              `yaml:"temporal" jsonschema_description:"The Temporal server that makes conversations durable: embedded, or an existing one by address."`
	Blobs          Blobs                 `yaml:"blobs" jsonschema_description:"Where large values are kept."`
	Encryption     encryption.Settings   `yaml:"encryption" jsonschema_description:"Encryption of what Temporal and the blob store keep."`
	Audit          *auditlog.Audit       `yaml:"audit" jsonschema_description:"The audit log: every proposal, what was shown, every decision, call and outcome, so that changes can be proven. Without the key there is none. See deploy/AUDIT.md."`
	Witness        *auditlog.Witness     `yaml:"witness" jsonschema_description:"Makes the agent a witness of the audit logs of others, which countersigns their checkpoints at /witness. See deploy/AUDIT.md."`
	Events         Events                `yaml:"events" jsonschema_description:"What carries replies, while they are being written, to those who follow conversations."`
	Clients        clients.Clients       `yaml:"clients" jsonschema_description:"Clients that reach the agent in their own way, besides its page and its API. All are off by default."`
	RequestTimeout time.Duration         `yaml:"request_timeout" jsonschema:"default=60s" jsonschema_description:"How long a POST waits for the answer before it returns 202 and the address to read it later."`

	file   string
	lines  map[string]int
	policy *policy.Policy
	// ruleOrigins are the places of the rules, if some are included.
	ruleOrigins []ruleOrigin
}

type Provider struct {
	Organization string `yaml:"organization" jsonschema_description:"Name of the organization."`
	URL          string `yaml:"url" jsonschema_description:"Its web site, an http or https URL."`
}

// LLM is the model of nodes that do not name their own.
type LLM struct {
	Model   string `yaml:"model" jsonschema:"default=google:gemini-2.5-flash,minLength=1" jsonschema_description:"A name in models, or provider:model, where provider is google, anthropic, openai, mistral, ollama, openrouter or demo, or a name with the prefix of one provider, such as claude-sonnet-4-5, gpt-4o or gemini-2.5-flash. The key comes from the environment, for example GEMINI_API_KEY."`
	BaseURL string `yaml:"base_url" jsonschema_description:"An http or https URL that replaces the provider's endpoint, for a proxy or a server that speaks its API."`
	// Compaction is CompactionSummary or CompactionWindow.
	Compaction string `yaml:"compaction" jsonschema:"default=summary,enum=summary,enum=window" jsonschema_description:"What the model gets of the oldest exchanges of a conversation that no longer fits its context window. summary: a summary that it writes; window: nothing. Exports keep everything."`
}

// Values of compaction.
const (
	CompactionSummary = "summary"
	CompactionWindow  = "window"
)

// MCPServer is a tool server, reached at URL or started as Command.
type MCPServer struct {
	Name       string            `yaml:"name" jsonschema:"required,minLength=1" jsonschema_description:"The server's name, unique in the list."`
	URL        string            `yaml:"url" jsonschema:"oneof_required=url" jsonschema_description:"Its HTTP endpoint, for example http://localhost:8090/mcp."`
	Command    string            `yaml:"command" jsonschema:"oneof_required=command" jsonschema_description:"A program that speaks MCP over its standard input and output; the agent starts and stops it."`
	Args       []string          `yaml:"args" jsonschema_description:"The command's arguments."`
	Env        map[string]string `yaml:"env" jsonschema_description:"Environment variables for the command. It inherits nothing else from the agent except PATH, HOME and the like. ${NAME} takes a value from the agent's environment, which is how secrets are given."`
	Headers    map[string]string `yaml:"headers" jsonschema_description:"url: HTTP headers of every request. ${NAME} takes a value from the agent's environment, which is how secrets are given. An Authorization header here replaces the token of the caller."`
	Credential string            `yaml:"credential" jsonschema:"enum=none,enum=forward,enum=exchange,enum=own" jsonschema_description:"url: The token of calls. none: no token. forward: the caller's, as it is. exchange: one for this server that the provider of token_exchange issues for the caller's. own: one that the agent gets as an OAuth client. The default is forward, and with auth none."`
	Exchange   *Exchange         `yaml:"exchange" jsonschema_description:"credential: exchange: what the token is for."`
	Own        *own.Client       `yaml:"own" jsonschema_description:"credential: own: the agent as an OAuth client of the server."`
	Transport  string            `yaml:"transport" jsonschema:"enum=http,enum=sse,enum=stdio" jsonschema_description:"How to speak to the server: http (Streamable HTTP), sse (the older HTTP+SSE) or stdio. Without it, http with a url and stdio with a command."`
	// Timeout 0 means MaxToolTimeout.
	Timeout time.Duration `yaml:"timeout" jsonschema_description:"How long a call of the server's tools may take. The default and the maximum are 30s."`
	// Unannotated is "run" or "ask".
	Unannotated string     `yaml:"unannotated" jsonschema:"default=ask,enum=ask,enum=run" jsonschema_description:"What happens to calls of tools without hints, which say neither that they are destructive nor that they only read: ask a person first, or run at once."`
	Tools       ToolFilter `yaml:"tools" jsonschema_description:"Which of its tools are offered. The others cannot be called."`
	Destructive []string   `yaml:"destructive" jsonschema_description:"Tools that ask a person first, whatever the server says of them."`
	Safe        []string   `yaml:"safe" jsonschema_description:"Tools that run at once, whatever the server says of them."`
	Optional    bool       `yaml:"optional" jsonschema:"default=false" jsonschema_description:"true: the agent is ready without the server, and never waits for it."`
	Prefix      bool       `yaml:"prefix" jsonschema:"default=false" jsonschema_description:"true: its tools are offered as NAME__TOOL, so that two servers may have tools of the same name. The lists of tools here use the server's own names, those of nodes the new ones."`
	Roots       []string   `yaml:"roots" jsonschema_description:"Folders, or file:// URIs, that the server is told to work in when it asks. This is advice to the server; nothing enforces it."`
	Sampling    *Sampling  `yaml:"sampling" jsonschema_description:"Lets the server ask the agent's model; without this key it cannot. The key is the consent: no person is asked each time. The server sees nothing of the conversation. The log has a line for every answer, with its tokens."`
	Elicitation bool       `yaml:"elicitation" jsonschema:"default=false" jsonschema_description:"true: the server may ask a person something while it carries out a call. The question appears in the conversation, which waits for the answer for at most 24 hours, as long as the connection to the server and the worker live. When the worker is restarted the question is withdrawn and the answer of the call is lost: a call that is not destructive is repeated and may ask again; for a destructive one a person is asked whether to repeat it."`
	Wording     string     `yaml:"wording" jsonschema:"enum=resources" jsonschema_description:"resources: the server is mcp-resources, and approvals of its tools are worded as such. Only for an mcp-resources that is reached by url. A server whose command is mcp-resources does not need it."`
	Facts       []string   `yaml:"facts" jsonschema_description:"Facts about its calls that rules may read, by the name that the server gives them, such as sql. The server is asked for them with the arguments of a call where a rule needs them. It can say what is not true."`
	Expose      []string   `yaml:"expose" jsonschema_description:"What the model may read from the server besides calling its tools: resources, prompts or both. It reads them with the tools read_resource and get_prompt. A node with a list of tools must name these."`
}

// MaxToolTimeout is the maximum timeout of a server: the activity of a call has no more time.
const MaxToolTimeout = 30 * time.Second

const (
	TransportHTTP  = "http"
	TransportSSE   = "sse"
	TransportStdio = "stdio"
)

const (
	ExposeResources = "resources"
	ExposePrompts   = "prompts"
)

// ToolFilter selects tools by their server's names. A nil Allow means all, an empty one none.
type ToolFilter struct {
	Allow []string `yaml:"allow" jsonschema_description:"The only tools that are offered. Without the key all are; with an empty list none are."`
	Deny  []string `yaml:"deny" jsonschema_description:"Tools that are not offered, even if allow lists them."`
}

// Sampling is how much a server may ask of the model.
type Sampling struct {
	MaxTokens int `yaml:"max_tokens" jsonschema:"default=1024,minimum=1,maximum=1000000" jsonschema_description:"How many tokens each answer to the server may have at most. How many answers it asks for is not limited."`
}

type A2AAgent struct {
	Name            string            `yaml:"name" jsonschema:"required,minLength=1,maxLength=60,pattern=^[A-Za-z0-9_-]+$" jsonschema_description:"The agent's name, unique in the list. The model sees it as the tool a2a_NAME."`
	URL             string            `yaml:"url" jsonschema:"required,minLength=1" jsonschema_description:"Its http or https URL."`
	Description     string            `yaml:"description" jsonschema_description:"What to delegate to it. The model reads it."`
	DestructiveHint bool              `yaml:"destructiveHint" jsonschema:"default=false" jsonschema_description:"true: a person approves every delegation to it."`
	Headers         map[string]string `yaml:"headers" jsonschema_description:"HTTP headers of every request to the url, and to no other. ${NAME} takes a value from the agent's environment, which is how secrets are given. An Authorization header here replaces the token of the caller."`
	Credential      string            `yaml:"credential" jsonschema:"enum=none,enum=forward,enum=exchange,enum=own" jsonschema_description:"The token of calls. none: no token. forward: the caller's, as it is. exchange: one for this agent that the provider of token_exchange issues for the caller's. own: one that the agent gets as an OAuth client. The default is forward, and with auth none."`
	Exchange        *Exchange         `yaml:"exchange" jsonschema_description:"credential: exchange: what the token is for."`
	Own             *own.Client       `yaml:"own" jsonschema_description:"credential: own: the agent as an OAuth client of the other agent."`
	// Timeout 0 means contract.DefaultPeerTimeout.
	Timeout               time.Duration `yaml:"timeout" jsonschema_description:"How long a task of the agent may work, by default 1h; waiting for people does not count. A duration such as 10m."`
	Context               string        `yaml:"context" jsonschema:"default=call,enum=call,enum=conversation" jsonschema_description:"What the agent remembers. call: every task starts anew. conversation: a task continues the one that the agent had before it in this conversation."`
	AllowPrivateRedirects bool          `yaml:"allow_private_redirects" jsonschema:"default=false" jsonschema_description:"true: the agent may redirect requests to private addresses, such as those of this machine and its network. The url itself may be private always."`
}

const (
	Sequential = "sequential"
	Parallel   = "parallel"
	Loop       = "loop"
	LLMNode    = "llm"
	A2ANode    = "a2a"
)

// Values of a node's approval and on_reject.
const (
	ApprovalRequired = "required"
	ApprovalInherit  = "inherit"
	OnRejectStop     = "stop"
	OnRejectContinue = "continue"
)

// Node is a node of the agent tree. tree.go says which types of nodes have which fields;
// NODES.md describes them.
type Node struct {
	Name                  string            `yaml:"name" jsonschema_description:"The node's name, unique in the tree. Only the root may go without."`
	Type                  string            `yaml:"type" jsonschema:"default=llm,enum=sequential,enum=parallel,enum=loop,enum=llm,enum=a2a" jsonschema_description:"sequential, parallel and loop run the nodes in agents; llm asks a model; a2a asks another agent."`
	Description           string            `yaml:"description" jsonschema_description:"What the node is for."`
	Model                 string            `yaml:"model" jsonschema_description:"llm: a name in models, or provider:model. Without it, llm.model of the file."`
	Prompt                string            `yaml:"prompt" jsonschema_description:"llm: the system prompt. a2a: the message, if not the user's. {key} stands for the output of the node with that output_key, {key.field} for a field of one with an output_schema, {user_message} for the user's message."`
	History               bool              `yaml:"history" jsonschema:"default=false" jsonschema_description:"llm: the model sees the whole conversation, not only the user's message. A single llm agent always does."`
	Tools                 []string          `yaml:"tools" jsonschema_description:"llm: the tools that are offered, each the name of a tool, or of a server for all its tools. Without the key all tools are; with an empty list none are."`
	MaxToolRounds         int               `yaml:"max_tool_rounds" jsonschema:"minimum=1,maximum=1000" jsonschema_description:"llm: how often the node asks its model at most. Without it, max_tool_rounds of the file."`
	CanExitLoop           bool              `yaml:"can_exit_loop" jsonschema:"default=false" jsonschema_description:"llm: offers the model the tool exit_loop."`
	OutputSchema          map[string]any    `yaml:"output_schema" jsonschema_description:"llm: a JSON Schema of an object. The node's output is JSON that fits it, and {key.field} in later prompts stands for a field of it."`
	A2A                   []A2AAgent        `yaml:"a2a" jsonschema_description:"llm: agents this node may delegate to."`
	URL                   string            `yaml:"url" jsonschema_description:"a2a: the agent's http or https URL. Required there."`
	DestructiveHint       bool              `yaml:"destructiveHint" jsonschema:"default=false" jsonschema_description:"a2a: true means that a person approves every delegation."`
	Headers               map[string]string `yaml:"headers" jsonschema_description:"a2a: HTTP headers of every request to the agent, with ${NAME} for values from the agent's environment."`
	Credential            string            `yaml:"credential" jsonschema:"enum=none,enum=forward,enum=exchange,enum=own" jsonschema_description:"a2a: the token of calls, as in the list a2a."`
	Exchange              *Exchange         `yaml:"exchange" jsonschema_description:"a2a: what an exchanged token is for."`
	Own                   *own.Client       `yaml:"own" jsonschema_description:"a2a: the agent as an OAuth client, as in the list a2a."`
	Context               string            `yaml:"context" jsonschema:"enum=call,enum=conversation" jsonschema_description:"a2a: what the agent remembers, as in the list a2a."`
	AllowPrivateRedirects bool              `yaml:"allow_private_redirects" jsonschema:"default=false" jsonschema_description:"a2a: true means that the agent may redirect requests to private addresses."`
	Agents                []*Node           `yaml:"agents" jsonschema_description:"sequential, parallel, loop: the nodes inside. Required there. At most 64 in a parallel node."`
	MaxIterations         int               `yaml:"max_iterations" jsonschema:"minimum=0,maximum=1000" jsonschema_description:"loop: how often at most. 0 means 10."`
	FailFast              bool              `yaml:"fail_fast" jsonschema:"default=false" jsonschema_description:"parallel: the first branch that fails stops the others."`
	OutputKey             string            `yaml:"output_key" jsonschema:"pattern=^[A-Za-z0-9_]+$" jsonschema_description:"Keeps the node's output under this key, for {key} in later prompts."`
	Approval              string            `yaml:"approval" jsonschema:"default=inherit,enum=required,enum=inherit" jsonschema_description:"required: destructive calls in the node wait for a person, also inside parallel and loop nodes, which otherwise run them at once. inherit: as the nodes around it say."`
	OnReject              string            `yaml:"on_reject" jsonschema:"default=stop,enum=stop,enum=continue" jsonschema_description:"What a rejected call in the node does. stop: it ends the turn. continue: the rejection is the node's output, and the turn goes on."`
	Timeout               time.Duration     `yaml:"timeout" jsonschema:"default=0s" jsonschema_description:"How long the node may work; waiting for people does not count. 0s sets no limit, except that a task of another agent ends after 1h."`
}

// Approval configures how destructive calls wait.
type Approval struct {
	Timeout time.Duration `yaml:"timeout" jsonschema:"default=0s" jsonschema_description:"After this time without a decision an approval expires and the call does not run. 0s waits forever."`
	CallAs  string        `yaml:"call_as" jsonschema:"default=requester,enum=requester,enum=approver" jsonschema_description:"Whose bearer token goes with an approved call. requester: the token of whoever sent the message; a token that comes with the decision is not used. approver: the token of whoever approved, for this one call, if the decision came with one."`
	// Approvers are the rules of package approvers.
	Approvers []string        `yaml:"approvers" jsonschema_description:"Who may decide, as a list of alternatives: scope:NAME, subject:NAME (or subject:ISSUER NAME), group:NAME, requester for whoever started the conversation; not_requester in the list excludes that person. Everybody needs the scope approve too, or approve:all. Needs auth. Without the key the requester decides, and whoever has approve:all."`
	Webhooks  []webhooks.Hook `yaml:"webhooks" jsonschema_description:"Web hooks that are told when approvals open, are reminded of, decided, or expire."`
	// Include are files with further rules, read by Load.
	Include []string `yaml:"include" jsonschema_description:"Files with further rules under a key rules, relative to this file; a name may have the wildcards * and ?. A name that fits no file is an error."`
	// Rules are the rules of package policy, and after Load also those of Include.
	Rules []policy.Rule `yaml:"rules" jsonschema_description:"Named rules about single calls, written in CEL. They count before the hints of tools and before destructive, safe and unannotated of a server. Of several that match, the most careful one counts: deny, dry_run, ask, allow. A rule that cannot be evaluated for a call asks."`
}

// Values of call_as.
const (
	CallAsRequester = "requester"
	CallAsApprover  = "approver"
)

// Conversations configures how long conversations are kept.
type Conversations struct {
	// DeleteAfter 0 keeps them.
	DeleteAfter time.Duration `yaml:"delete_after" jsonschema:"default=0s" jsonschema_description:"Conversations that have not changed for this time, such as 90d, are deleted with all that belongs to them, within an hour. Those in which an approval waits or a turn runs are kept. 0s deletes none; temporal.retention removes histories of ended conversations anyway, and keeps their files."`
}

// Temporal configures the Temporal server. If Address is empty the agent embeds one.
type Temporal struct {
	Address   string        `yaml:"address" jsonschema_description:"host:port of an existing Temporal server. Empty: the agent runs its own, unless TEMPORAL_ADDRESS is set."`
	Namespace string        `yaml:"namespace" jsonschema:"default=default,minLength=1" jsonschema_description:"Temporal namespace."`
	TaskQueue string        `yaml:"task_queue" jsonschema:"default=agent-stop-and-go,minLength=1" jsonschema_description:"Task queue that workers and gateways share."`
	Port      int           `yaml:"port" jsonschema:"default=7233,minimum=1,maximum=65535" jsonschema_description:"gRPC port of the embedded server."`
	UIPort    int           `yaml:"ui_port" jsonschema:"default=8233,minimum=0,maximum=65535" jsonschema_description:"Port of the embedded server's web pages. 0 turns them off."`
	Retention time.Duration `yaml:"retention" jsonschema:"default=720h" jsonschema_description:"How long the embedded server keeps the histories of workflows that have ended. At least 1h."`
	// CacheSize limits how many workflows a worker keeps in memory.
	CacheSize int `yaml:"cache_size" jsonschema:"default=250,minimum=10,maximum=100000" jsonschema_description:"How many workflows (conversations, nodes, approvals) a worker keeps in memory. The others are rebuilt from their history when something happens in them, which takes longer the longer the history is."`

	Deployment Deployment `yaml:"deployment" jsonschema_description:"Workers as versions of a deployment, between which Temporal distributes the work."`
}

// Deployment makes the workers a version of a Temporal worker deployment.
type Deployment struct {
	Name  string `yaml:"name" jsonschema_description:"Name of the worker deployment; TEMPORAL_DEPLOYMENT_NAME takes precedence. Empty: workers have no versions. A version gets work after agent deployment current, or ramp."`
	Build string `yaml:"build" jsonschema_description:"Name of the version; TEMPORAL_WORKER_BUILD_ID takes precedence. Empty: the version of the program."`
}

// Version returns the name of the deployment, "" for none, and of the version in it.
func (d Deployment) Version(program string, getenv func(string) string) (deployment, build string) {
	return cmp.Or(getenv("TEMPORAL_DEPLOYMENT_NAME"), d.Name), cmp.Or(getenv("TEMPORAL_WORKER_BUILD_ID"), d.Build, program)
}

// Blobs configures the store for values too large for history.
type Blobs struct {
	URL string `yaml:"url" jsonschema_description:"file:///absolute/folder; s3://BUCKET, gs://BUCKET or azblob://CONTAINER, with ?prefix=agent/ for a part of one; or mem:// for a trial that stores nothing. Credentials of object stores come from the usual environment. Empty: the folder blobs in data_dir. Workers and gateways on several machines need one store that all of them can read and write."`
}

// Default returns the configuration of an empty file.
func Default() *Config {
	c := &Config{}
	setDefaults(reflect.ValueOf(c).Elem())
	return c
}
