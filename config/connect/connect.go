// Package connect connects a process to the Temporal server that a configuration
// and the environment name, and makes sure the server's namespace is fit for
// conversations.
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

	"agent-stop-and-go/workflows/contract"
)

// SearchAttributes lists the attributes a namespace must know before a
// conversation can start in it.
func SearchAttributes() map[string]enumspb.IndexedValueType {
	return map[string]enumspb.IndexedValueType{
		contract.AttrAgentName:          enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrConversationID:     enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrConversationStatus: enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrSessionID:          enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrToolName:           enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrPendingSince:       enumspb.INDEXED_VALUE_TYPE_DATETIME,
		contract.AttrConfigHash:         enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrContextID:          enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttrTaskState:          enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	}
}

// Options says where to connect to.
type Options struct {
	// Address and Namespace come from the YAML file.
	Address   string
	Namespace string
	// Embedded: the server runs in this process, so the environment's settings
	// do not apply to it. Else all of Temporal's usual ones do, and
	// TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE win over the YAML file.
	Embedded bool
	// Pause is between two attempts to reach a server; zero is some seconds.
	Pause       time.Duration
	Logger      *slog.Logger
	Propagators []workflow.ContextPropagator
	// Intercept see every call to the server; nil ones are left out.
	Intercept []grpc.UnaryClientInterceptor
}

// Settings resolves the options to what the client will use.
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
	given := slices.DeleteFunc(slices.Clone(o.Intercept), func(i grpc.UnaryClientInterceptor) bool { return i == nil })
	c.ConnectionOptions.DialOptions = append(c.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(given...))
	c.Logger = log.NewStructuredLogger(slog.New(sdkLog{o.Logger.Handler(), o.Logger.Handler()}))
	return c, nil
}

// AddressVariable is the environment variable that names a server. With it, or
// an address in the YAML file, a process starts no server of its own.
const AddressVariable = "TEMPORAL_ADDRESS"

// Dial connects to a server and tells what it settled on. It waits for one that is not
// embedded (WhenUp).
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

// EnsureSearchAttributes adds the attributes that the namespace lacks.
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

// sdkLog is where the SDK logs, and workflows through it. Of what the SDK itself has
// to say it takes warnings and errors only. Decisions about approvals it writes
// without the attributes that the SDK adds to every line of a workflow.
type sdkLog struct {
	slog.Handler
	plain slog.Handler
}

func (h sdkLog) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelInfo && h.Handler.Enabled(ctx, l)
}

func (h sdkLog) Handle(ctx context.Context, r slog.Record) error {
	switch {
	case r.Message == contract.LogDecision:
		return h.plain.Handle(ctx, r)
	case r.Level < slog.LevelWarn:
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
