package connect

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"agent-stop-and-go/config/encryption"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/adoption"
	"agent-stop-and-go/workflows/contract/switches"
	"agent-stop-and-go/workflows/telemetry"
)

// SearchAttributes returns the search attributes that a namespace needs for conversations.
func SearchAttributes() map[string]enumspb.IndexedValueType {
	return map[string]enumspb.IndexedValueType{
		contract.AttrAgentName:          enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrConversationID:     enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrConversationStatus: enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrSessionID:          enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrToolName:           enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrPendingSince:       enumspb.INDEXED_VALUE_TYPE_DATETIME,
		contract.AttrConfigHash:         enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrAgentOwner:         enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrAgentGroups:        enumspb.INDEXED_VALUE_TYPE_KEYWORD_LIST, // a place of its own in SQL
		contract.AttrContextID:          enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrTaskState:          enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	}
}

// Options say where to connect.
type Options struct {
	// Address and Namespace come from the YAML file.
	Address   string
	Namespace string
	// Embedded: the server runs in this process, so the environment is ignored. Otherwise all
	// of Temporal's usual variables apply, and TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE take
	// precedence over the YAML file.
	Embedded bool
	// Pause is the time between two attempts to reach a server. The default is a few seconds.
	Pause       time.Duration
	Logger      *slog.Logger
	Propagators []workflow.ContextPropagator
	// Intercept are called for every call to the server. nil elements are skipped.
	Intercept []grpc.UnaryClientInterceptor
	// Codec encrypts what the server keeps; it may be nil.
	Codec *encryption.Codec
	// Raw leaves encrypted values as the server has them. Nothing may be sent that is to be encrypted.
	Raw bool
	// Metrics records what the SDK measures; it may be nil.
	Metrics client.MetricsHandler
}

// Settings returns the client options for o.
func Settings(o Options) (client.Options, error) {
	var c client.Options
	if !o.Embedded {
		var err error
		if c, err = envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{}); err != nil {
			return c, fmt.Errorf("read Temporal's environment settings: %w", err)
		}
	} else { // what stays in the process is not worth packing
		c.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	c.HostPort = cmp.Or(c.HostPort, o.Address)
	c.Namespace = cmp.Or(c.Namespace, o.Namespace)
	c.Identity = Identity()
	c.ContextPropagators = o.Propagators
	c.MetricsHandler = o.Metrics
	given := slices.DeleteFunc(slices.Clone(o.Intercept), func(i grpc.UnaryClientInterceptor) bool { return i == nil })
	if !o.Raw {
		given = append(given, o.Codec.Interceptor(o.Logger)) // the others see clear text
	}
	given = append(given, newPolls().Intercept)
	c.ConnectionOptions.DialOptions = append(c.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(given...))
	c.Logger = log.NewStructuredLogger(slog.New(sdkLog{o.Logger.Handler(), o.Logger.Handler()}))
	return c, nil
}

// AddressVariable is the environment variable with the address of a server. If it or an
// address in the YAML file is set, a process starts no server of its own.
const AddressVariable = "TEMPORAL_ADDRESS"

// Dial connects to a server and returns the options used. Unless the server is embedded, it
// waits for it (WhenUp).
func Dial(ctx context.Context, o Options) (client.Client, client.Options, error) {
	settings, err := Settings(o)
	if err != nil {
		return nil, settings, err
	}
	var c client.Client
	dial := func(ctx context.Context) (err error) { c, err = client.DialContext(ctx, settings); return err }
	if o.Embedded {
		err = dial(ctx)
	} else {
		err = WhenUp(ctx, o, settings.HostPort, dial)
	}
	if err != nil {
		return nil, settings, fmt.Errorf("connect to Temporal at %s: %w", settings.HostPort, err)
	}
	return c, settings, nil
}

const ensureTimeout = 30 * time.Second

// EnsureSearchAttributes adds the search attributes that the namespace lacks.
func EnsureSearchAttributes(ctx context.Context, c client.Client, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, ensureTimeout)
	defer cancel()
	operator := c.OperatorService()
	have, err := operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("list the search attributes of namespace %s: %w", namespace, err)
	}
	missing := SearchAttributes()
	for name := range have.GetCustomAttributes() {
		delete(missing, name)
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: maps.Clone(missing),
	})
	if err != nil {
		return fmt.Errorf("add search attributes %v to namespace %s (an administrator may do it with `temporal operator search-attribute create`): %w",
			missing, namespace, err)
	}
	return nil
}

// failedActivity is the SDK's message of a failure that has its own line (telemetry.LogFailure).
const failedActivity = "Activity error."

// sdkLog handles the log of the SDK, of workflows and activities. It drops the SDK's own lines below
// warning, and writes decisions about approvals, changes of switches and failed attempts without
// the attributes that the SDK adds to every line.
type sdkLog struct {
	slog.Handler
	plain slog.Handler
}

func (h sdkLog) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelInfo && h.Handler.Enabled(ctx, l)
}

func (h sdkLog) Handle(ctx context.Context, r slog.Record) error {
	switch {
	case r.Message == contract.LogDecision, r.Message == telemetry.LogFailure, r.Message == switches.LogPaused, r.Message == switches.LogResumed, r.Message == switches.LogLimit, r.Message == adoption.LogAdopted:
		return h.plain.Handle(ctx, r)
	case r.Level < slog.LevelWarn, r.Message == failedActivity:
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h sdkLog) WithAttrs(a []slog.Attr) slog.Handler {
	return sdkLog{h.Handler.WithAttrs(a), h.plain}
}

func (h sdkLog) WithGroup(name string) slog.Handler {
	return sdkLog{h.Handler.WithGroup(name), h.plain}
}
