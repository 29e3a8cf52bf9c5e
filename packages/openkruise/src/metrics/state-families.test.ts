import { expect, test } from "vitest";
import { viewOf } from "@flotilla/kubernetes";
import { kruiseStates } from "../openkruise.ts";

/** Every sample of an object, as `name{labels} value` without the object's own labels. */
function samplesOf(kind: string, fields: object): string[] {
  const { families } = kruiseStates.find((state) => state.label === kind) ?? { families: [] };
  const view = viewOf({
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "X",
    metadata: { name: "web", namespace: "shop", generation: 3, creationTimestamp: "1970-01-01T00:01:40Z" },
    ...fields,
  });
  return families.flatMap(({ metric, samplesOf: of }) =>
    of(view).map(
      ([values, value]) =>
        `${metric.name.replace(`kruise_${kind}_`, "")}${metric.labels
          .slice(2)
          .map((label, index) => ` ${label}=${values[index]}`)
          .join("")} ${value}`,
    ),
  );
}

test("a v1alpha1 and a v1beta1 CloneSet have the same samples", () => {
  const status = {
    replicas: 4,
    readyReplicas: 3,
    availableReplicas: 3,
    updatedReplicas: 2,
    updatedReadyReplicas: 1,
    observedGeneration: 3,
    conditions: [{ type: "FailedScale", status: "True" }],
  };
  const beta = samplesOf("cloneset", {
    spec: {
      replicas: 4,
      updateStrategy: {
        type: "RollingUpdate",
        rollingUpdate: {
          podUpdatePolicy: "InPlaceIfPossible",
          partition: "25%",
          maxUnavailable: "30%",
          maxSurge: "30%",
        },
      },
    },
    status,
  });
  const alpha = samplesOf("cloneset", {
    spec: {
      replicas: 4,
      updateStrategy: { type: "InPlaceIfPossible", partition: "25%", maxUnavailable: "30%", maxSurge: "30%" },
    },
    status,
  });

  expect(beta).toEqual([
    "created 100",
    "status_replicas 4",
    "status_replicas_available 3",
    "status_replicas_unavailable 1",
    "status_replicas_updated 2",
    "status_observed_generation 3",
    "status_condition condition=FailedScale status=true 1",
    "status_condition condition=FailedScale status=false 0",
    "status_condition condition=FailedScale status=unknown 0",
    "spec_replicas 4",
    "spec_strategy_rollingupdate_max_unavailable 1",
    "spec_strategy_rollingupdate_max_surge 2",
    "metadata_generation 3",
    "annotations 1",
    "labels 1",
    "status_replicas_ready 3",
    "status_replicas_updated_ready 1",
    "spec_strategy_partition partition=25% 0",
    "spec_strategy_type strategy_type=ReCreate 0",
    "spec_strategy_type strategy_type=InPlaceIfPossible 1",
    "spec_strategy_type strategy_type=InPlaceOnly 0",
  ]);
  expect(alpha).toEqual(beta);
});

test("an object without a spec or status has zeros, and invalid fields have no samples", () => {
  const empty = samplesOf("cloneset", {});
  const hostile = samplesOf("cloneset", {
    spec: { replicas: "many", updateStrategy: "no" },
    status: { conditions: { length: 9 }, replicas: "4" },
  });

  expect(empty).toContain("spec_replicas 1");
  expect(hostile).toEqual(empty);
});

test("a StatefulSet exports its revisions and its highest reserved ordinal", () => {
  const lines = samplesOf("statefulset", {
    spec: {
      replicas: 2,
      reserveOrdinals: [1, "3-5"],
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "50%" } },
    },
    status: { currentRevision: "web-1", updateRevision: "web-2" },
  });

  expect(lines).toEqual(
    expect.arrayContaining([
      "spec_reserveordinals 5",
      "spec_strategy_rollingupdate_max_unavailable 1",
      "status_current_revision revision=web-1 1",
      "status_update_revision revision=web-2 1",
      "spec_strategy_type strategy_type=RollingUpdate 0",
    ]),
  );
});

test("the cost of a range of reserved ordinals is bounded", () => {
  expect(samplesOf("statefulset", { spec: { reserveOrdinals: ["0-999999999"] } })).toContain(
    "spec_reserveordinals 999",
  );
});

test("sidecars with the same value share one sample", () => {
  const containers = [
    { podInjectPolicy: "BeforeAppContainer", upgradeStrategy: { upgradeType: "ColdUpgrade" } },
    {
      podInjectPolicy: "BeforeAppContainer",
      upgradeStrategy: { upgradeType: "HotUpgrade", hotUpgradeEmptyImage: "empty:1" },
    },
  ];
  const lines = samplesOf("sidecarset", { spec: { containers }, status: { matchedPods: 10, readyPods: 9 } });

  expect(lines.filter((line) => line.startsWith("spec_containers_injectpolicy"))).toEqual([
    "spec_containers_injectpolicy injectpolicy=BeforeAppContainer 0",
  ]);
  expect(lines).toEqual(
    expect.arrayContaining([
      "status_replicas_matched 10",
      "spec_containers_strategy_type strategy_type=HotUpgrade 0",
      "spec_metadata_generation 3",
    ]),
  );
});

const others: Record<string, { kind: string; fields: object; want: string[] }> = {
  "a DaemonSet exports its node counts": {
    kind: "daemonset",
    fields: {
      spec: { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "20%", partition: 2 } } },
      status: { desiredNumberScheduled: 6, numberReady: 5 },
    },
    want: ["spec_strategy_rollingupdate_max_surge 2", "spec_strategy_partition partition=2 0", "status_number_ready 5"],
  },
  "a BroadcastJob exports its pod counts and its completion policy": {
    kind: "broadcastjob",
    fields: {
      spec: { parallelism: 3, completionPolicy: { type: "Always", ttlSecondsAfterFinished: 60 } },
      status: { succeeded: 2, failed: 1 },
    },
    want: [
      "spec_parallelism 3",
      "spec_strategy_ttl_seconds 60",
      "spec_strategy_type strategy_type=Always 0",
      "status_failed 1",
    ],
  },
  "a WorkloadSpread exports its subsets": {
    kind: "workloadspread",
    fields: {
      spec: { scheduleStrategy: { type: "Adaptive" } },
      status: { subsetStatuses: [{ name: "a", replicas: 3, missingReplicas: -1 }] },
    },
    want: [
      "status_subset_replicas subset=a 3",
      "status_subset_replicas_missing subset=a -1",
      "spec_strategy_type strategy_type=Adaptive 0",
    ],
  },
  "a ContainerRecreateRequest exports its progress": {
    kind: "containerrecreaterequest",
    fields: {
      status: { phase: "Recreating", containerRecreateStates: [{ phase: "Succeeded" }, { phase: "Recreating" }] },
    },
    want: ["containers_succeeded 1", "containers_recreating 1", "recreating 1", "completed 0"],
  },
};
for (const [behaviour, { kind, fields, want }] of Object.entries(others)) {
  test(behaviour, () => {
    expect(samplesOf(kind, fields)).toEqual(expect.arrayContaining(want));
  });
}
