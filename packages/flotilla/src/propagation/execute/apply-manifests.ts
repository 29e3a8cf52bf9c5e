/** Applies the manifests of one Work on its member, one after the other, and releases those that opted out. */
import { findCondition } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { APPLIED_CLUSTER_OVERRIDES, APPLIED_OVERRIDES, TEMPLATE_GENERATION, TEMPLATE_UID } from "@flotilla/karmada";
import type { Work } from "@flotilla/karmada";
import { keyOf } from "@flotilla/controller-runtime";
import { KEPT_TEMPLATE } from "@flotilla/openkruise";
import type { DeepReadonly } from "@flotilla/base";
import { marks } from "../../delivery/marks-ownership.ts";
import { obstacleOf } from "../../delivery/obstacles.ts";
import type { Delivery } from "../../delivery/delivery.ts";
import type { Ask, Oscillations, RuleResult } from "../../delivery/oscillations.ts";
import { NAMESPACE_LABEL, RELEASE_STEP, REQUEST } from "../../flotilla-names.ts";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { servesAsItIs } from "../members/foreign-copies.ts";
import { withoutDonePods } from "../pods-to-delete/member-pods.ts";
import { requestOfStep } from "../works/request-digest.ts";
import { manifestsOf, refOf } from "../members/member-objects.ts";
import type { MemberObjects } from "../members/member-objects.ts";
import { isUnmanaged, ownerOf, planApplyPolicy } from "./apply-policy.ts";
import type { AutoscaledWorks } from "./autoscaled-works.ts";
import { keptImages } from "./kept-images.ts";
import type { Attempt } from "./plan-applied.ts";
import {
  exceededRelease,
  refuseWiderCreation,
  ReleaseStoppedError,
  renderExceeded,
  withStageOf,
} from "./release-limit.ts";

type Manifest = DeepReadonly<KubernetesObject>;

export interface ManifestAttempt {
  kind: string;
  name: string;
  repairs: boolean;
  servesAsItIs: boolean;
  /** The images that a user's rule keeps from the member, with the rule. */
  keptImages?: string | undefined;
  attempt: Attempt;
}

interface WorkDelivery {
  work: DeepReadonly<Work>;
  cluster: string;
  /** Throws while the member has not joined. */
  delivery(): Delivery;
  beforeRequest(): void;
  signal: AbortSignal;
}

export interface ApplyManifestsOptions {
  hub: string;
  oscillations: Pick<Oscillations, "guard">;
  memberObjects: MemberObjects;
  interpreter: Pick<Interpreter, "retain" | "ownerOf">;
  autoscaledWorks: AutoscaledWorks;
}

/**
 * What users wrote: the template, its placement and the override policies that change it, what they ask of its release,
 * or a Work of their own.
 */
function askOf({ metadata }: DeepReadonly<Work>, { metadata: { annotations = {} } }: Manifest): Ask {
  const { [TEMPLATE_UID]: template, [TEMPLATE_GENERATION]: generation, [RELEASE_STEP]: step } = annotations;
  const isOurs = template !== undefined || metadata.labels?.[NAMESPACE_LABEL] !== undefined;
  if (!isOurs) return { id: String(metadata.generation), text: `the Work (generation ${metadata.generation})` };
  const request = metadata.annotations?.[REQUEST];
  const release = requestOfStep(step);
  const version = generation === undefined || generation === "0" ? request : `generation ${generation}`;
  return {
    id: [
      template,
      generation,
      request,
      release,
      metadata.annotations?.[APPLIED_OVERRIDES],
      metadata.annotations?.[APPLIED_CLUSTER_OVERRIDES],
    ].join(" "),
    text: `the template${version === undefined ? "" : ` (${version})`}, ${release === undefined ? "" : "its release, "}a policy or a rule`,
  };
}

export type ApplyManifests = (task: WorkDelivery) => Promise<ManifestAttempt[]>;

export function createApplyManifests(options: ApplyManifestsOptions): ApplyManifests {
  const { hub, oscillations, memberObjects, interpreter, autoscaledWorks } = options;

  /** Releases an object that carries our marks, as far as known; an object without them is already not ours. */
  async function release({ work, delivery, beforeRequest, signal }: WorkDelivery, manifest: Manifest): Promise<void> {
    const ref = refOf(manifest);
    if (memberObjects.isFresh(work, ref) && !memberObjects.isDelivered(work, ref)) return;
    const ownership = marks({ owner: ownerOf(work) });
    await delivery().remove(ref, { mode: "release", ownership, mayReturn: true, beforeRequest }, signal);
  }

  /**
   * Throws when the rule would let a release reach more pods than the Work asks for. `onRule` receives the result of a
   * user's rule.
   */
  async function retain(
    desired: Manifest,
    observed: Manifest,
    onRule: (result: RuleResult) => void,
  ): Promise<Manifest> {
    const retained = await interpreter.retain(desired, observed);
    const owner = retained === desired ? undefined : interpreter.ownerOf("retain", desired);
    const exceeded = owner === undefined ? undefined : exceededRelease(desired, retained, observed);
    if (exceeded) throw new ReleaseStoppedError(renderExceeded(exceeded, owner ?? ""));
    if (owner !== undefined) onRule({ owner, manifest: desired, retained });
    return withoutDonePods(withStageOf(desired, retained, observed), observed);
  }

  async function applyOne(task: WorkDelivery, manifest: Manifest): Promise<ManifestAttempt> {
    const { work, cluster, delivery, beforeRequest, signal } = task;
    const policy = planApplyPolicy(work, manifest, autoscaledWorks.has(work.metadata.namespace ?? "", manifest));
    const reported = (attempt: Attempt): ManifestAttempt => ({
      kind: manifest.kind,
      name: manifest.metadata.name,
      repairs: policy.drift === "repair",
      servesAsItIs: servesAsItIs(manifest),
      attempt,
    });
    try {
      if (isUnmanaged(manifest, cluster)) {
        await release(task, manifest);
        return reported({ result: "unmanaged" });
      }
      const ref = refOf(manifest);
      const isAbsent = memberObjects.isFresh(work, ref) && !memberObjects.get(work, ref);
      const guard = oscillations.guard({
        work: keyOf(hub, work),
        cluster,
        object: manifest,
        ask: askOf(work, manifest),
        applied: findCondition(work.status?.conditions, "Applied"),
      });
      let rule: RuleResult | undefined;
      const outcome = await delivery().apply(
        isAbsent ? withoutDonePods(manifest, undefined) : manifest,
        {
          ...policy,
          isFirst: work.status === undefined,
          beforeRequest,
          retain: (desired, observed) => retain(desired, observed, (result) => (rule = result)),
          beforeChange: (applied, observed) => guard.beforeChange(applied, observed, rule),
          // The first copy of a member is made for a member without pods.
          beforeCreate:
            work.status === undefined
              ? undefined
              : () => refuseWiderCreation(manifest, work.metadata.annotations?.[KEPT_TEMPLATE]),
        },
        signal,
      );
      guard.afterwards();
      const kept = rule && keptImages(rule.manifest, rule.retained);
      return {
        ...reported(outcome),
        keptImages:
          kept === undefined ? undefined : `the Retain rule of ${rule?.owner} keeps images of the member: ${kept}`,
      };
    } catch (error) {
      return reported({ result: "failed", error });
    }
  }

  return async (task) => {
    const attempts: ManifestAttempt[] = [];
    for (const manifest of manifestsOf(task.work)) {
      const attempted = await applyOne(task, manifest);
      attempts.push(attempted);
      const { attempt } = attempted;
      // The rest of the Work would fail in the same manner.
      if (attempt.result === "failed" && ["busy", "unreachable"].includes(obstacleOf(attempt.error))) break;
    }
    return attempts;
  };
}
