/**
 * Complete rollouts of Advanced StatefulSets, reconcile by reconcile, in the format of the recordings
 * (`openkruise-trace.jsonl`): which pods are created, deleted and updated, and the status. Only for tests and `npm run
 * golden`.
 */
import { omitZero, defined, omitEmpty } from "@flotilla/base";
import type { AdvancedStatefulSet } from "../statefulset-kind.ts";
import { podTemplateData } from "@flotilla/kubernetes";
import type { ReadonlyPod, ReadonlyRevision } from "@flotilla/kubernetes";
import { nodeActs } from "../../testdata/node-acts.ts";
import { RECORDED_AT } from "../../testdata/read-cases.ts";
import { planStatefulSet } from "../plan-statefulset.ts";
import type { StatefulSetStatus } from "../statefulset-status.ts";
import { DEFAULT_GATES } from "../../api/feature-gates.ts";

interface Step {
  image?: string;
  replicas?: number;
  partition?: number;
  maxUnavailable?: number | string;
  paused?: boolean;
  /** The ordinal of a pod that a user deletes. */
  deletePod?: number;
  passes?: number;
}
type Pass = Record<string, unknown>;

const MAX_PASSES = 60;
const BETWEEN_PASSES_MS = 10_000;

class Trace {
  private readonly pods = new Map<string, ReadonlyPod>();
  private readonly set: AdvancedStatefulSet;
  private status: StatefulSetStatus | undefined;
  private nowMs = RECORDED_AT;
  private image = "img:1";

  constructor(set: AdvancedStatefulSet) {
    this.set = { ...structuredClone(set), apiVersion: "apps.kruise.io/v1beta1", kind: "StatefulSet" };
  }

  runStep({ image, replicas, deletePod, passes, ...strategy }: Step): Pass[] {
    if (image !== undefined) this.image = image;
    if (replicas !== undefined) this.set.spec.replicas = replicas;
    this.set.spec.updateStrategy = { ...this.set.spec.updateStrategy, rollingUpdate: { ...this.set.spec.updateStrategy?.rollingUpdate, ...strategy } };
    if (deletePod !== undefined) this.pods.delete(`demo-${deletePod}`);

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
    const updateRevision = this.revision(`demo-${this.image.slice("img:".length)}`);
    const current = this.status?.currentRevision === undefined ? updateRevision : this.revision(this.status.currentRevision);
    const set = { ...this.set, ...omitZero({ status: this.status }) };
    const revisions = Array.from({ length: 10 }, (_, index) => this.revision(`demo-${index}`));
    const plan = planStatefulSet(
      { set, pods: [...this.pods.values()], current, update: updateRevision, revisions, claimNamed: () => undefined, classNamed: () => undefined, gates: DEFAULT_GATES, nowMs: this.nowMs },
      { collisionCount: 0, labelSelector: "app=demo" },
    );

    this.status = plan.status;
    for (const pod of plan.create) this.pods.set(pod.metadata.name, pod);
    for (const { after } of plan.change) this.pods.set(after.metadata.name, after);
    for (const pod of plan.remove) this.pods.delete(pod.metadata.name);
    this.nowMs += BETWEEN_PASSES_MS;
    for (const [name, pod] of this.pods) this.pods.set(name, nodeActs(pod, this.nowMs));

    const names = (pods: readonly ReadonlyPod[]): string[] => pods.map(({ metadata }) => metadata.name).toSorted();
    const updated = names(plan.change.filter(({ isUpdatedInPlace }) => isUpdatedInPlace).map(({ pod }) => pod));
    const refreshed = names(plan.change.filter(({ isUpdatedInPlace }) => !isUpdatedInPlace).map(({ pod }) => pod));
    const { availableReplicas: available, readyReplicas: ready, currentReplicas, updatedReplicas, replicas, currentRevision } = plan.status;
    return {
      ...defined({ created: plan.create.length > 0 ? Object.fromEntries(plan.create.map(({ metadata }) => [metadata.name, metadata.labels?.["controller-revision-hash"]])) : undefined, deleted: plan.remove.length > 0 ? names(plan.remove) : undefined }), ...omitEmpty({ updatedInPlace: updated, refreshed }),
      status: { available, current: currentReplicas, currentRevision, ready, replicas, updateRevision: plan.status.updateRevision, updated: updatedReplicas },
    };
  }

  private revision(name: string): ReadonlyRevision {
    const template = this.set.spec.template;
    const containers = [{ name: "main", image: `img:${name.slice("demo-".length)}` }];
    return { apiVersion: "apps/v1", kind: "ControllerRevision", metadata: { name }, data: podTemplateData({ ...template, spec: { ...template.spec, containers } }), revision: 1 };
  }
}

/** The actions in each reconcile of each step. */
export function traceStatefulSet({ statefulSet, steps }: { statefulSet: AdvancedStatefulSet; steps: readonly Step[] }): { steps: Pass[][] } {
  const trace = new Trace(statefulSet);
  return { steps: steps.map((step) => trace.runStep(step)) };
}
