/**
 * The level of interpreter webhooks: user-provided servers that interpret a kind, configured by
 * ResourceInterpreterWebhookConfiguration and called with Karmada's protocol.
 *
 * For each operation the first webhook by name whose rules match is called, and only that one. A failed call throws,
 * and the previous result is kept. With `flotilla.dev/failure-policy: Ignore` a lower level is used instead, but only
 * if it has a rule for the kind: the default for unknown kinds would send an undivided copy to every member.
 */
import { parseApiVersion, writtenAtMs } from "@flotilla/apimachinery";
import type { ResourceInterpreterWebhookConfiguration } from "@flotilla/karmada";
import { compareText, equalJson } from "@flotilla/base";
import type { Clock, DeepReadonly, Log, MetricsText, Random } from "@flotilla/base";
import { knownLevels } from "../interpreter.ts";
import { OPERATIONS } from "@flotilla/kubernetes";
import type { ChangedKind, KindRules, Level } from "@flotilla/kubernetes";
import type { ConnectWebhook, ResolveService } from "@flotilla/client";
import { createHook } from "./hook.ts";
import type { FailurePolicy, GroupVersionKind, Hook } from "./hook.ts";
import { HookMetrics, writeHookMetrics } from "./hook-metrics.ts";
import { ALL_OPERATIONS, rulesOfWebhooks } from "./webhook-rules.ts";
import type { IgnoredFailures } from "./webhook-rules.ts";

/**
 * An annotation of a configuration: with `Ignore` a lower level is used when one of its webhooks fails. `Fail` is the
 * default.
 */
const FAILURE_POLICY = "flotilla.dev/failure-policy";

type Configuration = DeepReadonly<ResourceInterpreterWebhookConfiguration>;

export interface WebhookLevel extends Level {
  set(configuration: Configuration): void;
  remove(name: string): void;
  writeMetrics(text: MetricsText): void;
  /** Aborts calls in flight. */
  close(): Promise<void>;
}

export interface WebhookLevelOptions {
  clock: Clock;
  log: Log;
  random: Random;
  /** Resolves a Service of the hub; without it, and for unknown Services, DNS is used. */
  resolveService?: ResolveService;
  /** Opens connections to webhooks; over the network if unset. */
  connect?: ConnectWebhook | undefined;
  /** The lower levels that are used when a failure is ignored, in order. */
  lower?: readonly Level[];
}

/** The rules of a kind, and the webhook for each operation. */
interface Served {
  readonly kind: GroupVersionKind & { apiVersion: string };
  readonly hooks: readonly (Hook | undefined)[];
  readonly rules: KindRules | undefined;
}

/**
 * A hub with a hundred operators has some two thousand kinds. Those that were requested longest ago, such as kinds whose
 * CRD is gone, are forgotten beyond this limit: changes of their rules are not reported until they are requested again.
 */
const MAX_REMEMBERED_KINDS = 8192;

export function createWebhookLevel(options: WebhookLevelOptions): WebhookLevel {
  const { clock, log, random, resolveService, connect, lower = knownLevels } = options;
  const configurations = new Map<string, readonly Hook[]>();
  /** Keyed by webhook id, which is stable across settings changes. */
  const metrics = new Map<string, HookMetrics>();
  /** The requested kinds, the last one at the end; changes of other kinds are not reported. */
  const remembered = new Map<string, Served>();
  const listeners: ((changed: ChangedKind) => void)[] = [];
  const failing = new WeakSet<Hook>();
  /** Webhooks that are no longer configured but have calls in flight. */
  const retiring = new Set<Hook>();
  /** All webhooks in matching order. */
  let ordered: readonly Hook[] = [];

  /** Logged when it starts and when it ends, not for every call. */
  const ignored: IgnoredFailures = {
    failed(hook, error) {
      if (failing.has(hook)) return;
      failing.add(hook);
      log.warn("interpreter webhook failed, using a lower level", { webhook: hook.id, reason: error.reason, error });
    },
    answered(hook) {
      if (failing.delete(hook)) log.info("interpreter webhook recovered", { webhook: hook.id });
    },
  };

  function serve(kind: Served["kind"]): Served {
    const hooks = ALL_OPERATIONS.map((operation) => ordered.find((hook) => hook.answers(operation, kind)));
    return { kind, hooks, rules: rulesOfWebhooks(hooks, kind, lower, ignored) };
  }

  /** Failures of a webhook with its former settings say nothing about the new ones. */
  function newMetrics(id: string): HookMetrics {
    const made = new HookMetrics();
    metrics.set(id, made);
    return made;
  }

  function hooksOf({ metadata, webhooks }: Configuration, before: readonly Hook[]): Hook[] {
    const failurePolicy = failurePolicyOf(metadata, log);
    return webhooks.map((settings) => {
      // An unchanged webhook keeps its connections and its queue.
      const same = before.find((hook) => hook.failurePolicy === failurePolicy && equalJson(hook.settings, settings));
      if (same) return same;
      const id = `${metadata.name}/${settings.name}`;
      const hook = createHook(id, settings, failurePolicy, {
        clock,
        random,
        metrics: newMetrics(id),
        resolveService,
        connect,
      });
      if (hook.problem) log.warn("interpreter webhook is misconfigured", { webhook: id, error: hook.problem });
      return hook;
    });
  }

  function retire(hook: Hook): void {
    retiring.add(hook);
    void hook.retire().then(() => retiring.delete(hook));
  }

  function replace(name: string, hooks: readonly Hook[], writtenMs?: number): void {
    const known = configurations.get(name);
    const atMs = known ? undefined : writtenMs;
    const before = known ?? [];
    if (hooks.length > 0) configurations.set(name, hooks);
    else configurations.delete(name);
    ordered = [...configurations.values()].flat().sort((a, b) => compareText(a.id, b.id));
    const ids = new Set(hooks.map(({ id }) => id));
    for (const hook of before) {
      if (!hooks.includes(hook)) retire(hook);
      if (!ids.has(hook.id)) metrics.delete(hook.id);
    }
    for (const changed of refresh()) for (const listener of listeners) listener({ ...changed, atMs });
  }

  /** Resolves every requested kind again, and returns the kinds that are now handled by another webhook. */
  function refresh(): ChangedKind[] {
    const changed = new Map<string, ChangedKind>();
    for (const [key, was] of remembered) {
      const is = serve(was.kind);
      remembered.set(key, is);
      const { group, kind } = is.kind;
      if (is.hooks.some((hook, index) => hook !== was.hooks[index])) changed.set(`${group}/${kind}`, { group, kind });
    }
    return [...changed.values()];
  }

  return {
    name: "webhook",
    rulesFor(apiVersion, kind) {
      const key = `${apiVersion} ${kind}`;
      const known = remembered.get(key);
      // Which was asked last matters only when one has to go.
      if (known && remembered.size < MAX_REMEMBERED_KINDS) return known.rules;
      const served = known ?? serve({ ...parseApiVersion(apiVersion), apiVersion, kind });
      remembered.delete(key);
      remembered.set(key, served);
      if (remembered.size > MAX_REMEMBERED_KINDS) remembered.delete(remembered.keys().next().value ?? "");
      return served.rules;
    },
    ownerOf(rule, apiVersion, kind) {
      const { hooks } = serve({ ...parseApiVersion(apiVersion), apiVersion, kind });
      const hook = hooks[ALL_OPERATIONS.findIndex((operation) => OPERATIONS[operation] === rule)];
      return hook && `webhook ${hook.id}`;
    },
    onChange: (listener) => void listeners.push(listener),
    set(configuration) {
      const { name } = configuration.metadata;
      const hooks = hooksOf(configuration, configurations.get(name) ?? []);
      replace(name, hooks, writtenAtMs(configuration.metadata));
    },
    remove: (name) => replace(name, []),
    writeMetrics: (text) => writeHookMetrics(text, metrics),
    async close() {
      await Promise.all([...ordered, ...retiring].map((hook) => hook.close()));
    },
  };
}

function failurePolicyOf({ name, annotations }: Configuration["metadata"], log: Log): FailurePolicy {
  const policy = annotations?.[FAILURE_POLICY] ?? "Fail";
  if (policy !== "Fail" && policy !== "Ignore")
    log.warn("invalid failure policy of interpreter webhooks, using Fail", {
      configuration: name,
      policy,
    });
  return policy === "Ignore" ? "Ignore" : "Fail";
}
