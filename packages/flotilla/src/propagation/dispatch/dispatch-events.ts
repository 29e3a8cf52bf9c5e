/**
 * Events of dispatch on the binding and on its template, with Karmada's reasons and messages. A failure is reported
 * when it starts or changes, a success when it ends a failure. The binding's condition keeps what was reported before a
 * restart; failed override policies are only in memory.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import { messageOf, type DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { idOfKey } from "@flotilla/controller-runtime";
import type { EventRecorder } from "@flotilla/controller-runtime";
import { isRefusal } from "../bindings/refusal.ts";
import { resourceOf } from "../bindings/resource-of.ts";
import { OverrideError } from "../override/override-error.ts";
import type { DispatchFailure } from "./plan-dispatched.ts";
import type { WorksPlan } from "./plan-works.ts";

type Binding = DeepReadonly<ResourceBinding>;
type Template = DeepReadonly<KubernetesObject>;

export interface DispatchEvents {
  /** Copies cannot be made, or can be made again: the binding's condition should report it. */
  synced(key: ObjectKey, binding: Binding, failure: DispatchFailure | undefined): void;
  /** The binding's condition is up to date, or a failure ended before it was written. */
  settled(key: ObjectKey, binding: Binding, failure: DispatchFailure | undefined): void;
  /** Reports which override policies can be applied to which copies. */
  overridden(key: ObjectKey, template: Template, failures: WorksPlan["failures"]): void;
  /** Works of a binding that is being deleted cannot be deleted. */
  notCleaned(key: ObjectKey, binding: Binding, error: unknown): void;
  forget(key: ObjectKey): void;
}

interface Failing {
  /** Override policies by the message that names policy and cluster. */
  overrides: ReadonlySet<string>;
  cleanup?: string | undefined;
}

const WELL: Failing = { overrides: new Set() };

export function createDispatchEvents(events: EventRecorder): DispatchEvents {
  /** By binding; only bindings with failures. */
  const failing = new Map<string, Failing>();
  /** Reported failures of bindings whose condition is not written yet. */
  const lastSynced = new Map<string, string>();

  function note(key: ObjectKey, change: Partial<Failing>): Failing {
    const id = idOfKey(key);
    const before = failing.get(id) ?? WELL;
    const next = { ...before, ...change };
    if (next.overrides.size > 0 || next.cleanup !== undefined) failing.set(id, next);
    else failing.delete(id);
    return before;
  }

  function reportFailed({ cluster }: ObjectKey, binding: Binding, message: string): void {
    for (const object of [binding, resourceOf(binding)])
      events.record(cluster, object, { type: "Warning", reason: "SyncWorkFailed", message });
  }

  function reportSynced({ cluster, namespace, name }: ObjectKey, binding: Binding): void {
    const message = `Sync work of ${binding.kind}(${namespace ? `${namespace}/` : ""}${name}) successful.`;
    for (const object of [binding, resourceOf(binding)])
      events.record(cluster, object, { type: "Normal", reason: "SyncWorkSucceed", message });
  }

  return {
    synced(key, binding, failure) {
      const text = failure?.message ?? "";
      if (lastSynced.get(idOfKey(key)) === text) return;
      lastSynced.set(idOfKey(key), text);
      if (failure) reportFailed(key, binding, failure.message);
      else reportSynced(key, binding);
    },

    settled(key, binding, failure) {
      if (lastSynced.size === 0) return;
      const last = lastSynced.get(idOfKey(key));
      if (last && !failure) reportSynced(key, binding);
      lastSynced.delete(idOfKey(key));
    },

    overridden(key, template, failures) {
      if (failures.length === 0 && failing.size === 0) return;
      const overrides = new Set(
        failures.flatMap(({ cluster, error }) =>
          error instanceof OverrideError && error.policy ? [`Apply ${error.policy} for cluster(${cluster})`] : [],
        ),
      );
      const before = note(key, { overrides }).overrides;
      for (const text of overrides.difference(before))
        events.record(key.cluster, template, {
          type: "Warning",
          reason: "ApplyOverridePolicyFailed",
          message: `${text} failed.`,
        });
      for (const text of before.difference(overrides))
        events.record(key.cluster, template, {
          type: "Normal",
          reason: "ApplyOverridePolicySucceed",
          message: `${text} succeed.`,
        });
    },

    notCleaned(key, binding, error) {
      if (!isRefusal(error)) return;
      const message = messageOf(error);
      if (note(key, { cleanup: message }).cleanup !== message)
        events.record(key.cluster, binding, { type: "Warning", reason: "CleanupWorkFailed", message });
    },

    forget(key) {
      failing.delete(idOfKey(key));
      lastSynced.delete(idOfKey(key));
    },
  };
}
