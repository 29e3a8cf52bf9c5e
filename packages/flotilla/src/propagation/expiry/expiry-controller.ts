/**
 * Deletes templates that have finished on their members, after the time that their `ttlSecondsAfterFinished`, or the
 * field of that meaning, names. Copies do not have this field: the hub would create a deleted copy, and run it, again.
 *
 * Reads:  ResourceBinding; its Works and its resource template.
 * Writes: the deletion of the template; a Decision.
 */
import { isForbidden } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { done, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, FailureReports, Lister, Source } from "@flotilla/controller-runtime";
import { Work } from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import type { DecisionRecorder } from "../../decisions/decision-recorder.ts";
import { describeClusters } from "../../decisions/describe-clusters.ts";
import { bindingKeyOf } from "../bindings/binding-scope.ts";
import type { BindingScope } from "../bindings/binding-scope.ts";
import { defineForBindings } from "../bindings/define-for-bindings.ts";
import { RELIST_RETRY_MS } from "../templates/templates.ts";
import type { Templates } from "../templates/templates.ts";
import { canExpire, planExpiry } from "./plan-expiry.ts";

export interface ExpiryDependencies {
  scope: BindingScope;
  client: Client;
  templates: Pick<Templates, "get" | "kindOf">;
  templateChanges: Source<ObjectKey>;
  bindings: Lister<ResourceBinding>;
  worksOf(binding: DeepReadonly<ResourceBinding>): readonly DeepReadonly<Work>[];
  events: EventRecorder;
  /** Reports deletions that the server rejects, with the source `EXPIRY_EVENTS`. */
  reports: FailureReports;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
}

/** The source of the events. */
export const EXPIRY_EVENTS = "flotilla-expiry";
const REJECTED = "ExpiryFailed";
export const EXPIRY_ENDINGS = { [REJECTED]: "Its time to live does not require its deletion any longer." };
/** What protects an object may end without a change of the object. */
const REJECTED_RETRY_MS = 5 * 60_000;

export function createExpiryController(deps: ExpiryDependencies): Controller<ObjectKey> {
  const { scope, client, templates, events, reports, recorder, clock } = deps;
  return defineForBindings({
    stage: "expiry",
    scope,
    concerns: ({ spec }) => canExpire(spec.resource),
    watches: [
      { source: deps.templateChanges },
      // A member may run its copy again, or report on the latest one, without a change of its status.
      watch(Work, ({ cluster, object }) => {
        const key = bindingKeyOf(scope, cluster, object);
        const binding = key && deps.bindings.get(key);
        return key && binding && canExpire(binding.spec.resource) ? [key] : [];
      }),
    ],
    writes: [],

    async reconcile(binding, { key: { cluster }, log, signal }) {
      const { resource } = binding.spec;
      if (binding.metadata.deletionTimestamp) return done;
      const template = await templates.get(resource);
      if (template === "unknown") return { requeueAfterMs: RELIST_RETRY_MS };
      if (!template || template.metadata.deletionTimestamp || template.metadata.uid !== resource.uid) return done;
      const expiry = planExpiry(binding, template, deps.worksOf(binding), clock.now());
      const leftMs = expiry ? expiry.atMs - clock.now() : undefined;
      if (!expiry || leftMs === undefined || leftMs > 0) {
        reports.over(template, REJECTED);
        return leftMs === undefined ? done : { requeueAfterMs: leftMs };
      }

      const { uid = "", resourceVersion = "" } = template.metadata;
      const kind = await templates.kindOf(resource);
      const deletion = client
        .delete(kind, keyOf(cluster, template), {
          propagationPolicy: "Background",
          // The version respects a time that was extended in the meantime.
          preconditions: { uid, resourceVersion },
          signal,
        })
        .then(() => true as const);
      const deleted = await unlessChanged(rejectedAs(deletion));
      if (typeof deleted === "string") {
        reports.failed(
          template,
          REJECTED,
          `it has finished, and its time to live has passed, but it is not deleted: ${deleted}`,
        );
        return { requeueAfterMs: REJECTED_RETRY_MS };
      }
      if (!deleted) return { requeueAfterMs: RELIST_RETRY_MS };
      recorder?.record({
        type: "Expired",
        controller: "expiry",
        object: template,
        clusters: (binding.spec.clusters ?? []).map(({ name }) => name),
        cause: { reason: "TimeToLive", message: expiry.message },
        before: describeClusters(binding.spec.clusters),
        after: { deleted: true },
      });
      events.record(cluster, template, { type: "Normal", reason: "Expired", message: expiry.message });
      log.info("finished object deleted", { kind: resource.kind, namespace: resource.namespace, name: resource.name });
      return done;
    },
  });
}

/** The result, or why the server forbids the write: another attempt would not change that. */
async function rejectedAs<T>(write: Promise<T>): Promise<T | string> {
  try {
    return await write;
  } catch (error) {
    if (isForbidden(error)) return messageOf(error);
    throw error;
  }
}
