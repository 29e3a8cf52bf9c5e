/**
 * The level of interpreter webhooks: servers of users' own that say what a kind means, configured by
 * ResourceInterpreterWebhookConfiguration and asked with Karmada's protocol.
 *
 * For each operation the first webhook by name whose rules match is asked, and only that one. A call that fails throws,
 * and what was decided before stays. Where the configuration says `flotilla.dev/failure-policy: Ignore`, a lower level
 * answers instead, but only with a rule for the kind: what holds for kinds that nobody knows would send an undivided
 * copy to every member.
 */
import { parseApiVersion } from "../../api/index.ts";
import type { ResourceInterpreterWebhookConfiguration } from "../../api/index.ts";
import { compareText, equalJson } from "../../base/index.ts";
import type { Clock, DeepReadonly, Log, MetricsText, Random } from "../../base/index.ts";
import { knownLevels } from "../interpreter.ts";
import type { ChangedKind, KindRules, Level } from "../level.ts";
import type { ResolveService } from "./endpoint.ts";
import { createHook } from "./hook.ts";
import type { FailurePolicy, GroupVersionKind, Hook } from "./hook.ts";
import { HookMetrics, writeHookMetrics } from "./hook-metrics.ts";
import { ALL_OPERATIONS, rulesAsking } from "./rules.ts";
import type { IgnoredFailures } from "./rules.ts";

/**
 * An annotation of a configuration: `Ignore` lets a lower level answer when a webhook of it fails. `Fail` is the
 * default.
 */
const FAILURE_POLICY = "flotilla.dev/failure-policy";

type Configuration = DeepReadonly<ResourceInterpreterWebhookConfiguration>;

export interface WebhookLevel extends Level {
  set(configuration: Configuration): void;
  remove(name: string): void;
  writeMetrics(text: MetricsText): void;
  /** Ends the calls that are under way. */
  close(): Promise<void>;
}

export interface WebhookLevelOptions {
  clock: Clock;
  log: Log;
  random: Random;
  /** Where a Service of the hub listens; without it, and for Services that it does not know, DNS is asked. */
  resolveService?: ResolveService;
  /** Who answers where a failure is to be ignored, in their order. */
  lower?: readonly Level[];
}

/** The rules of a kind, and whom they ask for each operation. */
interface Served {
  readonly kind: GroupVersionKind & { apiVersion: string };
  readonly hooks: readonly (Hook | undefined)[];
  readonly rules: KindRules | undefined;
}

/**
 * A hub with a hundred operators has some two thousand. Kinds beyond these are searched each time, and changes of their
 * rules are not told.
 */
const MAX_REMEMBERED_KINDS = 8192;

export function createWebhookLevel({
  clock,
  log,
  random,
  resolveService,
  lower = knownLevels,
}: WebhookLevelOptions): WebhookLevel {
  const configurations = new Map<string, readonly Hook[]>();
  /** Of webhooks by their id, which outlives a change of their settings. */
  const metrics = new Map<string, HookMetrics>();
  /** The kinds that somebody asked for; a change of others concerns nobody. */
  const remembered = new Map<string, Served>();
  const listeners: ((changed: ChangedKind) => void)[] = [];
  const failing = new WeakSet<Hook>();
  /** Webhooks that are no longer configured and still have calls under way. */
  const retiring = new Set<Hook>();
  /** All webhooks in the order in which they are considered. */
  let ordered: readonly Hook[] = [];

  /** Told when it begins and when it ends, not with every call. */
  const ignored: IgnoredFailures = {
    failed(hook, error) {
      if (failing.has(hook)) return;
      failing.add(hook);
      log.warn("interpreter webhook fails, a lower level answers", { webhook: hook.id, reason: error.reason, error });
    },
    answered(hook) {
      if (failing.delete(hook)) log.info("interpreter webhook answers again", { webhook: hook.id });
    },
  };

  function serve(kind: Served["kind"]): Served {
    const hooks = ALL_OPERATIONS.map((operation) => ordered.find((hook) => hook.answers(operation, kind)));
    return { kind, hooks, rules: rulesAsking(hooks, kind, lower, ignored) };
  }

  function metricsOf(id: string): HookMetrics {
    const found = metrics.get(id) ?? new HookMetrics();
    metrics.set(id, found);
    return found;
  }

  function hooksOf({ metadata, webhooks }: Configuration, before: readonly Hook[]): Hook[] {
    const failurePolicy = failurePolicyOf(metadata, log);
    return webhooks.map((settings) => {
      // A webhook that stays as it is keeps its connections and its turns.
      const same = before.find((hook) => hook.failurePolicy === failurePolicy && equalJson(hook.settings, settings));
      if (same) return same;
      const id = `${metadata.name}/${settings.name}`;
      const hook = createHook(id, settings, failurePolicy, {
        clock,
        random,
        metrics: metricsOf(id),
        ...(resolveService && { resolveService }),
      });
      if (hook.problem)
        log.warn("interpreter webhook cannot be called as it is configured", { webhook: id, error: hook.problem });
      return hook;
    });
  }

  function retire(hook: Hook): void {
    retiring.add(hook);
    void hook.retire().then(() => retiring.delete(hook));
  }

  function replace(name: string, hooks: readonly Hook[]): void {
    const before = configurations.get(name) ?? [];
    if (hooks.length > 0) configurations.set(name, hooks);
    else configurations.delete(name);
    ordered = [...configurations.values()].flat().sort((a, b) => compareText(a.id, b.id));
    const ids = new Set(hooks.map(({ id }) => id));
    for (const hook of before) {
      if (!hooks.includes(hook)) retire(hook);
      if (!ids.has(hook.id)) metrics.delete(hook.id);
    }
    for (const changed of refresh()) for (const listener of listeners) listener(changed);
  }

  /** Looks again at every kind that was asked for, and returns those for which somebody else is asked now. */
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
      let served = remembered.get(key);
      if (!served) {
        served = serve({ ...parseApiVersion(apiVersion), apiVersion, kind });
        if (remembered.size < MAX_REMEMBERED_KINDS) remembered.set(key, served);
      }
      return served.rules;
    },
    onChange: (listener) => void listeners.push(listener),
    set(configuration) {
      const { name } = configuration.metadata;
      replace(name, hooksOf(configuration, configurations.get(name) ?? []));
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
    log.warn("failure policy of interpreter webhooks is neither Fail nor Ignore, so it is Fail", {
      configuration: name,
      policy,
    });
  return policy === "Ignore" ? "Ignore" : "Fail";
}
