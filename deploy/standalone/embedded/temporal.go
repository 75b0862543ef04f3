package embedded

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
	"google.golang.org/grpc"
)

const clusterName = "active" // written into every database: changing it orphans them

// services are listed in the order of their ports.
var services = []primitives.ServiceName{
	primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService,
}

func serverConfig(data config.Persistence, host string, ports []int) *config.Config {
	frontend := reachable(host, ports[0])
	c := &config.Config{
		Persistence: data,
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: frontend},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            map[string]config.Service{},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		PublicClient: config.PublicClient{HostPort: frontend},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
	}
	c.Global.Membership = config.Membership{MaxJoinDuration: 10 * time.Second, BroadcastAddress: loopback}
	for i, name := range services {
		c.Services[string(name)] = config.Service{RPC: config.RPC{GRPCPort: ports[i], BindOnIP: loopback}}
	}
	c.Services[string(primitives.FrontendService)] = config.Service{RPC: config.RPC{GRPCPort: ports[0], BindOnIP: host}}
	return c
}

// startTemporal returns a running server. A fatal log message of the server becomes the error.
func startTemporal(c *config.Config, dynamic *settings, intercept grpc.UnaryServerInterceptor, logger serverLog) (temporal.Server, error) {
	hosts := map[primitives.ServiceName]static.Hosts{}
	names := make([]string, len(services))
	for i, name := range services {
		names[i] = string(name)
		rpc := c.Services[string(name)].RPC
		hosts[name] = static.SingleLocalHost(reachable(rpc.BindOnIP, rpc.GRPCPort))
	}
	nameBuild()
	var interceptors []grpc.UnaryServerInterceptor
	if intercept != nil {
		interceptors = append(interceptors, intercept)
	}
	var server temporal.Server
	err := runApart(logger, func() (err error) {
		server, err = temporal.NewServer(
			temporal.WithConfig(c),
			temporal.ForServices(names),
			temporal.WithStaticHosts(hosts),
			temporal.WithDynamicConfigClient(dynamic),
			temporal.WithLogger(logger),
			temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
			temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
			temporal.WithCustomMetricsHandler(metrics.NoopMetricsHandler),
			temporal.WithChainedFrontendGrpcInterceptors(interceptors...),
		)
		if err != nil {
			return err
		}
		return server.Start()
	})
	if err != nil {
		return nil, fmt.Errorf("start temporal server: %w", err)
	}
	return server, nil
}

// nameBuild sets the build name for every worker in this process. Otherwise the SDK computes it
// by reading the whole binary, which adds 0.3 s to every start.
var nameBuild = sync.OnceFunc(func() {
	path, err := os.Executable()
	if err != nil {
		return
	}
	if file, err := os.Stat(path); err == nil {
		worker.SetBinaryChecksum(fmt.Sprintf("%s-%d-%x", file.Name(), file.Size(), file.ModTime().UnixNano()))
	}
})

// runApart runs f in a separate goroutine, because the server's logger may end the goroutine.
func runApart(logger serverLog, f func() error) error {
	done := make(chan error, 1)
	go func() {
		err := errors.New("gave up without a reason")
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
			if fatal := logger.fatal.Load(); fatal != nil && err != nil {
				err = errors.New(*fatal)
			}
			done <- err
		}()
		err = f()
	}()
	return <-done
}
