/** The rules of a kind whose operations are implemented by webhooks: each calls one webhook and reads its response. */
import type { AnyObject } from "../interpreter.ts";
import { OPERATIONS } from "@flotilla/kubernetes";
import type { Awaitable, KindRules, Level, Operation, Rule } from "@flotilla/kubernetes";
import { readPatched } from "./answer-patch.ts";
import { readComponents, readDependencies, readHealth, readReplicas, readStatus } from "./answers.ts";
import type { GroupVersionKind, Hook } from "./hook.ts";
import { FailedWebhook } from "./failed-webhook.ts";

type AskingRule<O extends Operation> = NonNullable<KindRules[(typeof OPERATIONS)[O]]>;
/** A rule whose parameters only its caller knows. */
type AnyRule = (...input: never[]) => Awaitable<unknown>;

const ASKING: { readonly [O in Operation]: (hook: Hook) => AskingRule<O> } = {
  InterpretReplica: (hook) => (object) => hook.ask({ operation: "InterpretReplica", object }, readReplicas),
  InterpretComponent: (hook) => (object) => hook.ask({ operation: "InterpretComponent", object }, readComponents),
  ReviseReplica: (hook) =>
    shareConcurrentCalls((object, replicas) =>
      hook.ask({ operation: "ReviseReplica", object, replicas }, (response) => readPatched(response, object)),
    ),
  Retain: (hook) => (object, observed) =>
    hook.ask({ operation: "Retain", object, observed }, (response) => readPatched(response, object)),
  AggregateStatus: (hook) => (object, items) =>
    hook.ask({ operation: "AggregateStatus", object, items }, (response) => readPatched(response, object)),
  InterpretStatus: (hook) => (object) => hook.ask({ operation: "InterpretStatus", object }, readStatus),
  InterpretHealth: (hook) => (object) => hook.ask({ operation: "InterpretHealth", object }, readHealth),
  InterpretDependency: (hook) => (object) => hook.ask({ operation: "InterpretDependency", object }, readDependencies),
};

/**
 * A division revises the same object for every member at the same time, and equal shares have equal copies: each number
 * is requested once, not once for each of a thousand members.
 */
function shareConcurrentCalls(
  revise: (object: AnyObject, replicas: number) => Promise<AnyObject>,
): (object: AnyObject, replicas: number) => Promise<AnyObject> {
  const inFlight = new WeakMap<AnyObject, Map<number, Promise<AnyObject>>>();
  return (object, replicas) => {
    const byReplicas = inFlight.get(object) ?? new Map<number, Promise<AnyObject>>();
    inFlight.set(object, byReplicas);
    const asked = byReplicas.get(replicas) ?? revise(object, replicas).finally(() => byReplicas.delete(replicas));
    byReplicas.set(replicas, asked);
    return asked;
  };
}

export const ALL_OPERATIONS = Object.keys(ASKING) as readonly Operation[];

/** Notified of the results of webhooks whose failures are ignored. */
export interface IgnoredFailures {
  failed(hook: Hook, error: FailedWebhook): void;
  answered(hook: Hook): void;
}

/** `hooks` are the webhooks of the kind, in the order of `ALL_OPERATIONS`. Undefined when there are none. */
export function rulesOfWebhooks(
  hooks: readonly (Hook | undefined)[],
  kind: GroupVersionKind & { apiVersion: string },
  lower: readonly Level[],
  ignored: IgnoredFailures,
): KindRules | undefined {
  const rules = ALL_OPERATIONS.flatMap((operation, index): [Rule, AnyRule][] => {
    const hook = hooks[index];
    if (!hook) return [];
    const rule = OPERATIONS[operation];
    const ask = ASKING[operation](hook);
    if (hook.failurePolicy === "Fail") return [[rule, ask]];
    return [[rule, callWithFallback(hook, ask, () => lowerRule(rule, kind, lower), ignored)]];
  });
  return rules.length === 0 ? undefined : Object.fromEntries(rules);
}

function lowerRule(
  rule: Rule,
  { apiVersion, kind }: { apiVersion: string; kind: string },
  lower: readonly Level[],
): AnyRule | undefined {
  for (const level of lower) {
    const rules = level.rulesFor(apiVersion, kind);
    const found: AnyRule | undefined = rules?.[rule];
    if (found) return found.bind(rules);
  }
  return undefined;
}

/** The webhook's result, or the result of the fallback rule if the webhook fails and there is one. */
function callWithFallback(
  hook: Hook,
  ask: AnyRule,
  otherwise: () => AnyRule | undefined,
  ignored: IgnoredFailures,
): AnyRule {
  return async (...input) => {
    try {
      const answer = await ask(...input);
      ignored.answered(hook);
      return answer;
    } catch (error) {
      const other = error instanceof FailedWebhook ? otherwise() : undefined;
      if (!(error instanceof FailedWebhook) || !other) throw error;
      ignored.failed(hook, error);
      return other(...input);
    }
  };
}
