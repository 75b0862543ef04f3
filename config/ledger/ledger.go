// Package ledger keeps in Redis what all gateways of an agent know of callers: their requests,
// and the conversations that they started a moment ago. Package quota of the gateway uses it.
//
// Nothing in it matters for longer than a minute. A Redis server that loses it lets callers send
// as after a pause.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"agent-stop-and-go/workflows/contract"
)

const (
	prefix  = "agent-stop-and-go:"
	timeout = time.Second
)

// ErrURL does not contain the URL, which may hold a password.
var ErrURL = errors.New("the address of Redis must be redis://host:port or rediss://host:port")

// Redis is a ledger in Redis. It is safe for concurrent use.
type Redis struct {
	client *redis.Client
	prefix string
	lag    time.Duration
}

// Open does not wait for Redis. Ledgers of the same agent are one; conversations that were
// started are noted for the time of the lag.
func Open(url, agent string, lag time.Duration) (*Redis, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, ErrURL
	}
	o.MaxRetries, o.DialerRetries = -1, 1 // a request is taken once
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = timeout, timeout, timeout
	o.ContextTimeoutEnabled, o.DisableIdentity = true, true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return &Redis{client: redis.NewClient(o), prefix: prefix + "callers:" + contract.Hash([]byte(agent))[:16] + ":", lag: lag}, nil
}

// Close closes the connections.
func (r *Redis) Close() error { return r.client.Close() }

// key has the hash of a caller: its name is nobody's business in Redis.
func (r *Redis) key(kind, caller string) []string {
	return []string{r.prefix + kind + ":" + contract.Hash([]byte(caller))[:32]}
}

// clock is the time of the Redis server in microseconds, which all gateways share.
const clock = `
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
`

// take keeps the time until which the requests that were taken last if they are sent evenly.
var take = redis.NewScript(clock + `
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local paid = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local wait = paid - now - (burst - 1) * interval
if wait > 0 then return math.ceil(wait) end
paid = paid + interval
redis.call('SET', KEYS[1], string.format('%.0f', paid), 'PX', math.ceil((paid - now) / 1000) + 1)
return 0
`)

// Take implements Ledger of package quota.
func (r *Redis) Take(ctx context.Context, caller string, interval time.Duration, burst int) (time.Duration, error) {
	wait, err := take.Run(ctx, r.client, r.key("requests", caller), interval.Microseconds(), burst).Int64()
	return time.Duration(wait) * time.Microsecond, fault(err)
}

// begin keeps IDs with the time at which each was noted. It returns those before the ID, and
// whether that was known.
var begin = redis.NewScript(clock + `
local lag = tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - lag))
local added = redis.call('ZADD', KEYS[1], 'NX', string.format('%.0f', now), ARGV[1])
redis.call('PEXPIRE', KEYS[1], math.ceil(lag / 1000) + 1)
local before = redis.call('ZRANGE', KEYS[1], 0, redis.call('ZRANK', KEYS[1], ARGV[1]))
before[#before] = added == 0 and 'known' or 'new'
return before
`)

// Begin implements Ledger of package quota.
func (r *Redis) Begin(ctx context.Context, caller, id string) (before []string, known bool, err error) {
	list, err := begin.Run(ctx, r.client, r.key("begun", caller), id, r.lag.Microseconds()).StringSlice()
	if err != nil || len(list) == 0 {
		return nil, false, fault(err)
	}
	last := len(list) - 1
	return list[:last], list[last] == "known", nil
}

// Withdraw implements Ledger of package quota.
func (r *Redis) Withdraw(ctx context.Context, caller, id string) error {
	return fault(r.client.ZRem(ctx, r.key("begun", caller)[0], id).Err())
}

// fault returns an error without what the server says: some repeat an unknown command with the
// password.
func fault(err error) error {
	var answered redis.Error
	if errors.As(err, &answered) {
		return errors.New("Redis does not do what it was asked")
	}
	if err != nil {
		return fmt.Errorf("ask Redis: %w", err)
	}
	return nil
}
