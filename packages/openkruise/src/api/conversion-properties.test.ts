/** Fields that both versions of a kind have round-trip in both directions. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepFreeze, required, type JsonObject } from "@flotilla/base";
import type { Kind } from "@flotilla/apimachinery";
import { servedKinds } from "@flotilla/kubernetes";
import { kruiseDefinitions } from "../kruise-definitions.ts";
import { AdvancedCronJob } from "../advancedcronjob/advancedcronjob-kind.ts";
import { AdvancedDaemonSet } from "../daemonset/daemonset-kind.ts";
import { AdvancedStatefulSet } from "../statefulset/statefulset-kind.ts";
import { BroadcastJob } from "../broadcastjob/broadcastjob-kind.ts";
import { BatchRelease } from "../batchrelease/batchrelease-kind.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { ImageListPullJob } from "../imagelistpulljob/imagelistpulljob-kind.ts";
import { ImagePullJob } from "../imagepulljob/imagepulljob-kind.ts";
import { NodeImage } from "../nodeimage/nodeimage-kind.ts";
import { PodUnavailableBudget } from "../podunavailablebudget/podunavailablebudget-kind.ts";
import { Rollout } from "../rollout/rollout-kind.ts";
import { SidecarSet } from "../sidecarset/sidecarset-kind.ts";
import { UnitedDeployment } from "../uniteddeployment/uniteddeployment-kind.ts";

const share = fc.oneof(
  fc.nat(50),
  fc.nat(100).map((percent) => `${percent}%`),
);
const count = fc.nat(1000);
const word = fc.constantFrom("a", "b", "c");
const labels = fc.dictionary(word, word, { maxKeys: 2 });
const selector = fc.record({ matchLabels: labels });
const optional = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(fields, { requiredKeys: [] });
const template = fc.constant({
  metadata: { labels: { app: "a" } },
  spec: { containers: [{ name: "c", image: "i:1" }] },
});

const rolling = {
  partition: share,
  maxUnavailable: share,
  maxSurge: share,
  paused: fc.boolean(),
  priorityStrategy: fc.record({
    orderPriority: fc.array(fc.record({ orderedKey: word }), { minLength: 1, maxLength: 2 }),
  }),
};
const cloneSetSpec = optional({
  replicas: count,
  selector,
  template,
  minReadySeconds: count,
  updateStrategy: fc.oneof(
    fc.constant({ type: "OnDelete" }),
    fc.record(
      {
        type: fc.constantFrom("ReCreate", "InPlaceIfPossible", "InPlaceOnly"),
        ...rolling,
        inPlaceUpdateStrategy: fc.record({ gracePeriodSeconds: count }),
      },
      { requiredKeys: ["type"] },
    ),
  ),
}).chain((spec) =>
  optional({ podsToDelete: fc.array(word), maxUnavailable: share, disablePVCReuse: fc.constant(true) }).map(
    (scaleStrategy) => ({ ...spec, scaleStrategy }),
  ),
);

const daemonSetSpec = optional({
  selector,
  template,
  burstReplicas: share,
  updateStrategy: fc.record({
    type: fc.constant("RollingUpdate"),
    rollingUpdate: fc.record({
      rollingUpdateType: fc.constantFrom("Standard", "InPlaceIfPossible"),
      maxUnavailable: share,
      partition: share,
    }),
  }),
});

const subsets = fc.uniqueArray(
  fc.record({ name: word, replicas: fc.integer({ min: 1, max: 9 }), partition: fc.integer({ min: 1, max: 9 }) }),
  { selector: ({ name }) => name, minLength: 1, maxLength: 3 },
);
const unitedStatus = fc.tuple(subsets, word).map(([subsetStatuses, updatedRevision]) => ({
  replicas: 3,
  updatedReplicas: 3,
  currentRevision: "r",
  subsetStatuses,
  subsetReplicas: Object.fromEntries(subsetStatuses.map(({ name, replicas }) => [name, replicas])),
  updateStatus: {
    updatedRevision,
    currentPartitions: Object.fromEntries(subsetStatuses.map(({ name, partition }) => [name, partition])),
  },
}));

/** Objects of v1alpha1 as the server returns them. */
const objects: [Kind, fc.Arbitrary<object>][] = [
  [
    CloneSet,
    optional({
      spec: cloneSetSpec,
      metadata: optional({
        labels,
        annotations: optional({ team: word, "apps.kruise.io/image-predownload-timeout-seconds": count.map(String) }),
      }),
      status: fc.record({ replicas: count }),
    }).map((object) => withoutPreDownload(object as JsonObject)),
  ],
  [
    AdvancedStatefulSet,
    optional({
      spec: optional({
        replicas: count,
        selector,
        template,
        serviceName: word,
        updateStrategy: fc.record({
          type: fc.constant("RollingUpdate"),
          rollingUpdate: optional({ partition: count, maxUnavailable: share, paused: fc.boolean() }),
        }),
      }),
      status: fc.record({ replicas: count, currentRevision: word }),
    }),
  ],
  [
    AdvancedDaemonSet,
    optional({
      spec: daemonSetSpec,
      metadata: fc.constantFrom(
        { annotations: { "daemonset.kruise.io/progressive-create-pod": "true" } },
        { annotations: { a: "b" } },
      ),
      status: fc.record({ numberReady: count, daemonSetHash: word }),
    }),
  ],
  [
    SidecarSet,
    optional({
      spec: optional({ selector, namespaceSelector: selector, containers: fc.constant([{ name: "c", image: "i:1" }]) }),
      metadata: fc.constantFrom(
        { labels: { "apps.kruise.io/sidecarset-custom-version": "v1" } },
        { labels: { a: "b", "apps.kruise.io/sidecarset-custom-version": "v2" } },
        {},
      ),
    }),
  ],
  [
    UnitedDeployment,
    optional({
      spec: fc.record({ template: fc.record({ cloneSetTemplate: fc.record({ spec: cloneSetSpec }) }) }),
      status: unitedStatus,
    }),
  ],
  [
    BroadcastJob,
    optional({
      spec: optional({ parallelism: share, template, paused: fc.boolean() }),
      status: fc.record({ active: count, phase: word }),
    }),
  ],
  [
    ImagePullJob,
    optional({
      spec: fc.record({ image: word, parallelism: share, selector }),
      status: fc.record({ desired: count, succeeded: count }),
    }),
  ],
  [
    ImageListPullJob,
    optional({
      spec: fc.record({ images: fc.array(word), parallelism: share, selector }),
      status: fc.record({ desired: count, completed: count }),
    }),
  ],
  [
    NodeImage,
    optional({
      spec: fc.record({ images: fc.dictionary(word, fc.record({ tags: fc.array(fc.record({ tag: word })) })) }),
      status: fc.record({ desired: count, pulling: count }),
    }),
  ],
  [
    AdvancedCronJob,
    optional({
      spec: optional({
        schedule: fc.constant("0 * * * *"),
        paused: fc.boolean(),
        template: fc.oneof(
          fc.record({ jobTemplate: fc.record({ spec: fc.record({ template }) }) }),
          fc.record({ broadcastJobTemplate: fc.record({ spec: fc.record({ parallelism: share, template }) }) }),
        ),
      }),
      status: fc.record({ type: word, lastScheduleTime: fc.constant("2024-05-01T12:00:00Z") }),
    }),
  ],
  [
    PodUnavailableBudget,
    fc.record({
      spec: optional({ selector, maxUnavailable: share }),
      metadata: fc.record({
        annotations: optional({
          team: word,
          "kruise.io/pub-protect-operations": fc.constantFrom("DELETE", "DELETE,EVICT", "nonsense"),
          "pub.kruise.io/protect-total-replicas": fc.constantFrom("3", "many"),
        }),
      }),
    }),
  ],
  [
    Rollout,
    fc.record({
      metadata: fc.record({
        annotations: fc.record(
          {
            "rollouts.kruise.io/rolling-style": fc.constantFrom("partition", "canary", "Canary"),
            "rollouts.kruise.io/trafficrouting": word,
          },
          { requiredKeys: ["rollouts.kruise.io/rolling-style"] },
        ),
      }),
      spec: fc.record({
        objectRef: fc.record({ workloadRef: fc.record({ apiVersion: word, kind: word, name: word }) }),
        disabled: fc.boolean(),
        strategy: fc.record({
          paused: fc.boolean(),
          canary: fc.record({
            failureThreshold: share,
            steps: fc.array(
              fc.record(
                { replicas: share, weight: fc.nat(100), pause: optional({ duration: count }) },
                { requiredKeys: ["replicas"] },
              ),
              { maxLength: 3 },
            ),
          }),
        }),
      }),
      status: fc.record({ phase: word, canaryStatus: fc.record({ currentStepIndex: count, currentStepState: word }) }),
    }),
  ],
  [
    BatchRelease,
    fc.record({
      metadata: fc.constant({ annotations: { "rollouts.kruise.io/rolling-style": "partition" } }),
      spec: fc.record({
        targetReference: fc.record({ workloadRef: fc.record({ apiVersion: word, kind: word, name: word }) }),
        releasePlan: fc.record({
          batches: fc.array(fc.record({ canaryReplicas: share }), { maxLength: 3 }),
          batchPartition: count,
          rollingStyle: fc.constant("Partition"),
        }),
      }),
      status: fc.record({ phase: word, canaryStatus: fc.record({ currentBatch: count }) }),
    }),
  ],
];

/** Under OnDelete there is no image pre-download, and a set without a spec has no strategy to store it. */
function withoutPreDownload(object: JsonObject): JsonObject {
  const { metadata: _metadata, ...rest } = object;
  const strategy = ((object["spec"] ?? {}) as JsonObject)["updateStrategy"] as JsonObject | undefined;
  return strategy && strategy["type"] !== "OnDelete" ? object : rest;
}

test("every kind with two versions has a case", () => {
  const converted = servedKinds(kruiseDefinitions).filter(({ versions }) => versions["v1alpha1"]?.toStorage);

  expect(new Set(objects.map(([kind]) => kind))).toEqual(new Set(converted));
});

describe.for(objects.map(([kind, object]) => [`${kind.plural}.${kind.group}`, kind, object] as const))(
  "%s",
  ([, kind, object]) => {
    const { toStorage, fromStorage } = required(kind.versions["v1alpha1"], "v1alpha1");
    const alpha = object.map(
      (fields) => deepFreeze({ apiVersion: `${kind.group}/v1alpha1`, kind: kind.kind, ...fields }) as JsonObject,
    );

    test("v1alpha1 round-trips through v1beta1", () => {
      fc.assert(
        fc.property(alpha, (one) => {
          expect(fromStorage?.(toStorage?.(one) ?? {})).toEqual(one);
        }),
        { seed: 7, numRuns: 200 },
      );
    });

    test("v1beta1 round-trips through v1alpha1", () => {
      fc.assert(
        fc.property(alpha, (one) => {
          const beta = deepFreeze(toStorage?.(one) ?? {}) as JsonObject;

          expect(toStorage?.(fromStorage?.(beta) ?? {})).toEqual(beta);
        }),
        { seed: 8, numRuns: 200 },
      );
    });
  },
);
