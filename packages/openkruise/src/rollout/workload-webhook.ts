/**
 * Holds a workload back when its template changes under a Rollout, as kruise-rollout's webhook does: the partition keeps
 * all pods at the old revision, and an annotation lets the controller of Rollouts begin.
 */
import { equalJson, isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { deniedByWebhook } from "@flotilla/apimachinery";
import type { Admission, AnyAdmission, Kind, Review } from "@flotilla/apimachinery";
import { countOf } from "@flotilla/kubernetes";
import type { KruiseWebhookOptions } from "../api/kruise-definition.ts";
import { Rollout } from "./rollout-kind.ts";
import { IN_PROGRESSING, ROLLOUT_ID } from "../released-workload/rollout-names.ts";
import {
  closedPartition,
  partitionPatch,
  releasedKind,
  RELEASED_KINDS,
} from "../released-workload/released-workload.ts";
import type { WorkloadObject } from "../released-workload/released-workload.ts";
import { leads, routesRequests, routingsOf, stepsOf } from "./rollout-strategy.ts";

type Read<T> = DeepReadonly<T>;

export const createRolloutAdmissions = (options: KruiseWebhookOptions): AnyAdmission[] => [
  runnableRollouts(options),
  ...RELEASED_KINDS.map((kind) => holdBack(kind, options)),
];

/** What no controller of a simulated member carries out is rejected there, not ignored. */
const runnableRollouts = ({ appliesTo }: KruiseWebhookOptions): Admission<Rollout> => ({
  name: "RunnableRollouts",
  for: Rollout,
  on: ["CREATE", "UPDATE"],
  validate({ cluster, object, subresource }) {
    if (subresource !== undefined || !appliesTo(cluster) || object.metadata.deletionTimestamp) return [];
    const problem = unsupportedPart(object);
    if (problem !== undefined)
      throw deniedByWebhook("vrollout.kb.io", 422, `${problem} on a simulated member is not supported by Flotilla yet`);
    return [];
  },
});

function unsupportedPart({ spec }: Read<Rollout>): string | undefined {
  // An older version has other fields, and is converted before it is stored.
  const { strategy, workloadRef } = spec as Partial<Read<Rollout>["spec"]>;
  if (!strategy || !workloadRef) return undefined;
  if (strategy.blueGreen) return "a blue-green strategy";
  if (!releasedKind(workloadRef)) return `a Rollout of a ${workloadRef.kind}`;
  if (routingsOf(strategy).length > 0 || strategy.canary?.trafficRoutingRef || stepsOf(strategy).some(routesRequests))
    return "the routing of requests";
  return undefined;
}

const holdBack = (kind: Kind<WorkloadObject>, { appliesTo }: KruiseWebhookOptions): Admission<WorkloadObject> => ({
  name: "RolloutHold",
  for: kind,
  on: ["UPDATE"],
  mutate(review) {
    const { cluster, object, oldObject, read, subresource } = review;
    if (subresource !== undefined || !oldObject || !appliesTo(cluster) || !mayRelease(review)) return object;
    const rollouts = read.written(Rollout, object.metadata.namespace);
    if (rollouts.length === 0 || !isNewRelease(object, oldObject)) return object;
    const rollout = rollouts.find(
      (each) =>
        each.metadata.deletionTimestamp === undefined &&
        each.status?.phase !== "Disabled" &&
        leads(each, object as { apiVersion: string; kind: string; metadata: { name: string } }),
    );
    return rollout ? heldBack(object, rollout.metadata.name) : object;
  },
});

/** Without pods there is nothing to release, and pods that are updated on delete follow no steps. */
function mayRelease({ object }: Review<WorkloadObject>): boolean {
  const { spec = {} } = object;
  const strategy = spec["updateStrategy"];
  const isOnDelete = isObject(strategy) && strategy["type"] === "OnDelete";
  return (
    !isOnDelete && (object.kind === "DaemonSet" || spec["replicas"] === undefined || countOf(spec["replicas"]) > 0)
  );
}

/**
 * A release that the user names is new when the name is; others when the template is. As upstream, whose webhook reads the
 * name from the annotations, while its controller reads it from the labels (`plan-rollout.ts`): a user sets both.
 */
function isNewRelease(object: Read<WorkloadObject>, old: Read<WorkloadObject>): boolean {
  const id = object.metadata.annotations?.[ROLLOUT_ID] ?? "";
  if (id !== "") return old.metadata.annotations?.[ROLLOUT_ID] !== id;
  return !equalJson(object.spec?.["template"] ?? null, old.spec?.["template"] ?? null);
}

function heldBack(object: Read<WorkloadObject>, rolloutName: string): Read<WorkloadObject> {
  const closed = partitionPatch(object, closedPartition(object.kind));
  const [strategy, rolling] = [
    objectIn(object.spec, "updateStrategy"),
    objectIn(objectIn(object.spec, "updateStrategy"), "rollingUpdate"),
  ];
  const rollingUpdate = {
    ...rolling,
    partition: objectIn(objectIn(closed, "updateStrategy"), "rollingUpdate")["partition"] as Json,
  };
  // In its older version a CloneSet has the fields of a rolling update beside the type.
  const isFlat = object.kind === "CloneSet" && object.apiVersion.endsWith("/v1alpha1");
  return {
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { ...object.metadata.annotations, [IN_PROGRESSING]: JSON.stringify({ rolloutName }) },
    },
    spec: {
      ...object.spec,
      updateStrategy: isFlat ? { ...strategy, partition: rollingUpdate.partition } : { ...strategy, rollingUpdate },
    },
  };
}

function objectIn(parent: Read<JsonObject> | undefined, name: string): JsonObject {
  const value = parent?.[name];
  return isObject(value) ? value : {};
}
