package calls

import (
	"context"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
)

// Heartbeats lets a call see itself as a regular activity, from its start: its heartbeats reach
// the server through the activity that has joined it.
func Heartbeats() interceptor.WorkerInterceptor { return &heartbeats{} }

type heartbeats struct {
	interceptor.WorkerInterceptorBase
}

func (*heartbeats) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &inbound{interceptor.ActivityInboundInterceptorBase{Next: next}}
}

type inbound struct {
	interceptor.ActivityInboundInterceptorBase
}

func (i *inbound) Init(next interceptor.ActivityOutboundInterceptor) error {
	return i.Next.Init(&outbound{interceptor.ActivityOutboundInterceptorBase{Next: next}})
}

type outbound struct {
	interceptor.ActivityOutboundInterceptorBase
}

func (o *outbound) GetInfo(ctx context.Context) activity.Info {
	info := o.Next.GetInfo(ctx)
	if callOf(ctx) != nil {
		info.IsLocalActivity = false
	}
	return info
}

func (o *outbound) RecordHeartbeat(ctx context.Context, details ...any) {
	if c := callOf(ctx); c != nil {
		c.beat(details)
		return
	}
	o.Next.RecordHeartbeat(ctx, details...)
}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// beat passes a heartbeat on, or keeps it until somebody has joined.
func (c *call) beat(details []any) {
	c.mu.Lock()
	c.beaten, c.details = true, details
	joined := c.joined
	c.mu.Unlock()
	if joined != nil {
		activity.RecordHeartbeat(joined, details...)
	}
}

// beatThrough makes the call's heartbeats those of a regular activity.
func (c *call) beatThrough(ctx context.Context) {
	c.mu.Lock()
	c.joined = ctx
	beaten, details := c.beaten, c.details
	c.mu.Unlock()
	if beaten {
		activity.RecordHeartbeat(ctx, details...)
	}
}
