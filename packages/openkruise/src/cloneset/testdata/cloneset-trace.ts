/**
 * Complete rollouts of CloneSets, reconcile by reconcile, in the format of the recordings (`openkruise-trace.jsonl`):
 * which pods are created, deleted, marked and updated, and the status. Only for tests and `npm run golden`.
 *
 * Between two reconciles a node acts once, as in the recording: deleted pods disappear, new ones run, images are
 * updated, and a pod is ready when all its gates are true.
 */
import { formatTime } from "@flotilla/base";
import { podTemplateData } from "@flotilla/kubernetes";
import type { ReadonlyPod, ReadonlyPodTemplate as PodTemplate, ReadonlyRevision } from "@flotilla/kubernetes";
import { markForDelete } from "../../pod/specified-delete.ts";
import { nodeActs } from "../../testdata/node-acts.ts";
import { RECORDED_AT, fromAlpha } from "../../testdata/read-cases.ts";
import type { AlphaCloneSet } from "../../testdata/read-cases.ts";
import { makePod } from "../new-pods.ts";
import { changesNothing, planScale } from "../plan-scale.ts";
import { planStatus } from "../cloneset-status.ts";
import type { CloneSetStatus } from "../cloneset-status.ts";
import { inPlaceSteps, planUpdate } from "../update.ts";
import { DEFAULT_GATES } from "../../api/feature-gates.ts";

export interface TraceStep {
  image?: string;
  replicas?: number;
  partition?: number | string;
  maxUnavailable?: number | string;
  maxSurge?: number | string;
  paused?: boolean;
  deletePod?: number;
  passes?: number;
}
type Pass = Record<string, unknown>;

const MAX_PASSES = 60;

class Trace {
  private readonly pods = new Map<number, ReadonlyPod>();
  private readonly alpha: AlphaCloneSet & { spec: { replicas?: number } };
  private status: CloneSetStatus | undefined;
  private created = 0;
  private nowMs = RECORDED_AT;
  private image = "img:1";

  constructor(alpha: AlphaCloneSet) {
    this.alpha = structuredClone(alpha);
  }

  runStep({ image, replicas, deletePod, passes, ...strategy }: TraceStep): Pass[] {
    if (image !== undefined) this.image = image;
    if (replicas !== undefined) this.alpha.spec.replicas = replicas;
    this.alpha.spec.updateStrategy = { ...this.alpha.spec.updateStrategy, ...strategy };
    if (deletePod !== undefined) this.pods.delete(deletePod);

    const seen: Pass[] = [];
    let idle = 0;
    while (seen.length < (passes ?? MAX_PASSES) && idle < 2) {
      const pass = this.runPass();
      idle = Object.keys(pass).length === 1 ? idle + 1 : 0;
      seen.push(pass);
    }
    return seen;
  }

  private runPass(): Pass {
    const pass: Pass = {};
    const cloneSet = { ...fromAlpha(this.alpha), status: this.status };
    const updateRevision = `demo-${this.image.slice(4)}`;
    const currentRevision = this.status?.currentRevision ?? updateRevision;
    const numbers = new Map([...this.pods].map(([number, pod]) => [pod.metadata.name, number]));
    const numbersOf = (pods: readonly ReadonlyPod[]): number[] => pods.map(({ metadata }) => numbers.get(metadata.name) ?? -1).toSorted((a, b) => a - b);
    const input = { cloneSet, pods: [...this.pods.values()], currentRevision, updateRevision, gates: DEFAULT_GATES, nowMs: this.nowMs };
    const replace = (pod: ReadonlyPod): void => void this.pods.set(numbers.get(pod.metadata.name) ?? -1, pod);

    const scale = planScale({ ...input, nodeOf: () => undefined });
    const revisions = [...Array<string>(scale.createCurrent).fill(currentRevision), ...Array<string>(scale.createUpdate).fill(updateRevision)];
    if (revisions.length > 0) pass["created"] = revisions.map((revision) => ({ pod: this.create(cloneSet, revision), revision }));
    if (scale.remove.length > 0) {
      pass["deleted"] = numbersOf(scale.remove);
      for (const number of numbersOf(scale.remove)) this.pods.delete(number);
    }
    if (changesNothing(scale)) {
      const update = planUpdate({ ...input, revisions: this.revisions() });
      const done = { "in-place": [] as ReadonlyPod[], recreate: [] as ReadonlyPod[], prepare: [] as ReadonlyPod[] };
      for (const { after } of update.refresh) replace(after);
      for (const action of update.actions) {
        const pod = action.do === "prepare" ? action.step.pod : action.pod;
        done[action.do].push(pod);
        if (action.do === "recreate") replace(markForDelete(pod));
        if (action.do !== "in-place") continue;
        const steps = inPlaceSteps(action.spec, input);
        replace(steps.start(steps.close(pod)).pod);
      }
      if (update.refresh.length > 0) pass["refreshed"] = numbersOf(update.refresh.map(({ pod }) => pod));
      if (done["in-place"].length > 0) pass["updatedInPlace"] = numbersOf(done["in-place"]);
      if (done.recreate.length > 0) pass["markedForDelete"] = numbersOf(done.recreate);
    }
    this.status = planStatus({ cloneSet, pods: [...this.pods.values()], revisions: { currentRevision, updateRevision, collisionCount: 0 }, labelSelector: "app=demo", failures: [], nowMs: this.nowMs });
    pass["status"] = {
      available: this.status.availableReplicas,
      currentRevision: this.status.currentRevision,
      expectedUpdated: this.status.expectedUpdatedReplicas ?? 0,
      ready: this.status.readyReplicas,
      replicas: this.status.replicas,
      updateRevision: this.status.updateRevision,
      updated: this.status.updatedReplicas,
      updatedAvailable: this.status.updatedAvailableReplicas ?? 0,
    };
    this.nowMs += 10_000;
    for (const [number, pod] of this.pods) this.pods.set(number, nodeActs(pod, this.nowMs));
    return pass;
  }

  private create(cloneSet: Parameters<typeof makePod>[0], revision: string): number {
    const number = this.created++;
    const pod = makePod(cloneSet, { revision, template: this.templateOf(revision), id: String(number) }, DEFAULT_GATES, this.nowMs);
    this.pods.set(number, { ...pod, metadata: { ...pod.metadata, creationTimestamp: formatTime(this.nowMs) } });
    return number;
  }

  /** One revision per image; there are only a handful of steps. */
  private revisions(): ReadonlyRevision[] {
    return Array.from({ length: 10 }, (_, index) => `demo-${index}`).map((name) => ({ apiVersion: "apps/v1", kind: "ControllerRevision", metadata: { name }, data: podTemplateData(this.templateOf(name)), revision: 1 }));
  }

  private templateOf(revision: string): PodTemplate {
    const image = `img:${revision.slice("demo-".length)}`;
    return { metadata: { labels: { app: "demo" } }, spec: { containers: [{ name: "main", image }] } };
  }
}

/** The actions in each reconcile of each step. */
export function traceCloneSet({ cloneSet, steps }: { cloneSet: AlphaCloneSet; steps: readonly TraceStep[] }): { steps: Pass[][] } {
  const trace = new Trace(cloneSet);
  return { steps: steps.map((step) => trace.runStep(step)) };
}
