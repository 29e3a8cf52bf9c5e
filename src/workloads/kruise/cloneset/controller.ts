/**
 * CloneSet: OpenKruise's workload for stateless applications, with in-place updates, a partition and chosen deletions.
 *
 * Reads:  CloneSet, its pods and ControllerRevisions, Node (topology of victims).
 * Writes: Pod, ControllerRevision, CloneSet (status; `podsToDelete` is emptied as upstream empties it).
 * One pass is scale, or else update, then status; every decision is made by the planners beside this file.
 */
import { CloneSet, ControllerRevision, Node, Pod } from "../../../api/index.ts";
import { equalJson, messageOf } from "../../../base/index.ts";
import type { ObjectKey } from "../../../client/index.ts";
import { formatLabelSelector, isAlreadyExists, matchesLabels } from "../../../machinery/index.ts";
import { defineController, done, idOfKey, keyOf, owned } from "../../../runtime/index.ts";
import type { Controller, Result } from "../../../runtime/index.ts";
import { STATUS_DELAY_MS } from "../../dependencies.ts";
import type { WorkloadDependencies } from "../../dependencies.ts";
import { createExpectations } from "../../expectations.ts";
import type { Owner } from "../../expectations.ts";
import { isActive, nextAvailableInMs } from "../../kubernetes/pod.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { unlessChanged } from "../../optimistic.ts";
import { ownedBy } from "../../ownership.ts";
import { selectorOf } from "../../selector.ts";
import { createStatusDelay } from "../../status-delay.ts";
import { REVISION_LABEL, shortHash } from "./names.ts";
import { createPodWriter } from "./pod-writer.ts";
import type { ReadonlyCloneSet } from "./pod-state.ts";
import { planHistory, planRevisions, templateOf } from "./revisions.ts";
import type { PodTemplate, ReadonlyRevision, RevisionPlan } from "./revisions.ts";
import { changesNothing, planScale } from "./scale.ts";
import { EMPTY_STATUS, deadlineInMs, planStatus } from "./status.ts";
import type { CloneSetStatus, StatusInput } from "./status.ts";
import { changesPods, planUpdate } from "./update.ts";

/** Everything that one pass looks at. */
interface View {
  cloneSet: ReadonlyCloneSet;
  key: ObjectKey;
  owner: Owner;
  /** Every pod of the CloneSet, and those that count. */
  pods: readonly ReadonlyPod[];
  active: readonly ReadonlyPod[];
  revisions: readonly ReadonlyRevision[];
  plan: RevisionPlan;
  signal: AbortSignal;
}
type Failures = StatusInput["failures"];

export function createCloneSetController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock, random } = deps;
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const revisions = informers.of(ControllerRevision);
  const podsSeen = createExpectations(pods, clock);
  const revisionsSeen = createExpectations(revisions, clock);
  // An old status would name an old current revision, and pods would be made from it.
  const statusSeen = createExpectations(informers.of(CloneSet), clock);
  const statusDelay = createStatusDelay(clock, deps.statusDelayMs ?? STATUS_DELAY_MS);
  const writer = createPodWriter({ client, expectations: podsSeen, clock, random });

  return defineController({
    name: "cloneset",
    for: CloneSet,
    watches: [owned(Pod), owned(ControllerRevision)],
    writes: [Pod, ControllerRevision, CloneSet],

    async reconcile(cloneSet, { key, log, signal }) {
      // The server's garbage collection removes the pods and revisions of a CloneSet that goes.
      if (cloneSet.metadata.deletionTimestamp) return done;
      const owner = { cluster: key.cluster, uid: cloneSet.metadata.uid ?? "" };
      const waitMs = Math.max(podsSeen.waitMs(owner), revisionsSeen.waitMs(owner), statusSeen.waitMs(owner));
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const all = ownedBy(pods, key.cluster, owner.uid);
      const selector = selectorOf(cloneSet);
      const strangers = all.filter((pod) => !pod.metadata.deletionTimestamp && !matchesLabels(selector, pod.metadata.labels));
      if (strangers.length > 0) {
        await writer.release(owner, strangers, signal);
        return done;
      }
      const known = ownedBy(revisions, key.cluster, owner.uid);
      const view: View = { cloneSet, key, owner, pods: all, active: all.filter(isActive), revisions: known, plan: planRevisions(cloneSet, known), signal };
      if (view.plan.write) {
        await writeRevision(view);
        return done; // The revision, or the status, brings this CloneSet back.
      }
      const { failures, changed } = await runPass(view);
      if (changed) log.debug("pods changed", { revision: view.plan.update.metadata.name });
      if (changed && failures.length === 0) return done; // The pods' own changes bring this CloneSet back.
      return settle(view, failures);
    },
    forget: (key) => statusDelay.settled(idOfKey(key)),
  });

  async function writeRevision({ cloneSet, owner, plan: { update, write, collisionCount }, signal }: View): Promise<void> {
    try {
      const written = write === "create" ? await client.create(ControllerRevision, owner.cluster, update, { signal }) : await unlessChanged(client.update(ControllerRevision, owner.cluster, update, { signal }));
      if (written) revisionsSeen.wrote(owner, written);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // Somebody else has a revision of this name; the next try has another hash.
      await writeStatus(cloneSet, owner, { ...(cloneSet.status ?? EMPTY_STATUS), collisionCount: collisionCount + 1 }, signal);
    }
  }

  async function writeStatus(cloneSet: ReadonlyCloneSet, owner: Owner, status: CloneSetStatus, signal: AbortSignal): Promise<void> {
    const written = await unlessChanged(client.updateStatus(CloneSet, owner.cluster, { ...cloneSet, status }, { signal }));
    if (written) statusSeen.wrote(owner, written);
  }

  /** Scale, or else update. */
  async function runPass({ cloneSet, owner, pods: all, active, revisions: known, plan, signal }: View): Promise<{ failures: Failures; changed: boolean }> {
    const updateRevision = plan.update.metadata.name;
    const input = { cloneSet, pods: active, updateRevision, nodeOf: (name: string) => nodes.get({ cluster: owner.cluster, name }), nowMs: clock.now() };
    const scale = planScale(input);
    if (!changesNothing(scale)) {
      const failures = await failuresOf("FailedScale", writer.scale(owner, cloneSet, scale, plan, all, signal));
      return { failures, changed: true };
    }
    const templateByHash = (hash: string): PodTemplate | undefined => {
      const revision = known.find(({ metadata }) => shortHash(metadata.name) === hash);
      return revision && templateOf(revision);
    };
    const planned = planUpdate({ ...input, updateTemplate: templateOf(plan.update), templateByHash });
    // A pod without a node gains nothing from an open gate, and placement is about to write it: both at once would collide.
    const update = { ...planned, refresh: planned.refresh.filter(({ pod }) => pod.spec.nodeName) };
    const failures = await failuresOf("FailedUpdate", writer.update(owner, update, updateRevision, signal));
    const refusal: Failures = update.failure ? [{ type: "FailedUpdate", message: update.failure }] : [];
    return { failures: [...failures, ...refusal], changed: changesPods(update) };
  }

  /** Status, and what may follow once it is right: `podsToDelete` and history. */
  async function settle(view: View, failures: Failures): Promise<Result> {
    const { cloneSet, key, active, plan, signal } = view;
    const nowMs = clock.now();
    const names = { currentRevision: plan.current.metadata.name, updateRevision: plan.update.metadata.name, collisionCount: plan.collisionCount };
    const status = planStatus({ cloneSet, pods: active, revisions: names, labelSelector: formatLabelSelector(selectorOf(cloneSet)), failures, nowMs });
    if (!equalJson(status, cloneSet.status)) {
      const waitMs = statusDelay.waitMs(idOfKey(key));
      if (waitMs > 0 && failures.length === 0) return { requeueAfterMs: waitMs };
      await writeStatus(cloneSet, view.owner, status, signal);
      statusDelay.settled(idOfKey(key));
    } else {
      statusDelay.settled(idOfKey(key));
      await dropFinished(view);
      await pruneHistory(view);
    }
    // Thrown after the status tells of it, so that the pass is tried again with back-off.
    const failed = failures.find(({ cause }) => cause !== undefined);
    if (failed) throw failed.cause;
    const waits = [nextAvailableInMs(active, cloneSet.spec.minReadySeconds ?? 0, nowMs), deadlineInMs(cloneSet, status, nowMs)].filter((wait) => wait !== undefined);
    return waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : done;
  }

  /** Names of pods that are gone leave `podsToDelete`, or a later pod of that name would be deleted too. */
  async function dropFinished({ cloneSet, active, key, signal }: View): Promise<void> {
    const { podsToDelete: named = [], ...scaleStrategy } = cloneSet.spec.scaleStrategy ?? {};
    const left = named.filter((name) => active.some(({ metadata }) => metadata.name === name));
    if (left.length === named.length) return;
    const spec = { ...cloneSet.spec, scaleStrategy: left.length > 0 ? { ...scaleStrategy, podsToDelete: left } : scaleStrategy };
    await unlessChanged(client.update(CloneSet, key.cluster, { ...cloneSet, spec }, { signal }));
  }

  async function pruneHistory({ cloneSet, active, revisions: known, plan, key, signal }: View): Promise<void> {
    const used = [plan.current.metadata.name, plan.update.metadata.name, ...active.map(({ metadata }) => metadata.labels?.[REVISION_LABEL] ?? "")];
    const hashes = new Set(used.map(shortHash));
    for (const revision of planHistory(cloneSet, known, (name) => hashes.has(shortHash(name)))) {
      await unlessChanged(client.delete(ControllerRevision, keyOf(key.cluster, revision), { preconditions: { uid: revision.metadata.uid ?? "" }, signal }));
    }
  }
}

/** A failed pass is told in the status first and thrown afterwards, so it is a value until then. */
async function failuresOf(type: "FailedScale" | "FailedUpdate", writes: Promise<void>): Promise<Failures> {
  try {
    await writes;
    return [];
  } catch (error) {
    return [{ type, message: messageOf(error), cause: error }];
  }
}
