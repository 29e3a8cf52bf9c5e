/**
 * The runs of AdvancedCronJobs, which are Jobs or BroadcastJobs: finds them, creates and deletes them, and waits until
 * a write is visible in the informers.
 */
import { controllerOf, isAlreadyExists } from "@flotilla/apimachinery";
import { invariant } from "@flotilla/base";
import { keyOf, unlessChanged } from "@flotilla/controller-runtime";
import { createExpectations } from "@flotilla/kubernetes";
import type { Owner, WorkloadDependencies } from "@flotilla/kubernetes";
import { AdvancedCronJob } from "./advancedcronjob-kind.ts";
import { runKinds } from "./run-kinds.ts";
import type { ReadonlyRun, RunKind } from "./run-kinds.ts";

const INDEX = "advanced-cron-job";

export interface Runs {
  /** How long the writes of this owner need at most to become visible; 0 if they are. */
  waitMs(owner: Owner): number;
  /** Oldest first. */
  of(kind: RunKind, owner: Owner): ReadonlyRun[];
  /** A run that exists already was created by an earlier reconcile, unless it belongs to another owner. */
  create(kind: RunKind, owner: Owner, run: ReadonlyRun, signal: AbortSignal): Promise<void>;
  delete(kind: RunKind, owner: Owner, run: ReadonlyRun, signal: AbortSignal): Promise<void>;
}

export function createRuns({ client, informers, clock }: WorkloadDependencies): Runs {
  const byKind = new Map(
    runKinds.map((kind) => {
      const informer = informers.of(kind.kind);
      informer.addIndex(INDEX, (run, cluster) => {
        const owner = controllerOf(run);
        return owner?.kind === AdvancedCronJob.kind ? [idOf({ cluster, uid: owner.uid })] : [];
      });
      return [kind, { informer, seen: createExpectations(informer, clock) }] as const;
    }),
  );
  const entryOf = (kind: RunKind) => {
    const found = byKind.get(kind);
    invariant(found, `runs cannot be of kind ${kind.type}`);
    return found;
  };

  return {
    waitMs: (owner) => Math.max(...[...byKind.values()].map(({ seen }) => seen.waitMs(owner))),
    of: (kind, owner) => entryOf(kind).informer.by(INDEX, idOf(owner)).toSorted(byAge),
    async create(kind, owner, run, signal) {
      try {
        entryOf(kind).seen.wrote(owner, await client.create(kind.kind, owner.cluster, run, { signal }));
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        const existing = await client.get(kind.kind, keyOf(owner.cluster, run), { signal });
        if (controllerOf(existing)?.uid !== owner.uid) throw error;
        entryOf(kind).seen.wrote(owner, existing);
      }
    },
    async delete(kind, owner, run, signal) {
      const { uid } = run.metadata;
      await unlessChanged(
        client.delete(kind.kind, keyOf(owner.cluster, run), {
          propagationPolicy: "Background",
          preconditions: { uid },
          signal,
        }),
      );
      entryOf(kind).seen.deleted(owner, run);
    },
  };
}

const idOf = ({ cluster, uid }: Owner): string => `${cluster}/${uid}`;

/** Creation times have seconds; the names of runs contain their scheduled times. */
function byAge({ metadata: a }: ReadonlyRun, { metadata: b }: ReadonlyRun): number {
  const [left, right] = [`${a.creationTimestamp ?? ""}/${a.name}`, `${b.creationTimestamp ?? ""}/${b.name}`];
  return left < right ? -1 : 1;
}
