package policy

import (
	"sync"
	_ "time/tzdata" // time zones of conditions, on machines without a database of them

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"
)

// maxCost bounds the evaluation of one condition, in CEL's units: a comparison costs about 3. A
// condition that costs more asks.
const maxCost = 100_000

// maxDepth bounds the nesting of a condition.
const maxDepth = 50

// The types of variables with members. No condition can name them: a type args.order would hide
// the member order of args.
const (
	typeAnnotations = "$annotations"
	typeCaller      = "$caller"
	typeUsage       = "$usage"
	typeEarlier     = "$earlier"
	typeArguments   = "$args"
)

// objects are the members of types, by the type's name.
type objects map[string]map[string]*types.Type

func baseObjects() objects {
	return objects{
		typeAnnotations: {"read_only": cel.BoolType, "destructive": cel.BoolType, "idempotent": cel.BoolType},
		typeCaller: {
			"subject": cel.StringType, "issuer": cel.StringType, "channel": cel.StringType,
			"groups": cel.ListType(cel.StringType), "scopes": cel.ListType(cel.StringType),
		},
		typeUsage:   {"input_tokens": cel.IntType, "output_tokens": cel.IntType, "calls": cel.IntType, "cost": cel.DoubleType},
		typeEarlier: {"tool": cel.StringType, "failed": cel.BoolType},
	}
}

// environment returns the language of conditions with the given type of args, and what more
// declares.
func environment(o objects, args *types.Type, more ...cel.EnvOption) (*cel.Env, error) {
	return cel.NewEnv(append([]cel.EnvOption{
		cel.Variable("tool", cel.StringType),
		cel.Variable("server", cel.StringType),
		cel.Variable("node", cel.StringType),
		cel.Variable("args", args),
		cel.Variable("annotations", cel.ObjectType(typeAnnotations)),
		cel.Variable("caller", cel.ObjectType(typeCaller)),
		cel.Variable("chain", cel.ListType(cel.StringType)),
		cel.Variable("usage", cel.ObjectType(typeUsage)),
		cel.Variable("time", cel.TimestampType),
		cel.Variable("before", cel.ListType(cel.ObjectType(typeEarlier))),
		cel.Variable("reply", cel.ListType(cel.ObjectType(typeEarlier))),
		cel.OptionalTypes(), ext.Strings(), ext.Sets(), ext.Math(),
		cel.CrossTypeNumericComparisons(true), cel.DefaultUTCTimeZone(true), cel.EnableMacroCallTracking(),
		cel.ParserRecursionLimit(maxDepth),
		func(e *cel.Env) (*cel.Env, error) { // last: others register types at the provider
			return cel.CustomTypeProvider(provider{e.CELTypeProvider(), o})(e)
		},
	}, more...)...)
}

// untyped is the language in which conditions without facts of servers are evaluated: args may be
// anything.
var untyped = sync.OnceValues(func() (*cel.Env, error) { return environment(baseObjects(), cel.DynType) })

// provider knows the members of objects, whose values are maps.
type provider struct {
	types.Provider
	objects objects
}

func (p provider) FindStructType(name string) (*types.Type, bool) {
	if _, ok := p.objects[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

func (p provider) FindStructFieldNames(name string) ([]string, bool) {
	if fields, ok := p.objects[name]; ok {
		return sortedKeys(fields), true
	}
	return p.Provider.FindStructFieldNames(name)
}

func (p provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	fields, ok := p.objects[name]
	if !ok {
		return p.Provider.FindStructFieldType(name, field)
	}
	t, ok := fields[field]
	if !ok {
		return nil, false
	}
	return &types.FieldType{
		Type:    t,
		IsSet:   func(target any) bool { _, ok := member(target, field); return ok },
		GetFrom: func(target any) (any, error) { return memberOr(target, field) },
	}, true
}
