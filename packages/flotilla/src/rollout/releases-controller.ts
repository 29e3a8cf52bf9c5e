/**
 * Releases records what is released: one FleetRollout for each revision of a template that a RolloutStrategy selects or a
 * Rollout leads.
 *
 * Reads: ResourceBinding, its template, RolloutStrategy, Rollout, FleetRollout.
 * Writes: FleetRollouts, all of it but the status; deletes those that are too old.
 * Before: match makes the binding. After: the rollout controller carries the release out, and dispatch follows it.
 */
import { ApiError, isAlreadyExists } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { done, keyOf, REPORT_AGAIN_MS, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, FailureReports, Lister, Source } from "@flotilla/controller-runtime";
import type { ResourceBinding } from "@flotilla/karmada";
import { Rollout as KruiseRollout } from "@flotilla/openkruise";
import { RELIST_RETRY_MS } from "../propagation/templates/templates.ts";
import type { Templates } from "../propagation/templates/templates.ts";
import { namespacedScope } from "../propagation/bindings/binding-scope.ts";
import { defineForBindings } from "../propagation/bindings/define-for-bindings.ts";
import { FleetRollout } from "./kinds/fleet-rollout.ts";
import { RolloutStrategy } from "./kinds/rollout-strategy.ts";
import { bindingsOfLead } from "./kruise/lead-keys.ts";
import { planReleases } from "./plan/plan-releases.ts";
import { bindingKeyOfRollout, isReleasable } from "./release-index.ts";
import { RECORD_FAILED } from "./report-release.ts";
import type { ReleaseIndex } from "./release-index.ts";

/** The source of the events about releases that cannot be recorded. */
export const RELEASES_EVENTS = "flotilla-releases";
export const RELEASE_ENDINGS = {
  [RECORD_FAILED]: "No change of the template waits to be recorded as a release.",
};

export interface ReleasesDependencies {
  hub: string;
  client: Client;
  bindings: Lister<ResourceBinding>;
  templates: Pick<Templates, "get">;
  templateChanges: Source<ObjectKey>;
  index: ReleaseIndex;
  /** With the source `RELEASES_EVENTS`. */
  failures: FailureReports;
}

export function createReleasesController(deps: ReleasesDependencies): Controller<ObjectKey> {
  const { hub, client, bindings, templates, index, failures } = deps;
  const fail = (template: DeepReadonly<KubernetesObject>, cause: string): void =>
    void failures.failed(template, RECORD_FAILED, `the change of the template is not released: ${cause}`);
  return defineForBindings({
    stage: "releases",
    scope: namespacedScope,
    concerns: ({ spec }) => index.mayHaveReleases(spec.resource),
    watches: [
      { source: deps.templateChanges },
      // A strategy may select any template of its namespace.
      watch(RolloutStrategy, ({ cluster, object }) =>
        bindings.list({ cluster, namespace: object.metadata.namespace }).map((binding) => keyOf(cluster, binding)),
      ),
      watch(KruiseRollout, ({ cluster, object, old, deleted }) =>
        bindingsOfLead(cluster, object, deleted ? undefined : old),
      ),
      watch(FleetRollout, ({ cluster, object, old, deleted }) =>
        deleted || !old || old.status?.phase !== object.status?.phase ? [bindingKeyOfRollout(cluster, object)] : [],
      ),
    ],
    writes: [FleetRollout],
    concurrency: 32,

    async reconcile(binding, { log, signal }) {
      if (binding.metadata.deletionTimestamp) return done;
      const template = await templates.get(binding.spec.resource);
      if (template === "unknown") return { requeueAfterMs: RELIST_RETRY_MS };
      if (!template || template.metadata.uid !== binding.spec.resource.uid) return done;
      if (!isReleasable(template)) {
        failures.over(template, RECORD_FAILED);
        return done;
      }
      const all = index.allOf(template);
      const { create, held, remove } = planReleases(
        template,
        index.strategyOf(template),
        index.rolloutsOf(template),
        all[0]?.spec.number ?? 0,
        index.leadOf(template),
      );
      if (held !== undefined) {
        fail(template, held);
        // The event is what commands know of it, and they ignore old ones.
        return { requeueAfterMs: REPORT_AGAIN_MS };
      }
      if (create) {
        try {
          await client.create(FleetRollout, hub, create, { signal });
          log.info("release recorded", { rollout: create.metadata.name, revision: create.spec.revision });
        } catch (error) {
          // Its event enqueues the key again.
          if (!isAlreadyExists(error)) {
            // Until it is recorded members keep what they have, which nothing else shows.
            if (error instanceof ApiError && !signal.aborted) fail(template, error.message);
            throw error;
          }
        }
      }
      failures.over(template, RECORD_FAILED);
      for (const rollout of remove) await unlessChanged(client.delete(FleetRollout, keyOf(hub, rollout), { signal }));
      return done;
    },
  });
}
