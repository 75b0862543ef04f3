package embedded

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/schema/sqlite"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	settleLimit = 30 * time.Second // takes 20 ms
	// freshFor is longer than the refresh interval of the services' caches, which is two
	// seconds.
	freshFor = 10 * time.Second
)

// createNamespace writes a missing namespace, with its search attributes, into the database of
// a server that does not run yet. A running server would take seconds to notice the search
// attributes.
func createNamespace(db *config.SQL, o Options) error {
	ns, err := sqlite.NewNamespaceConfig(clusterName, o.Namespace, false, o.SearchAttributes)
	if err != nil {
		return fmt.Errorf("create namespace %s: %w", o.Namespace, err)
	}
	ns.Detail.Config.Retention = durationpb.New(o.Retention)
	if err := sqlite.CreateNamespaces(db, ns); err != nil {
		return fmt.Errorf("create namespace %s: %w", o.Namespace, err)
	}
	return nil
}

// settle updates an existing namespace to the options and returns when all of it can be used.
func settle(ctx context.Context, address string, dynamic *settings, o Options, logger serverLog) error {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	c, err := client.DialContext(ctx, client.Options{
		HostPort: address, Namespace: o.Namespace, Logger: sdklog.NewStructuredLogger(logger.SLog()),
	})
	if err != nil {
		return fmt.Errorf("reach temporal server: %w", err)
	}
	defer c.Close()
	if err := ready(ctx, c, o.Namespace); err != nil {
		return err
	}
	if err := retain(ctx, c, o); err != nil {
		return err
	}
	return addAttributes(ctx, c, dynamic, o)
}

// ready returns when the history service answers. The workflow that it asks for does not exist.
func ready(ctx context.Context, c client.Client, ns string) error {
	_, err := c.WorkflowService().DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: ns, Execution: &common.WorkflowExecution{WorkflowId: "is-the-server-ready"},
	})
	if err == nil || isNotFound(err) {
		return nil
	}
	return fmt.Errorf("wait for temporal server: %w", err)
}

// isNotFound reports whether err is a NotFound error, also from a connection that is not the
// SDK's.
func isNotFound(err error) bool {
	return err != nil && serviceerror.ToStatus(err).Code() == codes.NotFound
}

// retain sets the retention if it differs.
func retain(ctx context.Context, c client.Client, o Options) error {
	ns, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: o.Namespace})
	if err != nil {
		return fmt.Errorf("describe namespace %s: %w", o.Namespace, err)
	}
	if ns.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() == o.Retention {
		return nil
	}
	_, err = c.WorkflowService().UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
		Namespace: o.Namespace,
		Config:    &namespace.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(o.Retention)},
	})
	if err != nil {
		return fmt.Errorf("set retention of namespace %s: %w", o.Namespace, err)
	}
	return nil
}

// addAttributes adds the search attributes that the namespace lacks.
func addAttributes(ctx context.Context, c client.Client, dynamic *settings, o Options) error {
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: o.Namespace})
	if err != nil {
		return fmt.Errorf("list search attributes: %w", err)
	}
	missing := map[string]enums.IndexedValueType{}
	for name, want := range o.SearchAttributes {
		got, ok := have.GetCustomAttributes()[name]
		if ok && got != want {
			return fmt.Errorf("search attribute %s is %s in this data directory, not %s", name, got, want)
		}
		if !ok {
			missing[name] = want
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: o.Namespace, SearchAttributes: missing,
	})
	if err != nil {
		return fmt.Errorf("add search attributes: %w", err)
	}
	dynamic.fresh.Store(true)
	time.AfterFunc(freshFor, func() { dynamic.fresh.Store(false) })
	return usable(ctx, c, o.Namespace, missing)
}

// usable searches by each attribute once: the server refuses a search by an unknown attribute.
func usable(ctx context.Context, c client.Client, ns string, attributes map[string]enums.IndexedValueType) error {
	for name := range attributes {
		_, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: ns, Query: name + " IS NOT NULL"})
		if err != nil {
			return fmt.Errorf("search by new attribute %s: %w", name, err)
		}
	}
	return nil
}
