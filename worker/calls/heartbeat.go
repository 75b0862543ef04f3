package calls

import (
	"context"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
)

// Heartbeats makes a call appear as a regular activity to its own code: its heartbeats reach
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

// beat forwards a heartbeat, or keeps it until an activity has joined.
func (c *call) beat(details []any) {
	c.mu.Lock()
	c.beaten, c.details = true, details
	joined := c.joined
	c.mu.Unlock()
	if joined != nil {
		activity.RecordHeartbeat(joined, details...)
	}
}

// beatThrough sends the call's heartbeats through a regular activity until stop is called.
func (c *call) beatThrough(ctx context.Context) (stop func()) {
	c.mu.Lock()
	c.joined = ctx
	beaten, details := c.beaten, c.details
	c.mu.Unlock()
	if beaten {
		activity.RecordHeartbeat(ctx, details...)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.joined = nil
	}
}
