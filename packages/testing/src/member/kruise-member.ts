/** A test member that runs every workload controller, with OpenKruise installed, and helpers for the CloneSet `web`. */
import { CloneSet, containerHashes, createFeatureGates, createKruiseAdmissions } from "@flotilla/openkruise";
import { Pod } from "@flotilla/kubernetes";
import type { PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { standardStorageClass } from "@flotilla/simulation";
import type { EventRecorders } from "@flotilla/controller-runtime";
import { createKindAdmissions, createWorkloadControllers } from "@flotilla/server";
import { MEMBER, NAMESPACE, startTestMember } from "./member.ts";
import type { TestMember, TestMemberOptions } from "./member.ts";

type Spec = CloneSet["spec"];
export type CloneSetRolling = NonNullable<NonNullable<Spec["updateStrategy"]>["rollingUpdate"]>;

export interface KruiseMember extends TestMember {
  cloneSet(): Promise<DeepReadonly<CloneSet>>;
  /** Changes the spec of the CloneSet. */
  edit(change: (spec: DeepReadonly<Spec>) => DeepReadonly<Spec>): Promise<void>;
  /** Changes a pod as a user would. */
  editPod(name: string, change: (pod: DeepReadonly<Pod>) => DeepReadonly<Pod>): Promise<void>;
}

export interface KruiseMemberOptions extends Partial<Omit<TestMemberOptions, "controllers">> {
  /** Feature gates that differ from OpenKruise's defaults. */
  gates?: Record<string, boolean>;
}

export async function startKruiseMember({
  gates: changes,
  ...options
}: KruiseMemberOptions = {}): Promise<KruiseMember> {
  const gates = createFeatureGates(changes);
  // The member creates its clock; not called before.
  let nowMs = (): number => 0;
  let events: EventRecorders | undefined;
  const member = await startTestMember({
    hashes: containerHashes,
    objects: [standardStorageClass()],
    rules: createKindAdmissions({ kruiseGates: gates }),
    admissions: createKruiseAdmissions({
      appliesTo: () => true,
      gates,
      nowMs: () => nowMs(),
      recordEvent: (component, cluster, pod, event) => events?.(component).record(cluster, pod, event),
    }),
    ...options,
    controllers(deps) {
      nowMs = () => deps.clock.now();
      ({ events } = deps);
      return createWorkloadControllers({ ...deps, gates });
    },
  });
  return {
    ...member,
    cloneSet: () => member.get(CloneSet, "web"),
    async edit(change) {
      await member.change(CloneSet, "web", (object) => ({ ...object, spec: change(object.spec) }));
    },
    async editPod(name, change) {
      await member.client.update(
        Pod,
        MEMBER,
        change(await member.client.get(Pod, { cluster: MEMBER, namespace: NAMESPACE, name })),
      );
    },
  };
}

export const makeWebTemplate = (image: string, metadata: PodTemplateSpec["metadata"] = {}): PodTemplateSpec => ({
  metadata: { ...metadata, labels: { app: "web", ...metadata?.labels } },
  spec: { containers: [{ name: "main", image }] },
});

/** The CloneSet `web`, with one container `main` of image `web:1`. */
export function makeWebCloneSet(
  replicas: number,
  rollingUpdate: CloneSetRolling = {},
  spec: Partial<Spec> = {},
): CloneSet {
  return {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "CloneSet",
    metadata: { name: "web", namespace: NAMESPACE },
    spec: {
      replicas,
      selector: { matchLabels: { app: "web" } },
      template: makeWebTemplate("web:1"),
      updateStrategy: { type: "RollingUpdate", rollingUpdate },
      ...spec,
    },
  };
}
